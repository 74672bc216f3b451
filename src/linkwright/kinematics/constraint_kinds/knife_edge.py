"""Blades that cannot slip sideways."""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.linear import Array, dot
from ...mechanism import KnifeEdgeConstraint
from ..placements import alignment
from ..sketches import BladeSketch
from ..tree import Restraint
from ..values import Values
from .setting import Rows, Scope, Setting


@dataclass(frozen=True)
class Edge(Restraint):
    """A blade that does not slip along `normal`, a direction of its own frame."""

    on: str
    relative_to: str
    normal: Array

    @property
    def ends(self) -> tuple[str, ...]:
        return self.on, self.relative_to

    def rows(self, setting: Setting) -> Rows:
        pose = setting.pose(self.on)
        own, base = (setting.velocity(name, pose.p) for name in self.ends)
        return Rows(speeds=[dot(own - base, pose.R @ self.normal)])

    @property
    def sketches(self) -> tuple[BladeSketch, ...]:
        return (BladeSketch(self.on, self.normal),)


def read_edge(name: str, given: KnifeEdgeConstraint, values: Values, scope: Scope) -> Edge:
    normal = alignment(values, given.normal, name, "normal")[:, 2]
    return Edge(name, given.on, given.relative_to, normal)
