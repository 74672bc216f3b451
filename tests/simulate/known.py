"""Motions in closed form, written without anything of ours but the mechanisms."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipj, ellipk

import linkwright as lw

PENDULUM = lw.Mechanism(
    name="pendulum", gravity=[0, "-9.81", 0], bodies={"rod": {"mass": 1, "center": [1, 0, 0]}},
    joints={"q": {"type": "revolute", "child": "rod"}},
)  # fmt: skip
"""Released from the horizontal at x = −1, q = π (IFToMM A01)."""

TOP = lw.Mechanism(
    name="top", gravity=[0, 0, 0], bodies={"top": {"mass": 1, "inertia": [2, 2, 1]}},
    joints={"f": {"type": "free", "child": "top"}},
)  # fmt: skip

FREE_ARM = lw.Mechanism(
    name="free arm", gravity=[0, 0, 0],
    bodies={"base": {"mass": 3, "inertia": [0.2, 0.3, 0.4]},
            "arm": {"mass": 1, "center": [0.5, 0, 0.1], "inertia": [0.02, 0.1, 0.11]}},
    joints={"f": {"type": "free", "child": "base"},
            "q": {"type": "revolute", "parent": "base", "child": "arm", "axis": [0, 1, 0],
                  "origin": [0.3, 0, 0]}},
)  # fmt: skip


def pendulum(t: np.ndarray | float) -> np.ndarray:
    """x of the pendulum's mass."""
    s = np.sqrt(0.5) * ellipj(ellipk(0.5) - np.sqrt(9.81) * np.asarray(t), 0.5)[0]
    return -2 * s * np.sqrt(1 - s**2)


def n_four_bar(n: int, t: np.ndarray) -> np.ndarray:
    """(x, y) of B0 of N windows on the branch with parallel cranks (IFToMM A02)."""
    inertia, weight = (n + 1) / 3 + n, 9.81 * ((n + 1) / 2 + n)
    w2 = weight / inertia
    m = 4 * w2 / (1 + 4 * w2)
    sn, cn, _, _ = ellipj(ellipk(m) - np.sqrt(1 + 4 * w2) / 2 * t, m)
    return np.array([2 * sn * cn, 2 * sn**2 - 1]).T


def spinning(w: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Quaternion and body speeds of the top, turned by nothing at t = 0: precession about the
    angular momentum at |L|/A, spin about its own axis at (1 − C/A) w_z."""
    A, C = 2.0, 1.0
    L = np.array([A * w[0], A * w[1], C * w[2]])
    rate = (1 - C / A) * w[2]
    space = _turn(L / np.linalg.norm(L), np.linalg.norm(L) / A * t)
    body = _turn(np.array([0, 0, 1.0]), rate * t)
    c, s = np.cos(rate * t), np.sin(rate * t)
    return _product(space, body), np.array([c * w[0] + s * w[1], c * w[1] - s * w[0], w[2]])


def _turn(axis: np.ndarray, angle: float) -> np.ndarray:
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])


def _product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *vector])
