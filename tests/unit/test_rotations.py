"""Directions of any length."""

from __future__ import annotations

import numpy as np
import pytest

from linkwright.algebra.rotations import constant_quaternion_rotation, rotation_to_axis


@pytest.mark.parametrize("size", [5e-324, 1e-200, 3.0, 1e200])
def test_length_does_not_matter(size: float) -> None:
    axis = [size, size, 0.0]
    np.testing.assert_allclose(rotation_to_axis(axis, axis)[:, 2], [0.5**0.5, 0.5**0.5, 0])
    expected = constant_quaternion_rotation([1.0, 1.0, 0.0, 0.0])
    found = constant_quaternion_rotation([size, size, 0.0, 0.0])
    np.testing.assert_allclose(found, expected, atol=1e-15)
