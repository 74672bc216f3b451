"""The cost of one formulation on one mechanism: to derive, to evaluate, and to integrate to a
given accuracy with the simulator, in the formulation's own states.

Times are seconds of the processor, the least of several runs; ratios are what counts, but of the
time to integrate, most of which the steps of the integrator take where a mechanism is small.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from ..equations import Equations
from ..errors import LinkwrightError, UnsupportedError
from ..formulations import derive_uncached, formulation_module
from ..formulations.approximate_penalties import mechanism_with_penalties
from ..kinematics.assembly import closed_state_near_home
from ..mechanism import Mechanism, mechanism_names
from ..simulation.compiled_motion import CompiledMotion, CompiledTrajectory
from ..simulation.compiled_part import integrate_compiled
from ..simulation.inputs import read_force_law
from ..simulation.integration_loop import IntegrationLoop
from ..simulation.right_hand_side import RightHandSide
from ..simulation.run import FINISHED
from ..simulation.run_context import RunContext
from ..simulation.steppers.stepper import StepOptions
from ..simulation.steppers.stepper_choice import stepper_named
from ..tape import Tape, count_tape_operations, normalize_tape, record_tape
from ..types import Floats
from .fixed_step_motions import FixedStepMotion, FixedSteps
from .formulation_row import FormulationRow

Result = TypeVar("Result")


TIMED_ACCURACY = 1e-6
"""The largest error of timed motions, as a share of the largest coordinate or velocity."""
TRIED_TOLERANCES = [10 ** (-k / 2) for k in range(8, 23)]
REFERENCE_TOLERANCE = 1e-12
"""Tolerance of the motion that errors are counted from."""
MOTION_SAMPLES, MAX_KEPT_REFERENCES = 6, 16
TIMED_BATCH_SIZE = 256
MAX_REPETITIONS, REPEATED_SECONDS = 40, 0.2
"""Motions of a millisecond are repeated often, since other processes disturb single ones."""


def measure_formulation(
    mechanism: Mechanism,
    by: str,
    duration: float,
    steps: FixedSteps | None = None,
    options: Mapping[str, str] | None = None,
) -> FormulationRow:
    """Measure the sizes, times and disagreements of one formulation with its options, with fixed
    steps if given."""
    reason = formulation_module(by).supports(mechanism)
    if reason is not None:
        raise UnsupportedError(reason)
    reference = _reference_trial(mechanism, duration)
    if by == "approximate":
        mechanism = mechanism_with_penalties(
            mechanism, by, step=None if steps is None else steps.length
        )
    study = FormulationTrial(mechanism, by, duration, options)
    named = getattr(formulation_module(by), "algorithm_name", None)
    timed = study.fastest_accurate_motion if steps is None else partial(study.motion_of, steps)
    fastest, accuracy = timed()
    equations, states = study.published_sizes()
    return FormulationRow(
        by=by,
        algorithm="" if named is None else named(mechanism, **(options or {})),
        equations=equations,
        states=states,
        integrated=study.integrated_states,
        operations=study.operations,
        derive_seconds=study.derive_seconds,
        compile_seconds=study.compile_seconds,
        evaluate_microseconds=study.time_evaluation(),
        integrate_seconds=fastest.seconds,
        evaluations=fastest.evaluations,
        accuracy=accuracy,
        disagreement=study.disagreement_with(reference),
        apart=timed_motion_difference(study.reference_motion, reference.reference_motion),
        beta=float(study.eqs.extra("beta")) if by == "approximate" else 0.0,
    )


_reference_trials: dict[tuple[str, float], FormulationTrial] = {}
"""The last ones, for the other formulations of the same mechanisms."""


def _reference_trial(mechanism: Mechanism, duration: float) -> FormulationTrial:
    """The trial of the recursive formulation, with which the others are compared."""
    key = (mechanism.digest, duration)
    if key not in _reference_trials:
        while len(_reference_trials) >= MAX_KEPT_REFERENCES:
            _reference_trials.pop(next(iter(_reference_trials)))
        _reference_trials[key] = FormulationTrial(mechanism, "recursive", duration)
    return _reference_trials[key]


@dataclass(frozen=True)
class TimedMotion:
    """q and q̇ at a few times, and the time that the integration took."""

    states: Floats
    seconds: float
    evaluations: int


def timed_motion_difference(one: TimedMotion, other: TimedMotion) -> float:
    """The largest difference of two motions, relative to the largest entry of the second."""
    return _relative_disagreement(one.states, other.states)


def fastest_motion(integrate: Callable[[], TimedMotion]) -> TimedMotion:
    """The fastest of many motions, or of few where one takes long."""
    motions = [integrate()]
    while len(motions) < MAX_REPETITIONS and sum(m.seconds for m in motions) < REPEATED_SECONDS:
        motions.append(integrate())
    return min(motions, key=lambda motion: motion.seconds)


class FormulationTrial:
    """One formulation of a mechanism: derived, compiled and integrated."""

    def __init__(
        self,
        mechanism: Mechanism,
        by: str,
        duration: float,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.duration = duration
        (self.eqs, self.rate_function), self.derive_seconds = time_fastest_repetition(
            lambda: _derive_timed_rates(mechanism, by, options or {})
        )
        self.rhs = RightHandSide(self.eqs, read_force_law(self.eqs, None))
        self.operations = count_tape_operations(_tape_of_timed_rates(self.rate_function))
        self.time_arguments = self.eqs.names.time_arguments(0.0)
        self.start_state = _random_trial_state(self.eqs, np.random.default_rng(0), 0.5, 0.0)
        _ = self.rhs.expressions.power  # of the simulator, not of the formulation
        start = time.thread_time()
        with np.errstate(all="ignore"):
            first = RunContext(self.rhs).rates(0.0, self.rhs.space.start(*self.start_state))
        self.compile_seconds = time.thread_time() - start
        if not np.isfinite(first).all():
            raise LinkwrightError(
                f"the motion by {by} cannot begin: its rates are not finite near rest",
                where=mechanism.name,
                remedy="choose other coordinates",
            )

    @property
    def integrated_states(self) -> int:
        """The number of states that are integrated."""
        state = self.eqs.state
        return self.eqs.nq + self.eqs.nv if state is None else len(state.names)

    def published_sizes(self) -> tuple[int, int]:
        """The numbers of equations and states, as the formulation's paper counts them."""
        module, states = formulation_module(self.eqs.by), self.integrated_states
        if hasattr(module, "size"):
            found: tuple[int, int] = module.size(self.eqs.mechanism)
            return found
        return (states if self.eqs.by == "hamilton" else states // 2), states

    @property
    def sample_times(self) -> Floats:
        """The times at which motions are compared, s."""
        return np.linspace(0.0, self.duration, MOTION_SAMPLES)

    @cached_property
    def program(self) -> CompiledMotion:
        """The compiled integrator, with its own projection onto constraints."""
        program = CompiledMotion(self.rhs, "dop853", None)
        _ = program.single_code
        return program

    def integrate_motion(self, tolerance: float) -> TimedMotion:
        """Integrate by the simulator: in compiled code, or step by step where that cannot."""
        y, context, program = (
            self.rhs.space.start(*self.start_state),
            RunContext(self.rhs),
            self.program,
        )
        options = {"rtol": tolerance, "atol": tolerance / 10, "max_step": math.inf}
        start = time.thread_time()
        found = integrate_compiled(
            program, context, None, self.sample_times, y, options, report=lambda _: None
        )
        seconds = time.thread_time() - start
        if found.handover is not None:
            return self._integrate_step_by_step(tolerance, y)
        return self._timed_motion(found, seconds)

    def _timed_motion(self, found: CompiledTrajectory, seconds: float) -> TimedMotion:
        """The motion of a compiled trajectory; an error where it did not finish."""
        if found.status != FINISHED:
            raise LinkwrightError(f"the motion by {self.eqs.by} {found.status}")
        motion = np.hstack(self.rhs.space.motion(found.states))
        return TimedMotion(motion, seconds, int(found.statistics["evaluations"]))

    def _integrate_step_by_step(self, tolerance: float, y: Floats) -> TimedMotion:
        """Integrate in Python, near singular configurations."""
        options = StepOptions(rtol=tolerance, atol=tolerance / 10)
        context = RunContext(self.rhs)
        start = time.thread_time()
        with np.errstate(all="ignore"):
            stepper = stepper_named("dop853")(context, 0.0, y, self.duration, options)
        loop = IntegrationLoop(stepper, context)
        status = loop.run(self.sample_times)
        seconds = time.thread_time() - start
        if status != FINISHED:
            raise LinkwrightError(f"the motion by {self.eqs.by} {status}")
        motion = np.hstack(self.rhs.space.motion(loop.samples.columns))
        return TimedMotion(motion, seconds, context.counts.evaluations)

    @cached_property
    def reference_motion(self) -> TimedMotion:
        """The motion at a tolerance so tight that it serves as the reference for errors."""
        return self.integrate_motion(REFERENCE_TOLERANCE)

    def fastest_accurate_motion(self) -> tuple[TimedMotion, float]:
        """The fastest of some motions at the loosest accurate tolerance, and its error."""
        for tolerance in TRIED_TOLERANCES:
            error = timed_motion_difference(self.integrate_motion(tolerance), self.reference_motion)
            if error <= TIMED_ACCURACY:
                break
        return fastest_motion(lambda: self.integrate_motion(tolerance)), error

    def motion_of(self, steps: FixedSteps) -> tuple[TimedMotion, float]:
        """The fastest of some motions with fixed steps, and its error."""
        program, y = FixedStepMotion(self.rhs, steps), self.rhs.space.start(*self.start_state)
        _ = program.single_code

        def integrate() -> TimedMotion:
            start = time.thread_time()
            found = program.integrate(self.sample_times, y)
            return self._timed_motion(found, time.thread_time() - start)

        fastest = fastest_motion(integrate)
        return fastest, timed_motion_difference(fastest, self.reference_motion)

    def time_evaluation(self) -> float:
        """The time to evaluate one state in a batch, µs."""
        context, y = RunContext(self.rhs), self.rhs.space.start(*self.start_state)
        inputs = self.rhs.arguments(0.0, y, *context.numeric_inputs(0.0, y))
        rows = [np.tile(values, (TIMED_BATCH_SIZE, 1)) for values in inputs]
        return (
            time_fastest_repetition(lambda: self.rhs.compiled_rates(*rows), 20)[1]
            / TIMED_BATCH_SIZE
            * 1e6
        )

    def disagreement_with(self, reference: FormulationTrial) -> float:
        """The largest relative difference of forces and accelerations from the reference."""
        if not {_FORWARD_DYNAMICS, "mass_matrix"} <= set(self.eqs.function_names()):
            return timed_motion_difference(self.reference_motion, reference.reference_motion)
        worst, rng = 0.0, np.random.default_rng(1)
        drives = "required_forces" if self.eqs.names.constraints else "inverse_dynamics"
        clock = [0.3 for _ in self.time_arguments]
        for _ in range(5):
            state = _random_trial_state(self.eqs, rng, 1.0, sum(clock))
            given = (*state, rng.uniform(-1, 1, self.eqs.nv), *clock)
            for name in (_FORWARD_DYNAMICS, drives):
                one, other = (
                    _first_compared_output(s.eqs.function_at_values(name)(*given))
                    for s in (self, reference)
                )
                worst = float(np.maximum(worst, _relative_disagreement(one, other)))  # keeps NaN
        return worst


_FORWARD_DYNAMICS = "forward_dynamics"


def _derive_timed_rates(
    mechanism: Mechanism, by: str, options: Mapping[str, str]
) -> tuple[Equations, Any]:
    """The equations, and the rates of their states as a function of (x, τ, t)."""
    import casadi as ca

    eqs = derive_uncached(mechanism, by=by, parameters="numeric", **options)
    q, qd, tau, t = (eqs.symbols[key] for key in ("q", "qd", "tau", "t"))
    if eqs.state is not None:
        x, rates = ca.vertcat(eqs.state.x, eqs.state.nearby_coordinates), eqs.state.rates()
    else:
        x, qdd = ca.vertcat(q, qd), eqs.expressions("forward_dynamics")[0]
        rates = ca.vertcat(eqs.rate_matrix @ qd, qdd)
    return eqs, ca.Function("rates", [x, tau, t], [rates], ["x", "tau", "t"], ["rate"])


def _tape_of_timed_rates(function: Any) -> Tape:
    """The tape of the state rates, after elimination of common subexpressions."""
    import casadi as ca

    inputs = [function.sx_in(k) for k in range(function.n_in())]
    merged = ca.cse(function.call(inputs))
    return normalize_tape(
        record_tape(ca.Function("rates", inputs, merged, function.name_in(), function.name_out()))
    )


def _random_trial_state(
    eqs: Equations, rng: np.random.Generator, reach: float, t: float
) -> tuple[Floats, Floats]:
    """Random q and q̇ that the constraints allow, the same for all formulations."""
    step, qd = rng.uniform(-reach, reach, (2, eqs.nv))
    if eqs.names.constraints:
        return closed_state_near_home(eqs.mechanism, 0.2 * step, qd, t)
    q = eqs.function_at_values("integrate")(eqs.neutral, step)
    return np.asarray(q, dtype=float).ravel(), qd


def time_fastest_repetition(
    action: Callable[[], Result], times: int = 3, enough: float = 0.3
) -> tuple[Result, float]:
    """The result of an action and its shortest time, s; slow actions are not repeated."""
    spent, best = 0.0, math.inf
    for _ in range(times):
        start = time.thread_time()
        result = action()
        seconds = time.thread_time() - start
        spent, best = spent + seconds, min(best, seconds)
        if spent > enough:
            break
    return result, best


def require_comparable_motion(mechanism: Mechanism) -> None:
    """Raise an error where the mechanism has no degrees of freedom."""
    if mechanism_names(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no degrees of freedom",
            remedy="add a joint, or unlock one",
        )


def _first_compared_output(result: Any) -> Floats:
    """The values of a function's first output; a second one is the smallest pivot."""
    return np.asarray(result[0] if isinstance(result, tuple) else result, dtype=float).ravel()


def _relative_disagreement(one: Floats, other: Floats) -> float:
    """The largest difference of two arrays, relative to the largest entry of the second."""
    return float(np.abs(one - other).max() / max(1e-300, np.abs(other).max()))
