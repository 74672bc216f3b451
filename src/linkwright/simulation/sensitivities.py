"""Sensitivities of a run: derivatives of q and q̇ with respect to parameters and the start.

The variational equations are integrated beside a second copy of the motion, in compiled code, from
the start to the first event that changes the state or the forces. The run itself has the same bits
with and without sensitivities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import casadi as ca
import numpy as np

from ..errors import UnsupportedError
from ..formulations import derive
from ..integrators import Progress
from ..mechanism import Mechanism
from ..model.model import Model
from ..types import Floats, ForceLike, Integers
from .compiled_motion import METHODS, can_compile
from .compiled_run import CompiledRun
from .ensemble_inputs import EnsembleInputs
from .events.sharp_friction import without_sharp_friction
from .feedback import NOT_KEPT, Feedback
from .inputs import ForceLaw, read_force_law
from .provenance import stored_form
from .right_hand_side import RightHandSide
from .run import FINISHED, Happened, Run
from .sensitivity_data import sensitivity_dataset
from .sensitivity_directions import read_sensitivity_request
from .sensitivity_motion import SensitivityMotion
from .sensitivity_start import StartDerivative, StartDerivatives
from .settings import Settings
from .simulator import Simulator
from .stabilization import stabilization_of
from .trajectory_loop import TrajectoryLoop
from .trajectory_records import TrajectoryRecords
from .varied_inputs import check_inputs_without

JUMPING_OPERATIONS = (
    ca.OP_SIGN, ca.OP_FLOOR, ca.OP_CEIL, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_NOT,
    ca.OP_AND, ca.OP_OR, ca.OP_IF_ELSE_ZERO, ca.OP_FMOD,
)  # fmt: skip
"""Operations with jumps, which variational equations do not include."""

MAX_KEPT_MOTIONS = 8
"""The number of sensitivities whose compiled code stays in memory."""


class Sensitivities:
    """Sensitivities of the runs of one mechanism, checked before the run is made."""

    def __init__(
        self,
        mechanism: Mechanism,
        names: Sequence[str],
        torque: ForceLike | Feedback | None,
        settings: Settings,
    ) -> None:
        self.mechanism, self.torque, self.settings = mechanism, torque, settings
        self.request = read_sensitivity_request(mechanism, names)
        self._check()

    def _check(self) -> None:
        """Raise an error for settings and mechanisms without variational equations in compiled
        code."""
        integrator, where = self.settings.integrator, self.mechanism.name
        if integrator not in METHODS or self.settings.coordinates != "all":
            what = f"'{integrator}'" if integrator not in METHODS else "minimal coordinates"
            raise UnsupportedError(
                f"sensitivities cannot be computed with {what}",
                where=where,
                remedy=f'use coordinates="all" and one of {", ".join(METHODS)}',
            )
        if without_sharp_friction(self.mechanism).digest != self.mechanism.digest:
            raise UnsupportedError(
                "sensitivities do not support friction that sticks",
                where=where,
                remedy='give the friction a smoothing, or use mechanism.without("friction")',
            )
        how = "the motion is differentiated by"
        check_inputs_without(self.mechanism, self.torque, self.request.parameters, how)

    def check_inputs(self, rhs: RightHandSide) -> None:
        """Raise for inputs that compiled code does not have."""
        where = self.mechanism.name
        if not can_compile(rhs, self.settings.integrator, None):
            raise UnsupportedError(
                "sensitivities need inputs that are compiled",
                where=where,
                remedy="give numbers, expressions, tables or a controller with a set point "
                "and no period instead of a Python function",
            )
        if rhs.force_law.is_sampled:
            raise UnsupportedError(
                "sensitivities do not support a controller with a period",
                where=where,
                remedy="give a controller without a period, or expressions",
            )
        if _jumps(rhs.force_law):
            raise UnsupportedError(
                "an input jumps when the state crosses a value, and sensitivities cannot be "
                "continued across jumps",
                where=where,
                remedy="write it without sign, floor and comparisons, or smooth it (tanh)",
            )

    def add_to(self, run: Run, rhs: RightHandSide, jump: Happened | None) -> Run:
        """Return the run with its sensitivities, which end before a jump; a run that was
        interrupted stays as it is."""
        if run.interrupted:
            return run
        times, why = run.t, ""
        if jump is not None and jump.t <= run.t[-1]:
            times = run.t[: max(1, int(np.searchsorted(run.t, jump.t)))]
            why = describe_jump(jump)
        found = self.integrate(rhs, times, SensitivityStarts(run.q[:1], run.qd[:1]))
        count, why = int(found.counts[0]), found.why[0] or why
        status = f"until t = {times[count - 1]:.10g} s: {why}" if why else "complete"
        sensitivity = sensitivity_dataset(
            self.mechanism,
            times[:count],
            (found.q[0, :count], found.qd[0, :count]),
            found.wrt,
            status,
        )
        statistics = {
            **run.statistics,
            "sensitivity_steps": int(found.steps[0]),
            "sensitivity_evaluations": int(found.evaluations[0]),
        }
        return replace(run, sensitivity=sensitivity, statistics=statistics)

    def integrate(
        self,
        rhs: RightHandSide,
        times: Floats,
        starts: SensitivityStarts,
        inputs: EnsembleInputs | None = None,
    ) -> SensitivityResult:
        """Integrate motions with their derivatives; what was reached is kept.

        `rhs` has the numbers of the runs, or keeps parameters that differ between them.
        """
        symbolic = self._symbolic_system(tuple(rhs.equations.parameters))
        derivatives = self._start_derivatives(symbolic, starts)
        wrt, count = derivatives[0].wrt, len(derivatives[0].wrt)
        numeric = None if rhs.equations.parameters else rhs.model
        motion = _motion_once(
            symbolic, self.settings.integrator, self.request.parameters, count, numeric
        )
        y = np.array(
            [
                motion.start(starts.states(rhs, k, inputs), (starts.q[k], starts.qd[k]), derivative)
                for k, derivative in enumerate(derivatives)
            ]
        )
        values = np.array([derivative.parameters for derivative in derivatives])
        records = TrajectoryRecords(
            motion, _at_least_two(times), y, self.settings.tolerances, values, inputs
        )
        loop = TrajectoryLoop(records, lambda row: CompiledRun(records, row, rhs, None))
        if len(times) > 1:
            loop.run(np.arange(len(y)), threads=starts.threads)
        return _collect(motion, loop, times, wrt, values)

    def _symbolic_system(self, differing: tuple[str, ...]) -> RightHandSide:
        """Return the equations with the parameters of the directions, and those that differ between
        runs, as symbols."""
        names = tuple(dict.fromkeys([*self.request.parameters, *differing]))
        subject = _SensitivitySubject(
            self.mechanism.digest,
            names,
            self.settings.by,
            _text_of_torque(self.torque),
            repr(stored_form(self.settings.stabilization)),
            self.mechanism,
            self.torque,
            self.settings.stabilization,
        )
        return subject.system() if NOT_KEPT in subject.inputs else _system_once(subject)

    def _start_derivatives(
        self, symbolic: RightHandSide, starts: SensitivityStarts
    ) -> list[StartDerivative]:
        """Return the derivatives of all starts in the same directions."""
        nominal = {name: float(x) for name, x in symbolic.equations.parameters.items()}
        found: list[StartDerivative] = []
        first: StartDerivatives | None = None
        for k, (q, qd) in enumerate(zip(starts.q, starts.qd, strict=True)):
            values = np.array([*(nominal | starts.parameters_of(k)).values()])
            own = StartDerivatives(symbolic, values, q, qd, self._preferred(), first)
            found.append(own.derivative(self.request))
            first = first or own
        return found

    def _preferred(self) -> tuple[list[str], list[str]]:
        """Return coordinates and velocities that were given by name: they are independent."""
        q0, qd0 = self.settings.q0, self.settings.qd0
        of_q = list(q0) if isinstance(q0, Mapping) else []
        of_qd = list(qd0) if isinstance(qd0, Mapping) else []
        own = list(self.mechanism.independent)
        return of_q or of_qd or own, of_qd or of_q or own


def simulate_with_derivatives(simulator: Simulator) -> Run:
    """Return a run from the start of its settings, with its sensitivities if they are asked for."""
    settings = simulator.settings
    if settings.sensitivity is None:
        return simulator.run(simulator.start(settings.q0, settings.qd0))
    derivatives = Sensitivities(
        simulator.mechanism, settings.sensitivity, simulator.torque, settings
    )
    derivatives.check_inputs(simulator.prepared.rhs)
    begun = simulator.begin(simulator.start(settings.q0, settings.qd0))
    run = simulator.run_begun(begun, settings.times)
    jump = None if begun.events is None else begun.events.log.first_jump
    return derivatives.add_to(run, simulator.prepared.rhs, jump)


# -- the equations -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SensitivitySubject:
    """A mechanism with inputs and parameters that stay symbols, compared by digest and text."""

    digest: str
    parameters: tuple[str, ...]
    by: str
    inputs: str
    stabilization: str
    mechanism: Mechanism = field(compare=False)
    torque: ForceLike | Feedback | None = field(compare=False)
    holding: str | Mapping[str, float] = field(compare=False)

    def system(self) -> RightHandSide:
        """Derive the equations with the parameters of the directions as symbols."""
        names = list(self.parameters)
        equations = derive(self.mechanism, by=self.by, parameters=names or "numeric")
        force_law = read_force_law(equations, self.torque)
        return RightHandSide(equations, force_law, stabilization_of(self.holding, equations))


@lru_cache(maxsize=MAX_KEPT_MOTIONS)
def _system_once(subject: _SensitivitySubject) -> RightHandSide:
    return subject.system()


@lru_cache(maxsize=MAX_KEPT_MOTIONS)
def _motion_once(
    symbolic: RightHandSide,
    integrator: str,
    parameters: tuple[str, ...],
    count: int,
    numeric: Model | None,
) -> SensitivityMotion:
    return SensitivityMotion(symbolic, integrator, parameters, count, numeric)


def _text_of_torque(torque: object) -> str:
    """Return the text by which inputs are compared."""
    return f"feedback {id(torque)}" if isinstance(torque, Feedback) else repr(stored_form(torque))


def _jumps(force_law: ForceLaw) -> bool:
    """Whether inputs that depend on the state have jumps."""
    s = force_law.equations.symbols
    state = ca.vertcat(s["q"], s["qd"], force_law.z)
    forces = ca.vertcat(ca.vec(ca.SX(force_law.tau)), ca.vec(ca.SX(force_law.z_rate)))
    if not ca.depends_on(forces, state):
        return False
    function = ca.Function("forces", [state, force_law.w, s["t"]], [forces])
    kinds = {function.instruction_id(k) for k in range(function.n_instructions())}
    return bool(kinds & set(JUMPING_OPERATIONS))


# -- the integration -----------------------------------------------------------------------------


def describe_jump(jump: Happened) -> str:
    """Return why derivatives end at an event."""
    return f"event '{jump.name}' ({jump.what}) at t = {jump.t:.10g} s"


@dataclass(frozen=True)
class SensitivityStarts:
    """Starts of runs, (runs, n) each, and their parameters that differ, by name (runs,)."""

    q: Floats
    qd: Floats
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    threads: int = 1

    def parameters_of(self, run: int) -> dict[str, float]:
        """Return the parameters of one run that differ."""
        return {name: float(values[run]) for name, values in self.parameters.items()}

    def states(self, rhs: RightHandSide, run: int, inputs: EnsembleInputs | None) -> Floats:
        """Return the state in which a run starts."""
        y = rhs.space.start(self.q[run], self.qd[run])
        if inputs is not None:
            z = inputs.start_of_controller(run, rhs)
            y[rhs.space.size : rhs.space.size + len(z)] = z
        return y


@dataclass(frozen=True)
class SensitivityResult:
    """∂q (runs, times, coordinates, wrt) and ∂q̇, NaN where they were not reached.

    `counts` are the numbers of times that were reached, and `why` the reasons for ending early.
    """

    wrt: tuple[str, ...]
    q: Floats
    qd: Floats
    counts: Integers
    why: list[str]
    steps: Integers
    evaluations: Integers


def _at_least_two(times: Floats) -> Floats:
    return times if len(times) > 1 else np.append(times, times[0] + 1.0)


def _collect(
    motion: SensitivityMotion,
    loop: TrajectoryLoop,
    times: Floats,
    wrt: tuple[str, ...],
    parameters: Floats,
) -> SensitivityResult:
    """Return what the program has computed."""
    records, names, whys = loop.records, motion.system.names, []
    samples = records.projected_samples(slice(None))[:, : len(times)]
    shape = len(records), len(times)
    q = np.full((*shape, names.nq, len(wrt)), np.nan)
    qd = np.full((*shape, names.nv, len(wrt)), np.nan)
    counts = np.minimum(records.progress[:, Progress.SAMPLE], len(times))
    for k in range(len(records)):
        status = loop.status_of(k)
        why = "" if status in (FINISHED, None) else str(status)
        handover = loop.runs[k].handover if k in loop.runs else None
        if handover is not None:
            why = (
                f"{handover.reason} (at t = {handover.t:.10g} s); derivatives cannot be continued "
                "in Python"
            )
        is_sound = np.isfinite(samples[k, : counts[k]]).all(axis=1)
        if not is_sound.all():
            counts[k] = int(np.argmin(is_sound))
            why = why or f"the constraints cannot be satisfied at t = {times[counts[k]]:.10g} s"
        part = slice(0, int(counts[k]))
        q[k, part], qd[k, part] = motion.derivatives(samples[k, part], parameters[k])
        whys.append(why)
    steps, evaluations = (records.progress[:, c] for c in (Progress.STEPS, Progress.EVALUATIONS))
    return SensitivityResult(wrt, q, qd, counts, whys, steps, evaluations)
