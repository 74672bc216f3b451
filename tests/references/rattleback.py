"""A rattleback by its own equations of motion: a body that rolls on a plane, in body axes.

    r(γ) from the centre of mass to the contact,  v = r × ω (no slip),  γ̇ = γ × ω,
    I ω̇ − m r × (r × ω̇) = −ω × I ω + m r × (ṙ × ω + ω × (r × ω)) + m g r × γ

γ is the upward vertical. Nothing of the package is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Floats = NDArray[np.float64]


def _cross(a: Sequence[float], b: Sequence[float]) -> list[float]:
    """a × b."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _solve(A: list[list[float]], b: list[float]) -> list[float]:
    """x with A x = b for a symmetric 3 × 3 matrix, by Cramer's rule."""
    one, two, three = _cross(A[1], A[2]), _cross(A[2], A[0]), _cross(A[0], A[1])
    scale = sum(x * y for x, y in zip(A[0], one, strict=True))
    return [
        sum(x * y for x, y in zip(row, b, strict=True)) / scale
        for row in zip(one, two, three, strict=True)
    ]


class Rattleback:
    """Mass, semi-axes, height h of the ellipsoid's centre over the centre of mass, and inertia."""

    def __init__(self, m: float, axes: Floats, h: float, inertia: Floats, g: float) -> None:
        self.m, self.squares, self.inertia, self.g = m, np.asarray(axes) ** 2, inertia, g
        self.center = np.array([0.0, 0.0, h])

    def contact(self, up: Floats) -> Floats:
        """r = c − A² γ/√(γᵀA² γ)."""
        return np.asarray(self.center - self.squares * up / np.sqrt(up @ (self.squares * up)))

    def rates(self, _: float, y: Floats) -> list[float]:
        """(γ̇, ω̇), in plain numbers: arrays of three entries take ten times as long."""
        gx, gy, gz, *w = y.tolist()
        up = (gx, gy, gz)
        turned = _cross(up, w)
        low = [s * g for s, g in zip(self.squares.tolist(), up, strict=True)]
        depth = math.sqrt(sum(x * g for x, g in zip(low, up, strict=True)))
        fall = sum(x * t for x, t in zip(low, turned, strict=True)) / depth**2
        r = [c - x / depth for c, x in zip(self.center.tolist(), low, strict=True)]
        r_rate = [
            -(s * t - x * fall) / depth
            for s, t, x in zip(self.squares.tolist(), turned, low, strict=True)
        ]
        parts = zip(_cross(r_rate, w), _cross(w, _cross(r, w)), up, strict=True)
        moment = _cross(r, [a + b + self.g * c for a, b, c in parts])
        spin = [sum(i * x for i, x in zip(row, w, strict=True)) for row in self.inertia.tolist()]
        rest = [self.m * a - b for a, b in zip(moment, _cross(w, spin), strict=True)]
        square = sum(x * x for x in r)
        matrix = [
            [i + self.m * ((j == k) * square - r[j] * r[k]) for k, i in enumerate(row)]
            for j, row in enumerate(self.inertia.tolist())
        ]
        return [*turned, *_solve(matrix, rest)]

    def energy(self, y: Floats) -> float:
        """Kinetic and potential energy, zero where the centre of mass is in the plane."""
        up, w = y[:3], y[3:]
        r = self.contact(up)
        v = np.cross(r, w)
        return float(self.m * v @ v / 2 + w @ self.inertia @ w / 2 - self.m * self.g * up @ r)

    def motion(self, up: Floats, w: Floats, times: Floats) -> Floats:
        """Rows (γ, ω) at the times."""
        start = np.concatenate([up, w])
        found = solve_ivp(
            self.rates, (0, times[-1]), start, "DOP853", times, rtol=1e-11, atol=1e-13
        )
        return np.asarray(found.y.T)
