"""Dual numbers, vectors and displacements."""

from __future__ import annotations

from itertools import product

import casadi as ca
import numpy as np
import pytest

from linkwright.algebra.dual import (
    DUAL_UNIT,
    DualDisplacement,
    DualNumber,
    DualVector,
    dual_cosine,
    dual_denavit_hartenberg,
    dual_rotation_sequence,
    dual_sine,
)


def number(x: DualNumber) -> tuple[float, float]:
    return float(ca.DM(x.real)), float(ca.DM(x.dual))


def homogeneous(d: DualDisplacement) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = np.array(ca.DM(ca.SX(d.R))), np.array(ca.DM(ca.SX(d.p))).ravel()
    return T


def test_epsilon_squared_is_nothing() -> None:
    assert number(DUAL_UNIT * DUAL_UNIT) == (0, 0)
    a, b = DualNumber(2.0, 3.0), DualNumber(-1.0, 0.5)
    assert number(a * b) == (-2.0, -2.0)
    assert number(a + b) == (1.0, 3.5)
    assert number(a - b) == (3.0, 2.5)


def test_dual_angles() -> None:
    """Cos² + Sin² = 1, and Sin is the derivative in disguise."""
    angle = DualNumber(0.7, 0.3)
    c, s = dual_cosine(angle), dual_sine(angle)
    real, dual = number(c * c + s * s)
    assert real == pytest.approx(1)
    assert dual == pytest.approx(0, abs=1e-15)
    h = 1e-6
    assert number(s)[1] == pytest.approx(
        0.3 * (np.sin(0.7 + h) - np.sin(0.7 - h)) / (2 * h), rel=1e-9
    )


SEQUENCES = [
    axes for axes in product(range(3), repeat=3) if axes[0] != axes[1] and axes[1] != axes[2]
]


def test_there_are_twelve_sequences_about_axes_of_the_body_and_twelve_about_fixed_ones() -> None:
    assert len(SEQUENCES) == 12


def screw(axis: int, angle: float, slide: float) -> np.ndarray:
    T, (i, j) = np.eye(4), ((axis + 1) % 3, (axis + 2) % 3)
    T[i, i] = T[j, j] = np.cos(angle)
    T[i, j], T[j, i], T[axis, 3] = -np.sin(angle), np.sin(angle), slide
    return T


@pytest.mark.parametrize("axes", SEQUENCES)
@pytest.mark.parametrize("fixed", [False, True])
def test_rotation_sequences_in_dual_form(axes: tuple[int, int, int], fixed: bool) -> None:
    pairs = [(0.3, 0.1), (-0.8, 0.4), (1.2, -0.2)]
    found = homogeneous(
        dual_rotation_sequence(axes, [DualNumber(*pair) for pair in pairs], fixed=fixed)
    )
    steps = [screw(axis, *pair) for axis, pair in zip(axes, pairs, strict=True)]
    wanted = np.linalg.multi_dot(steps[::-1] if fixed else steps)
    np.testing.assert_allclose(found, wanted, atol=1e-15)


def test_denavit_and_hartenberg() -> None:
    theta, d, a, alpha = 0.4, 0.3, 0.2, -0.9
    found = homogeneous(dual_denavit_hartenberg(DualNumber(theta, d), DualNumber(alpha, a)))
    np.testing.assert_allclose(found, screw(2, theta, d) @ screw(0, alpha, a), atol=1e-15)


def test_dual_vectors_are_lines_and_wrenches() -> None:
    """A displacement keeps dual products: angles and distances of lines, and power."""
    rng = np.random.default_rng(0)
    a, b = (DualVector(*rng.normal(size=(2, 3))) for _ in range(2))
    d = dual_denavit_hartenberg(DualNumber(0.4, 0.3), DualNumber(-0.9, 0.2))
    np.testing.assert_allclose(
        number(d.to_fixed_axes(a).dot(d.to_fixed_axes(b))), number(a.dot(b)), rtol=1e-13
    )
    crossed, moved = d.to_fixed_axes(a.cross(b)), d.to_fixed_axes(a).cross(d.to_fixed_axes(b))
    for one, other in ((crossed.real, moved.real), (crossed.dual, moved.dual)):
        np.testing.assert_allclose(np.array(ca.DM(one)), np.array(ca.DM(other)), atol=1e-13)
    back = d.to_displaced_axes(d.to_fixed_axes(a))
    np.testing.assert_allclose(np.array(ca.DM(back.dual)).ravel(), a.dual, atol=1e-13)
    entries = [[number(x) for x in row] for row in d.dual_entries()]
    real = np.array([[x[0] for x in row] for row in entries])
    np.testing.assert_allclose(real @ real.T, np.eye(3), atol=1e-14)
