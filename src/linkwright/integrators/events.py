"""Events along a step, as programs: they bracket event functions, find their roots and note them.

An event column is a signal that crosses zero in one direction. Events of a column that are only
noted go into a log. At the first event of any other column, the trajectory stops with the time and
the state of that event, so that Python can change the state or end the run.
"""

from __future__ import annotations

import math

from ..program import Size, scratch, scratch_matrix
from .event_records import EVENT_COLUMN_SIZE, PIECES, EventColumn, EventSearch, RootBracket
from .near_events import LEAST_LENGTH, has_resolved_signals
from .signal_values import ALL_ROWS, evaluate_signals
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt, StepMethod
from .trajectory_records import StopReason, TrajectoryBuffers

AT_ZERO = 1e-13
"""A signal below this value is zero except for rounding."""

SAME_PASSAGE = 1e-9
"""Two passages of one event within this fraction of the time are one."""

SAME_INSTANT = 1e-11
"""Events within this fraction of the time happen at the same instant."""

JUST_BEYOND = 1e-300
"""Stands for the value of a signal whose side of zero is known, but not its value."""

ROOT_ABSOLUTE, ROOT_RELATIVE = 1e-15, 8.9e-16
"""Tolerances of the time of a root, as of `scipy.optimize.brentq`: about four units of rounding."""

MAX_ROOT_STEPS = 200
"""Bisection needs about 150 steps for the worst bracket; every third step is one."""


FIRST_SHARE = 2.0**-50
"""Where a signal is zero at the start of a bracket, the search for its sign inside the bracket
begins at this share of its length, which is doubled up to one half."""


def watch_events(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Note the events of a step in their order, up to the first one at which the trajectory stops.

    `step.t_event` becomes the time of that event, or ∞. Events are only found in a step that is
    short enough for the signals, which `step.is_resolved` tells.
    """
    search = EventSearch(
        begin=lane.t, is_open=True, is_lost=False, t=math.inf, leaves=False, mask=0,
        values=scratch_matrix(PIECES + 1, sizes.signals), roots=scratch(sizes.event_columns),
        signals=scratch(sizes.signals),
    )  # fmt: skip
    step.t_event = math.inf
    while search.is_open:
        tabulate_signals(functions, method, sizes, lane, step, search)
        if search.begin == lane.t and step.length > LEAST_LENGTH:
            step.is_resolved = has_resolved_signals(
                buffers, functions, method, sizes, lane, step, search=search
            )
        hold_known_sides(sizes, lane, step, search)
        find_first_event(buffers, functions, method, sizes, lane, step, search=search)
        if not step.is_resolved:
            search.is_open = False
        elif search.is_lost:
            lane.reason = StopReason.SIGNAL_LOST
            search.is_open = False
        elif search.t >= math.inf:
            search.is_open = False
        elif search.leaves or lane.logged + sizes.event_columns > sizes.event_capacity:
            lane.event_mask = search.mask
            step.t_event = search.t
            search.is_open = False
        else:
            note_events(buffers, sizes, lane, search)
            search.begin = search.t


def tabulate_signals(
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    search: EventSearch,
) -> None:
    """Fill the signals at the ends of the pieces of the rest of a step."""
    search.is_lost = False
    for piece in range(PIECES + 1):
        t = search.begin + (step.t_new - search.begin) * (float(piece) / PIECES)
        evaluate_signals(
            functions, method, sizes, lane, step, t, row=ALL_ROWS, signals=search.values[piece]
        )
        for i in range(sizes.signals):
            if not math.isfinite(search.values[piece, i]):
                search.is_lost = True


def hold_known_sides(
    sizes: MotionSizes, lane: LaneTrajectory, step: StepAttempt, search: EventSearch
) -> None:
    """Set signals that have just crossed zero to the side on which they are known to be.

    A root is found within rounding, so the value of the signal there does not tell its side.
    """
    for i in range(sizes.signals):
        passed = lane.passed_at[i]
        until = last_time_of_passage(passed)
        if search.begin > until and abs(search.values[0, i]) > AT_ZERO:
            lane.passed_side[i] = 0.0
        is_zero = True
        for piece in range(PIECES + 1):
            t = search.begin + (step.t_new - search.begin) * (float(piece) / PIECES)
            is_zero = is_zero and abs(search.values[piece, i]) <= AT_ZERO
            if lane.passed_side[i] != 0.0 and (is_zero or t <= until):
                search.values[piece, i] = lane.passed_side[i] * JUST_BEYOND


def find_first_event(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    *,
    search: EventSearch,
) -> None:
    """Find the earliest event of the rest of a step, and all columns that have one at that time."""
    search.t = math.inf
    for c in range(sizes.event_columns):
        column: Size = EVENT_COLUMN_SIZE * c
        signal: Size = buffers.event_columns[column + EventColumn.SIGNAL]
        bracket = RootBracket(is_found=False, is_at_once=False, a=0.0, b=0.0)
        latest = last_time_of_instant(search.t)
        search.roots[c] = math.inf
        bracket_root(
            buffers, functions, method, sizes, lane, step,
            search=search, bracket=bracket, column=column,
        )  # fmt: skip
        if bracket.is_at_once:
            search.roots[c] = search.begin
        elif bracket.is_found and bracket.a <= latest:
            root = find_root(
                buffers, functions, method, sizes, lane, step,
                search=search, bracket=bracket, column=column,
            )  # fmt: skip
            until = last_time_of_passage(lane.passed_at[signal])
            repeats = buffers.event_columns[column + EventColumn.REPEATS] == 1
            if lane.passed_side[signal] == 0.0 or repeats or root > until:
                search.roots[c] = root
        search.t = min(search.t, search.roots[c])
    search.leaves = False
    search.mask = 0
    power = 1
    latest = last_time_of_instant(search.t)
    for c in range(sizes.event_columns):
        if search.roots[c] <= latest and search.roots[c] < math.inf:
            search.mask = search.mask + power
            if buffers.event_columns[EVENT_COLUMN_SIZE * c + EventColumn.LEAVES] == 1:
                search.leaves = True
        power = power * 2


def last_time_of_instant(t: float) -> float:
    """Return the end of the instant that begins at t."""
    return t + SAME_INSTANT * max(1.0, abs(t))


def last_time_of_passage(t: float) -> float:
    """Return the time up to which a passage of the same event is the one at t."""
    return t + SAME_PASSAGE * max(1.0, abs(t))


def bracket_root(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    *,
    search: EventSearch,
    bracket: RootBracket,
    column: Size,
) -> None:
    """Find the first interval on which a column has an event."""
    signal: Size = buffers.event_columns[column + EventColumn.SIGNAL]
    sign = float(buffers.event_columns[column + EventColumn.SIGN])
    is_gap = buffers.event_columns[column + EventColumn.IS_GAP] == 1
    is_overload = buffers.event_columns[column + EventColumn.IS_OVERLOAD] == 1
    width = (step.t_new - search.begin) / PIECES
    earlier = math.inf
    here = -sign * search.values[0, signal]
    is_touching = is_gap and abs(here) <= AT_ZERO
    if is_touching:
        here = JUST_BEYOND
    for piece in range(PIECES):
        t = search.begin + width * float(piece)
        after = -sign * search.values[piece + 1, signal]
        is_touching = is_touching and abs(after) <= AT_ZERO
        if is_touching:  # zero up to rounding, as the gap of a joint that sticks at its stop
            after = JUST_BEYOND
        if not bracket.is_found and not bracket.is_at_once:
            bend = earlier - 2.0 * here + after
            is_convex = bend > 0.0 and bend < math.inf
            way = (earlier - after) / (2.0 * bend) if is_convex else 0.0
            is_first = piece == 1 and earlier > AT_ZERO
            is_last = piece == PIECES - 1 and after > AT_ZERO
            is_low = earlier > here or (is_first and way > -1.0)
            is_low = is_low and (here < after or (is_last and way < 1.0))
            is_dip = here > 0.0 and is_convex and is_low
            is_worse = is_gap and here <= 0.0 and after < here and after < 0.0
            if piece == 0 and (is_worse or (is_overload and here < 0.0)):
                bracket.is_at_once = True
            elif here > 0.0 and after <= 0.0:
                bracket.is_found = True
                bracket.a = t
                bracket.b = t + width if piece < PIECES - 1 else step.t_new
            elif piece > 0 and is_dip:
                lowest = t + width * way
                evaluate_signals(
                    functions, method, sizes, lane, step, lowest, row=signal, signals=search.signals
                )
                if -sign * search.signals[signal] <= 0.0:
                    bracket.is_found = True
                    bracket.a = t - width
                    bracket.b = lowest
        earlier = here
        here = after


def find_root(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    *,
    search: EventSearch,
    bracket: RootBracket,
    column: Size,
) -> float:
    """Return the first representable time in a bracket at which the event has happened.

    This is the method of Anderson and Björck, in which every third step halves the bracket.
    """
    signal: Size = buffers.event_columns[column + EventColumn.SIGNAL]
    sign = float(buffers.event_columns[column + EventColumn.SIGN])
    evaluate_signals(
        functions, method, sizes, lane, step, bracket.b, row=signal, signals=search.signals
    )
    after = -sign * search.signals[signal]
    before = leave_zero(
        buffers, functions, method, sizes, lane, step,
        search=search, bracket=bracket, column=column,
    )  # fmt: skip
    count = 0
    while (
        before > 0.0
        and after < 0.0
        and bracket.b - bracket.a > ROOT_ABSOLUTE + ROOT_RELATIVE * abs(bracket.b)
        and count < MAX_ROOT_STEPS
    ):
        width = bracket.b - bracket.a
        least = 0.5 * (ROOT_ABSOLUTE + ROOT_RELATIVE * abs(bracket.b))
        t = bracket.b - width * (after / (after - before))
        t = bracket.a + 0.5 * width if count % 3 == 2 else t
        t = min(max(t, bracket.a + least), bracket.b - least)
        evaluate_signals(
            functions, method, sizes, lane, step, t, row=signal, signals=search.signals
        )
        middle = -sign * search.signals[signal]
        if middle > 0.0:
            share = 1.0 - middle / before
            after = after * (share if share > 0.0 else 0.5)
            bracket.a = t
            before = middle
        else:
            share = 1.0 - middle / after
            before = before * (share if share > 0.0 else 0.5)
            bracket.b = t
            after = middle
        count += 1
    return bracket.a if before <= 0.0 else bracket.b


def leave_zero(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    *,
    search: EventSearch,
    bracket: RootBracket,
    column: Size,
) -> float:
    """Move the start of a bracket past a beginning that is zero except for rounding.

    Return the height of the signal there; it is at most zero if the signal does not rise.
    """
    signal: Size = buffers.event_columns[column + EventColumn.SIGNAL]
    sign = float(buffers.event_columns[column + EventColumn.SIGN])
    begin = bracket.a
    highest_at = bracket.a
    share = FIRST_SHARE
    evaluate_signals(
        functions, method, sizes, lane, step, begin, row=signal, signals=search.signals
    )
    height = -sign * search.signals[signal]
    highest: float = height
    is_flat = height <= AT_ZERO
    if is_flat:
        highest = -math.inf
    while height <= AT_ZERO and share < 1.0:
        t = begin + (bracket.b - begin) * share
        evaluate_signals(
            functions, method, sizes, lane, step, t, row=signal, signals=search.signals
        )
        height = -sign * search.signals[signal]
        if height > highest:
            highest = height
            highest_at = t
        share = 2.0 * share
    if is_flat and highest > 0.0:
        bracket.a = highest_at
    return highest


def note_events(
    buffers: TrajectoryBuffers, sizes: MotionSizes, lane: LaneTrajectory, search: EventSearch
) -> None:
    """Write the events of an instant into the log, and remember on which side they are now."""
    latest = last_time_of_instant(search.t)
    for c in range(sizes.event_columns):
        column: Size = EVENT_COLUMN_SIZE * c
        signal: Size = buffers.event_columns[column + EventColumn.SIGNAL]
        if search.roots[c] <= latest:
            place = 2 * (sizes.event_capacity * lane.index + lane.logged)
            buffers.event_log[place] = search.t
            buffers.event_log[place + 1] = float(c)
            lane.logged += 1
            lane.passed_at[signal] = search.t
            lane.passed_side[signal] = float(buffers.event_columns[column + EventColumn.SIGN])
