"""The first instant of a step at which something passes zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from scipy.optimize import brentq

from ...errors import LinkwrightError
from ...types import Floats
from .columns import Column


class Values(Protocol):
    """What is watched."""

    def table(self, times: Floats) -> Floats:
        """One row a time, one column an event."""
        ...

    def one(self, t: float, k: int) -> float:
        """Of a time and a column."""
        ...


PIECES = 8
"""Parts of a step that are looked at; a dip between two of them is looked for by a parabola."""

HAIR = 1e-13
"""Gaps and speeds below this have just begun, and are taken to be above zero."""

TOGETHER = 1e-11
"""Events as near as this, as a share of the time, are one instant, s."""


class LostError(LinkwrightError):
    """The value of a user's event is not finite from the time `t` on."""

    t: float = 0.0


@dataclass(frozen=True)
class Standing:
    """On which side a column stands up to a time, and while it is zero but for rounding: 1 above,
    −1 below; and whether it may pass again before that time."""

    side: float
    until: float
    again: bool


def first_passage(
    values: Values, begin: float, end: float, columns: Sequence[Column],
    known: Mapping[int, Standing],
) -> tuple[float, list[int]] | None:  # fmt: skip
    """The earliest time of a passage, and the columns that pass then. `known` are columns that
    have passed just before."""
    times = np.linspace(begin, end, PIECES + 1)
    table = values.table(times)
    lost = _lost(values, times, table, columns)
    if lost is not None:
        before = first_passage(values, begin, lost.t, columns, known) if lost.t > begin else None
        if before is None:
            raise lost
        return before
    _stand(times, table, known)
    brackets: list[tuple[tuple[float, float], int]] = []
    for k, column in enumerate(columns):
        if column.begins and abs(table[0, k]) <= HAIR:
            table[0, k] = -column.sign * 1e-300
        height = partial(_height, values, k, column.sign)
        bracket = _bracket(times, -column.sign * table[:, k], height, column)
        if bracket is not None:
            brackets.append((bracket, k))
    found: dict[int, float] = {}
    latest = np.inf
    for (a, b), k in sorted(brackets):
        if a > latest:
            break
        passed = _root(partial(_height, values, k, columns[k].sign), a, b)
        if k not in known or known[k].again or passed > known[k].until:
            found[k] = passed
            latest = min(latest, passed + TOGETHER * max(1.0, abs(passed)))
    if not found:
        return None
    return min(found.values()), sorted(k for k, own in found.items() if own <= latest)


def _height(values: Values, k: int, sign: int, t: float) -> float:
    return -sign * values.one(t, k)


def _stand(times: Floats, table: Floats, known: Mapping[int, Standing]) -> None:
    """Puts columns on the sides that are known."""
    for k, standing in known.items():
        at_zero = np.logical_and.accumulate(np.abs(table[:, k]) <= HAIR)
        table[at_zero | (times <= standing.until), k] = standing.side * 1e-300


def _lost(
    values: Values, times: Floats, table: Floats, columns: Sequence[Column]
) -> LostError | None:
    """Where the value of a user's event ceases to be finite."""
    given = np.array([column.kind == "given" for column in columns])
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
    lost = LostError("its value is not finite", where=f"events.{columns[k].name}", remedy=remedy)
    lost.t = good
    return lost


def _bracket(
    times: Floats, g: Floats, at: Callable[[float], float], column: Column
) -> tuple[float, float] | None:
    """The first interval on which g falls from above zero; at once where it is there already."""
    worse = column.at_once and g[0] <= 0 and g[1] < g[0] and g[1] < 0
    if worse or (column.fails and g[0] < 0):
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


def _root(g: Callable[[float], float], a: float, b: float) -> float:
    if a == b:
        return a
    if g(b) == 0.0:
        return b
    if g(a) <= HAIR:  # past a beginning that is zero but for rounding, onto what rises behind it
        later = a + (b - a) * 0.5 ** np.arange(50, 0, -1)
        heights: list[float] = []
        for t in later:
            heights.append(g(float(t)))
            if heights[-1] > HAIR:
                break
        above = int(np.argmax(heights))
        if heights[above] <= 0:
            return a
        a = float(later[above])
    found: float = brentq(g, a, b, xtol=1e-15, rtol=8.9e-16, maxiter=200)
    return found if g(found) <= HAIR else _behind_jump(g, found, b)


def _behind_jump(g: Callable[[float], float], t: float, end: float) -> float:
    """The first time behind t at which g has fallen, where it does not pass through zero."""
    for later in t + 1e-16 * max(1.0, abs(t)) * 2.0 ** np.arange(30):
        if later >= end:
            break
        if g(float(later)) <= 0:
            return float(later)
    return t
