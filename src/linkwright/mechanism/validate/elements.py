"""Checks of forces, actuators and coordinates: what they act on, the names in expressions."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...expressions import Expression, is_variable, names, parse_unit
from ..bodies import GROUND
from ..coordinates import Variable, coordinate_names, dotted, variables_of
from ..elements import JointForce, Spring, Wrench
from ..parts import quantities
from .numbers import Scope, check_number, check_size
from .structure import check_known, failure

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Variables = dict[str, list[Variable]]


def check_elements(mechanism: Mechanism, scope: Scope) -> None:
    """All forces of a mechanism, the rest of which is right already."""
    if mechanism.coordinates is not None:
        _check_coordinates(mechanism, scope)
    if not (mechanism.forces or mechanism.actuators):
        return
    variables = variables_of(mechanism)
    points = {GROUND: None, **mechanism.bodies, **mechanism.frames}
    for name, force in mechanism.forces.items():
        if isinstance(force, Spring):
            _check_spring(force, f"forces.{name}", points, scope)
        elif isinstance(force, JointForce):
            _check_joint_force(force, f"forces.{name}", mechanism, variables, scope)
        else:
            _check_wrench(force, f"forces.{name}", points, variables, scope)
    for name, actuator in mechanism.actuators.items():
        kinds = check_expression(actuator.moves, f"actuators.{name}.moves", variables, scope)
        if kinds != {"coordinate"}:
            where = f"actuators.{name}.moves"
            raise failure("is no function of coordinates", where, "name coordinates, such as q1")


def _check_joint_force(
    force: JointForce, place: str, mechanism: Mechanism, variables: Variables, scope: Scope
) -> None:
    known = [
        dotted(name, freedom.ending)
        for name, joint in mechanism.joints.items()
        if joint.moves
        for freedom in joint.freedoms
    ]
    check_known(force.on, known, "freedom", f"{place}.on")
    check_expression(force.force, f"{place}.force", variables, scope)


def _check_coordinates(mechanism: Mechanism, scope: Scope) -> None:
    """As many as joint variables, each of which is given; no name means two things."""
    chosen = mechanism.coordinates
    assert chosen is not None
    for name, joint in mechanism.joints.items():
        if joint.by_quaternion and joint.moves:
            remedy = f"give '{name}' rotation = \"cardan\""
            raise failure("cannot take the place of quaternions", "coordinates", remedy)
    variables = [
        variable
        for name, joint in mechanism.joints_depth_first()
        for variable in coordinate_names(name, joint)
    ]
    own = chosen.own
    for k, name in enumerate(own):
        speeds = {f"d{other}" for other in (*own, *variables)}
        taken = name in own[:k] or name in mechanism.parameters or name in variables
        if taken or name == "t" or name in speeds or not is_variable(name):
            raise failure(f"'{name}' is taken or no name", "coordinates", "choose another name")
    if chosen.joints:
        missing = [v for v in variables if v not in chosen.joints]
        unknown = [v for v in chosen.joints if v not in variables]
        for what, found in (("is not given", missing), ("is no joint variable", unknown)):
            if found:
                known = f"the joint variables are {', '.join(variables)}"
                raise failure(f"'{found[0]}' {what}", "coordinates.joints", known)
    if len(own) != len(variables):
        what = f"{len(own)} coordinates for {len(variables)} joint variables"
        raise failure(what, "coordinates", "give as many")
    table, names_allowed = ("joints", own) if chosen.joints else ("new", tuple(variables))
    for key, number in getattr(chosen, table).items():
        scope.check_names(number, f"coordinates.{table}.{key}", dict.fromkeys(names_allowed))


def _check_spring(spring: Spring, place: str, points: Collection[str], scope: Scope) -> None:
    for i, end in enumerate(spring.between):
        check_known(end, points, "body or frame", f"{place}.between[{i}]")
    if spring.between[0] == spring.between[1]:
        raise failure("both ends are the same", f"{place}.between", "name two points")
    for key, number, quantity in quantities(spring):
        check_number(number, key, f"{place}.{key}", quantity.unit, scope)


def _check_wrench(
    wrench: Wrench, place: str, points: Collection[str], variables: Variables, scope: Scope
) -> None:
    check_known(wrench.on, points, "body or frame", f"{place}.on")
    check_known(wrench.axes, points, "body or frame", f"{place}.axes")
    if wrench.on == GROUND:
        raise failure("ground does not move", f"{place}.on", "name what the force acts on")
    for key, number, quantity in quantities(wrench):
        check_expression(number, f"{place}.{key}", variables, scope)
        scope.check_dimension(number, f"{place}.{key}", parse_unit(quantity.unit).dimension)


def check_expression(
    number: Expression, place: str, variables: Variables, scope: Scope
) -> frozenset[str]:
    """Names that are known and mean one thing; returns the kinds of the variables used."""
    scope.check_names(number, place, variables)
    used = sorted(names(number) & variables.keys())
    for name in used:
        if len(variables[name]) > 1:
            both = " and ".join(map(str, variables[name]))
            raise failure(f"'{name}' is {both}", place, "rename one of the joints")
    if not used:
        check_size(scope.value(number, place), place)
    return frozenset(variables[name][0].kind for name in used)
