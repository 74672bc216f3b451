"""Forces and moments on a body that the mechanism gives as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import Array, Scalar
from ...mechanism import Wrench
from ..loads import Load
from ..tree import ForceElement
from ..values import Values
from ..world import World


@dataclass(frozen=True)
class AppliedWrench(ForceElement):
    """Force and moment on a frame or body, in the axes of another."""

    on: str
    axes: str
    force: Array
    moment: Array

    is_declared = True

    def loads(self, world: World, v: Array) -> list[Load]:
        link, point = world.point(self.on)
        R = world.axes(self.axes)
        return [Load(world.body(self.on), link, point, R @ self.force, R @ self.moment)]


def read_wrench(
    name: str, given: Wrench, values: Values, scope: dict[str, Scalar], freedoms: Mapping[str, int]
) -> AppliedWrench:
    force, moment = (
        ca.vertcat(*(values.expression(entry, scope) for entry in vector))
        for vector in (given.force, given.moment)
    )
    return AppliedWrench(name, given.on, given.axes, force, moment)
