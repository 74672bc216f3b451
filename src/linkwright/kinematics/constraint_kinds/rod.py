"""Rods without mass: two points keep their distance."""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.linear import Scalar, dot
from ...mechanism import DistanceConstraint
from ..sketches import RodSketch
from ..tree import Restraint
from ..values import Values
from .setting import Rows, Scope, Setting


@dataclass(frozen=True)
class Rod(Restraint):
    """The origins of two frames or bodies keep a distance."""

    between: tuple[str, str]
    length: Scalar

    @property
    def ends(self) -> tuple[str, ...]:
        return self.between

    def rows(self, setting: Setting) -> Rows:
        one, other = (setting.pose(name).p for name in self.between)
        apart = other - one
        return Rows([(dot(apart, apart) - self.length**2) / (2 * self.length)])

    @property
    def sketches(self) -> tuple[RodSketch, ...]:
        return (RodSketch(self.between),)


def read_rod(name: str, rod: DistanceConstraint, values: Values, scope: Scope) -> Rod:
    return Rod(name, rod.between, values.expression(rod.length, scope))
