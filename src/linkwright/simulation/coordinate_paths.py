"""Prescribed motions: coordinates over time, with their first and second rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..expressions import parse_expression
from ..kinematics.parameter_values import read_kinematic_expression
from ..mechanism import Mechanism, check_constant_units, mechanism_names
from ..number_checks import check_number
from ..types import Floats
from .time_tables import read_time_table

CoordinateFunction = Callable[[Floats], tuple[Floats, Floats, Floats]]
"""Values, rates and second rates of one coordinate at an array of times."""

PathRecord = str | float | list[list[float]]
"""A motion in the form that files store: an expression, a number, or times and values."""


@dataclass(frozen=True)
class CoordinatePath:
    """Some coordinates as functions of time; `written` is the form that a file stores."""

    names: tuple[str, ...]
    functions: tuple[CoordinateFunction, ...]
    written: Mapping[str, PathRecord]

    def __call__(self, t: ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Return values, rates and second rates, each (…, coordinates)."""
        times = np.asarray(t, dtype=float)
        if not self.functions:
            none = np.zeros((*times.shape, 0))
            return none, none, none
        columns = [function(times) for function in self.functions]
        parts = [np.stack(column, axis=-1) for column in zip(*columns, strict=True)]
        return parts[0], parts[1], parts[2]

    def check_finite(self, times: Floats) -> None:
        """Raise an error if a value, rate or second rate is not finite at one of the times."""
        with np.errstate(all="ignore"):
            finite = np.all([np.isfinite(part) for part in self(times)], axis=0)
        for name, column in zip(self.names, finite.T, strict=True):
            if not column.all():
                raise LinkwrightError(
                    f"the motion of '{name}' or its rates are not finite at "
                    f"t = {times[np.argmin(column)]:g} s",
                    remedy="give a smooth motion",
                )


def read_coordinate_path(mechanism: Mechanism, given: Mapping[str, object]) -> CoordinatePath:
    """Return the path of a table by coordinate.

    A motion is a number, an expression of t, or (times, values), which a spline with continuous
    accelerations interpolates.
    """
    if not isinstance(given, Mapping):
        raise LinkwrightError("the motion is not a table", remedy="give motions by coordinate")
    known = list(mechanism_names(mechanism).q)
    for name in given:
        if name not in known:
            raise NameNotFoundError(
                f"unknown coordinate '{name}'", remedy=suggest_remedy(str(name), known)
            )
    check_constant_units(mechanism, given, "q")
    motions = {name: _read_motion(mechanism, name, value) for name, value in given.items()}
    return CoordinatePath(
        tuple(given),
        tuple(function for function, _ in motions.values()),
        {name: record for name, (_, record) in motions.items()},
    )


def _read_motion(
    mechanism: Mechanism, name: str, value: object
) -> tuple[CoordinateFunction, PathRecord]:
    """Return the motion of one coordinate, and the form that a file stores."""
    if isinstance(value, Real):
        constant = check_number(value, f"the motion of '{name}'")
        return _constant_function(constant), float(value)
    if isinstance(value, str):
        return _expression_function(mechanism, value), value
    return _table_function(name, value)


def _constant_function(constant: float) -> CoordinateFunction:
    """Return the motion that stays at a value."""
    return lambda t: (np.full(t.shape, constant), np.zeros(t.shape), np.zeros(t.shape))


def _expression_function(mechanism: Mechanism, text: str) -> CoordinateFunction:
    """Return the motion that is an expression of t, with exact rates."""
    t = ca.SX.sym("t")
    x = ca.SX(read_kinematic_expression(mechanism, parse_expression(text), {"t": t}))
    rate = ca.jacobian(x, t)
    parts = [ca.densify(part) for part in (x, rate, ca.jacobian(rate, t))]
    evaluate = ca.Function("course", [t], parts)

    def motion(times: Floats) -> tuple[Floats, Floats, Floats]:
        rows = [np.asarray(part, dtype=float) for part in evaluate(times.reshape(1, -1))]
        a, b, c = (np.broadcast_to(row.ravel(), times.size).reshape(times.shape) for row in rows)
        return a, b, c

    return motion


def _table_function(name: str, value: object) -> tuple[CoordinateFunction, PathRecord]:
    """Return the motion along a spline through (times, values), and these lists."""
    from scipy.interpolate import CubicSpline

    table = read_time_table(name, value)
    spline = CubicSpline(table.times, table.values)
    record = [list(table.times), list(table.values)]
    return lambda t: (spline(t), spline(t, 1), spline(t, 2)), record
