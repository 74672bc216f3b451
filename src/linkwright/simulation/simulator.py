"""From a mechanism to a run: settings, equations, start, stepper and events, loop, record."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import LinkwrightError
from ..formulations.approximate_penalties import mechanism_with_penalties
from ..mechanism import Mechanism, require_mechanism
from ..types import Floats, ForceLike, VectorLike
from .argument_checks import MOST_SAMPLES, check_single_start
from .compiled_motion import find_obstacle
from .events.breaking import carry_over_motion, remove_member
from .events.event_parts import EventParts
from .events.failures import FailureError
from .events.user_event import Event
from .feedback import Feedback
from .onward import remaining_held_forces, remaining_inputs
from .preparation import Preparation, prepare_simulation
from .progress import RunProgress
from .record import RunTrajectory, prepare_recording, record_run
from .run import Run
from .run_context import RunContext
from .run_integration import BegunRun, RunIntegration
from .sensitivities import Sensitivities
from .settings import Settings
from .start import start_of


def simulate(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: VectorLike | None = None,
    qd0: VectorLike | None = None,
    by: str = "recursive",
    torque: ForceLike | Feedback | None = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 501,
    max_step: float = math.inf,
    progress: bool | None = None,
    step: float | None = None,
    stabilization: str | Mapping[str, float] = "projection",
    coordinates: str = "all",
    events: Mapping[str, str | Callable[..., float] | Event] | None = None,
    stops: str = "stop",
    impacts: str = "together",
    closure: float | None = None,
    sensitivity: Sequence[str] | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
) -> Run:
    """Simulate the motion of a mechanism over t seconds.

    Long runs show their progress on a terminal; Ctrl-C keeps what was computed.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    t : float
        Duration, s.
    q0, qd0 : array or mapping of names to numbers, optional
        Coordinates (rad, m) and velocities at the start; values that a table does not name are
        those at home (where loops close) and at rest.
    by : str
        The formulation of the equations.
    torque : array, callable, mapping or Feedback, optional
        Generalized forces, N m or N: numbers, a function of (t, q, q̇), a controller, or a table by
        velocity or actuator of numbers, expressions ("2*sin(t) - q1") and (times, values) or
        (times, values, "cubic").
    integrator : str
        Such as "dop853".
    rtol, atol : float
        Relative and absolute tolerances of a step.
    samples : int
        Number of equally spaced times in the result.
    max_step, step : float, optional
        Largest step, and the step of integrators with fixed steps, s.
    progress : bool, optional
        Show progress (default: on a terminal).
    stabilization : str or mapping
        How constraints hold: "projection", "baumgarte" or {"alpha": 10, "beta": 10}.
    coordinates : {"all", "minimal"}
        "minimal" integrates loops in as many coordinates as there are degrees of freedom.
    events : mapping, optional
        By name: an expression or function that crosses zero, or an `Event` with an action.
    stops : {"stop", "impact", "ignore"}
        At limits without a restitution the run ends, or they act as stops, or they have no effect;
        limits with a restitution are stops.
    impacts : {"together", "one by one"}
        How impacts at one instant are solved.
    closure : float, optional
        Tolerance of nearly redundant constraints, m and rad (default: the mechanism's).
    sensitivity : sequence of str, optional
        Names of parameters, "q0", "qd0" or single ones such as "q0.theta1": `run.sensitivity` has
        the derivatives of q and q̇ with respect to these.
    beta, gamma, iterations : float, float, int, optional
        Of `by="approximate"`: stiffness of the constraints (N/m), time constant of their damping
        (s), and corrections of the multipliers (default: those of the mechanism, or chosen so that
        joints open by less than 1e-4 of its size; for fixed steps, so that these are stable).

    Returns
    -------
    Run
        The motion with forces, energies and events.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.simulate(lw.gallery("elbow"), 0.1, q0={"q1": 0.5}, samples=3).q.shape
    (3, 2)
    """
    require_mechanism(mechanism)
    check_single_start(q0, qd0)
    settings = Settings(
        t=t,
        q0=q0,
        qd0=qd0,
        by=by,
        integrator=integrator,
        rtol=rtol,
        atol=atol,
        samples=samples,
        max_step=max_step,
        step=step,
        stabilization=stabilization,
        coordinates=coordinates,
        events=events,
        stops=stops,
        impacts=impacts,
        sensitivity=sensitivity,
    )
    mechanism = mechanism_with_penalties(
        mechanism.with_closure(closure), by, beta, gamma, iterations, settings.fixed_step
    )
    simulator = Simulator(mechanism, settings, torque, progress)
    if sensitivity is None:
        return simulator.run(simulator.start(q0, qd0))
    derivatives = Sensitivities(simulator.mechanism, sensitivity, torque, settings)
    derivatives.check_inputs(simulator.prepared.rhs)
    return derivatives.add_to(simulator.run(simulator.start(q0, qd0)), simulator.prepared.rhs)


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


@dataclass(frozen=True, eq=False)
class Simulator:
    """Makes runs of one mechanism with one input."""

    mechanism: Mechanism
    settings: Settings
    torque: ForceLike | Feedback | None = None
    progress: bool | None = None

    @cached_property
    def prepared(self) -> Preparation:
        """The equations and their code, which runs with the same inputs share."""
        return prepare_simulation(
            self.mechanism, self.settings.by, self.torque, self.settings.stabilization
        )

    def start(self, q0: VectorLike | None, qd0: VectorLike | None) -> RunStart:
        """Return a start that satisfies the constraints, from what the user gives."""
        q, qd = start_of(self.mechanism, self.prepared.rhs.model, q0, qd0)
        return RunStart(self.settings.times, q, qd)

    def run(self, start: RunStart) -> Run:
        """Return the run: in compiled code as far as that can make it, then step by step; after a
        member broke it continues with the mechanism that is left."""
        begin = time.perf_counter()
        times, settings = start.times, self.settings
        self._check_period(float(times[-1] - times[0]))
        parts = self.prepared.event_parts(
            self.mechanism, settings.events, settings.stops, settings.impacts
        )
        begun = self._begin(parts, start)
        with np.errstate(all="ignore"), self._watch(times) as watch:
            prepare_recording(self.prepared.rhs)
            integration = RunIntegration(begun, settings, times, watch)
            trajectory, broken = integration.run(), integration.broken
        statistics = {**trajectory.statistics, "seconds": time.perf_counter() - begin}
        found = self._record(begun.context, replace(trajectory, statistics=statistics))
        return found if broken is None else self._continue(found, broken, times)

    def _begin(self, parts: EventParts | None, start: RunStart) -> BegunRun:
        """Return the run at its first time, with its compiled program, if there is one."""
        rhs, settings, t = self.prepared.rhs, self.settings, start.times[0]
        crosses_kinks = settings.has_fixed_steps
        if parts is None:
            events, context = None, RunContext(rhs, crosses_kinks=crosses_kinks)
        else:
            events = parts.begin_run(rhs, crosses_kinks=crosses_kinks)
            context = events.context
        program, obstacle = None, find_obstacle(rhs, settings.integrator, events)
        if settings.coordinates != "all":
            obstacle = "minimal coordinates are not compiled"
        if obstacle is None:
            program = self.prepared.program(settings.integrator, parts)
        y = start.act_at_first_time(context)
        if events is None:
            return BegunRun(context, events, y, program, obstacle)
        try:
            return BegunRun(context, events, events.begin(t, y), program, obstacle)
        except FailureError as failure:
            ending = events.end_by_failure(t, y, failure)
            return BegunRun(context, events, y, None, "it ends where it starts", ending)

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
        settings = {**self.settings.serialized(), **context.drive.kept}
        return record_run(self.mechanism, context, trajectory, settings)

    def _watch(self, times: Floats) -> RunProgress:
        """Return the display of progress."""
        return RunProgress(self.mechanism.name, times[-1], self.progress)

    def _check_period(self, duration: float) -> None:
        """Refuse a controller that acts more often than a run can have samples."""
        law = self.prepared.rhs.drive.feedback
        if law is None or law.period is None or duration / law.period <= MOST_SAMPLES:
            return
        raise LinkwrightError(
            f"the controller's period of {law.period:g} s makes {duration / law.period:.2g} steps",
            where=self.prepared.rhs.equations.mechanism.name,
            remedy=f"give a period of at least {duration / MOST_SAMPLES:.2g} s, or none",
        )
