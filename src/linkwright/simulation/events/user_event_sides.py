"""On which side of zero the user's events are right after their passages.

A passage is found within rounding, so the values there do not show the side. After a mere passage
the side is known; after a change of the state, the rate of the event's value shows it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from ..run_context import RunContext
from .event_function import EventFunction
from .event_tolerances import EVENT_TOLERANCES
from .search import KnownSide
from .user_event import UserEvent, UserEventFunction


@dataclass(frozen=True)
class _Passage:
    """The last passage of an event, and the side on which it was afterwards."""

    t: float
    side: float


class UserEventSides:
    """The sides of all events of the user, in one run."""

    def __init__(self, context: RunContext, events: Sequence[UserEvent]) -> None:
        self.context, self.events = context, events
        self._last_change: dict[int, float] = {}
        self._passages: dict[int, _Passage] = {}
        self._fastest: dict[int, float] = {}
        """The largest rates at which events came to change the state."""

    def known(
        self, begin: float, y: Floats, functions: Sequence[EventFunction]
    ) -> dict[int, KnownSide]:
        """Return the sides of functions that have just passed or have been at zero since, by their
        indices."""
        motion, limits = self.context.space.motion(y), EVENT_TOLERANCES
        for k, passage in list(self._passages.items()):
            is_away = abs(self.events[k].value(begin, *motion)) > limits.beginning
            if begin > passage.t + _share(limits.same_passage_share, passage.t) and is_away:
                del self._passages[k]
        found = {}
        for place, function in enumerate(functions):
            if isinstance(function, UserEventFunction) and function.index in self._passages:
                passage = self._passages[function.index]
                until = passage.t + _share(limits.same_passage_share, passage.t)
                found[place] = KnownSide(passage.side, until, not function.is_only_noted)
        return found

    def pass_zero(self, t: float, functions: Iterable[UserEventFunction]) -> None:
        """Note passages that change nothing: the events are beyond zero."""
        self._passages |= {f.index: _Passage(t, float(f.sign)) for f in functions}

    def passages(self) -> tuple[Floats, Floats]:
        """Return the times and sides of the last passages of all events; side 0: none is known."""
        found = np.zeros((2, len(self.events)))
        for k, passage in self._passages.items():
            found[:, k] = passage.t, passage.side
        return found[0], found[1]

    def set_passages(self, times: Floats, sides: Floats) -> None:
        """Set the last passages of all events, as `passages` returns them."""
        self._passages = {
            int(k): _Passage(float(times[k]), float(sides[k])) for k in np.flatnonzero(sides)
        }

    def rates(
        self, t: float, y: Floats, functions: Iterable[UserEventFunction]
    ) -> dict[int, float]:
        """Return how fast values change along the motion."""
        functions = tuple(functions)
        if not functions:
            return {}
        flow, h = self.context.rates(t, y), EVENT_TOLERANCES.rate_step
        ends = [(t + s, *self.context.space.motion(y + s * flow)) for s in (-h, h)]
        found = {}
        for function in functions:
            low, high = (function.value_at(*end) for end in ends)
            found[function.index] = (high - low) / (2 * h)
        return found

    def have_no_end(
        self, t: float, functions: Iterable[UserEventFunction], rates: dict[int, float]
    ) -> bool:
        """Whether events change the state at ever shorter intervals and lower rates."""
        limits = EVENT_TOLERANCES
        for function in functions:
            k = function.index
            before = self._last_change.get(k)
            is_soon = before is not None and t - before <= _share(limits.soon_share, t)
            fastest = self._fastest.get(k, 0.0)
            if is_soon and abs(rates[k]) <= limits.rebound_share * fastest:
                return True
            self._fastest[k] = max(fastest, abs(rates[k]))
        return False

    def change_state(
        self, t: float, before: Floats, after: Floats, functions: Sequence[UserEventFunction]
    ) -> None:
        """Note a change of the state, after which values have jumped, move beyond zero, or move
        back."""
        self._passages.clear()
        goes, limits = self.rates(t, after, functions), EVENT_TOLERANCES
        motions = [self.context.space.motion(y) for y in (before, after)]
        for function in functions:
            k = function.index
            old, new = (function.value_at(t, *motion) for motion in motions)
            slow = limits.rebound_share * self._fastest.get(k, 0.0)
            is_beyond = function.sign * goes[k] > slow
            side = float(function.sign if is_beyond else -function.sign)
            side = float(np.sign(new)) if abs(new - old) > limits.leap else side
            self._last_change[k], self._passages[k] = t, _Passage(t, side)


def _share(part: float, t: float) -> float:
    """Return a share of the time, at least of one second."""
    return part * max(1.0, abs(t))
