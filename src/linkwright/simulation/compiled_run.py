"""A run in compiled code, and what Python does where the code stops.

The code returns to Python at kinks of tables, where a sampled controller acts, at events that
change the state or the mode or end the run, at margin alarms, and regularly for progress and
Ctrl-C. It cannot handle singular configurations and steps that fail, and it handles contacts and
friction only where their forces are expressions. In other cases `CompiledRun.hand_over` leaves the
run at its last good state, from which the loop in `integration_loop` continues (`compiled_part`).
"""

from __future__ import annotations

import numpy as np

from ..errors import LinkwrightError
from ..integrators import Clock, Progress, StopReason
from ..types import Floats
from .compiled_motion import CompiledMotion, CompiledTrajectory, Handover
from .events.event_function import EventFunction
from .events.hybrid import Hybrid
from .events.signals import (
    compiled_event_functions,
    event_column_table,
    hand_passages_to_code,
    hand_passages_to_python,
    note_logged_events,
)
from .input_forces import InputForces
from .mode_history import ModeHistory, ModeStart
from .right_hand_side import RightHandSide
from .run import FINISHED
from .singularity_log import NEAR_SINGULAR_SHARE
from .state_projector import StateProjector
from .steppers.singularity_crossing import CROSSING
from .trajectory_records import RecordCopy, TrajectoryRecords, WatchedEvents
from .wheels import rolls_on_planes

UNSOUND_STEP = {
    StopReason.NOT_CLOSED: "a step ended off the constraints",
    StopReason.SIGNAL_LOST: "an event function was not finite",
}
"""Reasons for which the program stops after a step that is not part of the motion."""


class CannotContinueError(Exception):
    """The compiled program cannot continue a run, for a reason that may be a lasting one."""

    def __init__(self, reason: str, *, is_lasting: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.is_lasting = reason, is_lasting


class CompiledRun:
    """One trajectory, and what Python does where the program stops."""

    def __init__(
        self,
        records: TrajectoryRecords,
        row: int,
        system: RightHandSide,
        events: Hybrid | None,
        inputs: InputForces | None = None,
    ) -> None:
        self.records, self.row, self.inputs = records, row, inputs
        self.motion, self.system, self.events = records.motion, system, events
        self.status: str | None = None
        self.times, self.end = records.times, records.end
        self.clock, self.progress = records.clock[row], records.progress[row]
        self.y, self.passages = records.y[row], records.passages[row]
        self.columns: list[EventFunction] = []
        self.last: tuple[float, Floats] | None = None
        """The final time and state, if the run ended between two samples."""
        self.broken: str | None = None
        """The member that broke, if that ended the run."""
        self.handover: Handover | None = None
        """Where the loop in Python goes on, if the program cannot."""
        self.modes = ModeHistory()

    @property
    def t(self) -> float:
        """The time that was reached."""
        return float(self.clock[Clock.TIME])

    def interrupt(self) -> None:
        """End the run at the current time, because the user interrupted it."""
        self.status = f"interrupted at t = {self.t:g} s"
        if self.progress[Progress.REASON] not in (StopReason.EVENT, *UNSOUND_STEP):
            self.keep_last(self.t, self.y)

    def stop_with(self, reason: str) -> None:
        """End the run at the present state, for a reason in words."""
        self.status = f"stopped at t = {self.t:g} s: {reason}"
        self.keep_last(self.t, self.y)

    def keep_last(self, t: float, y: Floats) -> None:
        """End the run at (t, y), and keep the samples before it."""
        kept = int(np.searchsorted(self.times[: int(self.progress[Progress.SAMPLE])], t))
        self.progress[Progress.SAMPLE] = max(kept, int(t <= self.times[0]))
        if t > self.times[0]:
            self.last = t, y.copy()

    # -- handing over ----------------------------------------------------------------------------

    def hand_over(self, error: CannotContinueError, before: RecordCopy = ()) -> None:
        """Leave the run at its last good state to the loop in Python.

        `before` are the records with which the last call of the program began: Python goes on from
        there if the last step is not sound.
        """
        if self.progress[Progress.REASON] in UNSOUND_STEP:
            self.records.restore(self.row, before)
        if self.events is not None:
            was_handled = (StopReason.EVENT, StopReason.REACHED_STOP)
            if self.progress[Progress.REASON] not in was_handled:
                self.events.follow_slip(self.y)
            hand_passages_to_python(self.events, self.passages)
        self.status = ""
        self.handover = Handover(
            self.t, self.y.copy(), self.step_length, error.reason, error.is_lasting
        )

    # -- going on --------------------------------------------------------------------------------

    def go_on(self) -> None:
        """Handle the reason for which the program stopped."""
        reason = StopReason(int(self.progress[Progress.REASON]))
        if reason in UNSOUND_STEP:
            raise CannotContinueError(UNSOUND_STEP[reason])
        self.take_over_log()
        match reason:
            case StopReason.REACHED_STOP:
                self.reach_stop()
            case StopReason.EVENT:
                self.treat_event()
            case StopReason.MARGIN_ALARM:
                if self.progress[Progress.QUIET] or self.is_near_singular():
                    raise CannotContinueError(self.margin_obstacle)
                self.progress[Progress.QUIET] = 1
            case StopReason.BUDGET_SPENT | StopReason.LOG_FULL:
                self.check_progress()
            case _:
                raise CannotContinueError("the step became too small")

    @property
    def margin_obstacle(self) -> str:
        """What a small margin means."""
        if rolls_on_planes(self.system.equations.mechanism):
            return "a wheel is close to lying flat"
        return "pivots are small, as near a singular configuration"

    def reach_stop(self) -> None:
        """Finish the run, or continue after a kink of a table or the action of a controller."""
        if self.t >= self.end:
            self.status = FINISHED
            return
        if self.inputs is not None:
            self.records.move(self.row, self.inputs.act(self.t, self.y))
        if self.events is not None:
            self.records.move(self.row, self.events.pass_force_jump(self.t, self.y))
            same = self.t - 1e-12 * max(1.0, self.t)
            self.watch_events(int(np.searchsorted(self.times, same)))
        self.begin_segment(self.t)

    def begin_segment(self, t: float) -> None:
        """Restart the integration at t."""
        held = None if self.inputs is None else self.inputs.held
        self.records.begin_segment(self.row, t, held)

    def check_progress(self) -> None:
        """End a run whose steps have become so short that it would not end."""
        steps = int(self.progress[Progress.STEPS])
        self.status = self.records.endless.status(self.row, self.t, steps, self.end)
        if self.status is not None:
            self.keep_last(self.t, self.y)

    @property
    def step_length(self) -> float:
        """The length of the last step or of the next one, whichever is longer."""
        return float(max(self.clock[Clock.STEP], self.clock[Clock.STEP_BEFORE]))

    def is_near_singular(self) -> bool:
        """Whether the constraints may lose rank in the next steps, or a wheel may lie flat."""
        system, closing = self.system, self.motion.closing
        if closing is None or rolls_on_planes(system.equations.mechanism):
            return True
        motion = system.space.motion(self.y)
        length = self.step_length
        ahead = closing.time_to_singularity(self.t, *motion, 1e-3 * length)
        share = closing.share_of_usual(closing.weakest_at(self.t, motion[0]))
        return bool(ahead < CROSSING.reach * length or share < NEAR_SINGULAR_SHARE)

    # -- events ----------------------------------------------------------------------------------

    def watch_events(self, first_sample: int) -> None:
        """Let the program compute the forces of the present mode and watch its events, from a
        sample on."""
        if self.events is None:
            return
        form = self.set_mode(self.events, first_sample)
        has_forces = form is not self.motion
        self.columns = compiled_event_functions(self.events, has_forces=has_forces)
        table = event_column_table(self.events, self.columns)
        self.records.watch(self.row, WatchedEvents(form, table))

    def set_mode(self, events: Hybrid, first_sample: int) -> CompiledMotion:
        """Return the program of the present mode, and hand it the mode's numbers."""
        functions = self.motion.mode_functions
        has_forces = bool(events.rows.joint_frictions) or not events.mode.plain
        form = self.motion.with_modes if has_forces else self.motion
        if form is None:
            raise CannotContinueError("the forces of a mode are not expressions")
        numbers = np.zeros(0)
        if functions is not None:
            _, V = events.rows.gaps_and_speeds(*self.system.space.motion(self.y))
            numbers = functions.layout.numbers(events.mode, V)
        self.records.set_mode(self.row, numbers)
        self.modes.add(ModeStart(first_sample, form, numbers))
        return form

    def take_over_log(self) -> None:
        """Add the events that the program has noted to the event log."""
        if self.events is None:
            return
        log = self.records.event_log[self.row, : self.progress[Progress.LOGGED]]
        note_logged_events(self.events, log, self.columns)
        self.progress[Progress.LOGGED] = 0

    def treat_event(self) -> None:
        """Handle the event at which the program stopped; it changes the state or ends the run."""
        assert self.events is not None
        bits, t = int(self.progress[Progress.EVENT_MASK]), self.t
        columns = [column for k, column in enumerate(self.columns) if bits >> k & 1]
        self.events.follow_slip(self.y)
        hand_passages_to_python(self.events, self.passages)
        y = self._projected_state(self.events)
        try:
            outcome = self.events.handle(t, y, columns)
        except LinkwrightError as error:
            self.status = f"stopped at t = {t:.12g} s: {error}"
            self.keep_last(t, y)
            return
        self.status, self.broken = outcome.status, outcome.broken
        hand_passages_to_code(self.events, self.passages)
        self.jump(t, y if outcome.y is None else outcome.y)

    def _projected_state(self, events: Hybrid) -> Floats:
        """Return the state on the constraints and on what the mode holds; Python's projection has
        the mechanism's own parameters, so that the program's is used if some are given."""
        found = self.records.projected_state(self.row) if self.motion.kept else None
        if found is None:
            return StateProjector(events.context, events)(self.t, self.y.copy())
        return StateProjector(events.context, events).hold(self.t, found)

    def jump(self, t: float, y: Floats) -> None:
        """Continue from a changed state, or end the run there."""
        if self.status is not None or t >= self.end:
            self.status = self.status or FINISHED
            self.keep_last(t, y)
            return
        self.records.move(self.row, y)
        self.progress[Progress.SAMPLE] = max(1, int(np.searchsorted(self.times, t)))
        self.watch_events(int(self.progress[Progress.SAMPLE]))
        self.begin_segment(t)

    # -- the result ------------------------------------------------------------------------------

    def trajectory(self) -> CompiledTrajectory:
        """Return the result with states on the constraints; NaN where projection fails."""
        assert self.status is not None
        count = int(self.progress[Progress.SAMPLE])
        times = self.times[:count]
        states = self.modes.projected_samples(self.records, self.row, count)
        if self.last is not None:
            times, states = np.append(times, self.last[0]), np.vstack([states, self.last[1]])
        statistics = {
            "steps": int(self.progress[Progress.STEPS]),
            "rejected": int(self.progress[Progress.REJECTED]),
            "evaluations": int(self.progress[Progress.EVALUATIONS]),
        }
        if self.motion.method.needs_jacobian:
            statistics["jacobians"] = int(self.progress[Progress.JACOBIANS])
        return CompiledTrajectory(
            times,
            states.T,
            self.records.fastest[self.row, 1:],
            statistics,
            self.status,
            self.modes.numbers(len(times)),
            self.broken,
            self.handover,
        )
