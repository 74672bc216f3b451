"""Checks of numbers: names are defined, units fit, sizes are reasonable, signs make sense."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...errors import ExpressionError, suggest_remedy
from ...expressions import (
    ZERO,
    Dimension,
    ExactNumber,
    Expression,
    InferredDimension,
    Number,
    check_expression_dimension,
    evaluate_expression_exactly,
    infer_expression_dimension,
    names_in_expression,
    parse_unit,
)
from ..joint_kinds import DegreeOfFreedom
from ..joints import Joint
from ..parts import PartNumberField, Vector, part_numbers
from .structure_checks import mechanism_error

if TYPE_CHECKING:
    from ..mechanism import Mechanism

MAX_NUMBER = 1e50
MIN_NUMBER = 1e-150
"""Sizes between which products of a few numbers neither overflow nor vanish."""

_NONNEGATIVE_FIELDS = {
    "mass",
    "added_mass",
    "damping",
    "friction",
    "friction_backward",
    "stribeck",
    "smoothing",
    "armature",
    "motor.inertia",
    "limits.velocity",
    "limits.effort",
    "limits.effort_backward",
    "length",
    "friction_coefficient",
    "breaks.force",
    "breaks.moment",
    "gamma",
    "area",
    "density",
    "longitudinal",
    "cornering",
}
_AT_LEAST_ONE_FIELDS = {"static_ratio", "exponent"}
_AT_MOST_ONE_FIELDS = {"restitution", "limits.restitution"}
_POSITIVE_FIELDS = {"pin_radius", "beta", "low_speed"}
_ROTATION_UNITS = {
    "position": "rad", "speed": "rad/s", "effort": "N*m", "damping": "N*m*s/rad",
    "stiffness": "N*m/rad", "ratio": "1",
}  # fmt: skip
_TRANSLATION_UNITS = {
    "position": "m", "speed": "m/s", "effort": "N", "damping": "N*s/m",
    "stiffness": "N/m", "ratio": "1/m", "energy": "J",
}  # fmt: skip


@dataclass(frozen=True)
class MechanismParameterScope:
    """The parameters that expressions may use: their values, and the dimensions that units
    imply."""

    values: Mapping[str, ExactNumber]
    dimensions: Mapping[str, InferredDimension]

    def check_names(self, number: Expression, place: str, others: Collection[str] = ()) -> None:
        """Raise where an expression uses a name that is neither a parameter nor one of `others`."""
        for name in sorted(names_in_expression(number)):
            if name not in self.values and name not in others:
                nearest = suggest_remedy(name, [*self.values, *others])
                remedy = f"give it under [parameters]; {nearest}"
                raise mechanism_error(f"uses '{name}', which is not given", place, remedy)

    def check_dimension(self, number: Expression, place: str, expected: Dimension) -> None:
        """Raise where the units of an expression contradict the expected dimension."""
        try:
            check_expression_dimension(number, expected, self.dimensions)
        except ExpressionError as error:
            raise mechanism_error(error.what, place, error.remedy) from None

    def infer_dimension(self, number: Expression, place: str) -> InferredDimension:
        """Return the dimension of the number that its units imply; raise where they contradict."""
        try:
            return infer_expression_dimension(number, self.dimensions)
        except ExpressionError as error:
            raise mechanism_error(error.what, place, error.remedy) from None

    def finite_value(self, number: Expression, place: str) -> float:
        """Return the number's value as a float; raise where it is not finite."""
        if isinstance(number, Number):
            return finite_part_number(number.value, place)
        self.check_names(number, place)
        try:
            return finite_part_number(evaluate_expression_exactly(number, self.values), place)
        except ExpressionError as error:
            raise mechanism_error(error.what, place, error.remedy) from None


def finite_part_number(value: ExactNumber, place: str) -> float:
    """Return an exact number as a float; raise where it overflows or underflows."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise mechanism_error("is not a finite number", place, f"stay below {MAX_NUMBER:g}")
    if number == 0 and value != 0:
        raise mechanism_error("is too near zero", place, "write 0")
    return number


def check_part_magnitude(value: float, place: str) -> None:
    """Raise where a number is so large or small that products of a few overflow or vanish."""
    if abs(value) > MAX_NUMBER:
        raise mechanism_error(f"is too large ({value:g})", place, f"stay below {MAX_NUMBER:g}")
    if 0 < abs(value) < MIN_NUMBER:
        raise mechanism_error(f"is too near zero ({value:g})", place, "write 0")


def mechanism_parameter_scope(mechanism: Mechanism) -> MechanismParameterScope:
    """Return the checked parameters of a mechanism."""
    for name, value in mechanism.values.items():
        check_part_magnitude(finite_part_number(value, f"parameters.{name}"), f"parameters.{name}")
    return MechanismParameterScope(mechanism.values, _parameter_dimensions(mechanism))


def evaluate_mechanism_parameters(parameters: Mapping[str, Expression]) -> dict[str, ExactNumber]:
    """Return the exact values of all parameters, each after those that it uses."""
    values: dict[str, ExactNumber] = {}
    for first in parameters:
        pending = {} if first in values else {first: _mechanism_parameters_used(first, parameters)}
        while pending:
            name = next(reversed(pending))
            other = next((used for used in pending[name] if used not in values), None)
            if other is None:
                values[name] = _evaluate_mechanism_parameter(name, parameters, values)
                del pending[name]
            elif other in pending:
                started = list(pending)
                circle = " -> ".join([*started[started.index(other) :], other])
                where = f"parameters.{other}"
                raise mechanism_error(
                    f"depends on itself ({circle})", where, "give one of them a number"
                )
            else:
                pending[other] = _mechanism_parameters_used(other, parameters)
    return values


def _mechanism_parameters_used(name: str, parameters: Mapping[str, Expression]) -> Iterator[str]:
    """Yield the names in a parameter's expression; raise where one is not a parameter."""
    for other in sorted(names_in_expression(parameters[name])):
        if other not in parameters:
            remedy = f"give it under [parameters]; {suggest_remedy(other, list(parameters))}"
            where = f"parameters.{name}"
            raise mechanism_error(f"uses '{other}', which is not given", where, remedy)
        yield other


def _evaluate_mechanism_parameter(
    name: str, parameters: Mapping[str, Expression], values: Mapping[str, ExactNumber]
) -> ExactNumber:
    """Return the exact value of a parameter from those that it uses."""
    try:
        return evaluate_expression_exactly(parameters[name], values)
    except ExpressionError as error:
        raise mechanism_error(error.what, f"parameters.{name}", error.remedy) from None


def _parameter_dimensions(mechanism: Mechanism) -> dict[str, InferredDimension]:
    """Return the dimensions of the parameters by their units, each after those that it uses."""
    dimensions: dict[str, InferredDimension] = {}
    scope = MechanismParameterScope(mechanism.values, dimensions)
    for name in mechanism.values:
        found = scope.infer_dimension(mechanism.parameters[name], f"parameters.{name}")
        dimensions[name] = InferredDimension(found.dimension)
    return dimensions


def check_part_numbers(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check every number of bodies, joints, frames, loops and `approximate`, and gravity."""
    for table in ("bodies", "joints", "frames", "loops"):
        for name, part in getattr(mechanism, table).items():
            for key, number, quantity in part_numbers(part):
                if key.startswith("shapes["):  # which have checks of their own
                    continue
                unit = _part_field_unit(quantity, part, key)
                check_part_number(number, key, f"{table}.{name}.{key}", unit, scope)
            if isinstance(part, Joint):
                _check_joint_limits(part, f"{table}.{name}.limits.lower", scope)
                _check_mimic_multiplier(part, f"{table}.{name}.mimic.multiplier", mechanism, scope)
    for i, number in enumerate(mechanism.gravity):
        check_part_number(number, "gravity", f"gravity[{i}]", "m/s^2", scope)
    if mechanism.approximate is not None:
        for key, number, quantity in part_numbers(mechanism.approximate):
            check_part_number(number, key, f"approximate.{key}", quantity.unit, scope)


def check_part_number(
    number: Expression, key: str, place: str, unit: str, scope: MechanismParameterScope
) -> None:
    """Check names, unit, size and sign of one number; `key` is its field inside the part."""
    if number == ZERO:  # fits everywhere, and is most of all numbers
        return
    if unit != "any" and not isinstance(number, Number):
        scope.check_dimension(number, place, parse_unit(unit).dimension)
    value = scope.finite_value(number, place)
    field = key.partition("[")[0]
    if not field.startswith("limits."):  # where files write 1e308 for none
        check_part_magnitude(value, place)
    if value < 0 and field in _NONNEGATIVE_FIELDS:
        raise mechanism_error(f"is negative ({value:g} {unit})", place, "give zero or more")
    if field in _AT_LEAST_ONE_FIELDS and value < 1:
        raise mechanism_error(f"is below 1 ({value:g})", place, "give 1 or more")
    if field in _AT_MOST_ONE_FIELDS and not 0 <= value <= 1:
        raise mechanism_error(
            f"is not between 0 and 1 ({value:g})", place, "give a number from 0 to 1"
        )
    if field in _POSITIVE_FIELDS and value <= 0:
        raise mechanism_error(f"is not above zero ({value:g} {unit})", place, "give more than 0")


def _part_field_unit(quantity: PartNumberField, part: object, key: str) -> str:
    """Return the unit of a field; for fields of joints it depends on whether the degree of freedom
    turns or slides."""
    if quantity.unit not in _ROTATION_UNITS or not isinstance(part, Joint):
        return quantity.unit
    index = int(key[key.rindex("[") + 1 : -1]) if key.endswith("]") else 0
    freedoms = part.dofs
    if quantity.unit == "position" and part.by_quaternion:
        freedoms = tuple(DegreeOfFreedom(c, c not in ("x", "y", "z")) for c in part.coordinates)
    if index >= len(freedoms):
        return "any"
    return (_ROTATION_UNITS if freedoms[index].is_rotation else _TRANSLATION_UNITS)[quantity.unit]


def sliding_unit(kind: str) -> str:
    """Return the unit of a field along a length: the given one, or that of a kind of quantity."""
    return _TRANSLATION_UNITS.get(kind, kind)


def _check_joint_limits(joint: Joint, place: str, scope: MechanismParameterScope) -> None:
    """Raise where a lower limit of a joint is above the upper one."""
    lower, upper = joint.limits.lower, joint.limits.upper
    if lower is None or upper is None:
        return
    lowers, uppers = (
        limit if isinstance(limit, tuple) else (limit,) * len(joint.coordinates)
        for limit in (lower, upper)
    )
    check_limit_order(lowers, uppers, place, scope)


def check_limit_order(
    lowers: Vector, uppers: Vector, place: str, scope: MechanismParameterScope
) -> None:
    """Raise where a lower limit is above the upper one."""
    for low, high in zip(lowers, uppers, strict=True):
        least, most = scope.finite_value(low, place), scope.finite_value(high, place)
        if least > most:
            raise mechanism_error(
                f"is above the upper limit ({least:g} > {most:g})", place, "swap them"
            )


def _check_mimic_multiplier(
    joint: Joint, place: str, mechanism: Mechanism, scope: MechanismParameterScope
) -> None:
    """Raise where a multiplier has wrong units, or the product along a chain of followers is
    extreme."""
    if joint.mimic is None:
        return
    leader = mechanism.joints[joint.mimic.joint]
    scope.check_dimension(joint.mimic.multiplier, place, position_ratio_dimension(joint, leader, 1))
    total, follower = 1.0, joint
    while follower.mimic is not None:
        total *= scope.finite_value(follower.mimic.multiplier, place)
        if abs(total) > MAX_NUMBER or 0 < abs(total) < MIN_NUMBER:
            what = f"together with those that it follows is {total:g}"
            raise mechanism_error(what, place, f"stay between {MIN_NUMBER:g} and {MAX_NUMBER:g}")
        follower = mechanism.joints[follower.mimic.joint]


def position_ratio_dimension(joint: Joint, other: Joint | None, power: int) -> Dimension:
    """Return the dimension of c in q of `joint` = c · (q of `other`)^power; angles have none."""
    slides = [0 if each is None or each.dofs[0].is_rotation else 1 for each in (joint, other)]
    return (0, slides[0] - power * slides[1], 0)
