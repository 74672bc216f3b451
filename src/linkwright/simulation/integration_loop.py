"""The loop of a run: it makes steps, finds events, takes samples, projects, and says why it
ended."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import LinkwrightError
from ..processes.interrupts import lost_interrupts
from ..types import Floats
from .diagnosis import describe_stop
from .endless_steps import EndlessSteps
from .events.hybrid import Hybrid, Outcome
from .events.search import LostError
from .faults import FAULT_SEARCH, check_input_forces, find_input_fault
from .progress import RunProgress
from .run import FINISHED
from .run_context import RunContext
from .sample_record import SampleRecord
from .state_projector import StateProjector
from .steppers.stepper import Stepper
from .wheels import FlatWheels

KNOWN_SAMPLES = 16
"""Number of earlier samples that show the usual size of the inputs when one of them is not
finite."""


class IntegrationLoop:
    """Advances a stepper from one sample to the next, and from one event to the next."""

    def __init__(
        self,
        stepper: Stepper,
        context: RunContext,
        events: Hybrid | None = None,
        *,
        has_fixed_steps: bool = False,
    ) -> None:
        self.stepper, self.context, self.events = stepper, context, events
        self.project = StateProjector(context, events)
        self.samples = SampleRecord(context, events)
        self.steps = 0
        self.broken: str | None = None
        """The member that broke, if that ended the run."""
        self.fastest, self._largest_square = stepper.y, 0.0
        self._wheels = FlatWheels(context.equations.mechanism)
        self._end = np.inf
        self._last = stepper.t, stepper.y
        """The end of the last step that went well."""
        self._endless = None if has_fixed_steps else EndlessSteps(1, stepper.t, is_compiled=False)

    @property
    def t(self) -> float:
        """The time of the last step that went well."""
        return self._last[0]

    @property
    def y(self) -> Floats:
        """The state after the last step that went well."""
        return self._last[1]

    def go_on_from(self, t: float, y: Floats, end: float) -> None:
        """Go on from a state that compiled code has reached."""
        self._last = t, y
        self.stepper.restart(t, y, self.context.inputs.next_stop(t, end))

    def run(
        self,
        times: Floats,
        watch: RunProgress | None = None,
        is_handed_back: Callable[[], bool] = lambda: False,
    ) -> str | None:
        """Take samples at the times; return how the run ended, or None if it is handed back to
        compiled code after a step.

        Ctrl-C ends it too, and so does an error of an input or an event.
        """
        t, y = self._last
        self._end = self.context.inputs.next_stop(float(t), float(times[-1]))
        if len(self.samples):
            self.samples.update_last(t, y)
        else:
            self.samples.keep(t, y)
        try:
            with np.errstate(all="ignore"):
                return self._run(times, watch, is_handed_back)
        except KeyboardInterrupt:
            self._keep_reached()
            return f"interrupted at t = {self._last[0]:g} s"
        except LinkwrightError as error:
            self._keep_reached()
            return f"stopped at t = {self._last[0]:g} s: {error}"
        except np.linalg.LinAlgError:
            self._keep_reached()
            return self._describe_stop("its equations are no longer finite")

    def end_at_start(self, outcome: Outcome) -> str:
        """End a run that an event ends at its start."""
        self.samples.keep(self.stepper.t, self.stepper.y)
        return self._end_run(self.stepper.t, outcome)

    def _run(
        self, times: Floats, watch: RunProgress | None, is_handed_back: Callable[[], bool]
    ) -> str | None:
        """Step until all samples are taken, or until the run is handed back."""
        if not np.isfinite(self.context.rates(self.stepper.t, self.stepper.y)).all():
            return self._describe_stop("its rates are not finite")
        with lost_interrupts() as raise_lost:
            while len(self.samples) < len(times):
                status = self._step(times)
                if status is not None:
                    return status
                raise_lost()
                if watch is not None:
                    watch.step(self.stepper.t)
                status = self._check_progress(float(times[-1]))
                if status is not None:
                    return status
                if is_handed_back() and len(self.samples) < len(times):
                    return None
        return FINISHED

    def _check_progress(self, end: float) -> str | None:
        """End a run whose steps have become so short that it would not end; return its status."""
        if self._endless is None:
            return None
        status = self._endless.status(0, self._last[0], self.steps, end)
        if status is not None:
            self._keep_reached()
        return status

    def _step(self, times: Floats) -> str | None:
        """Make a step with its events and samples; return why the run ends, if it does."""
        reason = self.stepper.advance()
        if reason is None and not np.isfinite(self.stepper.y).all():
            reason = "its rates are no longer finite"
        if reason is not None:
            return self._describe_stop(reason)
        q, _ = self.context.space.motion(self.stepper.y)
        if (wheel := self._wheels.find_fallen_wheel(self.stepper.t, q)) is not None:
            return _describe_fallen_wheel(self.stepper.step_start, wheel)
        self.steps += 1
        self.compare_velocities(self.stepper.y)
        if self.events is not None:
            status = self._handle_events(times)
            if status is not None:
                self._pass_scheduled_event(times[-1])
                self._remember()
                return status or None
        self._take_samples(times[times <= self.stepper.t])
        if self.stepper.has_no_memory and self.project.is_needed:
            self.stepper.correct(self.project(self.stepper.t, self.stepper.y))
        if self.events is not None:
            self.events.follow_slip(self.stepper.y)
        self._remember()
        self._pass_scheduled_event(times[-1])
        if self.project.has_failed:
            return self._describe_stop("its constraints no longer hold")
        return None

    def _remember(self) -> None:
        """Keep the present state, in case the next step fails."""
        self._last = self.stepper.t, self.stepper.y.copy()

    def compare_velocities(self, y: Floats) -> None:
        """Keep the state with the largest velocities, which may lie between samples."""
        _, qd = self.context.space.motion(y)
        square = float(qd @ qd)
        if square > self._largest_square:
            self.fastest, self._largest_square = y.copy(), square

    # -- events ----------------------------------------------------------------------------------

    def _pass_scheduled_event(self, end: float) -> None:
        """Start again where a table has a kink, or a sampled controller acts."""
        t = self.stepper.t
        if t < self._end or t >= end:
            return
        y = self.context.inputs.act(t, self.project(t, self.stepper.y))
        if self.events is not None:
            y = self.events.pass_force_jump(t, y)
            self.samples.update_last(t, y)
        self._end = self.context.inputs.next_stop(t, end)
        self.stepper.restart(t, y, self._end)

    def _handle_events(self, times: Floats) -> str | None:
        """Handle the events of the last step, until one of them changes the motion.

        Samples before it are taken. Returns "" if the motion continues from the event, the reason
        if the run ends there, and None if nothing changes the motion.
        """
        assert self.events is not None
        begin, inside = self.stepper.step_start, self.stepper.dense_output()
        while True:
            try:
                event = self.events.next_event(begin, self.stepper.t, inside)
            except LostError as error:
                return self._end_before_event(times, error.t, error)
            if event is None:
                return None
            t, functions = event
            self._take_samples(times[times < t])
            try:
                outcome = self.events.handle(t, self.project(t, inside(t)), functions)
            except LinkwrightError as error:
                return self._end_before_event(times, t, error)
            if outcome.status is not None:
                return self._end_run(t, outcome)
            if outcome.y is not None:
                if t >= times[-1]:
                    self.samples.keep(t, outcome.y)
                else:
                    self.stepper.restart(t, outcome.y, self._end)
                return ""
            begin = t

    def _end_run(self, t: float, outcome: Outcome) -> str:
        """End the run by an event."""
        assert outcome.y is not None
        assert outcome.status is not None
        self.samples.keep_last(t, outcome.y)
        self.broken = outcome.broken
        return outcome.status

    def _end_before_event(self, times: Floats, t: float, error: LinkwrightError) -> str:
        """End the run at an event that cannot be handled, and keep the part before it."""
        self._take_samples(times[times < t])
        self.samples.keep_last(t, self.project(t, self.stepper.dense_output()(t)))
        return f"stopped at t = {t:.12g} s: {error}"

    # -- samples and ends ------------------------------------------------------------------------

    def _take_samples(self, passed: Floats) -> None:
        """Take the samples that the last step has passed."""
        new = passed[len(self.samples) :]
        if new.size:
            inside = self.stepper.dense_output()
            for t in new:
                state = self.project(t, inside(t))
                check_input_forces(self.context, t, state)
                self.samples.keep(t, state)

    def _keep_reached(self) -> None:
        """Keep the last state after the samples; Ctrl-C may have interrupted the storing of one."""
        self.samples.drop_incomplete()
        t, y = self._last
        if t > self.samples.times[-1] and self._has_finite_inputs(t, y):
            self.samples.keep(t, self.project(t, y))

    def _has_finite_inputs(self, t: float, y: Floats) -> bool:
        """Whether the inputs are finite at a state."""
        try:
            check_input_forces(self.context, t, y)
        except LinkwrightError:
            return False
        return True

    def _describe_stop(self, reason: str) -> str:
        """Return the status of a run that stops at the present state."""
        (t, y), stepper = self._last, self.stepper
        near = FAULT_SEARCH.near_share * max(1.0, abs(stepper.t))
        reach = max(stepper.t - t, stepper.look_ahead, near)
        fault = find_input_fault(self.context, t, y, reach, self.samples.some(KNOWN_SAMPLES))
        if fault is not None:
            return f"stopped at t = {t:.10g} s: {fault}"
        return describe_stop(self.context.rhs, stepper.t, stepper.y, reason)


def _describe_fallen_wheel(t: float, wheel: str) -> str:
    """Return the status of a run in which a wheel falls flat."""
    return (
        f"stopped at t = {t:.10g} s: the wheel of '{wheel}' falls flat and no longer rolls on a "
        "single point; end the run earlier, or hold the wheel up"
    )
