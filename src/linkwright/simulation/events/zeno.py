"""Zeno: events that follow each other without end."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from .event_tolerances import EVENT_TOLERANCES


@dataclass(frozen=True)
class ZenoAdvice:
    """The reason and the remedy in the status of a run in which events of a kind never end."""

    reason: str
    remedy: str


IMPACT_ADVICE = ZenoAdvice("events follow each other without end", "reduce the restitution")

USER_ADVICE = ZenoAdvice(
    "events follow each other without end",
    'let it "stop", or give limits or a contact with restitution, which come to rest',
)

FRICTION_ADVICE = ZenoAdvice(
    "friction sticks and slides without end",
    "smooth the drive where it jumps or chatters, or give the friction a smoothing",
)


def choose_zeno_advice(advices: Collection[ZenoAdvice]) -> ZenoAdvice:
    """Return the advice for events at one instant: the user's events first, friction if alone."""
    if USER_ADVICE in advices:
        return USER_ADVICE
    return FRICTION_ADVICE if set(advices) == {FRICTION_ADVICE} else IMPACT_ADVICE


class ZenoDetector:
    """Counts the events of one run that change it."""

    def __init__(self) -> None:
        self._last, self._at_instant = -np.inf, 0
        self._recent: deque[float] = deque(maxlen=EVENT_TOLERANCES.max_crowded_events)

    def has_no_end(self, t: float) -> bool:
        """Count an event; return whether there are too many of them."""
        limits, scale = EVENT_TOLERANCES, max(1.0, abs(t))
        is_same = t <= self._last + limits.instant_share * scale
        self._at_instant = self._at_instant + 1 if is_same else 0
        self._last = t
        self._recent.append(t)
        is_full = len(self._recent) == limits.max_crowded_events
        is_crowded = is_full and t - self._recent[0] <= limits.crowded_share * scale
        return self._at_instant > limits.max_events_per_instant or is_crowded
