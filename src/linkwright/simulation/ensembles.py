"""Many runs of one mechanism at once: other starts, other parameters, each with its own steps.

All runs go through the same compiled program, one a lane, on several threads. What the program
cannot do is done run by run: near singular configurations a run is repeated by `simulate`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import (
    AssemblyError,
    LinkwrightError,
    NameNotFoundError,
    UnsupportedError,
    suggest_remedy,
)
from ..formulations import derive
from ..integrators import Clock, Progress, StopReason
from ..kinematics.assembly import assemble, assemble_velocities
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_velocities,
)
from ..kinematics.constraint_system import constraint_system
from ..mechanism import Mechanism
from ..model.model import Model
from ..model.model import compile as compile_model
from ..number_checks import check_finite_array, check_positive, check_whole_number
from ..types import Booleans, Floats, ForceLike, VectorLike
from .checked import check_mechanism, sample_times
from .compiled_motion import PAIRS, CompiledMotion
from .compiled_run import CannotContinueError, CompiledRun, TrajectoryRecords
from .events import find_event_parts
from .inputs import drive_of
from .run import FINISHED
from .start import with_unit_quaternions
from .system import WORKS, System

if TYPE_CHECKING:
    import xarray

KEPT_ENSEMBLES = 8
"""Mechanisms with varied parameters whose code stays in memory."""


def simulate_ensemble(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: VectorLike | None = None,
    qd0: VectorLike | None = None,
    *,
    parameters: Mapping[str, VectorLike] | None = None,
    torque: ForceLike | None = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 2,
    max_step: float = math.inf,
    threads: int | None = None,
) -> xarray.Dataset:
    """Simulate many runs of a mechanism at once, with adaptive steps.

    Each run has its own steps and ends by itself: a run that cannot go on has a status that says
    why, and the others are not affected. Limits of joints, contacts and friction that sticks are
    not part of ensembles; a mechanism that has them is refused (see `Mechanism.without`).

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    t : float
        Duration, s.
    q0, qd0 : (runs, n) arrays, or mappings of names to numbers or (runs,) arrays, optional
        Coordinates (rad, m) and velocities at the start. Under constraints, arrays must satisfy
        them; a table by name holds, and the rest follows from the constraints.
    parameters : mapping of names to numbers or (runs,) arrays, optional
        Values of the mechanism's parameters (default: those of the mechanism), in its units of SI.
    torque : array or mapping, optional
        Generalized forces of all runs, as in `simulate`, but no functions of Python.
    integrator : {"dop853", "rk45"}
        The integrator.
    rtol, atol : float
        Relative and absolute tolerances of a step.
    samples : int
        Number of equal times of the result; 2: start and end.
    max_step : float, optional
        Largest step, s.
    threads : int, optional
        Threads (default: one for each core).

    Returns
    -------
    xarray.Dataset
        `q` (run, time, coordinate), `qd` (run, time, speed), `status`, `steps`, `evaluations`
        (run), and the varied parameters (run). Samples that a run did not reach are NaN.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.simulate_ensemble(lw.gallery("elbow"), 0.5, q0={"q1": [0.0, 0.5, 1.0]})
    >>> found["q"].shape
    (3, 2, 2)
    """
    check_mechanism(mechanism)
    times = sample_times(t, samples)
    if integrator not in PAIRS:
        raise UnsupportedError(
            f"ensembles cannot use '{integrator}'", remedy=f"use one of {', '.join(PAIRS)}"
        )
    options = {
        "rtol": check_positive(rtol, "rtol"),
        "atol": check_positive(atol, "atol"),
        "max_step": check_positive(max_step, "max_step", or_infinite=True),
    }
    given = {
        name: check_finite_array(values, f"parameters['{name}']")
        for name, values in (parameters or {}).items()
    }
    _check_parameters(mechanism, given)
    if callable(torque):
        raise UnsupportedError(
            "an ensemble takes no Python function as torque",
            remedy="give numbers, expressions or tables, or call simulate run by run",
        )
    motion = _ensemble_motion(mechanism, tuple(given), integrator, torque)
    start = EnsembleStart(_ensemble_model(mechanism, tuple(given)), mechanism, q0, qd0, given)
    y = start.states(motion.system)
    ensemble = Ensemble(motion, mechanism, start, times, y, options, torque)
    ensemble.run(_thread_count(threads))
    return ensemble.dataset(integrator)


def _thread_count(threads: int | None) -> int:
    if threads is not None:
        return check_whole_number(threads, "threads", 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_parameters(mechanism: Mechanism, given: Mapping[str, Floats]) -> None:
    for name, values in given.items():
        if name not in mechanism.parameters:
            raise NameNotFoundError(
                f"there is no parameter '{name}'", where=mechanism.name,
                remedy=suggest_remedy(name, list(mechanism.parameters)),
            )  # fmt: skip
        if values.ndim > 1:
            raise LinkwrightError(
                f"parameters['{name}'] has shape {values.shape}",
                remedy="give a number, or one for each run",
            )


def _ensemble_motion(
    mechanism: Mechanism, names: tuple[str, ...], integrator: str, torque: Any
) -> CompiledMotion:
    """The program of a mechanism that keeps parameters; only inputs without a table of arrays are
    kept."""
    if torque is None:
        return _kept_motion(mechanism, names, integrator)
    return _make_motion(mechanism, names, integrator, torque)


@lru_cache(maxsize=KEPT_ENSEMBLES)
def _kept_motion(mechanism: Mechanism, names: tuple[str, ...], integrator: str) -> CompiledMotion:
    return _make_motion(mechanism, names, integrator, None)


@lru_cache(maxsize=KEPT_ENSEMBLES)
def _ensemble_model(mechanism: Mechanism, names: tuple[str, ...]) -> Model:
    return compile_model(mechanism, parameters=names, threads=1)


def _make_motion(
    mechanism: Mechanism, names: tuple[str, ...], integrator: str, torque: Any
) -> CompiledMotion:
    equations = derive(mechanism, parameters=list(names) if names else "numeric")
    system = System(equations, drive_of(equations, torque))
    if system.drive.function is not None or system.drive.feedback is not None:
        raise UnsupportedError(
            "an ensemble takes no controller",
            remedy="give its law as expressions, or call simulate",
        )
    if find_event_parts(mechanism, system, None, "stop", "together") is not None:
        raise UnsupportedError(
            "an ensemble has no stops, contacts, friction that sticks or members that break",
            where=mechanism.name,
            remedy='leave them out: mechanism.without("limits", "contacts", "friction")',
        )
    return CompiledMotion(system, integrator, None)


class EnsembleStart:
    """Where the runs start: rows of q, q̇ and parameters."""

    def __init__(
        self,
        model: Model,
        mechanism: Mechanism,
        q0: Any,
        qd0: Any,
        parameters: Mapping[str, Floats],
    ) -> None:
        self.model, self.mechanism, self.names = model, mechanism, model.names
        self.parameter_names = list(parameters)
        tables = [table for table in (q0, qd0) if isinstance(table, Mapping)]
        arrays = [np.asarray(x) for x in (q0, qd0) if x is not None and not isinstance(x, Mapping)]
        counts = {
            np.shape(v)[0] for table in (*tables, parameters) for v in table.values() if np.ndim(v)
        }
        counts |= {array.shape[0] for array in arrays if array.ndim > 1}
        if len(counts) > 1:
            raise LinkwrightError(
                f"starts and parameters are given for {sorted(counts)} runs",
                remedy="give as many of each, or one",
            )
        self.count = counts.pop() if counts else 1
        columns = [np.broadcast_to(values, self.count) for values in parameters.values()]
        self.parameters = np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))
        self.q = self._positions(q0)
        self.qd = self._velocities(qd0)

    @property
    def _last(self) -> list[Any]:
        """The inputs of the model's functions that follow the state."""
        found: list[Any] = [0.0] if self.names.is_time_dependent else []
        return [*found, self.parameters] if self.parameter_names else found

    def _rows(self, given: Any, names: Sequence[str], what: str) -> Floats:
        values = check_finite_array(given, what)
        if values.ndim > 2 or values.shape[-1:] != (len(names),):
            raise LinkwrightError(
                f"{what} has shape {values.shape}", remedy=f"give (runs, {len(names)})"
            )
        return np.array(np.broadcast_to(values, (self.count, len(names))))

    def _table(
        self, given: Mapping[str, Any], names: Sequence[str], what: str
    ) -> dict[int, Floats]:
        """Columns by place."""
        found = {}
        for name, values in given.items():
            if name not in names:
                raise NameNotFoundError(
                    f"there is no '{name}'", where=what, remedy=suggest_remedy(name, list(names))
                )
            numbers = check_finite_array(values, f"{what}['{name}']")
            found[list(names).index(name)] = np.broadcast_to(numbers, self.count)
        return found

    def _positions(self, q0: Any) -> Floats:
        model, names = self.model, self.names
        if q0 is not None and not isinstance(q0, Mapping):
            q = with_unit_quaternions(
                model,
                self._rows(q0, names.q, "q0"),
                *([self.parameters] if self.parameter_names else []),
            )
            self._check(model.constraint_residual, q) if names.position_row_count else None
            return q
        table = self._table(q0 or {}, names.q, "q0")
        home = assemble(self.mechanism) if names.constraints else model.neutral()
        q = np.tile(home, (self.count, 1))
        for place, values in table.items():
            q[:, place] = values
        return self._closed(q, table, q0 or {}) if names.position_row_count else q

    def _check(self, function: Any, *state: Floats) -> None:
        left = np.abs(function(*state, *self._last)).max(axis=-1)
        bad = ~(left < max(CLOSURE_TOLERANCES.accepted_residual, self.model.leeway))
        if bad.any():
            raise AssemblyError(
                f"the constraints do not hold at the start of run {int(bad.argmax())}: "
                f"{left[bad][0]:.3g} is left",
                where=self.mechanism.name, remedy="give coordinates and velocities by name",
            )  # fmt: skip

    def _closed(self, q: Floats, table: Mapping[int, Floats], given: Mapping[str, Any]) -> Floats:
        """q with loops closed; what is given by name is held. Runs that do not close together are
        assembled one by one."""
        model, rows = self.model, list(self.names.position_rows)
        hold = constraint_system(self.mechanism).held_steps(list(given))
        functions = PositionConstraints(
            lambda q: model.constraint_residual(q, *self._last),
            lambda q: model.constraint_jacobian(q, *self._last)[..., rows, :],
            lambda q, step: model.integrate(
                q, step, *([self.parameters] if self.parameter_names else [])
            ),
        )
        with np.errstate(all="ignore"):
            closure = close_positions(functions, q, hold=hold)
        for run in np.flatnonzero(~np.asarray(closure.has_converged)):
            own = {name: float(np.broadcast_to(x, self.count)[run]) for name, x in given.items()}
            closure.q[run] = assemble(self.mechanism_of(int(run)), own, list(own))
        return closure.q

    def mechanism_of(self, run: int) -> Mechanism:
        """The mechanism of one run, with its own parameters."""
        if not self.parameter_names:
            return self.mechanism
        values = dict(zip(self.parameter_names, self.parameters[run].tolist(), strict=True))
        return self.mechanism.with_parameters(**values)

    def _velocities(self, qd0: Any) -> Floats:
        model, names = self.model, self.names
        if qd0 is not None and not isinstance(qd0, Mapping):
            qd = self._rows(qd0, names.qd, "qd0")
            self._check(model.constraint_velocity, self.q, qd) if names.constraints else None
            return qd
        table = self._table(qd0 or {}, names.qd, "qd0")
        qd = np.zeros((self.count, names.nv))
        for place, values in table.items():
            qd[:, place] = values
        if not names.constraints:
            return qd
        J = model.constraint_jacobian(self.q, *self._last)
        violation = model.constraint_velocity(self.q, qd, *self._last)
        qd = project_velocities(J, qd, violation, hold=list(table))
        left = np.abs(model.constraint_velocity(self.q, qd, *self._last)).max(axis=-1)
        for run in np.flatnonzero(~(left < CLOSURE_TOLERANCES.accepted_residual)):
            own = {names.qd[k]: float(x[run]) for k, x in table.items()}
            qd[run] = assemble_velocities(self.mechanism_of(int(run)), self.q[run], own)
        return qd

    def states(self, system: System) -> Floats:
        """Rows of the states that are integrated; no work is done yet."""
        assert system.equations.state is None
        return np.hstack([self.q, self.qd, np.zeros((self.count, WORKS))])


class Ensemble:
    """The runs of an ensemble under way."""

    def __init__(
        self,
        motion: CompiledMotion,
        mechanism: Mechanism,
        start: EnsembleStart,
        times: Floats,
        y: Floats,
        options: Mapping[str, float],
        torque: Any,
    ) -> None:
        self.motion, self.mechanism, self.start = motion, mechanism, start
        self.times, self.options, self.torque = times, options, torque
        self.records = TrajectoryRecords(motion, times, y, options, start.parameters)
        self.status: list[str] = [""] * len(y)
        self.repeated: dict[int, Floats] = {}
        """Samples of runs that were repeated by `simulate`."""

    def run(self, threads: int) -> None:
        """Integrate all runs; Ctrl-C keeps what was computed."""
        active = np.arange(len(self.status))
        try:
            while len(active):
                with np.errstate(all="ignore"):
                    self.records.advance(active, min(threads, -(-len(active) // 8)))
                active = np.array(
                    [k for k in self._unfinished(active) if self._go_on(int(k))], np.int64
                )
        except KeyboardInterrupt:
            for k, status in enumerate(self.status):
                if not status:
                    self.status[k] = f"interrupted at t = {self.records.clock[k, Clock.TIME]:g} s"

    def _unfinished(self, active: Any) -> Any:
        """The runs that are not at their end; the others are finished."""
        reason = self.records.progress[active, Progress.REASON]
        at_end = self.records.clock[active, Clock.TIME] >= self.records.end
        done: Booleans = (reason == StopReason.REACHED_STOP) & at_end
        for k in active[done]:
            self.status[k] = FINISHED
        return active[~done]

    def _go_on(self, k: int) -> bool:
        """Treat what a run stopped at; whether it goes on."""
        run = CompiledRun(self.records, k, self.motion.system, None)
        try:
            run.go_on()
        except CannotContinueError:
            self._repeat(k)
            return False
        if run.status is not None:
            self.status[k] = run.status
        return run.status is None

    def _repeat(self, k: int) -> None:
        """Make a run again by itself, with all that `simulate` can do."""
        from . import simulate

        found = simulate(
            self.start.mechanism_of(k), float(self.times[-1]), self.start.q[k], self.start.qd[k],
            torque=self.torque, integrator=self.motion.pair.name, samples=len(self.times),
            progress=False, rtol=self.options["rtol"], atol=self.options["atol"],
            max_step=self.options["max_step"],
        )  # fmt: skip
        rows = np.full((len(self.times), self.motion.state_count), np.nan)
        count = (
            int(np.searchsorted(found.t, self.times[-1], side="right"))
            if found.finished
            else len(found.t) - 1
        )
        rows[:count, : found.q.shape[1]] = found.q[:count]
        rows[:count, found.q.shape[1] : found.q.shape[1] + found.qd.shape[1]] = found.qd[:count]
        self.repeated[k] = rows
        self.status[k] = found.status

    def dataset(self, integrator: str) -> xarray.Dataset:
        """The result, with names."""
        import xarray

        names = self.motion.system.names
        states = self.records.projected_samples(slice(None)).copy()
        reached = self.records.progress[:, Progress.SAMPLE]
        states[np.arange(len(self.times)) >= reached[:, None]] = np.nan
        for k, rows in self.repeated.items():
            states[k] = rows
        q, qd = states[..., : names.nq], states[..., names.nq : names.nq + names.nv]
        counts = self.records.progress
        variables: dict[str, Any] = {
            "q": (("run", "time", "coordinate"), q, {"units": "rad or m"}),
            "qd": (("run", "time", "speed"), qd, {"units": "rad/s or m/s"}),
            "status": ("run", np.array(self.status)),
            "steps": ("run", counts[:, Progress.STEPS].copy()),
            "evaluations": ("run", counts[:, Progress.EVALUATIONS].copy()),
        }
        for name, values in zip(self.start.parameter_names, self.start.parameters.T, strict=True):
            variables[name] = ("run", values.copy())
        labels = {
            "time": ("time", self.times, {"units": "s"}),
            "coordinate": list(names.q),
            "speed": list(names.qd),
        }
        attributes = {"mechanism": self.mechanism.name, "integrator": integrator, **self.options}
        return xarray.Dataset(variables, labels, attributes)
