"""Ellipsoids that roll without slipping on a plane.

With the plane's normal m in the axes of the ellipsoid and its semi-axes A = diag(a, b, c), the
lowest point is −A² m/h below the centre, at the depth h = √(mᵀA² m).
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, dot
from ...mechanism import RollingEllipsoidConstraint
from ..kinematic_tree import KinematicTree, Restraint
from ..parameter_values import KinematicParameters
from ..sketches import EllipsoidSketch
from .body_states import ConstrainedBodyStates, ConstraintRows, SymbolScope


@dataclass(frozen=True)
class EllipsoidRestraint(Restraint):
    """An ellipsoid that rolls on the plane z = 0 of the frame `on`; `side` is +1 or −1."""

    ellipsoid: str
    on: str
    semi_axes: tuple[Scalar, Scalar, Scalar]
    side: float

    @property
    def attached_names(self) -> tuple[str, ...]:
        """The frame of the ellipsoid, and that of the plane."""
        return self.ellipsoid, self.on

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return the rows of contact (positions) and of rolling without slip (velocities)."""
        own, plane = setting.frame_pose(self.ellipsoid), setting.frame_pose(self.on)
        n = self.side * plane.R[:, 2]
        m, squares = own.R.T @ n, ca.vertcat(*(ca.SX(a) ** 2 for a in self.semi_axes))
        depth = ca.sqrt(dot(m, squares * m))
        contact: Array = own.p - own.R @ (squares * m) / depth
        slip = setting.point_velocity(self.ellipsoid, contact) - setting.point_velocity(
            self.on, contact
        )
        return ConstraintRows(
            [dot(n, own.p - plane.p) - depth], [dot(slip, plane.R[:, k]) for k in (0, 1)]
        )

    @property
    def sketches(self) -> tuple[EllipsoidSketch, ...]:
        """The ellipsoid, as pictures show it."""
        return (EllipsoidSketch(self.ellipsoid, self.semi_axes),)


def read_ellipsoid_restraint(
    name: str,
    given: RollingEllipsoidConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> EllipsoidRestraint:
    """Return the restraint of an ellipsoid with its semi-axes."""
    a, b, c = (
        values.read_scalar(number, f"{letter}_{name}")
        for letter, number in zip("abc", given.semi_axes, strict=True)
    )
    return EllipsoidRestraint(
        name, given.ellipsoid, given.on, (a, b, c), -1.0 if given.side == "-z" else 1.0
    )
