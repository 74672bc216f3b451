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


SLIP_LAW = "slip law"
"""The kind of a column at which nothing happens but that the friction of a contact that slides in
space is computed by another law: see `mode_layout.SLOW`."""


def can_signal(events: Hybrid) -> bool:
    """Whether all that is watched is an expression: with contacts and friction in all modes, with
    stops at least while none is rested on."""
    code, layout = events.dynamics, events.mode_layout
    slips = [] if layout is None else layout.slips
    needs_modes = bool(events.rows.rubs or events.rows.contacts)
    most_columns = len(mode_columns(events, has_forces=False)) + 2 * len(slips)
    return not (
        (needs_modes and layout is None)
        or code.members
        or code.ties
        or any(event.expression is None for event in events.given)
        or most_columns > MAX_COLUMNS
    )


def signal_expressions(events: Hybrid, t: SX, q: SX, qd: SX, watched: SX | None = None) -> SX:
    """Return what is watched: numbers of stops, contacts and friction, which are above zero until
    something happens; then gaps of compliant contacts, then the user's events.

    `watched` are the first ones; None in a mode without forces of contacts and friction, where they
    are gaps, and 1 for what cannot happen.
    """
    gaps, barriers = events.rows.gap_expressions(q), len(events.rows.barriers)
    if watched is None:
        count = 0 if events.mode_layout is None else events.mode_layout.watched_count - barriers
        watched = ca.vertcat(gaps[:barriers], ca.SX.ones(count))
    s = events.system.equations.symbols
    values = [event.expression for event in events.given if event.expression is not None]
    given = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *values),
        ca.vertcat(s["t"], s["q"], s["qd"]),
        ca.vertcat(t, q, qd),
    )
    found: SX = ca.vertcat(watched, gaps[barriers:], given)
    return found


def mode_columns(events: Hybrid, *, has_forces: bool) -> list[Column]:
    """Return the columns that are watched in the present mode, with forces or without."""
    found = columns_of(events.dynamics, events.mode, events.given, events.inside)
    if not has_forces or events.mode_layout is None:
        return found
    sliding = set(events.mode.resting) - events.mode.grip
    slips = [s for s in events.mode_layout.slips if s.is_spatial and s.contact in sliding]
    return [*found, *(Column(SLIP_LAW, s.contact) for s in slips)]


def event_column_table(events: Hybrid, columns: Iterable[Column]) -> Integers:
    """Return a row of `EventColumn` for each column."""
    places = signal_places(events)
    rows = []
    for column in columns:
        row = [0] * len(EventColumn)
        row[EventColumn.SIGNAL] = places[column.kind, column.index]
        row[EventColumn.SIGN] = column.sign
        row[EventColumn.IS_GAP] = int(column.kind not in ("given", SLIP_LAW))
        row[EventColumn.LEAVES] = 1
        if column.kind == "given":
            event = events.given[column.index]
            row[EventColumn.LEAVES] = int(event.stops or event.change is not None)
            row[EventColumn.REPEATS] = int(event.change is not None)
        rows.append(row)
    return np.array(rows, np.int64).reshape(-1, len(EventColumn))


def signal_places(events: Hybrid) -> dict[tuple[str, int], int]:
    """Return the signal of each column that may be watched, by its kind and index."""
    layout, barriers = events.mode_layout, len(events.rows.barriers)
    found = {(kind, i): i for kind in ("gap", "carries") for i in range(barriers)}
    count = barriers
    if layout is not None:
        for kinds, indices in layout.watched_after_barriers(SLIP_LAW):
            for place, index in enumerate(indices, count):
                found |= {(kind, index): place for kind in kinds}
            count += len(indices)
    found |= {("pad", k): count + k for k in range(events.rows.pads)}
    count += events.rows.pads
    return found | {("given", k): count + k for k in range(len(events.given))}


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
