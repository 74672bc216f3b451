"""Adaptive integration of many trajectories, as one program.

Each lane integrates one trajectory with its own steps. When the trajectory ends, the lane takes the
next one, so that no lane waits for another. A trajectory is a record in buffers. The program starts
from this record and writes into it where and why it stopped. It can therefore be resumed after
Python has handled an event, a kink of a table or a margin alarm.

A margin measures how far a state is from one where the rates cannot be computed accurately: it is
the smallest pivot, or a measure of how far wheels are from lying flat. Signals are event functions.
"""

from __future__ import annotations

from enum import IntEnum

from ..program import (
    Buffer,
    IntBuffer,
    Procedure,
    Size,
    read_buffer_row,
    scratch,
    scratch_matrix,
    take_ticket,
    vector,
    write_buffer_row,
)
from .explicit_steps import (
    choose_first_step,
    compute_stages,
    dense_rows,
    error_norm,
    evaluate_dense_output,
    passes_zero,
    power_of_error,
    prepare_dense_output,
)
from .tableaus import RungeKuttaPair


class Clock(IntEnum):
    """Columns of the buffer `clock`: times, tolerances and margins of a trajectory."""

    TIME = 0
    STOP = 1
    STEP = 2
    """The length of the next step; 0: the program chooses it."""
    RTOL = 3
    ATOL = 4
    MAX_STEP = 5
    MARGIN = 6
    """The margin at the last state; MARGIN_BEFORE: one step earlier."""
    MARGIN_BEFORE = 7
    STEP_BEFORE = 8
    CLOSED = 9
    """The largest constraint residual that counts as closed."""


class Progress(IntEnum):
    """Columns of the buffer `progress`: why a trajectory stopped, and counts."""

    REASON = 0
    SAMPLE = 1
    STEPS = 2
    REJECTED = 3
    EVALUATIONS = 4
    BUDGET = 5
    """Attempted steps that are left before the program returns to Python."""
    QUIET = 6
    """Above 0 if Python has allowed small margins in the next step; then it counts the attempts."""
    WAS_REJECTED = 7
    """1 where the last trial of a step was rejected: the next step may not be longer."""


class Sizes(IntEnum):
    """Entries of the buffer `sizes`: what all trajectories have in common."""

    STATES = 0
    PARAMETERS = 1
    SIGNALS = 2
    FIRST_SPEED = 3
    """The velocities are the states FIRST_SPEED to END_SPEED - 1."""
    END_SPEED = 4


class StopReason(IntEnum):
    """Why a trajectory stopped."""

    RUNNING = 0
    REACHED_STOP = 1
    BUDGET_SPENT = 2
    STEP_TOO_SMALL = 3
    MARGIN_ALARM = 4
    NOT_CLOSED = 5
    SIGNAL = 6
    """A signal crosses zero, or may do so, in the last step; `step_records` has its polynomial."""


CLOCK_COLUMNS, PROGRESS_COLUMNS = len(Clock), len(Progress)

SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 10.0
"""Step control of Hairer, Nørsett and Wanner, as in SciPy."""

LEAST_STEP = 1.5e-15
"""The smallest step as a fraction of the time; a shorter step would not change the time."""

SMALLEST_SHARE = 1e-16
"""The smallest step as a fraction of the remaining time; it also limits steps near t = 0."""

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


def step_record_size(pair: RungeKuttaPair, n: int) -> int:
    """Return how many numbers describe a step: start time, length, first state, coefficients."""
    return 2 + n + dense_rows(pair) * n


def integrate_trajectories(
    ticket: IntBuffer,
    count: IntBuffer,
    active: IntBuffer,
    *,
    clock: Buffer,
    progress: IntBuffer,
    states: Buffer,
    slopes: Buffer,
    parameters: Buffer,
    sample_times: Buffer,
    samples: Buffer,
    fastest: Buffer,
    step_records: Buffer,
    sizes: IntBuffer,
    rates: Procedure,
    project: Procedure | None,
    signals: Procedure | None,
    pair: RungeKuttaPair,
) -> None:
    """Integrate the active trajectories to their stops, and write the states at sample times."""
    n: Size = sizes[Sizes.STATES]
    m: Size = sizes[Sizes.PARAMETERS]
    signal_count: Size = sizes[Sizes.SIGNALS]
    first_speed: Size = sizes[Sizes.FIRST_SPEED]
    end_speed: Size = sizes[Sizes.END_SPEED]
    running = False
    k = 0
    t = 0.0
    stop = 0.0
    h = 0.0
    rtol = 0.0
    atol = 0.0
    max_step = 0.0
    margin_now = 0.0
    margin_before = 0.0
    step_before = 0.0
    least_step = 0.0
    top_speed = 0.0
    sample = 0
    budget = 0
    quiet = 0
    was_rejected = False
    stride = 0
    y = vector(n)
    f = vector(n)
    p = vector(m)
    while True:
        margin = scratch(1)
        stage = scratch(n)
        y_new = scratch(n)
        slope = scratch_matrix(pair.slopes, n)
        if not running:
            place = take_ticket(ticket)
            if place >= count[0]:
                break
            k = active[place]
            t = clock[CLOCK_COLUMNS * k + Clock.TIME]
            stop = clock[CLOCK_COLUMNS * k + Clock.STOP]
            h = clock[CLOCK_COLUMNS * k + Clock.STEP]
            rtol = clock[CLOCK_COLUMNS * k + Clock.RTOL]
            atol = clock[CLOCK_COLUMNS * k + Clock.ATOL]
            max_step = clock[CLOCK_COLUMNS * k + Clock.MAX_STEP]
            margin_now = clock[CLOCK_COLUMNS * k + Clock.MARGIN]
            margin_before = clock[CLOCK_COLUMNS * k + Clock.MARGIN_BEFORE]
            step_before = clock[CLOCK_COLUMNS * k + Clock.STEP_BEFORE]
            least_step = SMALLEST_SHARE * (stop - t)
            sample = progress[PROGRESS_COLUMNS * k + Progress.SAMPLE]
            budget = progress[PROGRESS_COLUMNS * k + Progress.BUDGET]
            quiet = progress[PROGRESS_COLUMNS * k + Progress.QUIET]
            stride = count[1]
            read_buffer_row(states, n * k, y)
            read_buffer_row(slopes, n * k, f)
            read_buffer_row(parameters, m * k, p)
            top_speed = fastest[(n + 1) * k]
            was_rejected = progress[PROGRESS_COLUMNS * k + Progress.WAS_REJECTED] == 1
            if h == 0.0:
                rates(t, y, p, f, margin)
                margin_now = margin[0]
                margin_before = margin_now
                was_rejected = False
                h = choose_first_step(
                    rates,
                    pair.error_order,
                    n,
                    t,
                    stop - t,
                    y=y,
                    p=p,
                    f=f,
                    rtol=rtol,
                    atol=atol,
                    stage=stage,
                    slope=y_new,
                    margin=margin,
                )
                progress[PROGRESS_COLUMNS * k + Progress.EVALUATIONS] += 2
            running = True
        reason = 0
        length = min(h, max_step)
        t_new = t + length
        if length * LAST_STRETCH >= stop - t:
            length = stop - t
            t_new = stop
        if not length >= max(LEAST_STEP * abs(t), least_step):
            reason = StopReason.STEP_TOO_SMALL
        fall = margin_before - margin_now
        if (
            quiet == 0
            and margin_now < WATCHED_MARGIN
            and margin_now * step_before < TREND_STEPS * length * fall
        ):
            reason = StopReason.MARGIN_ALARM
        if reason == 0:
            margin[0] = margin_now
            least, end_margin = compute_stages(
                rates, pair, n, t, length, y=y, p=p, f=f, k=slope, y_new=y_new, margin=margin
            )
            error = error_norm(pair, n, length, y=y, y_new=y_new, k=slope, rtol=rtol, atol=atol)
            progress[PROGRESS_COLUMNS * k + Progress.EVALUATIONS] += pair.stages
            budget -= 1
            if error < 1.0:
                dense = scratch_matrix(dense_rows(pair), n)
                state = scratch(n)
                needs_dense = sample_times[sample] <= t_new
                if signals is not None:
                    needs_dense = True
                if needs_dense:
                    dense_margin = prepare_dense_output(
                        rates,
                        pair,
                        n,
                        t,
                        length,
                        y=y,
                        y_new=y_new,
                        p=p,
                        k=slope,
                        dense=dense,
                        stage=stage,
                        margin=margin,
                    )
                    progress[PROGRESS_COLUMNS * k + Progress.EVALUATIONS] += len(pair.dense_c)
                    least = least if dense_margin >= least else dense_margin
                if quiet == 0 and not least >= ALARM_MARGIN:
                    reason = StopReason.MARGIN_ALARM
                elif quiet > 0 and not least >= LEAST_MARGIN:
                    quiet += 1
                    h = OTHER_LENGTH * length
                    if quiet > QUIET_TRIALS:
                        reason = StopReason.MARGIN_ALARM
                else:
                    factor = MAX_FACTOR
                    if error > 0.0:
                        root = power_of_error(error, pair.error_order)
                        factor = min(MAX_FACTOR, SAFETY / root)
                    if was_rejected:
                        factor = min(1.0, factor)
                    was_rejected = False
                    if needs_dense:
                        if signals is not None:
                            is_near = passes_zero(
                                signals,
                                pair,
                                n,
                                signal_count,
                                t=t,
                                h=length,
                                y=y,
                                p=p,
                                dense=dense,
                                state=state,
                            )
                            if is_near:
                                reason = StopReason.SIGNAL
                                record = (2 + n + dense_rows(pair) * n) * k
                                step_records[record] = t
                                step_records[record + 1] = length
                                write_buffer_row(step_records, record + 2, y)
                                write_buffer_row(step_records, record + 2 + n, dense)
                        while sample_times[sample] <= t_new:
                            x = (sample_times[sample] - t) / length
                            evaluate_dense_output(pair, n, x, y, dense, state)
                            write_buffer_row(samples, n * (stride * k + sample), state)
                            sample += 1
                    step_before = length
                    margin_before = margin_now
                    if project is None:
                        for i in range(n):
                            y[i] = y_new[i]
                            f[i] = slope[pair.stages, i]
                        margin_now = end_margin
                    else:
                        gap = scratch(2)
                        project(t_new, y_new, p, y, gap)
                        rates(t_new, y, p, f, margin)
                        margin_now = min(margin[0], gap[1])
                        progress[PROGRESS_COLUMNS * k + Progress.EVALUATIONS] += 1
                        if not gap[0] <= clock[CLOCK_COLUMNS * k + Clock.CLOSED]:
                            reason = StopReason.NOT_CLOSED
                    t = t_new
                    h = length * factor if h <= max_step else max_step * factor
                    quiet = 0
                    progress[PROGRESS_COLUMNS * k + Progress.STEPS] += 1
                    speed = 0.0
                    for i in range(first_speed, end_speed):
                        speed = speed + y[i] * y[i]
                    if speed > top_speed:
                        top_speed = speed
                        write_buffer_row(fastest, (n + 1) * k + 1, y)
                    if t >= stop and reason == 0:
                        reason = StopReason.REACHED_STOP
            else:
                root = power_of_error(error, pair.error_order)
                h = length * max(MIN_FACTOR, SAFETY / root)
                was_rejected = True
                progress[PROGRESS_COLUMNS * k + Progress.REJECTED] += 1
            if budget <= 0 and reason == 0:
                reason = StopReason.BUDGET_SPENT
        if reason != 0:
            progress[PROGRESS_COLUMNS * k + Progress.REASON] = reason
            progress[PROGRESS_COLUMNS * k + Progress.SAMPLE] = sample
            progress[PROGRESS_COLUMNS * k + Progress.QUIET] = quiet
            progress[PROGRESS_COLUMNS * k + Progress.WAS_REJECTED] = 1 if was_rejected else 0
            clock[CLOCK_COLUMNS * k + Clock.TIME] = t
            clock[CLOCK_COLUMNS * k + Clock.STEP] = h
            clock[CLOCK_COLUMNS * k + Clock.MARGIN] = margin_now
            clock[CLOCK_COLUMNS * k + Clock.MARGIN_BEFORE] = margin_before
            clock[CLOCK_COLUMNS * k + Clock.STEP_BEFORE] = step_before
            write_buffer_row(states, n * k, y)
            write_buffer_row(slopes, n * k, f)
            fastest[(n + 1) * k] = top_speed
            running = False
