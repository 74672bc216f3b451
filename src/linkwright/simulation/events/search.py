"""The first instant of a step at which something passes zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Floats = NDArray[np.float64]
Values = Callable[[Floats], Floats]
"""Of times: one row a time, one column an event."""

PIECES = 8
"""Parts of a step that are looked at; a dip between two of them is looked for by a parabola."""

TOGETHER = 1e-11
"""Events as near as this, as a share of the time, are one instant, s."""


def first_passage(
    values: Values, begin: float, end: float, signs: Sequence[int]
) -> tuple[float, list[int]] | None:
    """The earliest time of a passage, and the columns that pass then. `signs`: −1 falling
    below zero, 1 rising above it, 0 either."""
    times = np.linspace(begin, end, PIECES + 1)
    table = values(times)
    found: dict[int, float] = {}
    for k, sign in enumerate(signs):
        for way in (sign,) if sign else (-1, 1):
            column = -way * table[:, k]
            bracket = _bracket(
                times, column, lambda t, k=k, w=way: -w * values(np.array([t]))[0, k]
            )
            if bracket is not None:
                t = _root(values, k, bracket)
                found[k] = min(t, found.get(k, np.inf))
    if not found:
        return None
    t = min(found.values())
    near = TOGETHER * max(1.0, abs(t))
    return t, [k for k, own in found.items() if own <= t + near]


def _bracket(times: Floats, g: Floats, at: Callable[[float], float]) -> tuple[float, float] | None:
    """The first interval on which g falls from above zero; at once where it is there already."""
    if g[0] <= 0 and g[1] < g[0] and g[1] < 0:
        return float(times[0]), float(times[0])
    for i in range(len(g) - 1):
        if g[i] > 0 >= g[i + 1]:
            return float(times[i]), float(times[i + 1])
        if i and g[i] > 0 and g[i - 1] > g[i] < g[i + 1]:
            low = _lowest(times[i - 1 : i + 2], g[i - 1 : i + 2])
            if at(low) <= 0:
                return float(times[i - 1]), low
    return None


def _lowest(t: Floats, g: Floats) -> float:
    """Where the parabola through three equidistant points is lowest."""
    bend = g[0] - 2 * g[1] + g[2]
    return float(t[1] + (t[1] - t[0]) * (g[0] - g[2]) / (2 * bend))


def _root(values: Values, k: int, bracket: tuple[float, float]) -> float:
    a, b = bracket
    if a == b:
        return a

    def g(t: float) -> float:
        return float(values(np.array([t]))[0, k])

    if g(a) == 0.0:
        return a
    if g(b) == 0.0:
        return b
    found: float = brentq(g, a, b, xtol=1e-15, rtol=8.9e-16, maxiter=200)
    return found
