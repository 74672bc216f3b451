"""Values over time: polynomials between the given times, the first and last value beyond them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats

KINDS = ("linear", "cubic")

PIECE = 5
"""Numbers that make a piece."""

NEAR = 1e-12
"""Times as near as this, as a share, are one of the given ones."""


@dataclass(frozen=True)
class Table:
    """`rows` hold the powers 3, 2, 1, 0 of t − times[k] in each interval."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    kind: str
    rows: tuple[tuple[float, float, float, float], ...]

    def __call__(self, t: float) -> float:
        times = self.times
        if t <= times[0]:
            return self.values[0]
        if t >= times[-1]:
            return self.values[-1]
        k = bisect_right(times, t) - 1
        a, b, c, d = self.rows[k]
        x = t - times[k]
        return ((a * x + b) * x + c) * x + d

    def piece(self, t: float) -> tuple[float, ...]:
        """The powers 3, 2, 1, 0 of t − t₀ that hold from t to the next of the times, and t₀."""
        k = bisect_right(self.times, t + NEAR * max(1.0, abs(t))) - 1
        if k < 0 or k == len(self.rows):
            return 0.0, 0.0, 0.0, self.values[0 if k < 0 else -1], 0.0
        return *self.rows[k], self.times[k]


def table_of(name: str, given: Any) -> Table:
    """From (times, values) or (times, values, "cubic"); a cubic one is a spline with smooth
    second derivatives."""
    kind = "linear"
    try:
        if len(given) == 3:
            *given, kind = given
        times, values = (np.asarray(x, dtype=float) for x in given)
    except (TypeError, ValueError):
        raise LinkwrightError(
            f"'{name}' is given by neither a number, text, nor (times, values)",
            remedy='give one of these; (times, values, "cubic") is smooth',
        ) from None
    if kind not in KINDS:
        raise LinkwrightError(
            f"the table of '{name}' cannot be {kind!r}", remedy=f"use {' or '.join(KINDS)}"
        )
    rising = times.ndim == 1 and times.shape == values.shape and len(times) >= 2
    if not (rising and (np.diff(times) > 0).all() and np.isfinite([times, values]).all()):
        raise LinkwrightError(
            f"the table of '{name}' needs rising times and as many values, at least two, finite",
            remedy="give two lists of one length",
        )
    return Table(tuple(times.tolist()), tuple(values.tolist()), kind, _rows(times, values, kind))


def _rows(times: Floats, values: Floats, kind: str) -> Any:
    if kind == "linear":
        slope = np.diff(values) / np.diff(times)
        rows = np.column_stack([0 * slope, 0 * slope, slope, values[:-1]])
    else:
        from scipy.interpolate import CubicSpline

        rows = CubicSpline(times, values).c.T
    return tuple(tuple(row) for row in rows.tolist())
