"""The classical equations of a thin disk that rolls on a plane.

In the axes e1 (horizontal tangent), e2 (axle), e3 (up the disk) of heading psi and lean theta, with
the disk's angular velocity w = (theta', psi' sin theta + phi', psi' cos theta):

    (I + m r²) w1' = (J + m r²) w2 w3 − I w3² tan theta + m g r sin theta + Q1
    (J + m r²) w2' = −m r² w1 w3 + Q2
             I w3' = −J w1 w2 + I w1 w3 tan theta + Q3

They are the moments about the point of contact, r e3 below the centre, whose velocity is
r (w2, −w1, 0). Coordinates are (x, y, z, psi, theta, phi); Q are generalized forces tau on them,
carried over by the rates that w stands for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Disk:
    m: float
    r: float
    I: float
    J: float
    g: float


def axes(q: np.ndarray) -> np.ndarray:
    """e1, e2, e3 as columns, world axes."""
    (cp, ct), (sp, st) = np.cos(q[3:5]), np.sin(q[3:5])
    return np.array([[cp, -sp * ct, sp * st], [sp, cp * ct, -cp * st], [0, st, ct]])


def rate_matrix(disk: Disk, q: np.ndarray) -> np.ndarray:
    """Rates of the coordinates for unit w1, w2, w3, as columns."""
    e, ct, tt = axes(q), np.cos(q[4]), np.tan(q[4])
    B = np.zeros((6, 3))
    B[:3, 0], B[:3, 1] = -disk.r * e[:, 1], disk.r * e[:, 0]
    B[3, 2], B[4, 0], B[5] = 1 / ct, 1.0, (0.0, 1.0, -tt)
    return B


def angular_velocity(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    s, c = np.sin(q[4]), np.cos(q[4])
    return np.array([v[4], v[3] * s + v[5], v[3] * c])


def angular_acceleration(disk: Disk, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """w' from the equations above."""
    m, r, I, J = disk.m, disk.r, disk.I, disk.J
    w1, w2, w3 = angular_velocity(q, v)
    Q = rate_matrix(disk, q).T @ tau
    st, tt = np.sin(q[4]), np.tan(q[4])
    return np.array([
        ((J + m * r**2) * w2 * w3 - I * w3**2 * tt + m * disk.g * r * st + Q[0]) / (I + m * r**2),
        (-m * r**2 * w1 * w3 + Q[1]) / (J + m * r**2),
        (-J * w1 * w2 + I * w1 * w3 * tt + Q[2]) / I,
    ])  # fmt: skip


def accelerations(disk: Disk, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    w1, w2, w3 = angular_velocity(q, v)
    d1, d2, d3 = angular_acceleration(disk, q, v, tau)
    s, c, t = np.sin(q[4]), np.cos(q[4]), np.tan(q[4])
    center = disk.r * np.array([d2 + w1 * w3, -d1 + w2 * w3, -(w1**2) - w3 * t * w2])
    psi = (d3 + v[3] * s * v[4]) / c
    return np.concatenate([axes(q) @ center, [psi, d1, d2 - psi * s - v[3] * c * v[4]]])


def contact_force(disk: Disk, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """What the plane does to the disk, world axes."""
    acceleration = accelerations(disk, q, v, tau)[:3]
    return disk.m * (acceleration + np.array([0, 0, disk.g])) - tau[:3]


def steady_roll(disk: Disk, theta: float, psi_rate: float) -> float:
    """phi' with which the disk keeps its lean and runs in a circle at the rate psi'."""
    w3 = psi_rate * np.cos(theta)
    push = disk.I * w3**2 * np.tan(theta) - disk.m * disk.g * disk.r * np.sin(theta)
    return push / ((disk.J + disk.m * disk.r**2) * w3) - psi_rate * np.sin(theta)
