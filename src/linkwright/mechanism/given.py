"""What users give to functions in place of a mechanism, or of numbers: checked, and read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import ArgumentError, ExpressionError, kind_of
from ..expressions import Measured, check_dimension, parse, parse_unit, to_float
from ..expressions import names as names_in
from .coordinates import names_of
from .mechanism import Mechanism
from .units import EITHER, coordinate_units, speed_units

_RATES = {"rad": "rad/s", "m": "m/s"}
_ACCELERATIONS = {"rad": "rad/s^2", "m": "m/s^2"}
_FORCES = {"rad": "N*m", "m": "N"}
_OF_SPEED = {
    "qd0": _RATES, "qd": _RATES, "v": _RATES, "qdd": _ACCELERATIONS, "vd": _ACCELERATIONS,
    "torque": _FORCES, "tau": _FORCES, "step": {"rad": "rad", "m": "m"},
}  # fmt: skip
"""Units of generalized velocities, accelerations and forces, by that of the coordinate."""


def require_mechanism(given: object) -> Mechanism:
    """The mechanism itself; anything else is an error that says how to get one."""
    if isinstance(given, Mechanism):
        return given
    remedy = "give one made by load, gallery or Mechanism"
    if isinstance(given, str | Path) and "\n" not in str(given):
        maker = "load" if Path(given).suffix else "gallery"
        remedy = f"write {maker}({str(given)!r})"
    raise ArgumentError(f"{kind_of(given)} is not a mechanism", remedy=remedy)


def numbers_from_text(mechanism: Mechanism, given: object, what: str) -> Any:
    """Values by name in which text such as "30 deg" is a number in SI units; what is not a mapping
    stays as it is. `what` is "q0" or "q" for coordinates, "qd0" or "qd" for generalized velocities,
    "qdd" for accelerations, "torque" or "tau" for generalized forces; others have no known unit."""
    if not isinstance(given, Mapping) or not any(isinstance(v, str) for v in given.values()):
        return given
    names, ways = names_of(mechanism), speed_units(mechanism)
    if what in ("q0", "q", "q1"):
        units = dict(zip(names.q, coordinate_units(mechanism), strict=True))
    else:
        known = _OF_SPEED.get(what, {})
        units = {n: known.get(u, EITHER) for n, u in zip(names.qd, ways, strict=True)}
    return {
        name: _number(value, f"{what} of '{name}'", units.get(str(name), EITHER))
        if isinstance(value, str)
        else value
        for name, value in given.items()
    }


def _number(text: str, what: str, unit: str) -> float:
    """The number in SI units; a unit behind it must have the dimension of `unit`."""
    try:
        expression = parse(text)
        if names_in(expression):
            raise ExpressionError(
                f"'{text}' is not a number", remedy="give one, such as 0.5 or 30deg"
            )
        if isinstance(expression, Measured) and unit != EITHER:
            _check_unit(expression, text, unit)
        return to_float(expression)
    except ExpressionError as error:
        raise error.within(what) from None


def _check_unit(expression: Measured, text: str, unit: str) -> None:
    if unit == "1":
        raise ExpressionError(
            f"'{text}' has a unit", remedy="entries of quaternions are plain numbers"
        )
    try:
        check_dimension(expression, parse_unit(unit).dimension, {})
    except ExpressionError:
        raise ExpressionError(f"'{text}' is in a wrong unit", remedy=f"give it in {unit}") from None
