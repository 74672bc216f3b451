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
