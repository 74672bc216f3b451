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

from .linear import Array, Scalar, cross, dot


@dataclass(frozen=True)
class Dual:
    """a + εb."""

    real: Scalar
    dual: Scalar = 0.0

    def __add__(self, other: Dual) -> Dual:
        return Dual(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: Dual) -> Dual:
        return Dual(self.real - other.real, self.dual - other.dual)

    def __neg__(self) -> Dual:
        return Dual(-self.real, -self.dual)

    def __mul__(self, other: Dual) -> Dual:
        return Dual(self.real * other.real, self.real * other.dual + self.dual * other.real)


EPSILON = Dual(0.0, 1.0)
ONE, ZERO = Dual(1.0), Dual(0.0)


def cosine(angle: Dual) -> Dual:
    """Cos(θ + εd) = cos θ − εd sin θ: Agrawal (11)."""
    return Dual(ca.cos(angle.real), -angle.dual * ca.sin(angle.real))


def sine(angle: Dual) -> Dual:
    """Sin(θ + εd) = sin θ + εd cos θ: Agrawal (12)."""
    return Dual(ca.sin(angle.real), angle.dual * ca.cos(angle.real))


@dataclass(frozen=True)
class DualVector:
    """A vector of dual numbers: (ω, v) of a motion, (force, moment) of a wrench."""

    real: Array
    dual: Array

    def __add__(self, other: DualVector) -> DualVector:
        return DualVector(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: DualVector) -> DualVector:
        return DualVector(self.real - other.real, self.dual - other.dual)

    def times(self, factor: Dual) -> DualVector:
        return DualVector(
            self.real * factor.real, self.dual * factor.real + self.real * factor.dual
        )

    def dot(self, other: DualVector) -> Dual:
        """For a twist and a wrench, the dual part is the power."""
        return Dual(
            dot(self.real, other.real), dot(self.real, other.dual) + dot(self.dual, other.real)
        )

    def cross(self, other: DualVector) -> DualVector:
        return DualVector(
            cross(self.real, other.real),
            cross(self.real, other.dual) + cross(self.dual, other.real),
        )


@dataclass(frozen=True)
class Displacement:
    """A dual orthogonal matrix R + ε[p]×R: components in a frame displaced by (R, p) to those
    in the fixed one."""

    R: Array
    p: Array

    def out(self, a: DualVector) -> DualVector:
        real = self.R @ a.real
        return DualVector(real, self.R @ a.dual + cross(self.p, real))

    def into(self, a: DualVector) -> DualVector:
        return DualVector(self.R.T @ a.real, self.R.T @ (a.dual - cross(self.p, a.real)))

    def __matmul__(self, other: Displacement) -> Displacement:
        return Displacement(self.R @ other.R, self.p + self.R @ other.p)

    def entries(self) -> list[list[Dual]]:
        """The nine dual numbers of the matrix."""
        columns = [self.out(DualVector(np.eye(3)[k], np.zeros(3))) for k in range(3)]
        return [[Dual(c.real[i], c.dual[i]) for c in columns] for i in range(3)]


def about_axis(axis: int, angle: Dual) -> Displacement:
    """Turn and slide by a dual angle about x, y or z (0, 1, 2)."""
    c, s = ca.cos(angle.real), ca.sin(angle.real)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = ca.SX.zeros(3, 3)
    R[axis, axis], R[i, i], R[i, j], R[j, i], R[j, j] = 1, c, -s, s, c
    p = ca.SX.zeros(3)
    p[axis] = angle.dual
    return Displacement(R, p)


def sequence(axes: Sequence[int], angles: Sequence[Dual], *, fixed: bool = False) -> Displacement:
    """One of the 24 rotation sequences in dual form: about axes of the body, or fixed ones."""
    total = Displacement(np.eye(3), np.zeros(3))
    for axis, angle in zip(axes, angles, strict=True):
        step = about_axis(axis, angle)
        total = step @ total if fixed else total @ step
    return total


def denavit_hartenberg(theta: Dual, alpha: Dual) -> Displacement:
    """Two dual displacements: θ + εd about z, then α + εa about x."""
    return about_axis(2, theta) @ about_axis(0, alpha)
