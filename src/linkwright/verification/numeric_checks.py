"""Numeric checks, at random states and along a short motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import casadi as ca
import numpy as np
from scipy.integrate import DOP853

from ..algebra.array_functions import ArrayFunction
from ..errors import LinkwrightError
from ..expressions import expression_to_float
from ..kinematics.mobility_analysis import mobility
from ..mechanism import GROUND
from ..readings.balls import ball_precision, evaluate_tape_in_balls, exact_ball_inputs
from ..types import SX, Floats
from .identities import balanced_energy, loss_forces
from .inertias import check_inertias_physical
from .verification_report import (
    FAILED_VERDICT,
    NOTED_VERDICT,
    PASSED_VERDICT,
    SKIPPED_VERDICT,
    Check,
)
from .verified_equations import VerifiedEquations

CHECKED_STATES = 16
CHECKED_LOOP_STATES = 4
CERTIFIED_STATES, MAX_CERTIFIED_DOF, CERTIFIED_BITS = 3, 12, 200
MOTION_DURATION = 0.3
MOTION_TOLERANCE = 1e-10
MAX_EVALUATIONS, MIN_STEPS = 4000, 20
MAX_CONSERVATION_DRIFT = 1e-6
"""The largest drift of energy and momentum along a run, relative to what is exchanged."""


class MotionTooFastError(LinkwrightError):
    """Within the limit of evaluations, the motion can be followed for too short a time to check
    it."""


def judge_measurement(
    name: str, worst: float, limit: float, what: str, meaning: str, cite: str
) -> Check:
    """The verdict on a number that must not exceed a limit; NaN fails."""
    verdict = PASSED_VERDICT if worst <= limit else FAILED_VERDICT
    failing = () if verdict == PASSED_VERDICT else (what,)
    figure = f"{worst:.1e} (allowed {limit:.0e})"
    return Check(name, verdict, figure, meaning, cite, failing)


def check_mass_matrix_positive(subject: VerifiedEquations) -> Check:
    """Check the eigenvalues of M with unit diagonal, or of GᵀM G under constraints."""
    meaning = "every motion has kinetic energy, so that forces give accelerations"
    cite = "The mass matrix is positive definite at random states."
    least = np.inf
    count = CHECKED_LOOP_STATES if subject.names.constraints else CHECKED_STATES
    for state in subject.random_states(count):
        M = subject.function_value("mass_matrix", state)
        if subject.names.constraints:
            G = subject.function_value("independent_map", state)
            M = G.T @ M @ G
        if not M.size:
            return Check("M positive definite", SKIPPED_VERDICT, "nothing is free", meaning, cite)
        size = np.sqrt(np.maximum(np.diag(M), 1e-300))
        scaled = M / np.outer(size, size)
        least = min(least, float(np.linalg.eigvalsh((scaled + scaled.T) / 2)[0]))
    holds = least > 1e-12
    figure = f"smallest eigenvalue {least:.2e} of M with unit diagonal, {count} random states"
    if holds and not subject.names.constraints and subject.eqs.nv <= MAX_CERTIFIED_DOF:
        certain = sum(has_certified_positive_pivots(subject, k) for k in range(CERTIFIED_STATES))
        figure += f"; certain at {certain} more (pivots in ball arithmetic)"
        holds = certain == CERTIFIED_STATES
    verdict, failing = (PASSED_VERDICT, ()) if holds else (FAILED_VERDICT, ("mass_matrix",))
    return Check("M positive definite", verdict, figure, meaning, cite, failing)


def has_certified_positive_pivots(subject: VerifiedEquations, seed: int) -> bool:
    """Whether all pivots of M at an exact random state are positive, guaranteed by ball
    arithmetic."""
    tape = subject.function_tape("mass_matrix")
    state = {key: list(x) for key, x in subject.random_exact_state(seed).items()}
    inputs = exact_ball_inputs(tape, state, subject.eqs.parameters, subject.mechanism.parameters)
    (entries,) = evaluate_tape_in_balls(tape, inputs, CERTIFIED_BITS)
    n = subject.eqs.nv
    rows = [entries[n * i : n * i + n] for i in range(n)]
    with ball_precision(CERTIFIED_BITS):
        for k in range(n):
            if not rows[k][k] > 0:
                return False
            for i in range(k + 1, n):
                share = rows[i][k] / rows[k][k]
                rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
    return True


class VerifiedMotion:
    """A motion from a given or random state in which joint forces cancel damping and friction. If
    `is_balanced`, it records the work of declared forces and driven constraints, and the impulse of
    weight and ground."""

    def __init__(
        self,
        subject: VerifiedEquations,
        start: dict[str, Floats] | None = None,
        *,
        duration: float = MOTION_DURATION,
        is_balanced: bool = True,
    ) -> None:
        self.subject, self.n, self.evaluation_count = subject, subject.eqs.nv, 0
        self.is_balanced = is_balanced
        self.start = start or subject.random_states(1, seed=5, speed=0.3)[0]
        nq = subject.eqs.nq
        x = np.concatenate([self.start["q"], self.start["qd"], np.zeros(4)])
        self.loss_forces = _state_function(subject, loss_forces(subject))
        self.energy, self.time_power = (
            _state_function(subject, part) for part in balanced_energy(subject)
        )
        self.t, found = self._integrate_states(x, duration)
        self.duration = float(self.t[-1])
        self.q, self.qd = found[:, :nq], found[:, nq : nq + self.n]
        self.external_work, self.impulse = found[:, -4], found[:, -3:]

    def _integrate_states(self, x: Floats, duration: float) -> tuple[Floats, Floats]:
        """Times and states at the integrator's own steps for a duration, or until the evaluations
        are used up: a mechanism that moves within milliseconds is followed for milliseconds."""
        solver = DOP853(
            self.state_rates,
            0.0,
            x,
            duration,
            rtol=MOTION_TOLERANCE,
            atol=MOTION_TOLERANCE,
            max_step=duration / 10,
        )
        times, found = [0.0], [x]
        while solver.status == "running" and self.evaluation_count < MAX_EVALUATIONS:
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                raise LinkwrightError(f"the motion cannot be integrated: {message or 'not finite'}")
            times.append(solver.t)
            found.append(solver.y)
        if solver.status == "running" and len(found) <= MIN_STEPS:
            raise MotionTooFastError(f"{MAX_EVALUATIONS} evaluations reach only {solver.t:.1e} s")
        return np.array(times), np.array(found)

    def unpack_state(self, t: float, x: Floats) -> dict[str, Floats]:
        """The inputs q, q̇, τ = 0 and t from the integrator's state."""
        nq = self.subject.eqs.nq
        return {
            "q": x[:nq],
            "qd": x[nq : nq + self.n],
            "tau": np.zeros(self.n),
            "t": np.array([t]),
        }

    def state_rates(self, t: float, x: Floats) -> Floats:
        """The rates of coordinates, velocities, work and impulse."""
        state = self.forced_state(self.unpack_state(t, x))
        self.evaluation_count += 1
        qd, power, push = state["qd"], 0.0, np.zeros(3)
        if self.is_balanced:
            power = float(self.subject.function_value("external", state) @ qd)
            power += self.driven_constraint_power(state) + float(self.time_power(state)[0])
            push = self.ground_forces(state) if self.has_momentum else push
        return np.concatenate([self.velocity_map(state["q"]) @ qd, state["qdd"], [power], push])

    def forced_state(self, state: dict[str, Floats]) -> dict[str, Floats]:
        """The state with the joint forces τ that cancel damping and friction, and with q̈."""
        state = state | {"tau": -self.loss_forces(state)}
        return state | {"qdd": self.subject.function_value("forward_dynamics", state)}

    def sampled_states(self, count: int) -> list[dict[str, Floats]]:
        """States along the motion, with τ and q̈."""
        found = []
        for k in np.unique(np.linspace(0, len(self.t) - 1, count).astype(int)):
            x = np.concatenate([self.q[k], self.qd[k]])
            found.append(self.forced_state(self.unpack_state(self.t[k], x)))
        return found

    def driven_constraint_power(self, state: dict[str, Floats]) -> float:
        """The power of time-dependent constraints: λ·J q̇, with J q̇ = −V at q̇ = 0."""
        subject = self.subject
        if not (self.subject.names.constraints and subject.time_inputs):
            return 0.0
        still = subject.function_value("constraint_velocity", state | {"qd": np.zeros(self.n)})
        return float(-subject.function_value("multipliers", state) @ still) if still.any() else 0.0

    @cached_property
    def velocity_map(self) -> Callable[[Floats], Floats]:
        """The function N(q) with dq/dt = N(q) q̇."""
        eqs = self.subject.eqs
        function = ArrayFunction(
            ca.Function("N", [eqs.symbols["q"], eqs.symbols["p"]], [eqs.rate_matrix])
        )
        values = [float(value) for value in eqs.parameters.values()]
        return lambda q: function(q, values)[0]

    @property
    def states(self) -> list[dict[str, Floats]]:
        """The states (q, q̇, t) at all steps."""
        rows = zip(self.q, self.qd, self.t, strict=True)
        return [{"q": q, "qd": qd, "t": np.array([t])} for q, qd, t in rows]

    @property
    def has_momentum(self) -> bool:
        """Whether all external forces are known: weight and the reactions of joints at ground."""
        subject = self.subject
        alone = not subject.names.constraints and not subject.mechanism.forces
        alone = alone and not subject.mechanism.lengths
        return alone and subject.has_functions("momentum", "reactions_of_motion")

    def ground_forces(self, state: dict[str, Floats]) -> Floats:
        """The sum of weight and of the reactions of joints at ground."""
        subject = self.subject
        rows = subject.function_value("reactions_of_motion", state)
        total: Floats = self.total_weight.copy()
        for k, name in enumerate(subject.names.joints):
            if subject.mechanism.joints[name].parent == GROUND:
                total += rows[k, 3:]
        return total

    @cached_property
    def total_weight(self) -> Floats:
        """The weight of all bodies, including those fixed to ground, which it supports too."""
        mechanism = self.subject.mechanism
        mass = sum(
            expression_to_float(body.mass, mechanism.values) for body in mechanism.bodies.values()
        )
        return mass * np.array(
            [expression_to_float(g, mechanism.values) for g in mechanism.gravity]
        )


def _state_function(subject: VerifiedEquations, expression: SX) -> Callable[..., Floats]:
    """The function from a state (q, q̇, t) to an expression in floating point."""
    eqs, keys = subject.eqs, ("q", "qd", "t")
    numbers = [float(value) for value in eqs.parameters.values()]
    symbols = [eqs.symbols[key] for key in (*keys, "p")]
    evaluate = ArrayFunction(ca.Function("f", symbols, [ca.densify(expression)]))
    return lambda state: evaluate(*(state[key] for key in keys), numbers)[0].ravel()


def check_energy_balance(run: VerifiedMotion) -> Check:
    """Check that total energy changes by the recorded work only."""
    subject = run.subject
    T, V = (
        [subject.function_value(name, state) for state in run.states]
        for name in ("kinetic_energy", "potential_energy")
    )
    exchanged = max(np.ptp(T), np.ptp(V), np.ptp(run.external_work), abs(float(T[0])), 1e-12)
    energy = np.array([run.energy(state)[0] for state in run.states])
    worst = float(np.abs(energy - run.external_work - energy[0]).max() / exchanged)
    return judge_measurement(
        "energy along a run",
        worst,
        MAX_CONSERVATION_DRIFT,
        "forward_dynamics, kinetic_energy, potential_energy",
        "a conservative system keeps its total energy; the work of all else is accounted for",
        f"Total energy less the work done is constant to {worst:.0e} along a motion.",
    )


def check_momentum_balance(run: VerifiedMotion) -> Check:
    """Check that linear momentum changes by the impulse of weight and ground only."""
    name, meaning = "momentum along a run", "weight and the ground's reactions change the momentum"
    cite = "The momentum changes by weight and reactions of the ground alone."
    if not run.has_momentum:
        return Check(name, SKIPPED_VERDICT, "other forces act from outside", meaning, cite)
    subject = run.subject
    h = np.array([subject.function_value("momentum", state)[3:] for state in run.states])
    size = max(
        np.abs(h).max(),
        np.abs(run.impulse).max(),
        np.abs(run.total_weight).max() * run.duration,
        1e-12,
    )
    worst = float(np.abs(h - h[0] - run.impulse).max() / size)
    return judge_measurement(
        name, worst, MAX_CONSERVATION_DRIFT, "forward_dynamics, momentum, reactions", meaning, cite
    )


def check_random_motion(subject: VerifiedEquations) -> Iterator[Check]:
    """Results of the checks of energy and momentum along a motion."""
    if not subject.has_functions(
        "forward_dynamics", "kinetic_energy", "potential_energy", "passive"
    ):
        return
    try:
        run = VerifiedMotion(subject)
    except MotionTooFastError as error:
        yield Check(
            "energy along a run", SKIPPED_VERDICT, error.what, "the motion cannot be followed"
        )
        return
    except LinkwrightError as error:
        yield Check(
            "energy along a run",
            FAILED_VERDICT,
            error.what,
            "the motion cannot be computed",
            failing=("forward_dynamics",),
        )
        return
    yield check_energy_balance(run)
    yield check_momentum_balance(run)


def check_constraints_independent(subject: VerifiedEquations) -> Check:
    """Check that the constraints do not contradict each other, and note redundant rows."""
    name, meaning = "constraints independent", "redundant ones leave their own forces undetermined"
    if not subject.names.constraints:
        return Check(name, SKIPPED_VERDICT, "there are none", meaning)
    try:
        found = mobility(subject.mechanism)
    except LinkwrightError as error:
        return Check(
            name, FAILED_VERDICT, error.what, "they contradict each other", failing=("loops",)
        )
    extra = found.equations - found.rank
    figure = f"{found.dof} free; {found.equations} equations, {found.rank} independent"
    cite = f"The constraints leave {found.dof} degrees of freedom; {extra} rows are redundant."
    return Check(name, NOTED_VERDICT if extra else PASSED_VERDICT, figure, meaning, cite)


def check_in_numbers(subject: VerifiedEquations) -> Iterator[Check]:
    """Results of all numeric checks that apply to the equations."""
    if subject.has_functions("mass_matrix"):
        try:
            yield check_mass_matrix_positive(subject)
        except LinkwrightError as error:
            yield Check(
                "M positive definite", SKIPPED_VERDICT, str(error), "cannot be decided here"
            )
    yield from check_random_motion(subject)
    for check in _DATA_CHECKS:
        yield check(subject)


_DATA_CHECKS: tuple[Callable[[VerifiedEquations], Check], ...] = (
    check_constraints_independent,
    check_inertias_physical,
)
