"""Checks of named lengths: their points, the coordinates that they combine, their laws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...expressions import ZERO, Expression, parse_unit
from ..coordinates import VariableMeaning, rated_coordinate_names
from ..lengths import LENGTH_RATE_SYMBOL, LENGTH_SYMBOL, Length
from ..parts import part_numbers
from .force_checks import ForceElementValidator, check_mechanism_expression
from .part_number_checks import (
    MechanismParameterScope,
    check_limit_order,
    check_part_number,
    sliding_unit,
)
from .structure_checks import check_known_part_name, mechanism_error

if TYPE_CHECKING:
    from ..mechanism import Mechanism

_LAWS = {"force": (LENGTH_SYMBOL, LENGTH_RATE_SYMBOL), "energy": (LENGTH_SYMBOL,)}
"""Keys that are expressions of the length, and the names that each may use."""


def check_lengths(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check all lengths of a mechanism whose bodies, joints and frames have been checked."""
    if not mechanism.lengths:
        return
    checks = ForceElementValidator(mechanism, scope)
    known, is_linear = rated_coordinate_names(mechanism), dict[str, bool]()
    for name, length in mechanism.lengths.items():
        place = f"lengths.{name}"
        if name in known:
            raise mechanism_error(f"'{name}' is a coordinate too", place, "rename the length")
        _check_path(length, place, checks)
        for key, factor in length.factors.items():
            check_known_part_name(key, known, "coordinate or length above", f"{place}.factors")
            if scope.finite_value(factor, f"{place}.factors.{key}") == 0:
                raise mechanism_error("is zero", f"{place}.factors.{key}", "leave it out")
            if length.armature != ZERO and key in mechanism.lengths and not is_linear[key]:
                what = f"moves with '{key}', which is not a combination of coordinates"
                raise mechanism_error(what, f"{place}.armature", "give bodies mass")
        is_linear[name] = not length.path and all(is_linear.get(k, True) for k in length.factors)
        _check_numbers(length, place, scope)
        known.append(name)


def _check_path(length: Length, place: str, checks: ForceElementValidator) -> None:
    """Raise where a point is unknown, or stands twice in a row."""
    for k, point in enumerate(length.path):
        checks.check_point(point, f"{place}.path[{k}]")
        if k and point == length.path[k - 1]:
            raise mechanism_error(
                f"'{point}' stands twice in a row", f"{place}.path[{k}]", "remove one"
            )


def _check_numbers(length: Length, place: str, scope: MechanismParameterScope) -> None:
    """Check numbers and laws; a linear combination has no units of its own."""
    for key, number, quantity in part_numbers(length):
        unit = sliding_unit(quantity.unit) if length.path else "any"
        if key in _LAWS:
            _check_law(number, key, f"{place}.{key}", unit, scope)
        else:
            check_part_number(number, key, f"{place}.{key}", unit, scope)
    pairs = {
        "rest[0]": length.rest_range,
        "limits.lower": (length.limits.lower, length.limits.upper),
    }
    for key, (lower, upper) in pairs.items():
        if lower is not None and upper is not None:
            check_limit_order((lower,), (upper,), f"{place}.{key}", scope)


def _check_law(
    law: Expression, key: str, place: str, unit: str, scope: MechanismParameterScope
) -> None:
    """Check the names and units of a law of force or energy."""
    names = _LAWS[key]
    for name in names:
        if name in scope.values:
            what = f"'{name}' is a parameter and stands for the length here"
            raise mechanism_error(what, place, "rename the parameter")
    local = {name: [VariableMeaning("coordinate")] for name in names}
    check_mechanism_expression(law, place, local, scope)
    if unit != "any":
        scope.check_dimension(law, place, parse_unit(unit).dimension)
