"""Checks of constraints, and of the rough values near which they close."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...expressions import Expression
from ...expressions.expression_degree import expression_degree
from ..bodies import GROUND
from ..coordinates import VariableMeaning, mechanism_names, variable_meanings
from ..joints import Joint
from .axis_checks import check_part_direction
from .force_checks import check_mechanism_expression
from .part_number_checks import MechanismParameterScope, check_part_number, position_ratio_dimension
from .structure_checks import check_known_part_name, mechanism_error

if TYPE_CHECKING:
    from ..mechanism import Mechanism

VariableTable = dict[str, list[VariableMeaning]]


def check_constraints(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check all constraints of a mechanism whose other parts have been checked."""
    for name, number in mechanism.assembly.items():
        check_known_part_name(name, mechanism_names(mechanism).q, "coordinate", "assembly")
        scope.finite_value(number, f"assembly.{name}")
    for k, name in enumerate(mechanism.independent):
        check_known_part_name(name, mechanism_names(mechanism).qd, "speed", "independent")
        if name in mechanism.independent[:k]:
            raise mechanism_error(f"'{name}' is named twice", "independent", "name it once")
    if mechanism.independent and not (mechanism.loops or mechanism.constraints):
        raise mechanism_error("the mechanism has no constraints", "independent", "remove it")
    checks = ConstraintValidator(mechanism, scope)
    for name, constraint in mechanism.constraints.items():
        constraint.check(f"constraints.{name}", checks)


class ConstraintValidator:
    """Checks that kinds of constraints use: each method raises an error with its place and a
    remedy."""

    def __init__(self, mechanism: Mechanism, scope: MechanismParameterScope) -> None:
        self.mechanism, self.scope = mechanism, scope
        self.variables: VariableTable = (
            variable_meanings(mechanism) if mechanism.constraints else {}
        )
        self.points = {GROUND: None, **mechanism.bodies, **mechanism.frames}

    def check_coordinate(self, name: str, place: str) -> None:
        """Raise unless the name is a coordinate whose velocity is its rate."""
        known = [
            word
            for word, meanings in self.variables.items()
            if len(meanings) == 1
            and meanings[0].kind == "coordinate"
            and not meanings[0].length
            and f"d{word}" in self.variables
        ]
        check_known_part_name(name, known, "coordinate", place)

    def check_single_joint(self, name: str, place: str) -> Joint:
        """Return the joint; raise unless it has exactly one coordinate of its own."""
        check_known_part_name(name, self.mechanism.joints, "joint", place)
        joint = self.mechanism.joints[name]
        if len(joint.dofs) != 1 or not joint.moves:
            what = f"'{name}' does not have exactly one coordinate of its own"
            raise mechanism_error(what, place, "couple another joint")
        return joint

    def check_length(self, name: str, place: str) -> None:
        """Raise unless the name is a length."""
        check_known_part_name(name, self.mechanism.lengths, "length", place)

    def check_two_points(self, place: str, **ends: str) -> None:
        """Raise unless the names, by their keys, are two different frames or bodies."""
        for key, name in ends.items():
            check_known_part_name(name, self.points, "body or frame", f"{place}.{key}")
        if len(set(ends.values())) == 1:
            raise mechanism_error(
                "both ends are the same", f"{place}.{next(iter(ends))}", "name two points"
            )

    def check_direction(self, axis: Sequence[Expression], place: str) -> None:
        """Raise where a direction is zero or has wrong units."""
        check_part_direction(axis, place, self.scope)

    def check_number(self, number: Expression, key: str, place: str, unit: str) -> None:
        """Raise unless the number is finite and has the dimension of `unit`."""
        check_part_number(number, key, place, unit, self.scope)

    def check_ratio_dimension(
        self, number: Expression, place: str, joint: Joint, other: Joint | None, power: int
    ) -> None:
        """Raise unless the number has the units of one joint's position over a power of
        another's."""
        self.scope.check_dimension(number, place, position_ratio_dimension(joint, other, power))

    def check_expression(self, number: Expression, place: str) -> frozenset[str]:
        """Return which of coordinate, speed and time an expression uses; raise where a name is
        unknown."""
        return check_mechanism_expression(number, place, self.variables, self.scope)

    def check_point_expression(self, number: Expression, place: str) -> frozenset[str]:
        """Return which of coordinate and time an expression of a point's x, y, z and of t uses."""
        local = {axis: [VariableMeaning("coordinate")] for axis in "xyz"} | {
            "t": [VariableMeaning("time")]
        }
        return check_mechanism_expression(number, place, local, self.scope)

    def check_time_function(self, number: Expression, place: str) -> None:
        """Raise where an expression depends on coordinates or velocities."""
        if self.check_expression(number, place) - {"time"}:
            raise mechanism_error(
                "depends on the motion", place, "give a function of t, or an equation"
            )

    def is_linear_in_velocities(self, number: Expression) -> bool:
        """Return whether an expression is at most linear in the velocities."""
        return expression_degree(number, self._velocity_degree) <= 1

    def _velocity_degree(self, name: str) -> int:
        """Return 1 for the name of a velocity, else 0."""
        return int(name in self.variables and self.variables[name][0].kind == "speed")
