"""The records of trajectories in buffers, and how a lane loads and saves them."""

from __future__ import annotations

from enum import IntEnum

from ..program import Buffer, IntBuffer, read_buffer_row, record, write_buffer_row
from .step_method import LaneTrajectory, MotionSizes, StepAttempt, StepMethod


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
    LOGGED = 8
    """The number of events in the log."""
    EVENT_MASK = 9
    """The columns of the event at which the trajectory stopped: bit k is 1 for column k."""
    JACOBIANS = 10
    """Jacobians that were evaluated; each is factorized once."""


class Sizes(IntEnum):
    """Entries of the buffer `sizes`: what all trajectories have in common."""

    STATES = 0
    PARAMETERS = 1
    SIGNALS = 2
    FIRST_SPEED = 3
    """The velocities are the states FIRST_SPEED to END_SPEED - 1."""
    END_SPEED = 4
    EVENT_COLUMNS = 5
    EVENT_CAPACITY = 6
    """The number of events that the log of a trajectory can hold."""


class StopReason(IntEnum):
    """Why a trajectory stopped."""

    RUNNING = 0
    REACHED_STOP = 1
    BUDGET_SPENT = 2
    STEP_TOO_SMALL = 3
    MARGIN_ALARM = 4
    NOT_CLOSED = 5
    EVENT = 6
    """An event that is not only noted; the record has its time and state, the log has the earlier
    events."""
    SIGNAL_LOST = 7
    """A signal is not finite."""
    LOG_FULL = 8
    """The log of events must be emptied."""


CLOCK_COLUMNS, PROGRESS_COLUMNS = len(Clock), len(Progress)

SMALLEST_SHARE = 1e-16
"""The smallest step as a fraction of the remaining time; it also limits steps near t = 0."""


@record
class TrajectoryBuffers:
    """The buffers of all trajectories, with one row for each, and what they share."""

    ticket: IntBuffer
    """The number of active trajectories that lanes have taken."""
    count: IntBuffer
    """The number of active trajectories, and the number of sample times."""
    active: IntBuffer
    clock: Buffer
    progress: IntBuffer
    states: Buffer
    slopes: Buffer
    parameters: Buffer
    sample_times: Buffer
    """The sample times, followed by ∞."""
    samples: Buffer
    fastest: Buffer
    """The largest sum of squares of the velocities, and the state at which it occurred."""
    passages: Buffer
    """For each signal, when it last crossed zero, and then its side."""
    event_log: Buffer
    """For each event that was noted, its time and its column."""
    event_columns: IntBuffer
    sizes: IntBuffer


def load_trajectory(
    buffers: TrajectoryBuffers, sizes: MotionSizes, index: int, lane: LaneTrajectory
) -> None:
    """Load a trajectory from its record."""
    clock = CLOCK_COLUMNS * index
    progress = PROGRESS_COLUMNS * index
    lane.index = index
    lane.is_running = True
    lane.t = buffers.clock[clock + Clock.TIME]
    lane.stop = buffers.clock[clock + Clock.STOP]
    lane.h = buffers.clock[clock + Clock.STEP]
    lane.rtol = buffers.clock[clock + Clock.RTOL]
    lane.atol = buffers.clock[clock + Clock.ATOL]
    lane.max_step = buffers.clock[clock + Clock.MAX_STEP]
    lane.margin = buffers.clock[clock + Clock.MARGIN]
    lane.margin_before = buffers.clock[clock + Clock.MARGIN_BEFORE]
    lane.step_before = buffers.clock[clock + Clock.STEP_BEFORE]
    lane.closed = buffers.clock[clock + Clock.CLOSED]
    lane.least_step = SMALLEST_SHARE * (lane.stop - lane.t)
    lane.sample = buffers.progress[progress + Progress.SAMPLE]
    lane.steps = buffers.progress[progress + Progress.STEPS]
    lane.rejected = buffers.progress[progress + Progress.REJECTED]
    lane.evaluations = buffers.progress[progress + Progress.EVALUATIONS]
    lane.jacobians = buffers.progress[progress + Progress.JACOBIANS]
    lane.budget = buffers.progress[progress + Progress.BUDGET]
    lane.quiet = buffers.progress[progress + Progress.QUIET]
    lane.was_rejected = buffers.progress[progress + Progress.WAS_REJECTED] == 1
    lane.logged = buffers.progress[progress + Progress.LOGGED]
    lane.event_mask = 0
    lane.top_speed = buffers.fastest[(sizes.states + 1) * index]
    read_buffer_row(buffers.states, sizes.states * index, lane.y)
    read_buffer_row(buffers.slopes, sizes.states * index, lane.f)
    read_buffer_row(buffers.parameters, sizes.parameters * index, lane.p)
    read_buffer_row(buffers.passages, 2 * sizes.signals * index, lane.passed_at)
    read_buffer_row(buffers.passages, sizes.signals * (2 * index + 1), lane.passed_side)


def save_trajectory(buffers: TrajectoryBuffers, sizes: MotionSizes, lane: LaneTrajectory) -> None:
    """Save a trajectory that stops into its record, from which it can be resumed."""
    clock = CLOCK_COLUMNS * lane.index
    progress = PROGRESS_COLUMNS * lane.index
    buffers.progress[progress + Progress.REASON] = lane.reason
    buffers.progress[progress + Progress.SAMPLE] = lane.sample
    buffers.progress[progress + Progress.STEPS] = lane.steps
    buffers.progress[progress + Progress.REJECTED] = lane.rejected
    buffers.progress[progress + Progress.EVALUATIONS] = lane.evaluations
    buffers.progress[progress + Progress.JACOBIANS] = lane.jacobians
    buffers.progress[progress + Progress.QUIET] = lane.quiet
    buffers.progress[progress + Progress.WAS_REJECTED] = 1 if lane.was_rejected else 0
    buffers.progress[progress + Progress.LOGGED] = lane.logged
    buffers.progress[progress + Progress.EVENT_MASK] = lane.event_mask
    buffers.clock[clock + Clock.TIME] = lane.t
    buffers.clock[clock + Clock.STEP] = lane.h
    buffers.clock[clock + Clock.MARGIN] = lane.margin
    buffers.clock[clock + Clock.MARGIN_BEFORE] = lane.margin_before
    buffers.clock[clock + Clock.STEP_BEFORE] = lane.step_before
    buffers.fastest[(sizes.states + 1) * lane.index] = lane.top_speed
    write_buffer_row(buffers.states, sizes.states * lane.index, lane.y)
    write_buffer_row(buffers.slopes, sizes.states * lane.index, lane.f)
    write_buffer_row(buffers.passages, 2 * sizes.signals * lane.index, lane.passed_at)
    write_buffer_row(buffers.passages, sizes.signals * (2 * lane.index + 1), lane.passed_side)
    lane.is_running = False


def write_samples(
    buffers: TrajectoryBuffers,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Write the states at the sample times of a step, up to an event, by its dense output."""
    while (
        buffers.sample_times[lane.sample] <= step.t_new
        and buffers.sample_times[lane.sample] < step.t_event
    ):
        x = (buffers.sample_times[lane.sample] - lane.t) / step.length
        method.evaluate_dense_output(sizes.states, x, lane.y, step.dense, step.stage)
        place = buffers.count[1] * lane.index + lane.sample
        write_buffer_row(buffers.samples, sizes.states * place, step.stage)
        lane.sample += 1


def note_fastest_state(
    buffers: TrajectoryBuffers, sizes: MotionSizes, lane: LaneTrajectory
) -> None:
    """Keep the state with the largest velocities."""
    speed = 0.0
    for i in range(sizes.first_speed, sizes.end_speed):
        speed = speed + lane.y[i] * lane.y[i]
    if speed > lane.top_speed:
        lane.top_speed = speed
        write_buffer_row(buffers.fastest, (sizes.states + 1) * lane.index + 1, lane.y)
