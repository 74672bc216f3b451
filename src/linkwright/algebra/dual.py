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
    """A dual number a + εb; +, − and × follow ε² = 0.

    Attributes
    ----------
    real, dual : float or casadi.SX
        a and b. Of a dual angle: the angle, rad, and the displacement, m.

    Examples
    --------
    >>> from linkwright.algebra.dual import DualNumber
    >>> DualNumber(2.0, 1.0) * DualNumber(3.0, 5.0)
    DualNumber(real=6.0, dual=13.0)
    """

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
    """Return the cosine of a dual angle: cos(θ + εd) = cos θ − εd sin θ (Agrawal, equation 11)."""
    return DualNumber(ca.cos(angle.real), -angle.dual * ca.sin(angle.real))


def dual_sine(angle: DualNumber) -> DualNumber:
    """Return the sine of a dual angle: sin(θ + εd) = sin θ + εd cos θ (Agrawal, equation 12)."""
    return DualNumber(ca.sin(angle.real), angle.dual * ca.cos(angle.real))


@dataclass(frozen=True)
class DualVector:
    """A vector of dual numbers: (ω, v) of a motion, or (force, moment) of a wrench.

    Attributes
    ----------
    real, dual : (3,) array or casadi.SX
        ω and v, rad/s and m/s; or force and moment, N and N m.
    """

    real: Array
    dual: Array

    def __add__(self, other: DualVector) -> DualVector:
        return DualVector(self.real + other.real, self.dual + other.dual)

    def __sub__(self, other: DualVector) -> DualVector:
        return DualVector(self.real - other.real, self.dual - other.dual)

    def scale(self, factor: DualNumber) -> DualVector:
        """Return the vector times a dual number, the `factor`."""
        return DualVector(
            self.real * factor.real, self.dual * factor.real + self.real * factor.dual
        )

    def dot(self, other: DualVector) -> DualNumber:
        """Return the dual scalar product with the `other` vector.

        Of a twist and a wrench, its dual part is the power, W.
        """
        return DualNumber(
            dot(self.real, other.real), dot(self.real, other.dual) + dot(self.dual, other.real)
        )

    def cross(self, other: DualVector) -> DualVector:
        """Return the dual vector product of this vector and the `other`."""
        return DualVector(
            cross(self.real, other.real),
            cross(self.real, other.dual) + cross(self.dual, other.real),
        )


@dataclass(frozen=True)
class DualDisplacement:
    """The dual orthogonal matrix R + ε[p]×R of a frame displaced by (R, p).

    It maps components in the displaced frame to components in the fixed frame; `@` composes
    displacements.

    Attributes
    ----------
    R : (3, 3) array or casadi.SX
        The rotation.
    p : (3,) array or casadi.SX
        The displacement of the origin, m.
    """

    R: Array
    p: Array

    def to_fixed_axes(self, a: DualVector) -> DualVector:
        """Return the components of `a` in the fixed frame, given those in the displaced frame."""
        real = self.R @ a.real
        return DualVector(real, self.R @ a.dual + cross(self.p, real))

    def to_displaced_axes(self, a: DualVector) -> DualVector:
        """Return the components of `a` in the displaced frame, given those in the fixed frame."""
        return DualVector(self.R.T @ a.real, self.R.T @ (a.dual - cross(self.p, a.real)))

    def __matmul__(self, other: DualDisplacement) -> DualDisplacement:
        return DualDisplacement(self.R @ other.R, self.p + self.R @ other.p)

    def dual_entries(self) -> list[list[DualNumber]]:
        """Return the 3 × 3 dual numbers of the matrix, row by row."""
        columns = [self.to_fixed_axes(DualVector(np.eye(3)[k], np.zeros(3))) for k in range(3)]
        return [[DualNumber(c.real[i], c.dual[i]) for c in columns] for i in range(3)]


def dual_rotation(axis: int, angle: DualNumber) -> DualDisplacement:
    """Return the rotation about an axis and the translation along it, by one dual angle.

    Parameters
    ----------
    axis : int
        0, 1 or 2 for x, y or z.
    angle : DualNumber
        θ + εd, rad and m.

    Returns
    -------
    DualDisplacement
        The rotation by θ and the translation by d.

    Examples
    --------
    >>> from linkwright.algebra.dual import DualNumber, dual_rotation
    >>> dual_rotation(2, DualNumber(0.0, 0.5)).p
    SX(@1=0, [@1, @1, 0.5])
    """
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
    """Return one of the 24 rotation sequences in dual form.

    Parameters
    ----------
    axes : sequence of int
        0, 1 or 2 for x, y or z, in order.
    angles : sequence of DualNumber
        A dual angle for each axis, rad and m.
    fixed : bool
        Turn about the fixed axes and not about those of the body.

    Returns
    -------
    DualDisplacement
        The displacement by all of them.

    Examples
    --------
    >>> from linkwright.algebra.dual import DualNumber, dual_rotation_sequence
    >>> steps = [DualNumber(0.0, 1.0), DualNumber(0.0, 2.0)]
    >>> dual_rotation_sequence([0, 2], steps).p
    SX([1, 0, 2])
    """
    total = DualDisplacement(np.eye(3), np.zeros(3))
    for axis, angle in zip(axes, angles, strict=True):
        step = dual_rotation(axis, angle)
        total = step @ total if fixed else total @ step
    return total


def dual_denavit_hartenberg(theta: DualNumber, alpha: DualNumber) -> DualDisplacement:
    """Return the Denavit–Hartenberg displacement: θ + εd about z, then α + εa about x.

    Parameters
    ----------
    theta, alpha : DualNumber
        θ + εd and α + εa, rad and m.

    Returns
    -------
    DualDisplacement
        The displacement from one frame of the table to the next.

    Examples
    --------
    >>> from linkwright.algebra.dual import DualNumber, dual_denavit_hartenberg
    >>> dual_denavit_hartenberg(DualNumber(0.0, 0.3), DualNumber(0.0, 0.4)).p
    SX([0.4, 0, 0.3])
    """
    return dual_rotation(2, theta) @ dual_rotation(0, alpha)
