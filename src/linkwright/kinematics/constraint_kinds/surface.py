"""Points that stay on a surface."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array
from ...mechanism import SurfaceConstraint
from ..kinematic_tree import KinematicTree, Restraint
from ..parameter_values import KinematicParameters
from .body_states import ConstrainedBodyStates, ConstraintRows, SymbolScope


@dataclass(frozen=True)
class SurfaceRestraint(Restraint):
    """A point on a surface that is fixed in a frame; an expression of the symbols `xyz`."""

    point: str
    frame: str
    xyz: Array
    expression: Array

    @property
    def attached_names(self) -> tuple[str, ...]:
        """The point, and the frame that carries the surface."""
        return self.point, self.frame

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return one row of positions: the surface's equation at the point."""
        frame = setting.frame_pose(self.frame)
        local = frame.R.T @ (setting.frame_pose(self.point).p - frame.p)
        return ConstraintRows([ca.substitute(self.expression, self.xyz, local)])

    def row_units(self, count: int) -> list[str]:
        """Return empty units: those of the surface's equation are not known."""
        return [""] * count


def read_surface_restraint(
    name: str,
    given: SurfaceConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> SurfaceRestraint:
    """Return the restraint of a point on a surface, an expression of its x, y, z and of t."""
    xyz = ca.vertcat(*(ca.SX.sym(c) for c in "xyz"))
    local: SymbolScope = dict(zip("xyz", ca.vertsplit(xyz), strict=True)) | {"t": scope["t"]}
    expression = values.read_motion_expression(given.surface, local)
    return SurfaceRestraint(name, given.point, given.frame, xyz, ca.SX(expression))
