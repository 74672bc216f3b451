"""On which sides of zero the events of a user stand right behind their passages.

A passage is found within rounding, so that values there do not tell the side: of a mere passage it
is known, behind a change of the state the rate of the event's value tells where it goes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from ..run_context import RunContext
from .columns import Column
from .impacts import TINY
from .search import HAIR, Standing
from .user_event import Watched

SAME = 1e-9
"""Passages of one event as near as this, as a share of the time, are one, s."""

SOON = 1e-6
"""Changes by one event as near as this, as a share of the time, may pile up, s."""

LEAP = 1e-12
"""Values that a change of the state leaves as near as this go on from where they were."""

_STEP = 1e-7


@dataclass(frozen=True)
class _Passage:
    t: float
    side: float


class Sides:
    """Of all events of a user; `fastest` are the largest rates at which they came to change."""

    def __init__(self, context: RunContext, given: list[Watched]) -> None:
        self.context, self.given = context, given
        self.last: dict[int, float] = {}
        self.standing: dict[int, _Passage] = {}
        self.fastest: dict[int, float] = {}

    def known(self, begin: float, y: Floats, columns: list[Column]) -> dict[int, Standing]:
        """By place among the columns, those that have just passed or are at zero ever since."""
        state = self.context.space.motion(y)
        for k, passed in list(self.standing.items()):
            away = abs(self.given[k].value(begin, *state)) > HAIR
            if begin > passed.t + _share(SAME, passed.t) and away:
                del self.standing[k]
        found = {}
        for place, column in enumerate(columns):
            if column.kind == "given" and column.index in self.standing:
                passed = self.standing[column.index]
                until = passed.t + _share(SAME, passed.t)
                again = self.given[column.index].change is not None
                found[place] = Standing(passed.side, until, again)
        return found

    def passed(self, t: float, columns: Iterable[Column]) -> None:
        """Nothing has changed: they are beyond."""
        self.standing |= {c.index: _Passage(t, float(c.sign)) for c in columns}

    def rates(self, t: float, y: Floats, columns: Iterable[Column]) -> dict[int, float]:
        """How fast their values change along the motion."""
        flow = self.context.rates(t, y)
        ends = [(t + h, *self.context.space.motion(y + h * flow)) for h in (-_STEP, _STEP)]
        found = {}
        for column in columns:
            low, high = (self.given[column.index].value(*end) for end in ends)
            found[column.index] = (high - low) / (2 * _STEP)
        return found

    def piled(self, t: float, columns: Iterable[Column], came: dict[int, float]) -> bool:
        """Whether some change the state ever sooner and slower again: that has no end."""
        for column in columns:
            k = column.index
            before = self.last.get(k)
            soon = before is not None and t - before <= _share(SOON, t)
            if soon and abs(came[k]) <= TINY * self.fastest.get(k, 0.0):
                return True
            self.fastest[k] = max(self.fastest.get(k, 0.0), abs(came[k]))
        return False

    def turned(self, t: float, before: Floats, after: Floats, columns: list[Column]) -> None:
        """The state has changed: they have leapt somewhere, or go beyond, or back."""
        self.standing.clear()
        goes = self.rates(t, after, columns)
        states = [self.context.space.motion(y) for y in (before, after)]
        for column in columns:
            k = column.index
            old, new = (self.given[k].value(t, *state) for state in states)
            beyond = column.sign * goes[k] > TINY * self.fastest.get(k, 0.0)
            side = float(column.sign if beyond else -column.sign)
            side = float(np.sign(new)) if abs(new - old) > LEAP else side
            self.last[k], self.standing[k] = t, _Passage(t, side)


def _share(part: float, t: float) -> float:
    return part * max(1.0, abs(t))
