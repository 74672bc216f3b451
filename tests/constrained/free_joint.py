"""Coordinates of a free joint, their speeds and accelerations, from a body's motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Motion:
    """Of a body: rotation, origin, and in world axes (ω, v) of its origin and their rates."""

    R: np.ndarray
    p: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def free_joint(motion: Motion, rotation: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, q̇, q̈ of a free joint between ground and the body."""
    R, p = motion.R, motion.p
    (w, v), (wd, vd) = np.split(motion.velocity, 2), np.split(motion.acceleration, 2)
    if rotation == "quaternion":
        rates = np.array([[w, v], [wd, vd - np.cross(w, v)]]) @ R
        return np.append(p, quaternion(R)), rates[0].ravel(), rates[1].ravel()
    angles = [np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])]
    c, s = np.cos(angles[0]), np.sin(angles[0])
    axes = np.array([[1, 0, 0], [0, c, s], R[:, 2]]).T
    rates = np.linalg.solve(axes, w)
    turned = rates[0] * rates[1] * np.array([0, -s, c]) + rates[2] * np.cross(w, R[:, 2])
    return (
        np.append(p, angles),
        np.append(v, rates),
        np.append(vd, np.linalg.solve(axes, wd - turned)),
    )


def quaternion(R: np.ndarray) -> np.ndarray:
    """(w, x, y, z): the eigenvector of Bar-Itzhack's matrix."""
    trace = R.trace()
    K = np.diag([trace, *(2 * np.diag(R) - trace)])
    K[0, 1:] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        K[i + 1, j + 1] = R[i, j] + R[j, i]
    return np.linalg.eigh(K, UPLO="U")[1][:, -1]
