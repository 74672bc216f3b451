"""Checks and conversion of users' arguments: mechanisms, and numbers by name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from ..errors import ArgumentError, ExpressionError, type_in_words
from ..expressions import (
    NumberWithUnit,
    check_expression_dimension,
    expression_to_float,
    parse_expression,
    parse_unit,
)
from ..expressions import names_in_expression as names_in
from .coordinates import mechanism_names
from .mechanism import Mechanism
from .mechanism_units import ANGLE_OR_LENGTH, coordinate_units, velocity_units

_Given = TypeVar("_Given")

_VELOCITY_UNITS = {"rad": "rad/s", "m": "m/s"}
_ACCELERATION_UNITS = {"rad": "rad/s^2", "m": "m/s^2"}
_FORCE_UNITS = {"rad": "N*m", "m": "N"}
_UNITS_BY_ARGUMENT = {
    "qd0": _VELOCITY_UNITS,
    "qd": _VELOCITY_UNITS,
    "v": _VELOCITY_UNITS,
    "qdd": _ACCELERATION_UNITS,
    "vd": _ACCELERATION_UNITS,
    "torque": _FORCE_UNITS,
    "tau": _FORCE_UNITS,
    "step": {"rad": "rad", "m": "m"},
}
"""Units of generalized velocities, accelerations and forces, by that of the coordinate."""


def require_mechanism(given: object) -> Mechanism:
    """Return the mechanism itself; for anything else raise an error that says how to get one."""
    if isinstance(given, Mechanism):
        return given
    remedy = "give one made by load, gallery or Mechanism"
    if isinstance(given, str | Path) and "\n" not in str(given):
        maker = "load" if Path(given).suffix else "gallery"
        remedy = f"write {maker}({str(given)!r})"
    raise ArgumentError(f"{type_in_words(given)} is not a mechanism", remedy=remedy)


def read_coordinate_numbers(
    mechanism: Mechanism, given: _Given | Mapping[str, str], what: str
) -> _Given | dict[str, float]:
    """Return values by name in which text such as "30 deg" is converted to a number in SI units;
    anything but a mapping is returned unchanged. `what` is "q0", "q" or "rough" for coordinates,
    "qd0" or "qd" for generalized velocities, "qdd" for accelerations, "torque" or "tau" for
    generalized forces; others have no known unit. Lists may have one text for each run."""
    if not isinstance(given, Mapping) or not any(has_text(v) for v in given.values()):
        return cast("_Given", given)
    names, ways = mechanism_names(mechanism), velocity_units(mechanism)
    if what in ("q0", "q", "q1", "rough"):
        units = dict(zip(names.q, coordinate_units(mechanism), strict=True))
    else:
        known = _UNITS_BY_ARGUMENT.get(what, {})
        units = {n: known.get(u, ANGLE_OR_LENGTH) for n, u in zip(names.qd, ways, strict=True)}

    def read(name: object, value: Any) -> Any:
        if isinstance(value, str):
            unit = units.get(str(name), ANGLE_OR_LENGTH)
            return _read_coordinate_number(value, f"{what} of '{name}'", unit)
        return [read(name, one) for one in value] if has_text(value) else value

    return {name: read(name, value) for name, value in given.items()}


def check_constant_units(mechanism: Mechanism, given: Mapping[str, object], what: str) -> None:
    """Raise where a text without names, such as "3 kg" for a torque, has a unit of another kind."""
    constants = {
        name: text
        for name, text in given.items()
        if isinstance(text, str) and not names_in(parse_expression(text))
    }
    read_coordinate_numbers(mechanism, constants, what)


def has_text(value: object) -> bool:
    """Whether a value is text, or a list with one value for each run of which some are text."""
    if isinstance(value, np.ndarray):
        value = value.tolist() if value.dtype.kind in "OUT" else None
    return isinstance(value, str) or (isinstance(value, list | tuple) and any(map(has_text, value)))


def _read_coordinate_number(text: str, what: str, unit: str) -> float:
    """Return the number in SI units; its unit, if any, must have the dimension of `unit`."""
    try:
        expression = parse_expression(text)
        if names_in(expression):
            raise ExpressionError(
                f"'{text}' is not a number", remedy="give one, such as 0.5 or 30deg"
            )
        if isinstance(expression, NumberWithUnit) and unit != ANGLE_OR_LENGTH:
            _check_coordinate_number_unit(expression, text, unit)
        return expression_to_float(expression)
    except ExpressionError as error:
        raise error.within(what) from None


def _check_coordinate_number_unit(expression: NumberWithUnit, text: str, unit: str) -> None:
    """Raise where a number has a unit of another dimension than `unit`."""
    if unit == "1":
        raise ExpressionError(
            f"'{text}' has a unit", remedy="entries of quaternions are plain numbers"
        )
    try:
        check_expression_dimension(expression, parse_unit(unit).dimension, {})
    except ExpressionError:
        raise ExpressionError(f"'{text}' has the wrong unit", remedy=f"give it in {unit}") from None
