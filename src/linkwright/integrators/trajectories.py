"""Adaptive integration of many trajectories, as one program.

Each lane integrates one trajectory with its own steps. When the trajectory ends, the lane takes the
next one, so that no lane waits for another. A trajectory is a record in buffers. The program starts
from this record and writes into it where and why it stopped. It can therefore be resumed after
Python has handled an event, a kink of a table or a margin alarm. A `StepMethod`, which is a
constant of the program, makes the steps.

A margin measures how far a state is from one where the rates cannot be computed accurately: it is
the smallest pivot, or a measure of how far wheels are from lying flat. Signals are event functions.
"""

from __future__ import annotations

import math

from ..program import scratch, scratch_matrix, take_ticket, vector
from .events import watch_events
from .near_events import find_near_events
from .step_control import (
    MAX_FACTOR,
    MIN_FACTOR,
    SAFETY,
    choose_first_step,
    power_of_error,
)
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt, StepMethod
from .trajectory_records import (
    Sizes,
    StopReason,
    TrajectoryBuffers,
    load_trajectory,
    note_fastest_state,
    save_trajectory,
    write_samples,
)

LEAST_STEP = 1.5e-15
"""The smallest step as a fraction of the time; a shorter step would not change the time."""

LAST_STRETCH = 1 + 1e-9
"""A step is stretched by up to this factor to end at the stop, so that no tiny step remains."""

ALARM_MARGIN = 0.05
"""A step with a smaller margin is not accepted until Python has checked it."""

WATCHED_MARGIN = 0.5
"""Below this margin, its trend is extrapolated: a step that may reach margin 0 is not taken."""

LEAST_MARGIN = 1e-4
"""Below this margin, elimination without pivoting may lose half of the digits. A step with a stage
below it is repeated with other lengths, which move its stages."""

QUIET_TRIALS = 12
"""Number of attempts for a step with small margins."""

OTHER_LENGTH = 0.87
"""The factor for the length of a step that is repeated for this reason."""

TREND_STEPS = 2.0
"""The number of steps over which the trend of the margin is extrapolated."""


SHORTER = 0.25
"""The length of the next attempt, as a share of a step that was too long for a signal."""


def integrate_trajectories(
    buffers: TrajectoryBuffers, functions: MotionFunctions, method: StepMethod
) -> None:
    """Integrate the active trajectories to their stops, and write the states at sample times."""
    sizes = MotionSizes(
        states=buffers.sizes[Sizes.STATES],
        parameters=buffers.sizes[Sizes.PARAMETERS],
        signals=buffers.sizes[Sizes.SIGNALS],
        first_speed=buffers.sizes[Sizes.FIRST_SPEED],
        end_speed=buffers.sizes[Sizes.END_SPEED],
        event_columns=buffers.sizes[Sizes.EVENT_COLUMNS],
        event_capacity=buffers.sizes[Sizes.EVENT_CAPACITY],
        first_hold=0,
    )
    integrate_with_sizes(buffers, functions, method, sizes)


def integrate_with_sizes(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
) -> None:
    """Integrate the active trajectories; targets that need constant sizes begin here."""
    lane = LaneTrajectory(
        index=0, is_running=False, reason=0, t=0.0, stop=0.0, h=0.0, rtol=0.0, atol=0.0,
        max_step=0.0, closed=0.0, least_step=0.0, margin=0.0, margin_before=0.0, step_before=0.0,
        top_speed=0.0, sample=0, budget=0, quiet=0, was_rejected=False, steps=0, rejected=0,
        evaluations=0, jacobians=0, logged=0, event_mask=0, y=vector(sizes.states),
        f=vector(sizes.states), p=vector(sizes.parameters), passed_at=vector(sizes.signals),
        passed_side=vector(sizes.signals),
    )  # fmt: skip
    while True:
        step = StepAttempt(
            length=0.0, t_new=0.0, error=0.0, least_margin=0.0, end_margin=0.0,
            has_dense_output=False, may_have_events=False, needs_forces=False, is_resolved=True,
            t_event=math.inf,
            y_new=scratch(sizes.states), stage=scratch(sizes.states), margin=scratch(1),
            dense=scratch_matrix(method.dense_rows, sizes.states),
            work=scratch_matrix(
                method.work_rows + method.work_matrices * sizes.states, sizes.states
            ),
        )  # fmt: skip
        if not lane.is_running:
            place = take_ticket(buffers.ticket)
            if place >= buffers.count[0]:
                break
            load_trajectory(buffers, sizes, buffers.active[place], lane)
            if lane.h == 0.0:
                start_trajectory(functions, method, sizes, lane, step)
        lane.reason = StopReason.RUNNING
        plan_step(sizes, lane, step)
        if lane.reason == StopReason.RUNNING:
            method.attempt(functions, sizes, lane, step)
            lane.budget -= 1
            if step.error < 1.0:
                check_margins(buffers, functions, method, sizes, lane, step)
            else:
                reject_step(method, lane, step)
            if lane.budget <= 0 and lane.reason == StopReason.RUNNING:
                lane.reason = StopReason.BUDGET_SPENT
        if lane.reason != StopReason.RUNNING:
            save_trajectory(buffers, sizes, lane)


def start_trajectory(
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Evaluate the rates at the start, and choose the first step."""
    functions.rates(lane.t, lane.y, lane.p, lane.f, step.margin)
    lane.margin = step.margin[0]
    lane.margin_before = step.margin[0]
    lane.was_rejected = False
    lane.h = choose_first_step(functions, method, sizes, lane, step)
    lane.evaluations += 2


def plan_step(sizes: MotionSizes, lane: LaneTrajectory, step: StepAttempt) -> None:
    """Set the length and the end of the next step, or the reason why none is made."""
    step.length = min(lane.h, lane.max_step)
    step.t_new = lane.t + step.length
    if step.length * LAST_STRETCH >= lane.stop - lane.t:
        step.length = lane.stop - lane.t
        step.t_new = lane.stop
    if not step.length >= max(LEAST_STEP * abs(lane.t), lane.least_step):
        lane.reason = StopReason.STEP_TOO_SMALL
    if sizes.event_columns > 0 and 2 * lane.logged > sizes.event_capacity:
        lane.reason = StopReason.LOG_FULL
    fall = lane.margin_before - lane.margin
    if (
        lane.quiet == 0
        and lane.margin < WATCHED_MARGIN
        and lane.margin * lane.step_before < TREND_STEPS * step.length * fall
    ):
        lane.reason = StopReason.MARGIN_ALARM


def check_margins(
    buffers: TrajectoryBuffers,
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Accept a step whose error is small, unless the margins on its way are small too."""
    step.has_dense_output = buffers.sample_times[lane.sample] <= step.t_new
    if functions.signals is not None:
        step.may_have_events = True
        if functions.margins is not None:
            find_near_events(functions, method, sizes, lane, step)
        step.has_dense_output = step.has_dense_output or step.may_have_events
    if step.has_dense_output:
        method.prepare_dense_output(functions, sizes, lane, step)
    if lane.quiet == 0 and not step.least_margin >= ALARM_MARGIN:
        lane.reason = StopReason.MARGIN_ALARM
    elif lane.quiet > 0 and not step.least_margin >= LEAST_MARGIN:
        lane.quiet += 1
        lane.h = OTHER_LENGTH * step.length
        if lane.quiet > QUIET_TRIALS:
            lane.reason = StopReason.MARGIN_ALARM
    else:
        if functions.signals is not None and step.may_have_events:
            watch_events(buffers, functions, method, sizes, lane, step)
        if step.has_dense_output and step.is_resolved:
            write_samples(buffers, method, sizes, lane, step)
        if not step.is_resolved:
            lane.h = SHORTER * step.length
            lane.was_rejected = True
            lane.rejected += 1
        elif step.t_event < math.inf:
            stop_at_event(method, sizes, lane, step)
        else:
            accept_step(functions, method, sizes, lane, step)
            note_fastest_state(buffers, sizes, lane)


def stop_at_event(
    method: StepMethod, sizes: MotionSizes, lane: LaneTrajectory, step: StepAttempt
) -> None:
    """Move to the event of a step at which the trajectory stops; the integration restarts there."""
    x = (step.t_event - lane.t) / step.length
    method.evaluate_dense_output(sizes.states, x, lane.y, step.dense, step.stage)
    for i in range(sizes.states):
        lane.y[i] = step.stage[i]
    lane.t = step.t_event
    lane.h = 0.0
    lane.quiet = 0
    lane.steps += 1
    lane.reason = StopReason.EVENT


def accept_step(
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Move to the end of a step, onto the constraints, and choose the next length."""
    lane.step_before = step.length
    lane.margin_before = lane.margin
    if functions.project is None:
        for i in range(sizes.states):
            lane.y[i] = step.y_new[i]
            lane.f[i] = step.work[method.end_slope_row, i]
        lane.margin = step.end_margin
    else:
        gap = scratch(2)
        functions.project(step.t_new, step.y_new, lane.p, lane.y, gap)
        functions.rates(step.t_new, lane.y, lane.p, lane.f, step.margin)
        lane.margin = min(step.margin[0], gap[1])
        lane.evaluations += 1
        if not gap[0] <= lane.closed:
            lane.reason = StopReason.NOT_CLOSED
    factor = MAX_FACTOR
    if step.error > 0.0:
        root = power_of_error(step.error, method.error_order)
        factor = min(MAX_FACTOR, SAFETY / root)
    if lane.was_rejected:
        factor = min(1.0, factor)
    lane.was_rejected = False
    lane.quiet = 0
    lane.t = step.t_new
    lane.h = step.length * factor if lane.h <= lane.max_step else lane.max_step * factor
    lane.steps += 1
    if lane.t >= lane.stop and lane.reason == StopReason.RUNNING:
        lane.reason = StopReason.REACHED_STOP


def reject_step(method: StepMethod, lane: LaneTrajectory, step: StepAttempt) -> None:
    """Choose a shorter length after an attempt whose error is too large."""
    root = power_of_error(step.error, method.error_order)
    lane.h = step.length * max(MIN_FACTOR, SAFETY / root)
    lane.was_rejected = True
    lane.rejected += 1
