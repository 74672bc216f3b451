"""Tables of values over time: polynomials between the given times, constant beyond them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np

from ..errors import LinkwrightError
from ..number_checks import is_number
from ..types import Floats

TABLE_KINDS = ("linear", "cubic")
"""How values between the given times are interpolated."""

NUMBERS_PER_PIECE = 5
"""Numbers of a piece of a table: four coefficients and the time at which it begins."""

SAME_TIME_SHARE = 1e-12
"""Times that differ by less than this share count as one: the rounding of sums of steps."""

Polynomial = tuple[float, float, float, float]
"""Coefficients of the powers 3, 2, 1 and 0."""


@dataclass(frozen=True)
class TimeTable:
    """Values over time; `polynomials` are in t − times[k] for each interval."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    kind: str
    polynomials: tuple[Polynomial, ...]

    def __call__(self, t: float) -> float:
        """Return the value at t."""
        times = self.times
        if t <= times[0]:
            return self.values[0]
        if t >= times[-1]:
            return self.values[-1]
        k = bisect_right(times, t) - 1
        a, b, c, d = self.polynomials[k]
        x = t - times[k]
        return ((a * x + b) * x + c) * x + d

    def piece(self, t: float) -> tuple[float, ...]:
        """Return the coefficients that hold from t to the next of the times, and t₀ of t − t₀."""
        k = bisect_right(self.times, t + SAME_TIME_SHARE * max(1.0, abs(t))) - 1
        if k < 0 or k == len(self.polynomials):
            return 0.0, 0.0, 0.0, self.values[0 if k < 0 else -1], 0.0
        return *self.polynomials[k], self.times[k]


def constant_table(value: float, end: float) -> TimeTable:
    """Return a table that has one value at all times."""
    return TimeTable((0.0, end), (value, value), "linear", ((0.0, 0.0, 0.0, value),))


def is_number_list(value: object) -> bool:
    """Whether a value is a list or an array of numbers, one for each run of an ensemble."""
    is_list = value.ndim == 1 if isinstance(value, np.ndarray) else isinstance(value, list)
    return is_list and all(is_number(x) for x in cast("Iterable[object]", value))


def read_time_table(name: str, given: object) -> TimeTable:
    """Return the table of (times, values) or (times, values, "cubic").

    A cubic table is a spline with continuous second derivatives.
    """
    if is_number_list(given):
        raise LinkwrightError(
            f"'{name}' is a list of numbers, but a run has one",
            remedy="give one number or (times, values)",
        )
    parts = list(given) if isinstance(given, Iterable) else []
    kind = parts.pop() if len(parts) == 3 else "linear"
    try:
        times, values = (np.asarray(x, dtype=float) for x in parts)
    except (TypeError, ValueError):
        raise LinkwrightError(
            f"'{name}' is given by neither a number, text, nor (times, values)",
            remedy='give one of these; (times, values, "cubic") is smooth',
        ) from None
    if kind not in TABLE_KINDS:
        raise LinkwrightError(
            f"the table of '{name}' cannot be {kind!r}", remedy=f"use {' or '.join(TABLE_KINDS)}"
        )
    has_pairs = times.ndim == 1 and times.shape == values.shape and len(times) >= 2
    if not (has_pairs and (np.diff(times) > 0).all() and np.isfinite([times, values]).all()):
        raise LinkwrightError(
            f"the table of '{name}' needs at least two increasing times, and as many finite values",
            remedy="give two lists of equal length",
        )
    polynomials = _interval_polynomials(times, values, str(kind))
    return TimeTable(tuple(times.tolist()), tuple(values.tolist()), str(kind), polynomials)


def _interval_polynomials(times: Floats, values: Floats, kind: str) -> tuple[Polynomial, ...]:
    """Return the polynomial of each interval."""
    if kind == "linear":
        slope = np.diff(values) / np.diff(times)
        rows = np.column_stack([0 * slope, 0 * slope, slope, values[:-1]])
    else:
        from scipy.interpolate import CubicSpline

        rows = CubicSpline(times, values).c.T
    return tuple((a, b, c, d) for a, b, c, d in rows.tolist())
