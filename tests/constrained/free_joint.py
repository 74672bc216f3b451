"""Coordinates and speeds of a free joint, from a placement and a velocity."""

from __future__ import annotations

import numpy as np


def free_coordinates(
    T: np.ndarray, velocity: np.ndarray, rotation: str
) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates and speeds of a free joint with a given placement and velocity (world axes)."""
    R, p, w, v = T[:3, :3], T[:3, 3], velocity[:3], velocity[3:]
    if rotation == "quaternion":
        K = np.array([
            [R.trace(), R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0, 2 * R[0, 0] - R.trace(), R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0, 0, 2 * R[1, 1] - R.trace(), R[1, 2] + R[2, 1]],
            [0, 0, 0, 2 * R[2, 2] - R.trace()],
        ])  # fmt: skip
        unit = np.linalg.eigh(K, UPLO="U")[1][:, -1]
        return np.append(p, unit), np.append(R.T @ w, R.T @ v)
    angles = [np.arctan2(-R[1, 2], R[2, 2]), np.arcsin(R[0, 2]), np.arctan2(-R[0, 1], R[0, 0])]
    c, s = np.cos(angles[0]), np.sin(angles[0])
    axes = np.array([[1, 0, 0], [0, c, s], R[:, 2]]).T  # of the three angles, in the world
    return np.append(p, angles), np.append(v, np.linalg.solve(axes, w))
