"""Points that stay on a surface."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import Array
from ...mechanism import SurfaceConstraint
from ..tree import Restraint
from ..values import Values
from .setting import Rows, Scope, Setting


@dataclass(frozen=True)
class Surface(Restraint):
    """A point on a surface that is fixed in a frame; an expression of the symbols `xyz`."""

    point: str
    frame: str
    xyz: Array
    expression: Array

    @property
    def ends(self) -> tuple[str, ...]:
        return self.point, self.frame

    def rows(self, setting: Setting) -> Rows:
        frame = setting.pose(self.frame)
        local = frame.R.T @ (setting.pose(self.point).p - frame.p)
        return Rows([ca.substitute(self.expression, self.xyz, local)])

    def units(self, count: int) -> list[str]:
        return [""] * count


def read_surface(name: str, given: SurfaceConstraint, values: Values, scope: Scope) -> Surface:
    xyz = ca.vertcat(*(ca.SX.sym(c) for c in "xyz"))
    local: Scope = dict(zip("xyz", ca.vertsplit(xyz), strict=True)) | {"t": scope["t"]}
    expression = values.expression(given.surface, local)
    return Surface(name, given.point, given.frame, xyz, ca.SX(expression))
