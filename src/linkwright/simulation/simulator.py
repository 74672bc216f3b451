"""From a mechanism to a run: settings, equations, start, stepper and events, loop, record."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import LinkwrightError
from ..mechanism import Mechanism
from ..model.model import Model
from ..types import Floats, ForceLike, VectorLike
from .argument_checks import MOST_SAMPLES
from .compiled_motion import CompiledMotion, find_obstacle
from .events.breaking import carry_over_motion, remove_member
from .events.event_parts import EventParts
from .events.failures import FailureError
from .feedback import Feedback
from .onward import remaining_held_forces, remaining_inputs
from .preparation import Preparation, prepare_simulation
from .progress import RunProgress
from .record import RunTrajectory, prepare_recording, record_run
from .right_hand_side import RightHandSide
from .run import Run
from .run_context import RunContext
from .run_integration import BegunRun, RunIntegration
from .settings import Settings
from .start import start_of


@dataclass(frozen=True)
class RunStart:
    """Where a run starts: the times of its samples, q and q̇ at the first of them, and forces that
    a sampled controller has set before."""

    times: Floats
    q: Floats
    qd: Floats
    held: Floats | None = None

    def act_at_first_time(self, context: RunContext) -> Floats:
        """Let a sampled controller act at the first time, unless it has; return the first state."""
        y = context.space.start(self.q, self.qd, float(self.times[0]))
        if self.held is None:
            return context.inputs.act(self.times[0], y)
        context.inputs.hold(self.times[0], self.held)
        return y


def begin_run(
    rhs: RightHandSide,
    parts: EventParts | None,
    start: RunStart,
    values: Floats | None = None,
    *,
    crosses_kinks: bool = False,
) -> BegunRun:
    """Return a run at its first time, in its first mode, without a program; `values` are those of
    the parameters that differ between runs, in which events may differ."""
    t = start.times[0]
    if parts is None:
        context = RunContext(rhs, crosses_kinks=crosses_kinks)
        return BegunRun(context, None, start.act_at_first_time(context))
    events = parts.begin_run(rhs, values, crosses_kinks=crosses_kinks)
    y = start.act_at_first_time(events.context)
    try:
        return BegunRun(events.context, events, events.begin(t, y))
    except FailureError as failure:
        ending = events.end_by_failure(t, y, failure)
        why = "the run ends at its start"
        return BegunRun(events.context, events, y, obstacle=why, ending=ending)


@dataclass(frozen=True, eq=False)
class GivenParameters:
    """Values of parameters that are inputs of the program, and the preparation that has them so."""

    mechanism: Mechanism
    prepared: Preparation
    values: Floats

    def values_in(self, model: Model) -> Floats:
        """Return those of the values that are inputs of a model."""
        names = self.prepared.rhs.parameters
        return self.values[[names.index(name) for name in model.parameters]]


@dataclass(frozen=True, eq=False)
class Simulator:
    """Makes runs of one mechanism with one input.

    `given` are parameters that are inputs of the program; the mechanism has their values.
    """

    mechanism: Mechanism
    settings: Settings
    torque: ForceLike | Feedback | None = None
    progress: bool | None = None
    given: GivenParameters | None = None

    @cached_property
    def prepared(self) -> Preparation:
        """The equations and their code, which runs with the same inputs share."""
        return prepare_simulation(
            self.mechanism, self.settings.by, self.torque, self.settings.stabilization
        )

    def start(self, q0: VectorLike | None, qd0: VectorLike | None) -> RunStart:
        """Return a start that satisfies the constraints, from what the user gives."""
        prepared = self.prepared if self.given is None else self.given.prepared
        values = None if self.given is None else self.given.values_in(prepared.rhs.model)
        q, qd = start_of(self.mechanism, prepared.rhs.model, q0, qd0, values)
        return RunStart(self.settings.times, q, qd)

    def run(self, start: RunStart) -> Run:
        """Return the run: in compiled code as far as that can make it, then step by step; after a
        member broke it continues with the mechanism that is left."""
        return self.run_begun(self.begin(start), start.times)

    def run_begun(self, begun: BegunRun, times: Floats) -> Run:
        """Return the run that has begun at the first of the times."""
        begin = time.perf_counter()
        with np.errstate(all="ignore"), self._watch(times) as watch:
            prepare_recording(self.prepared.rhs)
            integration = RunIntegration(begun, self.settings, times, watch)
            trajectory, broken = integration.run(), integration.broken
        statistics = {**trajectory.statistics, "seconds": time.perf_counter() - begin}
        found = self._record(begun.context, replace(trajectory, statistics=statistics))
        return found if broken is None else self._continue(found, broken, times)

    def begin(self, start: RunStart) -> BegunRun:
        """Return a run at its first time, with its compiled program, if there is one."""
        self._check_period(float(start.times[-1] - start.times[0]))
        settings, rhs = self.settings, self.prepared.rhs
        parts = settings.find_event_parts(self.prepared, self.mechanism)
        begun = begin_run(rhs, parts, start, crosses_kinks=settings.has_fixed_steps)
        obstacle = begun.obstacle or find_obstacle(rhs, settings.integrator, begun.events)
        if settings.coordinates != "all":
            obstacle = "minimal coordinates are not compiled"
        if obstacle is not None:
            return replace(begun, obstacle=obstacle)
        parameters = None if self.given is None else self.given.values[None]
        return replace(begun, program=self._program(), parameters=parameters)

    def _program(self) -> CompiledMotion:
        """Return the compiled program of a run."""
        mechanism, prepared = self.mechanism, self.prepared
        if self.given is not None:
            mechanism, prepared = self.given.mechanism, self.given.prepared
        parts = self.settings.find_event_parts(prepared, mechanism)
        return prepared.program(self.settings.integrator, parts)

    def _continue(self, found: Run, member: str, times: Floats) -> Run:
        """Return a run that continues, after a member broke, with the mechanism that is left."""
        rest = times[times > found.t[-1]]
        if not len(rest):
            return found
        later = np.concatenate([found.t[-1:], rest])
        try:
            left = remove_member(found.mechanism, member)
            q, qd = carry_over_motion(found.mechanism, left, member, found.q[-1], found.qd[-1])
            drive = remaining_inputs(self.torque, found, left)
            held = remaining_held_forces(drive, found, left)
            settings = replace(self.settings, after=member)
            rest_of_run = Simulator(left, settings, drive, self.progress)
            next_run = rest_of_run.run(RunStart(later, q, qd, held))
        except LinkwrightError as error:
            return replace(found, status=f"{found.status}; it cannot go on: {error}")
        return replace(found, next=next_run)

    def _record(self, context: RunContext, trajectory: RunTrajectory) -> Run:
        """Return the run of a trajectory."""
        settings = {**self.settings.serialized(), **context.force_law.kept}
        return record_run(self.mechanism, context, trajectory, settings)

    def _watch(self, times: Floats) -> RunProgress:
        """Return the display of progress."""
        return RunProgress(self.mechanism.name, times[-1], self.progress)

    def _check_period(self, duration: float) -> None:
        """Refuse a controller that acts more often than a run can have samples."""
        law = self.prepared.rhs.force_law.feedback
        if law is None or law.period is None or duration / law.period <= MOST_SAMPLES:
            return
        raise LinkwrightError(
            f"the controller's period of {law.period:g} s makes {duration / law.period:.2g} steps",
            where=self.prepared.rhs.equations.mechanism.name,
            remedy=f"give a period of at least {duration / MOST_SAMPLES:.2g} s, or none",
        )
