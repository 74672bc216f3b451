"""Ensembles: many runs of one mechanism at once, with different starts and parameters.

The same compiled program makes all runs on several threads, with one run per lane. Each run has its
own steps. `simulate` repeats a run that the program cannot finish, for example near a singular
configuration.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import (
    LinkwrightError,
    NameNotFoundError,
    UnsupportedError,
    suggest_remedy,
)
from ..formulations import derive
from ..integrators import Clock, Progress, StopReason
from ..mechanism import Mechanism, require_mechanism
from ..model.model import Model
from ..model.model import compile as compile_model
from ..number_checks import check_finite_array, check_positive, check_whole_number
from ..types import Booleans, Floats, ForceLike, VectorLike
from .argument_checks import sample_times
from .compiled_motion import METHODS, CompiledMotion
from .compiled_run import CannotContinueError, CompiledRun, TrajectoryRecords
from .ensemble_starts import EnsembleStart
from .events.event_parts import find_event_parts
from .feedback import Feedback
from .inputs import check_inputs_without, drive_of
from .right_hand_side import RightHandSide
from .run import FINISHED

if TYPE_CHECKING:
    import xarray

_RESULTS = ("q", "qd", "status", "steps", "evaluations", "compiled", "run", "time", "coordinate")

KEPT_ENSEMBLES = 8
"""How many mechanisms with varied parameters keep their code in memory."""


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

    Each run has its own steps. A run that cannot continue does not affect the others, and its
    status says why. Ensembles do not support joint limits, contacts and sticking friction; a
    mechanism that has them is rejected (remove them with `Mechanism.without`).

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    t : float
        Duration, s.
    q0, qd0 : (runs, n) arrays, or mappings of names to numbers or (runs,) arrays, optional
        Coordinates (rad or m) and velocities (rad/s or m/s) at the start. Arrays must satisfy the
        constraints. Values given by name are held, and the others follow from the constraints.
    parameters : mapping of names to numbers or (runs,) arrays, optional
        Values of parameters in SI units (default: the values in the mechanism).
    torque : array or mapping, optional
        Generalized forces (N·m or N) of all runs, as in `simulate`, but not a Python function.
    integrator : {"dop853", "rk45"}
        The integrator.
    rtol, atol : float
        Relative and absolute tolerance of a step.
    samples : int
        Number of equally spaced times in the result; 2: start and end.
    max_step : float, optional
        Largest step, s (default: no limit).
    threads : int, optional
        Number of threads (default: one for each core).

    Returns
    -------
    xarray.Dataset
        `q` (run, time, coordinate), `qd` (run, time, speed), `status`, `steps`, `evaluations`
        (run), and the given parameters (run). Samples that a run did not reach are NaN.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.simulate_ensemble(lw.gallery("elbow"), 0.5, q0={"q1": [0.0, 0.5, 1.0]})
    >>> found["q"].shape
    (3, 2, 2)
    """
    require_mechanism(mechanism)
    times = sample_times(t, samples)
    if integrator not in METHODS:
        raise UnsupportedError(
            f"ensembles cannot use '{integrator}'", remedy=f"use one of {', '.join(METHODS)}"
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
    check_inputs_without(mechanism, torque, tuple(given))
    if callable(torque) and not isinstance(torque, Feedback):
        raise UnsupportedError(
            "the torque of an ensemble cannot be a Python function",
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
        if name in _RESULTS:
            raise LinkwrightError(
                f"a parameter '{name}' would hide the result of that name",
                where=mechanism.name,
                remedy="rename the parameter",
            )
        if values.ndim > 1:
            raise LinkwrightError(
                f"parameters['{name}'] has shape {values.shape}",
                remedy="give one number, or one for each run",
            )


def _ensemble_motion(
    mechanism: Mechanism, names: tuple[str, ...], integrator: str, torque: Any
) -> CompiledMotion:
    """Return the program of a mechanism with varied parameters; it is cached only if there is no
    torque."""
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
    system = RightHandSide(equations, drive_of(equations, torque))
    if system.drive.function is not None or system.drive.feedback is not None:
        raise UnsupportedError(
            "an ensemble cannot have a controller",
            remedy="give its law as expressions, or call simulate",
        )
    if find_event_parts(mechanism, system, None, "stop", "together") is not None:
        raise UnsupportedError(
            "ensembles do not support stops, contacts, sticking friction or members that break",
            where=mechanism.name,
            remedy='use simulate, or mechanism.without("limits", "contacts", "friction")',
        )
    return CompiledMotion(system, integrator, None)


class Ensemble:
    """The runs of an ensemble: their records, statuses and results."""

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
        self.status = [start.failures.get(k, "") for k in range(len(y))]
        self.repeated: dict[int, Floats] = {}
        self.repeated_counts: dict[int, tuple[float, float]] = {}
        """Samples of the runs that `simulate` repeated."""

    def run(self, threads: int) -> None:
        """Integrate all runs; Ctrl-C keeps what was computed."""
        active = np.array([k for k, status in enumerate(self.status) if not status], np.int64)
        try:
            while len(active):
                with np.errstate(all="ignore"):
                    self.records.advance(active, min(threads, -(-len(active) // 8)))
                active = np.array(
                    [k for k in self._unfinished(active) if self._go_on(int(k))], np.int64
                )
            self._repeat_unsound_runs()
        except KeyboardInterrupt:
            for k, status in enumerate(self.status):
                if not status:
                    self.status[k] = f"interrupted at t = {self.records.clock[k, Clock.TIME]:g} s"

    def _unfinished(self, active: Any) -> Any:
        """Return the runs that have not reached their end, and mark the others as finished."""
        reason = self.records.progress[active, Progress.REASON]
        at_end = self.records.clock[active, Clock.TIME] >= self.records.end
        done: Booleans = (reason == StopReason.REACHED_STOP) & at_end
        for k in active[done]:
            self.status[k] = FINISHED
        return active[~done]

    def _go_on(self, k: int) -> bool:
        """Handle the reason for which a run stopped; return whether it continues."""
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

        try:
            found = simulate(
                self.start.mechanism_of(k),
                float(self.times[-1]),
                self.start.q[k],
                self.start.qd[k],
                torque=self.torque,
                integrator=self.motion.method.name,
                samples=len(self.times),
                progress=False,
                rtol=self.options["rtol"],
                atol=self.options["atol"],
                max_step=self.options["max_step"],
            )
        except LinkwrightError as error:
            self.status[k] = f"cannot be made: {error}"
            self.repeated[k] = np.full((len(self.times), self.motion.state_count), np.nan)
            return
        self.repeated_counts[k] = found.statistics["steps"], found.statistics["evaluations"]
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
        if found.interrupted:
            raise KeyboardInterrupt

    def _repeat_unsound_runs(self) -> None:
        """Make runs again whose samples could not be put onto the constraints."""
        sound = np.isfinite(self.records.projected_samples(slice(None))).all(axis=(1, 2))
        for k in np.flatnonzero(~sound):
            if self.status[k] == FINISHED and int(k) not in self.repeated:
                self._repeat(int(k))

    def dataset(self, integrator: str) -> xarray.Dataset:
        """Return the result with named dimensions."""
        import xarray

        names = self.motion.system.names
        states = self.records.projected_samples(slice(None)).copy()
        reached = self.records.progress[:, Progress.SAMPLE]
        states[np.arange(len(self.times)) >= reached[:, None]] = np.nan
        for k, rows in self.repeated.items():
            states[k] = rows
        q, qd = states[..., : names.nq], states[..., names.nq : names.nq + names.nv]
        counts = self.records.progress
        steps, evaluations = (
            counts[:, column].copy() for column in (Progress.STEPS, Progress.EVALUATIONS)
        )
        for k, (made, evaluated) in self.repeated_counts.items():
            steps[k], evaluations[k] = made, evaluated
        variables: dict[str, Any] = {
            "q": (("run", "time", "coordinate"), q, {"units": "rad or m"}),
            "qd": (("run", "time", "speed"), qd, {"units": "rad/s or m/s"}),
            "status": ("run", np.array(self.status)),
            "steps": ("run", steps),
            "evaluations": ("run", evaluations),
            "compiled": ("run", np.array([k not in self.repeated for k in range(len(q))])),
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
