"""The first instant of a step at which an event function passes through zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from ...errors import LinkwrightError
from ...types import Booleans, Floats
from .event_function import EventFunction
from .event_tolerances import EVENT_TOLERANCES


class EventValues(Protocol):
    """Values of event functions along a step."""

    def table(self, times: Floats) -> Floats:
        """Return all values, one row for each time."""
        ...

    def one(self, t: float, k: int) -> float:
        """Return the value of one function at a time."""
        ...


class LostError(LinkwrightError):
    """The value of a user's event is not finite from the time `t` on."""

    t: float = 0.0


@dataclass(frozen=True)
class KnownSide:
    """The side on which a function is up to a time, and as long as it is zero up to rounding.

    `side` is 1 above zero and −1 below; `may_pass_again` before that time.
    """

    side: float
    until: float
    may_pass_again: bool


def first_passage(
    values: EventValues,
    begin: float,
    end: float,
    functions: Sequence[EventFunction],
    known: Mapping[int, KnownSide],
) -> tuple[float, list[int]] | None:
    """Return the earliest time of a passage, and the functions that pass then.

    `known` are the sides of functions that have passed just before.
    """
    times = np.linspace(begin, end, EVENT_TOLERANCES.pieces_per_step + 1)
    table = values.table(times)
    lost = _find_lost_value(values, times, table, functions)
    if lost is not None:
        before = first_passage(values, begin, lost.t, functions, known) if lost.t > begin else None
        if before is None:
            raise lost
        return before
    _apply_known_sides(times, table, known)
    brackets: list[tuple[tuple[float, float], int]] = []
    for k, function in enumerate(functions):
        if function.begins_at_zero:  # as long as it is zero up to rounding, it has not passed
            table[_stays_zero(table[:, k]), k] = -function.sign * 1e-300
        height = partial(_height, values, k, function.sign)
        bracket = _bracket(times, -function.sign * table[:, k], height, function)
        if bracket is not None:
            brackets.append((bracket, k))
    found: dict[int, float] = {}
    latest = np.inf
    for (a, b), k in sorted(brackets):
        if a > latest:
            break
        passed = _root(partial(_height, values, k, functions[k].sign), a, b)
        if k not in known or known[k].may_pass_again or passed > known[k].until:
            found[k] = passed
            near = EVENT_TOLERANCES.same_instant_share * max(1.0, abs(passed))
            latest = min(latest, passed + near)
    if not found:
        return None
    return min(found.values()), sorted(k for k, own in found.items() if own <= latest)


def _height(values: EventValues, k: int, sign: int, t: float) -> float:
    """Return the value of a function, with the sign with which an event is a fall through zero."""
    return -sign * values.one(t, k)


def _apply_known_sides(times: Floats, table: Floats, known: Mapping[int, KnownSide]) -> None:
    """Set functions to their known sides."""
    for k, known_side in known.items():
        is_known = _stays_zero(table[:, k]) | (times <= known_side.until)
        table[is_known, k] = known_side.side * 1e-300


def _stays_zero(values: Floats) -> Booleans:
    """Return where a function has been zero up to rounding from the beginning of a step on."""
    found: Booleans = np.logical_and.accumulate(np.abs(values) <= EVENT_TOLERANCES.beginning)
    return found


def _find_lost_value(
    values: EventValues, times: Floats, table: Floats, functions: Sequence[EventFunction]
) -> LostError | None:
    """Return an error with the time at which the value of an event ceases to be finite."""
    given = np.array([function.must_be_finite for function in functions])
    wrong = given & ~np.isfinite(table)
    if not wrong.any():
        return None
    i = int(np.argmax(wrong.any(axis=1)))
    k = int(np.argmax(wrong[i]))
    good, bad = float(times[max(i - 1, 0)]), float(times[i])
    while good < (middle := (good + bad) / 2) < bad:
        finite = bool(np.isfinite(values.one(middle, k)))
        good, bad = (middle, bad) if finite else (good, middle)
    remedy = "look at what divides or takes roots in it"
    lost = LostError("its value is not finite", where=f"events.{functions[k].name}", remedy=remedy)
    lost.t = good
    return lost


def _bracket(
    times: Floats, g: Floats, at: Callable[[float], float], function: EventFunction
) -> tuple[float, float] | None:
    """Return the first interval on which g falls from above zero; at once if it is below."""
    worse = function.counts_at_once and g[0] <= 0 and g[1] < g[0] and g[1] < 0
    if worse or (function.is_overload and g[0] < 0):
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
    """Return where the parabola through three equidistant points is lowest."""
    bend = g[0] - 2 * g[1] + g[2]
    return float(t[1] + (t[1] - t[0]) * (g[0] - g[2]) / (2 * bend))


def _root(g: Callable[[float], float], a: float, b: float) -> float:
    """Return where g falls through zero between a and b."""
    if a == b:
        return a
    if g(b) == 0.0:
        return b
    if (
        g(a) <= EVENT_TOLERANCES.beginning
    ):  # past a start that is zero up to rounding, to where g has risen
        later = a + (b - a) * 0.5 ** np.arange(50, 0, -1)
        heights: list[float] = []
        for t in later:
            heights.append(g(float(t)))
            if heights[-1] > EVENT_TOLERANCES.beginning:
                break
        above = int(np.argmax(heights))
        if heights[above] <= 0:
            return a
        a = float(later[above])
    found: float = brentq(g, a, b, xtol=1e-15, rtol=8.9e-16, maxiter=200)
    return found if g(found) <= EVENT_TOLERANCES.beginning else _behind_jump(g, found, b)


def _behind_jump(g: Callable[[float], float], t: float, end: float) -> float:
    """Return the first time after t at which g has fallen, where it does not pass through zero."""
    for later in t + 1e-16 * max(1.0, abs(t)) * 2.0 ** np.arange(30):
        if later >= end:
            break
        if g(float(later)) <= 0:
            return float(later)
    return t
