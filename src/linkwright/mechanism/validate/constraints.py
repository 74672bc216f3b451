"""Checks of constraints and of where they are to close."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...expressions import Expression, Unit, fold, names
from ..bodies import GROUND
from ..constraints import (
    CouplingConstraint,
    DistanceConstraint,
    DriveConstraint,
    EquationConstraint,
    GearConstraint,
    KnifeEdgeConstraint,
    RollingConstraint,
    SurfaceConstraint,
)
from ..coordinates import Variable, names_of, variables_of
from ..joints import Joint
from .directions import check_direction
from .elements import check_expression
from .numbers import Scope, check_number, ratio_of_positions
from .structure import check_known, failure

if TYPE_CHECKING:
    from ..mechanism import Mechanism

Variables = dict[str, list[Variable]]


def check_constraints(mechanism: Mechanism, scope: Scope) -> None:
    """All constraints of a mechanism, the rest of which is right already."""
    for name, number in mechanism.assembly.items():
        check_known(name, names_of(mechanism).q, "coordinate", "assembly")
        scope.value(number, f"assembly.{name}")
    for k, name in enumerate(mechanism.independent):
        check_known(name, names_of(mechanism).qd, "speed", "independent")
        if name in mechanism.independent[:k]:
            raise failure(f"'{name}' is named twice", "independent", "name it once")
    if mechanism.independent and not (mechanism.loops or mechanism.constraints):
        raise failure("nothing depends on anything here", "independent", "remove it")
    checks = _Checks(mechanism, scope)
    for name, constraint in mechanism.constraints.items():
        checks.check(constraint, f"constraints.{name}")


class _Checks:
    def __init__(self, mechanism: Mechanism, scope: Scope) -> None:
        self.mechanism, self.scope = mechanism, scope
        self.variables: Variables = variables_of(mechanism) if mechanism.constraints else {}
        self.points = {GROUND: None, **mechanism.bodies, **mechanism.frames}

    def check(self, constraint: object, place: str) -> None:
        by_type: dict[type, Callable[[Any, str], None]] = {
            EquationConstraint: self.equation,
            CouplingConstraint: self.coupling,
            GearConstraint: self.gear,
            DriveConstraint: self.drive,
            DistanceConstraint: self.distance,
            SurfaceConstraint: self.surface,
            RollingConstraint: self.rolling,
            KnifeEdgeConstraint: self.knife_edge,
        }
        by_type[type(constraint)](constraint, place)

    def equation(self, constraint: EquationConstraint, place: str) -> None:
        _check_equation(constraint, place, self.variables, self.scope)

    def coupling(self, constraint: CouplingConstraint, place: str) -> None:
        _check_coupling(constraint, place, self.mechanism, self.scope)

    def coordinate(self, name: str, place: str) -> None:
        """A coordinate whose speed is its rate."""
        known = [
            word
            for word, meanings in self.variables.items()
            if len(meanings) == 1
            and meanings[0].kind == "coordinate"
            and f"d{word}" in self.variables
        ]
        check_known(name, known, "coordinate", place)

    def gear(self, gear: GearConstraint, place: str) -> None:
        if not gear.factors:
            raise failure("is empty", f"{place}.factors", "name the coordinates")
        for name, factor in gear.factors.items():
            self.coordinate(name, f"{place}.factors")
            if self.scope.value(factor, f"{place}.factors.{name}") == 0:
                raise failure("is zero", f"{place}.factors.{name}", "leave the coordinate out")
        self.scope.value(gear.offset, f"{place}.offset")

    def drive(self, drive: DriveConstraint, place: str) -> None:
        self.coordinate(drive.on, f"{place}.on")
        self.of_time(drive.position, f"{place}.position")

    def of_time(self, number: Expression, place: str) -> None:
        kinds = check_expression(number, place, self.variables, self.scope)
        if kinds - {"time"}:
            raise failure("depends on the motion", place, "give a function of t, or an equation")

    def two_points(self, place: str, **ends: str) -> None:
        for key, name in ends.items():
            check_known(name, self.points, "body or frame", f"{place}.{key}")
        if len(set(ends.values())) == 1:
            raise failure(
                "both ends are the same", f"{place}.{next(iter(ends))}", "name two points"
            )

    def distance(self, distance: DistanceConstraint, place: str) -> None:
        one, other = distance.between
        self.two_points(place, **{"between[0]": one, "between[1]": other})
        self.of_time(distance.length, f"{place}.length")
        if "t" not in names(distance.length):
            check_number(distance.length, "length", f"{place}.length", "m", self.scope)
            if self.scope.value(distance.length, f"{place}.length") <= 0:
                remedy = "give a length above 0, or close a spherical loop"
                raise failure("is no length", f"{place}.length", remedy)

    def surface(self, surface: SurfaceConstraint, place: str) -> None:
        self.two_points(place, point=surface.point, frame=surface.frame)
        local = {axis: [Variable("coordinate")] for axis in "xyz"} | {"t": [Variable("time")]}
        for axis in "xyz":
            if axis in self.mechanism.parameters:
                raise failure(f"'{axis}' is a parameter and a coordinate of the point", place,
                              "name the parameter otherwise")  # fmt: skip
        kinds = check_expression(surface.surface, f"{place}.surface", local, self.scope)
        if "coordinate" not in kinds:
            raise failure("uses none of x, y, z", f"{place}.surface", "give the surface's equation")

    def rolling(self, rolling: RollingConstraint, place: str) -> None:
        self.two_points(place, wheel=rolling.wheel, on=rolling.on)
        check_direction(rolling.axle, f"{place}.axle", self.scope)
        check_number(rolling.radius, "radius", f"{place}.radius", "m", self.scope)
        radius = self.scope.value(rolling.radius, f"{place}.radius")
        if radius <= 0:
            raise failure("is no radius", f"{place}.radius", "give a length above 0")
        if rolling.other_radius is not None:
            here = f"{place}.other_radius"
            check_number(rolling.other_radius, "other_radius", here, "m", self.scope)
            other = self.scope.value(rolling.other_radius, here)
            if other == 0 or radius + other == 0:
                raise failure("leaves no distance between the axles", here, "give another radius")
            if rolling.side is not None:
                raise failure("only planes have sides", f"{place}.side", "remove it")

    def knife_edge(self, edge: KnifeEdgeConstraint, place: str) -> None:
        self.two_points(place, on=edge.on, relative_to=edge.relative_to)
        check_direction(edge.normal, f"{place}.normal", self.scope)


def _check_equation(
    constraint: EquationConstraint, place: str, variables: Variables, scope: Scope
) -> None:
    key = "velocity" if constraint.position is None else "position"
    number, where = getattr(constraint, key), f"{place}.{key}"
    kinds = check_expression(number, where, variables, scope)
    scope.dimension(number, where)
    if key == "position":
        if "speed" in kinds:
            raise failure("uses a speed", where, "give it as velocity = …")
        if "coordinate" not in kinds:
            raise failure("uses no coordinate", where, "name one")
        return
    if "speed" not in kinds:
        raise failure("uses no speed", where, "name one, such as dq1 for that of q1")
    if fold(number, _Degree(), lambda name: _is_speed(name, variables)) > 1:
        raise failure("is not linear in the speeds", where, "make it linear")


def _is_speed(name: str, variables: Variables) -> int:
    return int(name in variables and variables[name][0].kind == "speed")


class _Degree:
    """The degree of an expression in the speeds; 2 stands for all that is not linear."""

    def number(self, value: Fraction) -> int:
        return 0

    def pi(self) -> int:
        return 0

    def add(self, terms: Sequence[int]) -> int:
        return max(terms)

    def multiply(self, factors: Sequence[int]) -> int:
        return sum(factors)

    def negate(self, operand: int) -> int:
        return operand

    def reciprocal(self, operand: int) -> int:
        return 2 * operand

    def power(self, base: int, exponent: int) -> int:
        return 2 * (base + exponent)

    def call(self, function: str, arguments: Sequence[int]) -> int:
        return 2 * sum(arguments)

    def measure(self, value: int, unit: Unit) -> int:
        return value


def _check_coupling(
    coupling: CouplingConstraint, place: str, mechanism: Mechanism, scope: Scope
) -> None:
    joint = _coupled(coupling.joint, f"{place}.joint", mechanism)
    other = None
    if coupling.other is not None:
        other = _coupled(coupling.other, f"{place}.other", mechanism)
        if coupling.other == coupling.joint:
            raise failure("is the joint itself", f"{place}.other", "name another joint")
    elif len(coupling.coefficients) != 1:
        raise failure("has no other joint", place, "give other = …, or one coefficient")
    for power, number in enumerate(coupling.coefficients):
        here = f"{place}.coefficients[{power}]"
        check_number(number, "coefficients", here, "any", scope)
        scope.check_dimension(number, here, ratio_of_positions(joint, other, power))


def _coupled(name: str, place: str, mechanism: Mechanism) -> Joint:
    check_known(name, mechanism.joints, "joint", place)
    joint = mechanism.joints[name]
    if len(joint.freedoms) != 1 or not joint.moves:
        raise failure(f"'{name}' has not one coordinate of its own", place, "couple another joint")
    return joint
