"""Loops and constraints of a mechanism with their numbers as floats or symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import casadi as ca

from ..algebra.linear import IDENTITY, Scalar, without_dust
from ..mechanism import (
    CouplingConstraint,
    DistanceConstraint,
    DriveConstraint,
    EquationConstraint,
    GearConstraint,
    Joint,
    KnifeEdgeConstraint,
    Mechanism,
    RollingConstraint,
    SurfaceConstraint,
)
from .placements import alignment, motion_frame, placement_of
from .tree import Closure, Edge, Equation, Placed, Restraints, Rod, Surface, Wheel
from .values import Values

Scope = dict[str, Scalar]
Restraint = Closure | Equation | Rod | Surface | Wheel | Edge


def restraints_of(
    mechanism: Mechanism, values: Values, scope: Scope, bodies: Mapping[str, Placed]
) -> Restraints:
    """All loops, then all constraints, in the order of the file."""
    closures = [_closure(name, loop, values, bodies) for name, loop in mechanism.loops.items()]
    others = []
    for name, constraint in mechanism.constraints.items():
        values.at(f"constraints.{name}")
        others.append(_READERS[type(constraint)](name, constraint, values, scope))
    return Restraints((*closures, *others))


def moved(restraints: Restraints, change: Callable[[Placed], Placed]) -> Restraints:
    """The same with the frames of loops placed in other link frames."""
    return Restraints(
        tuple(
            replace(tie, at_parent=change(tie.at_parent), at_child=change(tie.at_child))
            if isinstance(tie, Closure)
            else tie
            for tie in restraints.ties
        )
    )


def _closure(name: str, loop: Joint, values: Values, bodies: Mapping[str, Placed]) -> Closure:
    values.at(f"loops.{name}")
    ends = []
    for body, origin, suffix in (
        (loop.parent, loop.origin, name),
        (loop.child, loop.child_origin, f"{name}_child"),
    ):
        place = bodies[body]
        R, p = placement_of(values, origin, suffix)
        ends.append(Placed(place.link, without_dust(place.R @ R), place.p + place.R @ p))
    kind, first, second = loop.kind, motion_frame(values, loop, name), IDENTITY
    if kind.has_motion_along("axis"):
        first = alignment(values, loop.axis, name)
    if kind.has_motion_along("axis2"):
        second = alignment(values, loop.second_axis, name, "axis2")
    pitch = values.scalar(loop.pitch, f"lead_{name}") if loop.pitch is not None else 0.0
    at_parent, at_child = ends
    bodies_tied = (loop.parent, loop.child)
    return Closure(name, kind, bodies_tied, at_parent, at_child, first, second, pitch)


def _equation(name: str, given: EquationConstraint, values: Values, scope: Scope) -> Equation:
    expression = given.position if given.position is not None else given.velocity
    assert expression is not None
    return Equation(name, values.expression(expression, scope), given.position is not None)


def _coupling(name: str, given: CouplingConstraint, values: Values, scope: Scope) -> Equation:
    x = scope[given.other] if given.other is not None else 0.0
    series = ca.SX(0)
    for power, number in enumerate(given.coefficients):
        series += values.scalar(number, f"c{power}_{name}") * x**power
    return Equation(name, scope[given.joint] - series)


def _gear(name: str, gear: GearConstraint, values: Values, scope: Scope) -> Equation:
    turned = sum(
        (values.scalar(factor, f"n_{q}_{name}") * scope[q] for q, factor in gear.factors.items()),
        ca.SX(0),
    )
    return Equation(name, turned - values.scalar(gear.offset, f"offset_{name}"))


def _drive(name: str, drive: DriveConstraint, values: Values, scope: Scope) -> Equation:
    return Equation(name, scope[drive.on] - values.expression(drive.position, scope))


def _rod(name: str, rod: DistanceConstraint, values: Values, scope: Scope) -> Rod:
    return Rod(name, rod.between, values.expression(rod.length, scope))


def _surface(name: str, given: SurfaceConstraint, values: Values, scope: Scope) -> Surface:
    xyz = ca.vertcat(*(ca.SX.sym(c) for c in "xyz"))
    local: Scope = dict(zip("xyz", ca.vertsplit(xyz), strict=True)) | {"t": scope["t"]}
    expression = values.expression(given.surface, local)
    return Surface(name, given.point, given.frame, xyz, ca.SX(expression))


def _wheel(name: str, given: RollingConstraint, values: Values, scope: Scope) -> Wheel:
    axle = alignment(values, given.axle, name, "axle")[:, 2]
    other = given.other_radius
    return Wheel(
        name, given.wheel, given.on, axle, values.scalar(given.radius, f"r_{name}"),
        None if other is None else values.scalar(other, f"r2_{name}"),
    )  # fmt: skip


def _edge(name: str, given: KnifeEdgeConstraint, values: Values, scope: Scope) -> Edge:
    normal = alignment(values, given.normal, name, "normal")[:, 2]
    return Edge(name, given.on, given.relative_to, normal)


_READERS: dict[type, Callable[[str, Any, Values, Scope], Restraint]] = {
    EquationConstraint: _equation,
    CouplingConstraint: _coupling,
    GearConstraint: _gear,
    DriveConstraint: _drive,
    DistanceConstraint: _rod,
    SurfaceConstraint: _surface,
    RollingConstraint: _wheel,
    KnifeEdgeConstraint: _edge,
}
