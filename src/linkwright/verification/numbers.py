"""Checks in numbers: at random states, and along a short motion."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np
from scipy.integrate import DOP853

from ..errors import LinkwrightError
from ..expressions import to_float
from ..kinematics.mobility_analysis import mobility
from ..mechanism import GROUND
from ..readings.balls import evaluate, exact_inputs, precision
from ..types import Floats
from .inertias import physical
from .report import FAILED, NOTED, PASSED, SKIPPED, Check
from .subject import Subject

STATES = 16
LOOP_STATES = 4
CERTAIN_STATES, MOST_CERTAIN, BITS = 3, 12, 200
DURATION = 0.3
TOLERANCE = 1e-10
MOST_EVALUATIONS, LEAST_STEPS = 4000, 20
DRIFT = 1e-6
"""Of energy and momentum along the run, as a share of what is exchanged."""


class TooFastError(LinkwrightError):
    """A motion of which no part worth checking can be followed within the evaluations."""


def measured(name: str, worst: float, limit: float, what: str, meaning: str, cite: str) -> Check:
    """A check by a number that must stay below a limit; a NaN does not."""
    verdict = PASSED if worst <= limit else FAILED
    failing = () if verdict == PASSED else (what,)
    figure = f"{worst:.1e} (allowed {limit:.0e})"
    return Check(name, verdict, figure, meaning, cite, failing)


def positive(subject: Subject) -> Check:
    """Eigenvalues of M, scaled to a unit diagonal; of what constraints leave free, GᵀMG."""
    meaning = "every motion has kinetic energy, so that forces give accelerations"
    cite = "The mass matrix is positive definite at random states."
    least = np.inf
    count = LOOP_STATES if subject.names.constraints else STATES
    for state in subject.states(count):
        M = subject.value("mass_matrix", state)
        if subject.names.constraints:
            G = subject.value("independent_map", state)
            M = G.T @ M @ G
        if not M.size:
            return Check("M positive definite", SKIPPED, "nothing is free", meaning, cite)
        size = np.sqrt(np.maximum(np.diag(M), 1e-300))
        scaled = M / np.outer(size, size)
        least = min(least, float(np.linalg.eigvalsh((scaled + scaled.T) / 2)[0]))
    holds = least > 1e-12
    figure = f"smallest eigenvalue {least:.2e} of M with unit diagonal, {count} random states"
    if holds and not subject.names.constraints and subject.eqs.nv <= MOST_CERTAIN:
        certain = sum(certainly_positive(subject, k) for k in range(CERTAIN_STATES))
        figure += f"; certain at {certain} more (pivots in ball arithmetic)"
        holds = certain == CERTAIN_STATES
    return Check(
        "M positive definite", PASSED if holds else FAILED, figure, meaning, cite,
        () if holds else ("mass_matrix",),
    )  # fmt: skip


def certainly_positive(subject: Subject, seed: int) -> bool:
    """Whether all pivots of M are positive at a state in fractions, whatever was rounded."""
    tape = subject.tape("mass_matrix")
    state = {key: list(x) for key, x in subject.exact_state(seed).items()}
    inputs = exact_inputs(tape, state, subject.eqs.parameters, subject.mechanism.parameters)
    (entries,) = evaluate(tape, inputs, BITS)
    n = subject.eqs.nv
    rows = [entries[n * i : n * i + n] for i in range(n)]
    with precision(BITS):
        for k in range(n):
            if not rows[k][k] > 0:
                return False
            for i in range(k + 1, n):
                share = rows[i][k] / rows[k][k]
                rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
    return True


class Run:
    """A motion from a random state in which drives make up for dampers and friction, with the work
    of given forces and driven constraints, and the momentum that weight and ground give."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.n, self.count = subject, subject.eqs.nv, 0
        self.start = subject.states(1, seed=5, speed=0.3)[0]
        nq = subject.eqs.nq
        x = np.concatenate([self.start["q"], self.start["qd"], np.zeros(4)])
        found = self._states(x)
        self.q, self.qd = found[:, :nq], found[:, nq : nq + self.n]
        self.work, self.push = found[:, -4], found[:, -3:]

    def _states(self, x: Floats) -> Floats:
        """States at the integrator's own steps, for `DURATION`, or as long as the evaluations last:
        so a mechanism that moves within milliseconds is followed for milliseconds."""
        solver = DOP853(
            self.rates, 0.0, x, DURATION, rtol=TOLERANCE, atol=TOLERANCE, max_step=DURATION / 10
        )
        found = [x]
        while solver.status == "running" and self.count < MOST_EVALUATIONS:
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                raise LinkwrightError(f"the motion cannot be integrated: {message or 'not finite'}")
            found.append(solver.y)
        self.duration = float(solver.t)
        if solver.status == "running" and len(found) <= LEAST_STEPS:
            raise TooFastError(f"{MOST_EVALUATIONS} evaluations reach only {self.duration:.1e} s")
        return np.array(found)

    def state(self, t: float, x: Floats) -> dict[str, Floats]:
        nq = self.subject.eqs.nq
        return {
            "q": x[:nq], "qd": x[nq : nq + self.n], "tau": np.zeros(self.n), "t": np.array([t]),
        }  # fmt: skip

    def rates(self, t: float, x: Floats) -> Floats:
        subject, state = self.subject, self.state(t, x)
        self.count += 1
        rest = state | {"qd": np.zeros(self.n)}
        losses = subject.value("passive", state) - subject.value("passive", rest)
        qdd = subject.value("forward_dynamics", state | {"tau": -losses})
        qd, other = state["qd"], subject.value("external", state)
        power = other @ qd + self.driven(state | {"tau": -losses})
        push = self.from_ground(state | {"qdd": qdd}) if self.has_momentum else np.zeros(3)
        return np.concatenate([self.along(state["q"]) @ qd, qdd, [power], push])

    def driven(self, state: dict[str, Floats]) -> float:
        """The power of constraints that move in time: λ·J q̇, with J q̇ = −V at q̇ = 0."""
        subject = self.subject
        if not (self.subject.names.constraints and subject.time):
            return 0.0
        still = subject.value("constraint_velocity", state | {"qd": np.zeros(self.n)})
        return float(-subject.value("multipliers", state) @ still) if still.any() else 0.0

    @cached_property
    def along(self) -> Callable[[Floats], Floats]:
        """N(q) with dq/dt = N(q)·speeds."""
        import casadi as ca

        eqs = self.subject.eqs
        function = ca.Function("N", [eqs.symbols["q"], eqs.symbols["p"]], [eqs.rates])
        values = [float(value) for value in eqs.parameters.values()]
        return lambda q: np.asarray(function(q, values), dtype=float)

    @property
    def has_momentum(self) -> bool:
        """Whether all forces from outside are known: those of weight and of joints at ground."""
        subject = self.subject
        alone = not subject.names.constraints and not subject.mechanism.forces
        return alone and subject.has("momentum", "reactions_of_motion")

    def from_ground(self, state: dict[str, Floats]) -> Floats:
        subject = self.subject
        rows = subject.value("reactions_of_motion", state)
        total: Floats = self.weight.copy()
        for k, name in enumerate(subject.names.joints):
            if subject.mechanism.joints[name].parent == GROUND:
                total += rows[k, 3:]
        return total

    @cached_property
    def weight(self) -> Floats:
        """Of all bodies, those that are fixed to ground among them: it bears these too."""
        mechanism = self.subject.mechanism
        mass = sum(to_float(body.mass, mechanism.values) for body in mechanism.bodies.values())
        return mass * np.array([to_float(g, mechanism.values) for g in mechanism.gravity])


def energy(run: Run) -> Check:
    subject = run.subject
    T, V = ([subject.value(name, {"q": q, "qd": v}) for q, v in zip(run.q, run.qd, strict=True)]
            for name in ("kinetic_energy", "potential_energy"))  # fmt: skip
    exchanged = max(np.ptp(T), np.ptp(V), np.ptp(run.work), abs(float(T[0])), 1e-12)
    worst = float(np.abs(np.array(T) + V - run.work - (T[0] + V[0])).max() / exchanged)
    return measured(
        "energy along a run",
        worst,
        DRIFT,
        "forward_dynamics, kinetic_energy, potential_energy",
        "a conservative system keeps its total energy; the work of all else is accounted for",
        f"Total energy less the work done is constant to {worst:.0e} along a motion.",
    )


def momentum(run: Run) -> Check:
    name, meaning = "momentum along a run", "weight and the ground's reactions change the momentum"
    cite = "The momentum changes by weight and reactions of the ground alone."
    if not run.has_momentum:
        return Check(name, SKIPPED, "other forces act from outside", meaning, cite)
    subject = run.subject
    h = np.array([subject.value("momentum", {"q": q, "qd": v})[3:]
                  for q, v in zip(run.q, run.qd, strict=True)])  # fmt: skip
    size = max(
        np.abs(h).max(), np.abs(run.push).max(), np.abs(run.weight).max() * run.duration, 1e-12
    )
    worst = float(np.abs(h - h[0] - run.push).max() / size)
    return measured(name, worst, DRIFT, "forward_dynamics, momentum, reactions", meaning, cite)


def motion(subject: Subject) -> Iterator[Check]:
    """What must hold along a motion."""
    if not subject.has("forward_dynamics", "kinetic_energy", "potential_energy", "passive"):
        return
    try:
        run = Run(subject)
    except TooFastError as error:
        yield Check("energy along a run", SKIPPED, error.what, "the motion cannot be followed")
        return
    except LinkwrightError as error:
        yield Check("energy along a run", FAILED, error.what, "the motion cannot be computed",
                    failing=("forward_dynamics",))  # fmt: skip
        return
    yield energy(run)
    yield momentum(run)


def independent(subject: Subject) -> Check:
    name, meaning = "constraints independent", "redundant ones leave their own forces undetermined"
    if not subject.names.constraints:
        return Check(name, SKIPPED, "there are none", meaning)
    try:
        found = mobility(subject.mechanism)
    except LinkwrightError as error:
        return Check(name, FAILED, error.what, "they contradict each other", failing=("loops",))
    extra = found.equations - found.rank
    figure = f"{found.freedom} free; {found.equations} equations, {found.rank} independent"
    cite = f"The constraints leave {found.freedom} freedoms; {extra} of their rows are redundant."
    return Check(name, NOTED if extra else PASSED, figure, meaning, cite)


def numbers(subject: Subject) -> Iterator[Check]:
    if subject.has("mass_matrix"):
        try:
            yield positive(subject)
        except LinkwrightError as error:
            yield Check("M positive definite", SKIPPED, str(error), "cannot be decided here")
    yield from motion(subject)
    for check in _OF_DATA:
        yield check(subject)


_OF_DATA: tuple[Callable[[Subject], Check], ...] = (independent, physical)
