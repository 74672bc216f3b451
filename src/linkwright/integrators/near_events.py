"""What a few values of the signals tell of a step, as programs: whether it may have events, and
whether it is short enough for them.

Most steps are far from all events; they need neither dense output nor a search (`events`).
"""

from __future__ import annotations

import math

from ..program import Size, Vector, scratch, scratch_matrix, unroll
from .event_records import EVENT_COLUMN_SIZE, PIECES, EventColumn, EventSearch
from .hold_choice import Hold
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
"""That matters if this many times the difference reaches zero."""

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
    buffers: TrajectoryBuffers, sizes: MotionSizes, search: EventSearch
) -> bool:
    """Return whether the pieces of a step are short enough for the gaps and forces of rows.

    A force that holds the motion may depend on time while nothing moves, which the error of a step
    does not show. It is resolved if its values at every second time predict those between them.
    """
    is_resolved = True
    for c in range(sizes.event_columns):
        column: Size = EVENT_COLUMN_SIZE * c
        signal: Size = buffers.event_columns[column + EventColumn.SIGNAL]
        sign = float(buffers.event_columns[column + EventColumn.SIGN])
        least = math.inf
        most = -math.inf
        error = 0.0
        for piece in range(PIECES + 1):
            least = min(least, -sign * search.values[piece, signal])
            most = max(most, -sign * search.values[piece, signal])
        for k in unroll(range(PIECES // 2)):
            predicted = 0.0
            for j in unroll(range(PIECES // 2 + 1)):
                predicted = predicted + PREDICTION[k][j] * search.values[2 * j, signal]
            error = max(error, abs(search.values[2 * k + 1, signal] - predicted))
        noise = SIGNAL_NOISE * (1.0 + max(abs(least), abs(most)))
        is_far = error <= max(UNRESOLVED_SHARE * (most - least), noise)
        is_row = buffers.event_columns[column + EventColumn.IS_GAP] == 1
        if is_row and not is_far and UNRESOLVED_REACH * error > least:
            is_resolved = False
    return is_resolved
