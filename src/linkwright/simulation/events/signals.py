"""Events as signals: expressions of the state that compiled code watches."""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from ...integrators import EventColumn
from ...types import SX, Floats, Integers
from ..run import Happened
from .columns import Column, columns_of
from .hybrid import Hybrid

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
        or len(plain_columns(events)) > MAX_COLUMNS
    )


def signal_expressions(events: Hybrid, t: SX, q: SX, qd: SX) -> SX:
    """Return what is watched: gaps of stops and of compliant contacts, then the user's events."""
    s = events.system.equations.symbols
    values = [event.expression for event in events.given if event.expression is not None]
    given = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *values),
        ca.vertcat(s["t"], s["q"], s["qd"]),
        ca.vertcat(t, q, qd),
    )
    found: SX = ca.vertcat(events.rows.gap_expressions(q), given)
    return found


def plain_columns(events: Hybrid) -> list[Column]:
    """Return the columns that are watched in a mode without contacts and friction."""
    return columns_of(events.dynamics, events.mode, events.given, events.inside)


def event_column_table(events: Hybrid, columns: Iterable[Column]) -> Integers:
    """Return a row of `EventColumn` for each column."""
    barriers, pads = len(events.rows.barriers), events.rows.pads
    first = {"gap": 0, "pad": barriers, "given": barriers + pads}
    rows = []
    for column in columns:
        row = [0] * len(EventColumn)
        row[EventColumn.SIGNAL] = first[column.kind] + column.index
        row[EventColumn.SIGN] = column.sign
        row[EventColumn.IS_GAP] = int(column.kind != "given")
        row[EventColumn.LEAVES] = 1
        if column.kind == "given":
            event = events.given[column.index]
            row[EventColumn.LEAVES] = int(event.stops or event.change is not None)
            row[EventColumn.REPEATS] = int(event.change is not None)
        rows.append(row)
    return np.array(rows, np.int64).reshape(-1, len(EventColumn))


def note_logged_events(events: Hybrid, log: Floats, columns: list[Column]) -> None:
    """Add the events that compiled code has noted (time, column) to what happened."""
    for t, place in log:
        events.happened.append(Happened(float(t), columns[int(place)].name, "passed"))


def hand_passages_to_python(events: Hybrid, passages: Floats) -> None:
    """Tell the events of the user on which side they have been since compiled code saw them pass.

    `passages` are the times and the sides of all signals.
    """
    times, sides = (part[len(part) - len(events.given) :] for part in passages)
    events.sides.standing.clear()
    for k in np.flatnonzero(sides):
        events.sides.passed(float(times[k]), [Column("given", int(k), int(sides[k]))])


def hand_passages_to_code(events: Hybrid, passages: Floats) -> None:
    """Tell compiled code on which side the events of the user are after Python has treated one."""
    times, sides = (part[len(part) - len(events.given) :] for part in passages)
    sides[:] = 0.0
    for k, passage in events.sides.standing.items():
        times[k], sides[k] = passage.t, passage.side
