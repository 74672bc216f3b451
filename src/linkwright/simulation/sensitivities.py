"""Sensitivities of a run: derivatives of q and q̇ with respect to parameters and the start.

The variational equations are integrated beside a second copy of the motion, in compiled code, from
the start to the first event that changes the state or the forces. The run itself has the same bits
with and without sensitivities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from ..errors import UnsupportedError
from ..formulations import derive
from ..integrators import Progress
from ..mechanism import Mechanism
from ..types import Floats
from .compiled_motion import METHODS, can_compile
from .compiled_run import CompiledRun
from .events.rows import without_sharp_friction
from .feedback import NOT_KEPT, Feedback
from .inputs import Drive, check_inputs_without, drive_of
from .provenance import stored_form
from .right_hand_side import RightHandSide
from .run import FINISHED, Run
from .sensitivity_data import sensitivity_dataset
from .sensitivity_directions import SensitivityRequest, read_sensitivity_request
from .sensitivity_motion import SensitivityMotion
from .sensitivity_start import StartDerivatives
from .settings import Settings
from .stabilization import stabilization_of
from .trajectory_loop import TrajectoryLoop
from .trajectory_records import TrajectoryRecords

HARMLESS_EVENTS = ("passed", "stop", "limit reached", "touches", "leaves")
"""Notes of events that do not change the state and at which no force jumps; forces of compliant
contacts begin at zero."""

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
        torque: Any,
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
        """Raise for inputs that compiled code does not have, and for states other than (q, q̇)."""
        where = self.mechanism.name
        if not can_compile(rhs, self.settings.integrator, None):
            raise UnsupportedError(
                "sensitivities need inputs that are compiled",
                where=where,
                remedy="give numbers, expressions, tables or a controller without reference and "
                "period instead of a Python function",
            )
        if rhs.drive.is_sampled:
            raise UnsupportedError(
                "sensitivities do not support a controller with a period",
                where=where,
                remedy="give a controller without a period, or expressions",
            )
        if rhs.equations.state is not None:
            raise UnsupportedError(
                f"sensitivities do not support the states of '{self.settings.by}'",
                where=where,
                remedy='use by="recursive"',
            )
        if _jumps(rhs.drive):
            raise UnsupportedError(
                "an input jumps when the state crosses a value, and sensitivities cannot be "
                "continued across jumps",
                where=where,
                remedy="write it without sign, floor and comparisons, or smooth it (tanh)",
            )

    def add_to(self, run: Run, rhs: RightHandSide) -> Run:
        """Return the run with its sensitivities; a run that was interrupted stays as it is."""
        if run.interrupted:
            return run
        subject = _SensitivitySubject(
            self.mechanism.digest,
            self.request,
            self.settings.by,
            self.settings.integrator,
            _text_of_torque(self.torque),
            repr(stored_form(self.settings.stabilization)),
            self.mechanism,
            self.torque,
            self.settings.stabilization,
        )
        symbolic = subject.system() if NOT_KEPT in subject.inputs else _system_once(subject)
        values = np.array([float(x) for x in symbolic.equations.parameters.values()])
        derivative = StartDerivatives(
            symbolic, values, run.q[0], run.qd[0], self._preferred()
        ).derivative(self.request)
        count = len(derivative.wrt)
        motion = _motion_once(symbolic, subject.integrator, self.request.parameters, count, rhs)
        until, why = _end_of_sensitivities(run)
        times = run.t if not why else run.t[: max(1, int(np.searchsorted(run.t, until)))]
        y = motion.start(rhs.space.start(run.q[0], run.qd[0]), derivative)
        steps = self.settings.step_options
        options = {"rtol": steps.rtol, "atol": steps.atol, "max_step": steps.max_step}
        found = _integrate(motion, rhs, times, y, options, values)
        if found.why:
            why = found.why
        statistics = {**run.statistics, **found.statistics}
        sensitivity = sensitivity_dataset(
            self.mechanism,
            found.times,
            motion.derivatives(found.states),
            derivative.wrt,
            f"until t = {found.times[-1]:.10g} s: {why}" if why else "complete",
        )
        return replace(run, sensitivity=sensitivity, statistics=statistics)

    def _preferred(self) -> tuple[list[str], list[str]]:
        """Return coordinates and velocities that were given by name: they are independent."""
        q0, qd0 = self.settings.q0, self.settings.qd0
        of_q = list(q0) if isinstance(q0, Mapping) else []
        of_qd = list(qd0) if isinstance(qd0, Mapping) else []
        own = list(self.mechanism.independent)
        return of_q or of_qd or own, of_qd or of_q or own


# -- the equations -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _SensitivitySubject:
    """A mechanism with inputs and directions, compared by digest and text."""

    digest: str
    request: SensitivityRequest
    by: str
    integrator: str
    inputs: str
    stabilization: str
    mechanism: Mechanism = field(compare=False)
    torque: Any = field(compare=False)
    holding: Any = field(compare=False)

    def system(self) -> RightHandSide:
        """Derive the equations with the parameters of the directions as symbols."""
        names = list(self.request.parameters)
        equations = derive(self.mechanism, by=self.by, parameters=names or "numeric")
        drive = drive_of(equations, self.torque)
        return RightHandSide(equations, drive, stabilization_of(self.holding, equations))


@lru_cache(maxsize=MAX_KEPT_MOTIONS)
def _system_once(subject: _SensitivitySubject) -> RightHandSide:
    return subject.system()


@lru_cache(maxsize=MAX_KEPT_MOTIONS)
def _motion_once(
    symbolic: RightHandSide,
    integrator: str,
    parameters: tuple[str, ...],
    count: int,
    numeric: RightHandSide,
) -> SensitivityMotion:
    return SensitivityMotion(symbolic, integrator, parameters, count, numeric.model)


def _text_of_torque(torque: Any) -> str:
    """Return the text by which inputs are compared."""
    return f"feedback {id(torque)}" if isinstance(torque, Feedback) else repr(stored_form(torque))


def _jumps(drive: Drive) -> bool:
    """Whether inputs that depend on the state have jumps."""
    s = drive.equations.symbols
    state = ca.vertcat(s["q"], s["qd"], drive.z)
    forces = ca.vertcat(ca.vec(ca.SX(drive.tau)), ca.vec(ca.SX(drive.z_rate)))
    if not ca.depends_on(forces, state):
        return False
    function = ca.Function("forces", [state, drive.w, s["t"]], [forces])
    kinds = {function.instruction_id(k) for k in range(function.n_instructions())}
    return bool(kinds & set(JUMPING_OPERATIONS))


# -- the integration -----------------------------------------------------------------------------


def _end_of_sensitivities(run: Run) -> tuple[float, str]:
    """Return the time up to which they hold, and what ends them."""
    for event in run.events:
        if event.what not in HARMLESS_EVENTS:
            return float(event.t), f"event '{event.name}' ({event.what}) at t = {event.t:.10g} s"
    return float(run.t[-1]), ""


@dataclass(frozen=True)
class _Found:
    """The times reached, the states there (one row each), counts, and why it ended early."""

    times: Floats
    states: Floats
    statistics: Mapping[str, float]
    why: str


def _integrate(
    motion: SensitivityMotion,
    system: RightHandSide,
    times: Floats,
    y: Floats,
    options: Mapping[str, float],
    values: Floats,
) -> _Found:
    """Integrate the motion with its derivatives; what was reached is kept."""
    if len(times) < 2:
        return _Found(times, y[None], {"sensitivity_steps": 0, "sensitivity_evaluations": 0}, "")
    records = TrajectoryRecords(motion, times, y[None], options, values[None])
    loop = TrajectoryLoop(records, lambda row: CompiledRun(records, row, system, None))
    run = loop.run_of(0)
    loop.run(np.zeros(1, np.int64))
    why = "" if run.status == FINISHED else str(run.status)
    if run.reached is not None:
        why = f"the compiled integrator cannot continue at t = {run.t:.10g} s"
    count = len(times) if run.status == FINISHED else int(run.progress[Progress.SAMPLE])
    states = records.projected_samples(0)[:count]
    is_sound = np.isfinite(states).all(axis=1)
    if not is_sound.all():
        count = int(np.argmin(is_sound))
        why = why or f"the constraints cannot be satisfied at t = {times[count]:.10g} s"
    statistics = {
        "sensitivity_steps": int(run.progress[Progress.STEPS]),
        "sensitivity_evaluations": int(run.progress[Progress.EVALUATIONS]),
    }
    return _Found(times[:count], states[:count], statistics, why)
