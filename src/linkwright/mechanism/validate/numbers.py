"""Numbers: names given, units right, values of a sane size, signs that make sense."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ExpressionError, suggest
from ...expressions import (
    ZERO,
    Dimension,
    Dimensioned,
    Exact,
    Expression,
    Number,
    check_dimension,
    dimension_of,
    evaluate,
    names,
    parse_unit,
)
from ..joint_kinds import Freedom
from ..joints import Joint
from ..parts import Quantity, quantities
from .structure import failure

if TYPE_CHECKING:
    from ..mechanism import Mechanism

LARGEST = 1e50
SMALLEST = 1e-150
"""Sizes between which products of a few numbers neither overflow nor vanish."""

_NEVER_NEGATIVE = {
    "mass", "damping", "friction", "smoothing", "motor.inertia", "limits.velocity", "limits.effort",
    "length", "friction_coefficient", "breaks.force", "breaks.moment",
}  # fmt: skip
_AT_LEAST_ONE = {"static_ratio", "exponent"}
_AT_MOST_ONE = {"restitution", "limits.restitution"}
_ABOVE_ZERO = {"pin_radius"}
_UNITS_OF_TURNING = {
    "position": "rad", "speed": "rad/s", "effort": "N*m", "damping": "N*m*s/rad",
    "stiffness": "N*m/rad", "ratio": "1",
}  # fmt: skip
_UNITS_OF_SLIDING = {
    "position": "m", "speed": "m/s", "effort": "N", "damping": "N*s/m",
    "stiffness": "N/m", "ratio": "1/m",
}  # fmt: skip


@dataclass(frozen=True)
class Scope:
    """The parameters that expressions may use: their values, and what units tell of them."""

    values: Mapping[str, Exact]
    dimensions: Mapping[str, Dimensioned]

    def check_names(self, number: Expression, place: str, others: Collection[str] = ()) -> None:
        for name in sorted(names(number)):
            if name not in self.values and name not in others:
                nearest = suggest(name, [*self.values, *others])
                remedy = f"give it under [parameters]; {nearest}"
                raise failure(f"uses '{name}', which is not given", place, remedy)

    def check_dimension(self, number: Expression, place: str, expected: Dimension) -> None:
        try:
            check_dimension(number, expected, self.dimensions)
        except ExpressionError as error:
            raise failure(error.what, place, error.remedy) from None

    def dimension(self, number: Expression, place: str) -> Dimensioned:
        """What units tell of the number; they must not contradict each other."""
        try:
            return dimension_of(number, self.dimensions)
        except ExpressionError as error:
            raise failure(error.what, place, error.remedy) from None

    def value(self, number: Expression, place: str) -> float:
        """The number's value, which must be finite."""
        if isinstance(number, Number):
            return as_float(number.value, place)
        self.check_names(number, place)
        try:
            return as_float(evaluate(number, self.values), place)
        except ExpressionError as error:
            raise failure(error.what, place, error.remedy) from None


def as_float(value: Exact, place: str) -> float:
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise failure("is no finite number", place, f"stay below {LARGEST:g}")
    if number == 0 and value != 0:
        raise failure("is too near zero", place, "write 0")
    return number


def check_size(value: float, place: str) -> None:
    if abs(value) > LARGEST:
        raise failure(f"is too large ({value:g})", place, f"stay below {LARGEST:g}")
    if 0 < abs(value) < SMALLEST:
        raise failure(f"is too near zero ({value:g})", place, "write 0")


def scope_of(mechanism: Mechanism) -> Scope:
    """The checked parameters of a mechanism."""
    for name, value in mechanism.values.items():
        check_size(as_float(value, f"parameters.{name}"), f"parameters.{name}")
    return Scope(mechanism.values, _parameter_dimensions(mechanism))


def parameter_values(parameters: Mapping[str, Expression]) -> dict[str, Exact]:
    """The values of all parameters, each behind those that it uses."""
    values: dict[str, Exact] = {}
    for first in parameters:
        pending = {} if first in values else {first: _uses(first, parameters)}
        while pending:
            name = next(reversed(pending))
            other = next((used for used in pending[name] if used not in values), None)
            if other is None:
                values[name] = _parameter_value(name, parameters, values)
                del pending[name]
            elif other in pending:
                started = list(pending)
                circle = " -> ".join([*started[started.index(other) :], other])
                where = f"parameters.{other}"
                raise failure(f"depends on itself ({circle})", where, "give one of them a number")
            else:
                pending[other] = _uses(other, parameters)
    return values


def _uses(name: str, parameters: Mapping[str, Expression]) -> Iterator[str]:
    for other in sorted(names(parameters[name])):
        if other not in parameters:
            remedy = f"give it under [parameters]; {suggest(other, list(parameters))}"
            where = f"parameters.{name}"
            raise failure(f"uses '{other}', which is not given", where, remedy)
        yield other


def _parameter_value(
    name: str, parameters: Mapping[str, Expression], values: Mapping[str, Exact]
) -> Exact:
    try:
        return evaluate(parameters[name], values)
    except ExpressionError as error:
        raise failure(error.what, f"parameters.{name}", error.remedy) from None


def _parameter_dimensions(mechanism: Mechanism) -> dict[str, Dimensioned]:
    """What units tell of the parameters, in an order in which each knows those it uses."""
    dimensions: dict[str, Dimensioned] = {}
    scope = Scope(mechanism.values, dimensions)
    for name in mechanism.values:
        found = scope.dimension(mechanism.parameters[name], f"parameters.{name}")
        dimensions[name] = Dimensioned(found.dimension)
    return dimensions


def check_numbers(mechanism: Mechanism, scope: Scope) -> None:
    """Every number of bodies, joints and frames, and gravity."""
    for table in ("bodies", "joints", "frames", "loops"):
        for name, part in getattr(mechanism, table).items():
            for key, number, quantity in quantities(part):
                unit = _unit_of(quantity, part, key)
                check_number(number, key, f"{table}.{name}.{key}", unit, scope)
            if isinstance(part, Joint):
                _check_ranges(part, f"{table}.{name}.limits.lower", scope)
                _check_multiplier(part, f"{table}.{name}.mimic.multiplier", mechanism, scope)
    for i, number in enumerate(mechanism.gravity):
        check_number(number, "gravity", f"gravity[{i}]", "m/s^2", scope)


def check_number(number: Expression, key: str, place: str, unit: str, scope: Scope) -> None:
    """Names, unit, size and sign of one number; `key` is its field inside the part."""
    if number == ZERO:  # fits everywhere, and is most of all numbers
        return
    if unit != "any" and not isinstance(number, Number):
        scope.check_dimension(number, place, parse_unit(unit).dimension)
    value = scope.value(number, place)
    field = key.partition("[")[0]
    if not field.startswith("limits."):  # where files write 1e308 for none
        check_size(value, place)
    if value < 0 and field in _NEVER_NEGATIVE:
        raise failure(f"is negative ({value:g} {unit})", place, "give zero or more")
    if field in _AT_LEAST_ONE and value < 1:
        raise failure(f"is below 1 ({value:g})", place, "give 1 or more")
    if field in _AT_MOST_ONE and not 0 <= value <= 1:
        raise failure(f"is not between 0 and 1 ({value:g})", place, "give a number from 0 to 1")
    if field in _ABOVE_ZERO and value <= 0:
        raise failure(f"is not above zero ({value:g} {unit})", place, "give more than 0")


def _unit_of(quantity: Quantity, part: object, key: str) -> str:
    """The unit of a field; for fields of joints, by whether the freedom turns or slides."""
    if quantity.unit not in _UNITS_OF_TURNING or not isinstance(part, Joint):
        return quantity.unit
    index = int(key[key.rindex("[") + 1 : -1]) if key.endswith("]") else 0
    freedoms = part.freedoms
    if quantity.unit == "position" and part.by_quaternion:
        freedoms = tuple(Freedom(c, c not in ("x", "y", "z")) for c in part.coordinates)
    if index >= len(freedoms):
        return "any"
    return (_UNITS_OF_TURNING if freedoms[index].turns else _UNITS_OF_SLIDING)[quantity.unit]


def _check_ranges(joint: Joint, place: str, scope: Scope) -> None:
    """No lower limit above the upper one."""
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower is None or upper is None:
        return
    lowers, uppers = (
        limit if isinstance(limit, tuple) else (limit,) * len(joint.coordinates)
        for limit in (lower, upper)
    )
    for low, high in zip(lowers, uppers, strict=True):
        least, most = scope.value(low, place), scope.value(high, place)
        if least > most:
            raise failure(f"is above the upper limit ({least:g} > {most:g})", place, "swap them")


def _check_multiplier(joint: Joint, place: str, mechanism: Mechanism, scope: Scope) -> None:
    if joint.mimic is None:
        return
    leader = mechanism.joints[joint.mimic.joint]
    scope.check_dimension(joint.mimic.multiplier, place, ratio_of_positions(joint, leader, 1))
    total, follower = 1.0, joint
    while follower.mimic is not None:
        total *= scope.value(follower.mimic.multiplier, place)
        if abs(total) > LARGEST or 0 < abs(total) < SMALLEST:
            what = f"together with those that it follows is {total:g}"
            raise failure(what, place, f"stay between {SMALLEST:g} and {LARGEST:g}")
        follower = mechanism.joints[follower.mimic.joint]


def ratio_of_positions(joint: Joint, other: Joint | None, power: int) -> Dimension:
    """The dimension of c in q of `joint` = c · (q of `other`)^power; angles have none."""
    slides = [0 if each is None or each.freedoms[0].turns else 1 for each in (joint, other)]
    return (0, slides[0] - power * slides[1], 0)
