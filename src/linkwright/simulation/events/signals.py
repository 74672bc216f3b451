"""Events as signals: expressions of the state that compiled code watches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca
import numpy as np

from ...integrators import EventColumn
from ...types import SX, Floats, Integers
from .contact_events import CompliantContactEvent, GapClosing
from .event_function import EventFunction
from .hybrid import Hybrid
from .limit_event import LimitReached
from .user_event import UserEventFunction

MAX_COLUMNS = 62
"""Compiled code returns the columns of an instant as bits of one integer."""


def can_signal(events: Hybrid) -> bool:
    """Whether all that is watched in a mode without contacts and friction is an expression."""
    code = events.dynamics
    return not (
        events.rows.rubs
        or events.rows.contacts
        or code.members
        or code.ties
        or any(event.expression is None for event in events.given)
        or len(events.event_functions()) > MAX_COLUMNS
    )


def signal_expressions(events: Hybrid, t: SX, q: SX, qd: SX) -> SX:
    """Return what is watched: gaps of stops and of compliant contacts, then the user's events."""
    s = events.context.equations.symbols
    values = [event.expression for event in events.given if event.expression is not None]
    given = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *values),
        ca.vertcat(s["t"], s["q"], s["qd"]),
        ca.vertcat(t, q, qd),
    )
    found: SX = ca.vertcat(events.rows.gap_expressions(q), given)
    return found


def event_column_table(events: Hybrid, functions: Iterable[EventFunction]) -> Integers:
    """Return a row of `EventColumn` for each event function."""
    rows = []
    for function in functions:
        row = [0] * len(EventColumn)
        row[EventColumn.SIGNAL] = _signal_place(events, function)
        row[EventColumn.SIGN] = function.sign
        row[EventColumn.IS_GAP] = int(function.counts_at_once)
        row[EventColumn.LEAVES] = 1
        if isinstance(function, UserEventFunction):
            row[EventColumn.LEAVES] = int(function.event.stops or not function.is_only_noted)
            row[EventColumn.REPEATS] = int(not function.is_only_noted)
        rows.append(row)
    return np.array(rows, np.int64).reshape(-1, len(EventColumn))


def _signal_place(events: Hybrid, function: EventFunction) -> int:
    """Return the place of an event function in `signal_expressions`."""
    barriers = len(events.rows.barriers)
    match function:
        case LimitReached(index=k) | GapClosing(index=k):
            return k
        case CompliantContactEvent(index=k):
            return barriers + k
        case UserEventFunction(index=k):
            return barriers + events.rows.pads + k
    raise AssertionError(function.name)


def note_logged_events(events: Hybrid, log: Floats, functions: Sequence[EventFunction]) -> None:
    """Add the events that compiled code has noted (time, column) to what happened."""
    for t, place in log:
        events.log.note(float(t), functions[int(place)].name, "passed")


def hand_passages_to_python(events: Hybrid, passages: Floats) -> None:
    """Tell the events of the user on which side they have been since compiled code saw them pass.

    `passages` are the times and the sides of all signals.
    """
    times, sides = (part[len(part) - len(events.given) :] for part in passages)
    events.sides.set_passages(times, sides)


def hand_passages_to_code(events: Hybrid, passages: Floats) -> None:
    """Tell compiled code on which side the events of the user are after Python has treated one."""
    times, sides = (part[len(part) - len(events.given) :] for part in passages)
    times[:], sides[:] = events.sides.passages()
