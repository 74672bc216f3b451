"""Events as signals: expressions of the state that compiled code watches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import casadi as ca
import numpy as np

from ...integrators import EventColumn
from ...types import SX, Floats, Integers
from .breakage import ConstraintOverload, JointOverload
from .contact_events import CompliantContactEvent, ContactRelease, GapClosing
from .event_function import EventFunction
from .hybrid import Hybrid
from .limit_event import LimitReached
from .load_sharing import FREE
from .mode_forces import MAX_UNKNOWNS
from .slip_law import SlipLawChange, slip_law_changes
from .stick_slip import (
    ContactSlideReversal,
    ContactStickLimit,
    JointSlideReversal,
    JointStickLimit,
)
from .user_event import UserEventFunction

MAX_COLUMNS = 62
"""Compiled code returns the columns of an instant as bits of one integer."""

HOLDING_FORCES = JointStickLimit, ContactStickLimit, ContactRelease
"""Event functions of forces that hold the motion."""


def find_signal_obstacle(events: Hybrid) -> str | None:
    """Return why something that is watched is not an expression; None if all of it is: for contacts
    and friction in all modes, for stops at least while none of them is active."""
    code, layout = events.dynamics, events.mode_layout
    if (events.rows.joint_frictions or events.rows.contacts) and layout is None:
        if code.by_reaction:
            return "friction depends on reactions"
        return f"more than {MAX_UNKNOWNS} forces of contacts and friction can act at once"
    for event in events.given:
        if event.expression is None:
            return f"the event '{event.name}' is a Python function"
    slips = [] if layout is None else layout.slips
    if len(events.event_functions()) + 2 * len(slips) > MAX_COLUMNS:
        return f"more than {MAX_COLUMNS} events are watched"
    return None


def signal_expressions(
    events: Hybrid, t: SX, q: SX, qd: SX, strengths: SX, watched: SX | None = None
) -> SX:
    """Return what is watched: numbers of stops, contacts and friction, which are above zero until
    something happens; then gaps of compliant contacts, the remaining strengths of members that may
    break, and the user's events.

    `watched` are the first of these; None in a mode without forces of contacts and friction, where
    they are gaps, and 1 for events that cannot happen.
    """
    gaps, unilaterals = events.rows.gap_expressions(q, t), len(events.rows.unilaterals)
    every = [gaps[k] for k in range(unilaterals + events.rows.compliant_count)]
    if watched is None:
        free = [ca.SX(FREE)] * (_mode_signal_count(events) - unilaterals)
        watched = ca.vertcat(ca.SX(0, 1), *every[:unilaterals], *free)
    s = events.context.equations.symbols
    values = [event.expression for event in events.given if event.expression is not None]
    given = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *values),
        ca.vertcat(s["t"], s["q"], s["qd"]),
        ca.vertcat(t, q, qd),
    )
    found: SX = ca.vertcat(watched, *every[unilaterals:], strengths, given)
    return found


def _mode_signal_count(events: Hybrid) -> int:
    """Return how many signals stops, contacts and friction have."""
    layout = events.mode_layout
    return len(events.rows.unilaterals) if layout is None else layout.watched_count


def compiled_event_functions(events: Hybrid, *, has_forces: bool) -> list[EventFunction]:
    """Return what compiled code watches in the present mode, with forces of contacts and friction
    or without."""
    found, layout = events.event_functions(), events.mode_layout
    if not has_forces or layout is None:
        return found
    return [*found, *slip_law_changes(events.mode, events.rows.unilaterals, layout.slips)]


def event_column_table(events: Hybrid, functions: Iterable[EventFunction]) -> Integers:
    """Return a row of `EventColumn` for each event function."""
    rows = []
    for function in functions:
        row = [0] * len(EventColumn)
        row[EventColumn.SIGNAL] = _signal_place(events, function)
        row[EventColumn.SIGN] = function.sign
        row[EventColumn.IS_GAP] = int(function.counts_at_once)
        row[EventColumn.IS_OVERLOAD] = int(function.is_overload)
        row[EventColumn.IS_FORCE] = int(isinstance(function, HOLDING_FORCES))
        row[EventColumn.LEAVES] = 1
        if isinstance(function, UserEventFunction):
            row[EventColumn.LEAVES] = int(function.event.stops or not function.is_only_noted)
            row[EventColumn.REPEATS] = int(not function.is_only_noted)
        rows.append(row)
    return np.array(rows, np.int64).reshape(-1, len(EventColumn))


def _signal_place(events: Hybrid, function: EventFunction) -> int:
    """Return the place of an event function in `signal_expressions`."""
    layout, count = events.mode_layout, _mode_signal_count(events)
    match function:
        case LimitReached(index=k) | GapClosing(index=k) | ContactRelease(index=k):
            return k
        case CompliantContactEvent(index=k):
            return count + k
        case JointOverload() | ConstraintOverload():
            return count + events.rows.compliant_count + events.overloads.index(function)
        case UserEventFunction(index=k):
            return count + events.rows.compliant_count + len(events.overloads) + k
    assert layout is not None, function.name
    match function:
        case JointSlideReversal(index=k) | JointStickLimit(index=k):
            return layout.unilaterals + k
        case ContactSlideReversal(index=k) | ContactStickLimit(index=k):
            return layout.unilaterals + layout.joint_frictions + layout.slip_place(k)
        case SlipLawChange(index=k):
            return layout.law_place(k)
    raise AssertionError(function.name)


def note_logged_events(events: Hybrid, log: Floats, functions: Sequence[EventFunction]) -> None:
    """Add the events that compiled code has noted (time, column) to the event log."""
    for t, place in log:
        events.log.note(float(t), functions[int(place)].name, "passed", is_smooth=True)


def hand_passages_to_python(events: Hybrid, passages: Floats) -> None:
    """Tell the user's events on which side they have been since compiled code saw them pass.

    `passages` are the times and the sides of all signals.
    """
    times, sides = (part[len(part) - len(events.given) :] for part in passages)
    events.sides.set_passages(times, sides)


def hand_passages_to_code(events: Hybrid, passages: Floats) -> None:
    """Tell compiled code on which side the user's events are after Python has handled one of
    them."""
    times, sides = (part[len(part) - len(events.given) :] for part in passages)
    times[:], sides[:] = events.sides.passages()
