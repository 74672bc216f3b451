"""Dual numbers a + εb with ε² = 0, and vectors of them: lines, screws, twists and wrenches.

A unit line vector is its direction plus ε times its moment about the origin. A displacement along
and about one axis is a turn by a dual angle θ + εd; what holds of rotations of vectors holds of
displacements of dual vectors, component by component.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from .linear_algebra import Array, Scalar, cross, dot


@dataclass(frozen=True)
class DualNumber:
    """a + εb."""

    real: Scalar
    dual: Scalar = 0.0

    def __add__(self, other: DualNumber) -> DualNumber:
        return DualNumber(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: DualNumber) -> DualNumber:
        return DualNumber(self.real - other.real, self.dual - other.dual)

    def __neg__(self) -> DualNumber:
        return DualNumber(-self.real, -self.dual)

    def __mul__(self, other: DualNumber) -> DualNumber:
        return DualNumber(self.real * other.real, self.real * other.dual + self.dual * other.real)


DUAL_UNIT = DualNumber(0.0, 1.0)
DUAL_ONE, DUAL_ZERO = DualNumber(1.0), DualNumber(0.0)


def dual_cosine(angle: DualNumber) -> DualNumber:
    """Cos(θ + εd) = cos θ − εd sin θ: Agrawal (11)."""
    return DualNumber(ca.cos(angle.real), -angle.dual * ca.sin(angle.real))


def dual_sine(angle: DualNumber) -> DualNumber:
    """Sin(θ + εd) = sin θ + εd cos θ: Agrawal (12)."""
    return DualNumber(ca.sin(angle.real), angle.dual * ca.cos(angle.real))


@dataclass(frozen=True)
class DualVector:
    """A vector of dual numbers: (ω, v) of a motion, (force, moment) of a wrench."""

    real: Array
    dual: Array

    def __add__(self, other: DualVector) -> DualVector:
        return DualVector(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: DualVector) -> DualVector:
        return DualVector(self.real - other.real, self.dual - other.dual)

    def scale(self, factor: DualNumber) -> DualVector:
        return DualVector(
            self.real * factor.real, self.dual * factor.real + self.real * factor.dual
        )

    def dot(self, other: DualVector) -> DualNumber:
        """The dual scalar product; its dual part is the power for a twist and a wrench."""
        return DualNumber(
            dot(self.real, other.real), dot(self.real, other.dual) + dot(self.dual, other.real)
        )

    def cross(self, other: DualVector) -> DualVector:
        return DualVector(
            cross(self.real, other.real),
            cross(self.real, other.dual) + cross(self.dual, other.real),
        )


@dataclass(frozen=True)
class DualDisplacement:
    """A dual orthogonal matrix R + ε[p]×R: components in a frame displaced by (R, p) to those
    in the fixed one."""

    R: Array
    p: Array

    def to_fixed_axes(self, a: DualVector) -> DualVector:
        real = self.R @ a.real
        return DualVector(real, self.R @ a.dual + cross(self.p, real))

    def to_displaced_axes(self, a: DualVector) -> DualVector:
        return DualVector(self.R.T @ a.real, self.R.T @ (a.dual - cross(self.p, a.real)))

    def __matmul__(self, other: DualDisplacement) -> DualDisplacement:
        return DualDisplacement(self.R @ other.R, self.p + self.R @ other.p)

    def dual_entries(self) -> list[list[DualNumber]]:
        """The nine dual numbers of the matrix."""
        columns = [self.to_fixed_axes(DualVector(np.eye(3)[k], np.zeros(3))) for k in range(3)]
        return [[DualNumber(c.real[i], c.dual[i]) for c in columns] for i in range(3)]


def dual_rotation(axis: int, angle: DualNumber) -> DualDisplacement:
    """Turn and slide by a dual angle about x, y or z (0, 1, 2)."""
    c, s = ca.cos(angle.real), ca.sin(angle.real)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = ca.SX.zeros(3, 3)
    R[axis, axis], R[i, i], R[i, j], R[j, i], R[j, j] = 1, c, -s, s, c
    p = ca.SX.zeros(3)
    p[axis] = angle.dual
    return DualDisplacement(R, p)


def dual_rotation_sequence(
    axes: Sequence[int], angles: Sequence[DualNumber], *, fixed: bool = False
) -> DualDisplacement:
    """One of the 24 rotation sequences in dual form: about axes of the body, or fixed ones."""
    total = DualDisplacement(np.eye(3), np.zeros(3))
    for axis, angle in zip(axes, angles, strict=True):
        step = dual_rotation(axis, angle)
        total = step @ total if fixed else total @ step
    return total


def dual_denavit_hartenberg(theta: DualNumber, alpha: DualNumber) -> DualDisplacement:
    """Two dual displacements: θ + εd about z, then α + εa about x."""
    return dual_rotation(2, theta) @ dual_rotation(0, alpha)
