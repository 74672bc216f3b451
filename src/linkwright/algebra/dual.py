"""Dual numbers a + εb with ε² = 0, and vectors of them: lines, screws, twists and wrenches.

A unit line vector is its direction plus ε times its moment about the origin. A displacement along
and about one axis is a rotation by a dual angle θ + εd. What holds for rotations of vectors holds,
component by component, for displacements of dual vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from .linear_algebra import Array, Scalar, cross, dot


@dataclass(frozen=True)
class DualNumber:
    """A dual number a + εb."""

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
    """The cosine of a dual angle: cos(θ + εd) = cos θ − εd sin θ (Agrawal, equation 11)."""
    return DualNumber(ca.cos(angle.real), -angle.dual * ca.sin(angle.real))


def dual_sine(angle: DualNumber) -> DualNumber:
    """The sine of a dual angle: sin(θ + εd) = sin θ + εd cos θ (Agrawal, equation 12)."""
    return DualNumber(ca.sin(angle.real), angle.dual * ca.cos(angle.real))


@dataclass(frozen=True)
class DualVector:
    """A vector of dual numbers: (ω, v) of a motion, or (force, moment) of a wrench."""

    real: Array
    dual: Array

    def __add__(self, other: DualVector) -> DualVector:
        return DualVector(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: DualVector) -> DualVector:
        return DualVector(self.real - other.real, self.dual - other.dual)

    def scale(self, factor: DualNumber) -> DualVector:
        """The vector times a dual number."""
        return DualVector(
            self.real * factor.real, self.dual * factor.real + self.real * factor.dual
        )

    def dot(self, other: DualVector) -> DualNumber:
        """The dual scalar product; of a twist and a wrench, its dual part is the power."""
        return DualNumber(
            dot(self.real, other.real), dot(self.real, other.dual) + dot(self.dual, other.real)
        )

    def cross(self, other: DualVector) -> DualVector:
        """The dual vector product of this vector and the other."""
        return DualVector(
            cross(self.real, other.real),
            cross(self.real, other.dual) + cross(self.dual, other.real),
        )


@dataclass(frozen=True)
class DualDisplacement:
    """The dual orthogonal matrix R + ε[p]×R of a frame displaced by (R, p).

    It maps components in the displaced frame to components in the fixed frame.
    """

    R: Array
    p: Array

    def to_fixed_axes(self, a: DualVector) -> DualVector:
        """The components of `a` in the fixed frame, given those in the displaced frame."""
        real = self.R @ a.real
        return DualVector(real, self.R @ a.dual + cross(self.p, real))

    def to_displaced_axes(self, a: DualVector) -> DualVector:
        """The components of `a` in the displaced frame, given those in the fixed frame."""
        return DualVector(self.R.T @ a.real, self.R.T @ (a.dual - cross(self.p, a.real)))

    def __matmul__(self, other: DualDisplacement) -> DualDisplacement:
        return DualDisplacement(self.R @ other.R, self.p + self.R @ other.p)

    def dual_entries(self) -> list[list[DualNumber]]:
        """The 3 × 3 dual numbers of the matrix, row by row."""
        columns = [self.to_fixed_axes(DualVector(np.eye(3)[k], np.zeros(3))) for k in range(3)]
        return [[DualNumber(c.real[i], c.dual[i]) for c in columns] for i in range(3)]


def dual_rotation(axis: int, angle: DualNumber) -> DualDisplacement:
    """The rotation and translation by a dual angle about x, y or z (`axis` 0, 1 or 2)."""
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
    """One of the 24 rotation sequences in dual form, about body axes or `fixed` axes."""
    total = DualDisplacement(np.eye(3), np.zeros(3))
    for axis, angle in zip(axes, angles, strict=True):
        step = dual_rotation(axis, angle)
        total = step @ total if fixed else total @ step
    return total


def dual_denavit_hartenberg(theta: DualNumber, alpha: DualNumber) -> DualDisplacement:
    """The Denavit–Hartenberg displacement: θ + εd about z, then α + εa about x."""
    return dual_rotation(2, theta) @ dual_rotation(0, alpha)
