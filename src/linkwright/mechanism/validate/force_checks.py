"""Checks of forces, actuators, chosen coordinates and generalized speeds: their ends and names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...expressions import Expression, is_expression_name, names_in_expression, parse_unit
from ..bodies import GROUND
from ..coordinates import (
    VariableMeaning,
    joint_coordinate_name,
    joint_variable_names,
    variable_meanings,
)
from ..parts import Vector
from .actuator_checks import check_actuator
from .axis_checks import check_part_direction
from .part_number_checks import MechanismParameterScope, check_part_magnitude, check_part_number
from .structure_checks import check_known_part_name, mechanism_error

if TYPE_CHECKING:
    from ..mechanism import Mechanism

VariableTable = dict[str, list[VariableMeaning]]


def check_force_elements(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check all forces of a mechanism whose other parts have been checked."""
    if mechanism.coordinates is not None:
        _check_chosen_coordinates(mechanism, scope)
    if not (mechanism.forces or mechanism.actuators):
        return
    checks = ForceElementValidator(mechanism, scope)
    for name, force in mechanism.forces.items():
        force.check(f"forces.{name}", checks)
    for name, actuator in mechanism.actuators.items():
        check_actuator(actuator, f"actuators.{name}", checks)


def check_generalized_speeds(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check that generalized speeds have names of their own and depend on velocities."""
    variables = variable_meanings(mechanism) if mechanism.speeds else {}
    for name, expression in mechanism.speeds.items():
        place = f"speeds.{name}"
        taken = name in mechanism.parameters or name in variables
        if taken or not is_expression_name(name):
            raise mechanism_error(
                f"'{name}' is taken, or not a valid name", place, "choose another name"
            )
        if "speed" not in check_mechanism_expression(expression, place, variables, scope):
            raise mechanism_error(
                "does not depend on a velocity", place, "write u = Y q̇ + Z, with rates such as dq1"
            )


class ForceElementValidator:
    """Checks that kinds of force elements use: each method raises an error with its place and a
    remedy."""

    def __init__(self, mechanism: Mechanism, scope: MechanismParameterScope) -> None:
        self.mechanism, self.scope = mechanism, scope
        self.variables = variable_meanings(mechanism)
        self.points = {GROUND: None, **mechanism.bodies, **mechanism.frames}

    def check_point(self, name: str, place: str) -> None:
        """Raise unless the name is a frame or body."""
        check_known_part_name(name, self.points, "body or frame", place)

    def check_two_points(self, ends: tuple[str, str], place: str) -> None:
        """Raise unless the names are two different frames or bodies."""
        for k, end in enumerate(ends):
            self.check_point(end, f"{place}[{k}]")
        if ends[0] == ends[1]:
            raise mechanism_error("both ends are the same", place, "name two points")

    def check_moving_point(self, name: str, place: str) -> None:
        """Raise unless the name is a frame or body other than ground."""
        self.check_point(name, place)
        if name == GROUND:
            raise mechanism_error("ground does not move", place, "name what the force acts on")

    def check_direction(self, axis: Vector, place: str) -> None:
        """Raise where a direction is zero or has wrong units."""
        check_part_direction(axis, place, self.scope)

    def check_dof(self, name: str, place: str) -> None:
        """Raise unless the name is a degree of freedom of a joint."""
        known = [
            joint_coordinate_name(joint_name, freedom.ending)
            for joint_name, joint in self.mechanism.joints.items()
            if joint.moves
            for freedom in joint.dofs
        ]
        check_known_part_name(name, known, "freedom", place)

    def check_length(self, name: str, place: str) -> None:
        """Raise unless the name is a length."""
        check_known_part_name(name, self.mechanism.lengths, "length", place)

    def check_number(self, number: Expression, key: str, place: str, unit: str) -> None:
        """Raise unless the number is finite and has the dimension of `unit`."""
        check_part_number(number, key, place, unit, self.scope)

    def check_expression(self, number: Expression, place: str) -> frozenset[str]:
        """Return which of coordinate, speed and time an expression uses; raise where a name is
        unknown."""
        return check_mechanism_expression(number, place, self.variables, self.scope)

    def check_dimension(self, number: Expression, place: str, unit: str) -> None:
        """Raise where the units in an expression contradict the given one."""
        self.scope.check_dimension(number, place, parse_unit(unit).dimension)


def _check_chosen_coordinates(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check that every joint variable is given once, by no more coordinates than there are joint
    variables."""
    chosen = mechanism.coordinates
    assert chosen is not None
    for name, joint in mechanism.joints.items():
        if joint.by_quaternion and joint.moves:
            remedy = f"give '{name}' rotation = \"cardan\""
            raise mechanism_error("cannot take the place of quaternions", "coordinates", remedy)
    variables = joint_variable_names(mechanism)
    own = chosen.own_names
    for k, name in enumerate(own):
        speeds = {f"d{other}" for other in (*own, *variables)}
        taken = name in own[:k] or name in mechanism.parameters or name in variables
        if taken or name == "t" or name in speeds or not is_expression_name(name):
            raise mechanism_error(
                f"'{name}' is taken, or not a valid name", "coordinates", "choose another name"
            )
    if chosen.joints:
        missing = [v for v in variables if v not in chosen.joints]
        unknown = [v for v in chosen.joints if v not in variables]
        for what, found in (("is not given", missing), ("is not a joint variable", unknown)):
            if found:
                known = f"the joint variables are {', '.join(variables)}"
                raise mechanism_error(f"'{found[0]}' {what}", "coordinates.joints", known)
    if len(own) > len(variables) or (chosen.new and len(own) < len(variables)):
        what = f"{len(own)} coordinates for {len(variables)} joint variables"
        remedy = "give as many"
        if len(own) < len(variables):
            remedy += ", or give the joint variables as functions of fewer, in coordinates.joints"
        raise mechanism_error(what, "coordinates", remedy)
    table, names_allowed = ("joints", own) if chosen.joints else ("new", tuple(variables))
    for key, number in getattr(chosen, table).items():
        allowed = dict.fromkeys((*names_allowed, "t"))
        scope.check_names(number, f"coordinates.{table}.{key}", allowed)


def check_mechanism_expression(
    number: Expression, place: str, variables: VariableTable, scope: MechanismParameterScope
) -> frozenset[str]:
    """Return the kinds of the variables used; raise where a name is unknown or ambiguous."""
    scope.check_names(number, place, variables)
    used = sorted(names_in_expression(number) & variables.keys())
    for name in used:
        if len(variables[name]) > 1:
            both = " and ".join(map(str, variables[name]))
            raise mechanism_error(f"'{name}' is {both}", place, "rename one of the joints")
    if not used:
        check_part_magnitude(scope.finite_value(number, place), place)
    return frozenset(variables[name][0].kind for name in used)
