"""What a few values of the signals tell of a step, as programs: whether it may have events, and
whether it is short enough for them.

Most steps are far from all events; they need neither dense output nor a search (`events`).
"""

from __future__ import annotations

import math

from ..program import Size, Vector, scratch, scratch_matrix, unroll
from .event_records import EVENT_COLUMN_SIZE, PIECES, EventColumn, EventSearch
from .hold_choice import Hold
from .signal_values import ALL_ROWS, evaluate_signals
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt, StepMethod
from .trajectory_records import TrajectoryBuffers

LOOKS = 5
"""Times in a step, from its start to its end, at which `is_near_events` looks at signals."""

REACH = 4.0
"""A signal is far from zero over a step if this many times its largest rate at these times does
not reach zero, and if its values there differ by less than the least of them."""


PREDICTION = (
    (35 / 128, 140 / 128, -70 / 128, 28 / 128, -5 / 128),
    (-5 / 128, 60 / 128, 90 / 128, -20 / 128, 3 / 128),
    (3 / 128, -20 / 128, 90 / 128, 60 / 128, -5 / 128),
    (-5 / 128, 28 / 128, -70 / 128, 140 / 128, 35 / 128),
)
"""What a signal is at the ends of odd pieces, if it is a polynomial through its other values."""

UNRESOLVED_SHARE = 0.1
"""A step is too long for a signal that differs from this by more than this share of its range."""

UNRESOLVED_REACH = 4.0
"""That matters if this many times the difference, or the range, reaches zero."""

CHECK_TIMES = (0.0955, 0.4271, 0.7382)
"""Irregular times in a step, as shares of it."""

CHECKS = 3
"""Their number."""

CHECK_PIECES = (1, 3, 6)
"""The ends of pieces that are nearest to them, but not those of the step."""

CHECK_WEIGHTS = tuple(
    (u * (u - 1) / 2, 1 - u * u, u * (u + 1) / 2)
    for u in (PIECES * x - i for x, i in zip(CHECK_TIMES, CHECK_PIECES, strict=True))
)
"""What a signal is at these times, if it is a parabola through its values there and beside."""

SIGNAL_NOISE = 1e-9
"""Smaller differences are rounding: m, rad, N or N m, and as a share of the signal."""

LEAST_LENGTH = 1e-6
"""Steps are not shortened below this for a signal, s: signals may jump."""


def find_near_events(
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Find whether a signal may cross zero in a step, and whether that of a force may, as values
    and rates at a few times tell."""
    assert functions.margins is not None
    assert functions.signals is not None
    values = scratch_matrix(LOOKS, sizes.signals)
    rates = scratch(sizes.signals)
    fastest = scratch(sizes.signals)
    slopes = scratch(sizes.states)
    has_forces = False
    for i in range(sizes.signals):
        has_forces = has_forces or lane.p[sizes.first_hold + i] == Hold.HOLDS
    for k in range(LOOKS):
        x = float(k) / (LOOKS - 1)
        t = lane.t + x * step.length
        interpolate_step(method, sizes, lane, step, x, slopes=slopes)
        functions.margins(t, step.stage, lane.p, slopes, values[k], rates)
        if has_forces:
            functions.signals(t, step.stage, lane.p, values[k])
        for i in range(sizes.signals):
            fastest[i] = max(fastest[i], abs(rates[i])) if k > 0 else abs(rates[i])
    step.may_have_events = False
    step.needs_forces = False
    for i in range(sizes.signals):
        is_near = False
        least = values[0, i]
        most = values[0, i]
        for k in range(LOOKS):
            is_near = is_near or not math.isfinite(values[k, i])
            least = min(least, values[k, i])
            most = max(most, values[k, i])
        is_near = is_near or not least > max(REACH * step.length * fastest[i], most - least)
        is_force = lane.p[sizes.first_hold + i] == Hold.HOLDS
        step.may_have_events = step.may_have_events or is_near
        step.needs_forces = step.needs_forces or (is_near and is_force)


def interpolate_step(
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    x: float,
    *,
    slopes: Vector,
) -> None:
    """Fill `step.stage` with the state at the fraction x of a step, and its rates: Hermite's cubic
    through both ends, which needs no dense output."""
    rise = x * x * (3.0 - 2.0 * x)
    begin = x * (1.0 - x) * (1.0 - x) * step.length
    end = x * x * (1.0 - x) * step.length
    mean = 6.0 * x * (1.0 - x) / step.length
    for i in range(sizes.states):
        way = step.y_new[i] - lane.y[i]
        before = lane.f[i]
        after = step.work[method.end_slope_row, i]
        step.stage[i] = lane.y[i] + (rise * way + (begin * before - end * after))
        bend = (1.0 - x) * (1.0 - 3.0 * x) * before + x * (3.0 * x - 2.0) * after
        slopes[i] = mean * way + bend


def has_resolved_signals(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    *,
    search: EventSearch,
) -> bool:
    """Return whether the pieces of a step are short enough for the gaps and forces of rows.

    A force that holds the motion may depend on time while nothing moves, which the error of a step
    does not show. It is resolved if its values at every second time predict those between them, and
    its values at all of them those at irregular times: a force that oscillates faster than the
    pieces follow each other may look smooth at regular times.
    """
    is_resolved = True
    is_near_force = False
    for c in range(sizes.event_columns):
        column: Size = EVENT_COLUMN_SIZE * c
        signal: Size = buffers.event_columns[column + EventColumn.SIGNAL]
        sign = float(buffers.event_columns[column + EventColumn.SIGN])
        error = 0.0
        for k in unroll(range(PIECES // 2)):
            predicted = 0.0
            for j in unroll(range(PIECES // 2 + 1)):
                predicted = predicted + PREDICTION[k][j] * search.values[2 * j, signal]
            error = max(error, abs(search.values[2 * k + 1, signal] - predicted))
        is_row = buffers.event_columns[column + EventColumn.IS_GAP] == 1
        is_known = is_predicted(sizes, search, signal, sign, error)
        is_resolved = is_resolved and (is_known or not is_row)
        is_force = buffers.event_columns[column + EventColumn.IS_FORCE] == 1
        reach = range_of_signal(sizes, search, signal)
        least = least_of_signal(sizes, search, signal, sign)
        is_near_force = is_near_force or (is_force and UNRESOLVED_REACH * reach > least)
    if is_resolved and is_near_force:
        for k in unroll(range(CHECKS)):
            t = lane.t + CHECK_TIMES[k] * step.length
            evaluate_signals(
                functions, method, sizes, lane, step, t, row=ALL_ROWS, signals=search.signals
            )
            for c in range(sizes.event_columns):
                place: Size = EVENT_COLUMN_SIZE * c
                watched: Size = buffers.event_columns[place + EventColumn.SIGNAL]
                sign = float(buffers.event_columns[place + EventColumn.SIGN])
                predicted = 0.0
                for j in unroll(range(3)):
                    piece = CHECK_PIECES[k] + j - 1
                    predicted = predicted + CHECK_WEIGHTS[k][j] * search.values[piece, watched]
                error = abs(search.signals[watched] - predicted)
                is_force = buffers.event_columns[place + EventColumn.IS_FORCE] == 1
                is_known = is_predicted(sizes, search, watched, sign, error)
                is_resolved = is_resolved and (is_known or not is_force)
    return is_resolved


def is_predicted(
    sizes: MotionSizes, search: EventSearch, signal: Size, sign: float, error: float
) -> bool:
    """Return whether a signal differs little from its prediction, or cannot reach zero."""
    reach = range_of_signal(sizes, search, signal)
    least = least_of_signal(sizes, search, signal, sign)
    noise = SIGNAL_NOISE * (1.0 + max(abs(least), abs(least + reach)))
    is_small = error <= max(UNRESOLVED_SHARE * reach, noise)
    return is_small or not UNRESOLVED_REACH * max(error, reach) > least


def range_of_signal(sizes: MotionSizes, search: EventSearch, signal: Size) -> float:
    """Return the difference between the largest and the least value of a signal."""
    least = least_of_signal(sizes, search, signal, -1.0)
    most = least_of_signal(sizes, search, signal, 1.0)
    return -most - least


def least_of_signal(sizes: MotionSizes, search: EventSearch, signal: Size, sign: float) -> float:
    """Return the least value of a signal times -sign."""
    least = math.inf
    for piece in range(PIECES + 1):
        least = min(least, -sign * search.values[piece, signal])
    return least
