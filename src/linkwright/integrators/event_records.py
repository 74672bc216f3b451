"""The records of the search for events along a step."""

from __future__ import annotations

from enum import IntEnum

from ..program import Vector, record

PIECES = 8
"""Number of equal parts of a step; signals are evaluated at the ends of each part. A dip between
two of them is looked for by a parabola."""


class EventColumn(IntEnum):
    """Entries of a row of the buffer `event_columns`, which all trajectories watch."""

    SIGNAL = 0
    SIGN = 1
    """1: the signal rises through zero; -1: it falls."""
    LEAVES = 2
    """1: the trajectory stops at the event; 0: the event is only noted."""
    IS_GAP = 3
    """1: a signal that is negative at the start of a step, and falls, is an event at once, and one
    that is zero there counts as positive."""
    REPEATS = 4
    """1: the event may happen again directly after the last one, because it changes the state."""
    IS_OVERLOAD = 5
    """1: a signal that is negative at the start of a step is an event at once."""
    IS_FORCE = 6
    """1: the signal is a force that holds the motion, which may depend on time."""


EVENT_COLUMN_SIZE = len(EventColumn)


@record
class EventSearch:
    """The search for events in the rest of a step, which begins at `begin`."""

    begin: float
    is_open: bool
    is_lost: bool
    """Whether a signal is not finite."""
    t: float
    """The time of the first event; ∞ if there is none."""
    leaves: bool
    mask: int
    """The columns of the events at this instant: bit k is 1 for column k."""
    values: Vector
    """Signals at the ends of the pieces, one row each."""
    roots: Vector
    """The time of the first event of each column."""
    signals: Vector


@record
class RootBracket:
    """An interval [a, b] in which a signal, times -sign, falls from above zero to zero or below."""

    is_found: bool
    is_at_once: bool
    a: float
    b: float
