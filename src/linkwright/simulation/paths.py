"""Given motions: coordinates over time, with their rates and second rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import casadi as ca
import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..expressions import parse_expression
from ..kinematics.parameter_values import read_kinematic_expression
from ..mechanism import Mechanism, mechanism_names
from ..number_checks import check_number
from ..types import Floats
from .tables import table_of

Course = Callable[[Floats], tuple[Floats, Floats, Floats]]


@dataclass(frozen=True)
class Path:
    """Some coordinates as functions of time; `written` is what a file keeps."""

    names: tuple[str, ...]
    courses: tuple[Course, ...]
    written: Mapping[str, Any]

    def __call__(self, t: Any) -> tuple[Floats, Floats, Floats]:
        """Values, rates and second rates, each (…, coordinates)."""
        times = np.asarray(t, dtype=float)
        if not self.courses:
            none = np.zeros((*times.shape, 0))
            return none, none, none
        columns = [course(times) for course in self.courses]
        found = [np.stack(column, axis=-1) for column in zip(*columns, strict=True)]
        return found[0], found[1], found[2]

    def check_finite(self, times: Floats) -> None:
        """Coordinates, rates and second rates are numbers at all times."""
        with np.errstate(all="ignore"):
            finite = np.all([np.isfinite(part) for part in self(times)], axis=0)
        for name, column in zip(self.names, finite.T, strict=True):
            if not column.all():
                raise LinkwrightError(
                    f"the motion of '{name}' or its rates are not finite at "
                    f"t = {times[np.argmin(column)]:g} s", remedy="give a smooth one",
                )  # fmt: skip


def path_of(mechanism: Mechanism, given: Mapping[str, Any]) -> Path:
    """From a table by coordinate: a number, an expression of t, or (times, values), through
    which a spline with smooth accelerations goes."""
    if not isinstance(given, Mapping):
        raise LinkwrightError("the motion is no table", remedy="give motions by coordinate")
    known = list(mechanism_names(mechanism).q)
    for name in given:
        if name not in known:
            raise NameNotFoundError(
                f"there is no coordinate '{name}'", remedy=suggest_remedy(str(name), known)
            )
    courses = tuple(_course(mechanism, name, value) for name, value in given.items())
    kept = {
        name: value if isinstance(value, str) else float(value) if isinstance(value, Real)
        else [np.asarray(x, dtype=float).tolist() for x in value[:2]]
        for name, value in given.items()
    }  # fmt: skip
    return Path(tuple(given), courses, kept)


def _course(mechanism: Mechanism, name: str, value: Any) -> Course:
    if isinstance(value, Real):
        constant = check_number(value, f"the motion of '{name}'")
        return lambda t: (np.full(t.shape, constant), np.zeros(t.shape), np.zeros(t.shape))
    if isinstance(value, str):
        return _of_expression(mechanism, value)
    return _of_table(name, value)


def _of_expression(mechanism: Mechanism, text: str) -> Course:
    t = ca.SX.sym("t")
    x = ca.SX(read_kinematic_expression(mechanism, parse_expression(text), {"t": t}))
    rate = ca.jacobian(x, t)
    parts = [ca.densify(part) for part in (x, rate, ca.jacobian(rate, t))]
    function = ca.Function("course", [t], parts)

    def course(times: Floats) -> tuple[Floats, Floats, Floats]:
        rows = [np.asarray(part, dtype=float) for part in function(times.reshape(1, -1))]
        a, b, c = (np.broadcast_to(row.ravel(), times.size).reshape(times.shape) for row in rows)
        return a, b, c

    return course


def _of_table(name: str, value: Any) -> Course:
    from scipy.interpolate import CubicSpline

    table = table_of(name, value)
    spline = CubicSpline(table.times, table.values)
    return lambda t: (spline(t), spline(t, 1), spline(t, 2))
