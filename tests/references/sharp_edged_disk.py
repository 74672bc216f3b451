"""The sharp-edged disk between turning plates by hand: d'Alembert's principle in closed form.

In the axes of the rod (x along it, z normal to the plates), with u1, u2 the velocity of P along x and
y relative to the plates, and D on its edge, so that u2 + l q3' = 0:

    turning rate   Ω  = (ω sin q3, ω cos q3, q3')
    velocities     vP = (u1, u2, −ω q1),                    vD = (u1, 0, −ω (q1 + l cos q3))
    accelerations  a  = dv/dt + Ω × v
    motions left   u1 moves P and D along x, u2 moves P along y and turns the rod by −1/l
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Disk:
    m1: float
    m2: float
    l: float
    omega: float
    IB: float
    g: float


def speeds(disk: Disk, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """u1, u2 of the coordinates (beta, q1, q2, q3)."""
    S, C = np.sin(q[3]), np.cos(q[3])
    return v[1] * C + v[2] * S, -v[1] * S + v[2] * C


def rates(disk: Disk, q: np.ndarray, u1: float, u2: float) -> np.ndarray:
    """Rates of (beta, q1, q2, q3): all motions that are possible."""
    S, C = np.sin(q[3]), np.cos(q[3])
    return np.array([disk.omega, u1 * C - u2 * S, u1 * S + u2 * C, -u2 / disk.l])


def speed_rates(disk: Disk, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[float, float]:
    """The equations of motion, solved for u1', u2'."""
    m1, m2, l, w, g = disk.m1, disk.m2, disk.l, disk.omega, disk.g
    S, C, q1 = np.sin(q[3]), np.cos(q[3]), q[1]
    u1, u2 = speeds(disk, q, v)
    along = -(m1 + m2) * g * S + tau[1] * C + tau[2] * S
    across = -m1 * g * C - tau[1] * S + tau[2] * C - tau[3] / l
    u1_rate = (along + m1 * (w**2 * C * q1 - u2**2 / l) + m2 * w**2 * C * (q1 + l * C)) / (m1 + m2)
    u2_rate = across / m1 - w**2 * S * q1 + u1 * u2 / l
    return u1_rate, u2_rate


def accelerations(disk: Disk, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Second rates of (beta, q1, q2, q3)."""
    u1, u2 = speeds(disk, q, v)
    S, C, turn = np.sin(q[3]), np.cos(q[3]), -u2 / disk.l
    a1, a2 = speed_rates(disk, q, v, tau)
    return np.array([
        0.0,
        a1 * C - a2 * S - turn * (u1 * S + u2 * C),
        a1 * S + a2 * C + turn * (u1 * C - u2 * S),
        -a2 / disk.l,
    ])  # fmt: skip


def constraint_forces(disk: Disk, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """What drive and edge do to (beta, q1, q2, q3): the torque that changes the moment of momentum
    about Y, and the force across the rod at D, from the moments about P."""
    m1, m2, l, w, g = disk.m1, disk.m2, disk.l, disk.omega, disk.g
    u1, u2 = speeds(disk, q, v)
    S, C, arm = np.sin(q[3]), np.cos(q[3]), q[1] + disk.l * np.cos(q[3])
    torque = 2 * w * (m1 * q[1] * v[1] + m2 * arm * (v[1] - l * S * v[3])) - tau[0]
    edge = m2 * (w**2 * S * arm - u1 * u2 / l + g * C) - tau[3] / l
    return np.array([torque, -S * edge, C * edge, l * edge])
