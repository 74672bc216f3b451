"""Directions of any length, and quaternions of rotations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from linkwright.algebra.rotations import (
    constant_quaternion_rotation,
    quaternion_from_rotation,
    rotation_to_axis,
)
from linkwright.algebra.spatial import ArticulatedInertia


@pytest.mark.parametrize("size", [5e-324, 1e-200, 3.0, 1e200])
def test_length_does_not_matter(size: float) -> None:
    axis = [size, size, 0.0]
    np.testing.assert_allclose(rotation_to_axis(axis, axis)[:, 2], [0.5**0.5, 0.5**0.5, 0])
    expected = constant_quaternion_rotation([1.0, 1.0, 0.0, 0.0])
    found = constant_quaternion_rotation([size, size, 0.0, 0.0])
    np.testing.assert_allclose(found, expected, atol=1e-15)


@pytest.mark.parametrize(
    "turn", [[0, 0, 0], [3.1, 0.1, 0], [0.1, -3.1, 0.2], [0.3, 0, 3.0], [np.pi, 0, 0], [1, -2, 0.5]]
)
def test_quaternions_of_rotations(turn: list[float]) -> None:
    """Near turns by half a circle about any axis, too; the sign may be either."""
    wanted = Rotation.from_rotvec(turn)
    R = wanted.as_matrix()
    w, *u = quaternion_from_rotation(R, R)
    np.testing.assert_allclose(Rotation.from_quat([*u, w]).as_matrix(), R, atol=1e-15)
    np.testing.assert_allclose(w * w + np.dot(u, u), 1.0, atol=1e-15)


def test_articulated_inertias_turn_about_z_as_about_any_axis() -> None:
    """The short form for turns about z gives what R I Rᵀ gives, part by part."""
    a, H, b = np.random.default_rng(4).normal(size=(3, 3, 3))
    inertia = ArticulatedInertia(a + a.T, H, b + b.T)
    R = Rotation.from_rotvec([0, 0, 0.7]).as_matrix()
    found, wanted = inertia.rotate_about_z(R[0, 0], R[1, 0]), inertia.rotate(R)
    for part in ("I", "H", "M"):
        np.testing.assert_allclose(getattr(found, part), getattr(wanted, part), atol=1e-14)
        np.testing.assert_allclose(
            getattr(wanted, part), R @ getattr(inertia, part) @ R.T, atol=1e-14
        )
