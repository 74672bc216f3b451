"""Motion of a mechanism in time."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError, suggest
from ..formulations import derive
from ..kinematics.assembly import assemble, consistent_speeds
from ..mechanism import Mechanism, names_of
from .inputs import drive_of
from .projection import Projection
from .run import FINISHED, Run, load_run
from .steps import rollout
from .system import System

__all__ = ["Run", "load_run", "rollout", "simulate"]

Floats = NDArray[np.float64]

METHODS = {"dop853": "DOP853", "rk45": "RK45", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}
_STIFF = ("radau", "bdf", "lsoda")
_ONE_STEP = ("dop853", "rk45", "radau")


def simulate(
    mechanism: Mechanism,
    t: float = 1.0,
    q0: Any = None,
    qd0: Any = None,
    by: str = "recursive",
    torque: Any = None,
    integrator: str = "dop853",
    rtol: float = 1e-9,
    atol: float = 1e-10,
    samples: int = 501,
    max_step: float = math.inf,
) -> Run:
    """The motion over t seconds from (q0, qd0), as a `Run` at `samples` equal times.

    q0 and qd0 are arrays, or tables of some coordinates and speeds by name; the rest is at home
    (where loops close) and at rest. `torque`: numbers, a function of (t, q, q̇), a table by
    speed or actuator of numbers, expressions ("2*sin(t) - q1") and (times, values), or a
    controller of `linkwright.control`.
    """
    if integrator not in METHODS:
        raise UnsupportedError(
            f"there is no integrator '{integrator}'", remedy=f"use one of {', '.join(METHODS)}"
        )
    if not (0 < t < math.inf and samples >= 2):
        raise LinkwrightError(
            f"{t:g} s in {samples} samples is no motion", remedy="give t above 0, samples from 2"
        )
    equations = derive(mechanism, by=by, parameters="numeric")
    system = System(equations, drive_of(equations, torque))
    q, qd = _start(mechanism, system, q0, qd0)
    projected = _Projected(system, integrator)
    times = np.linspace(0.0, t, samples)
    options = {"rtol": rtol, "atol": atol, "max_step": max_step}
    begin = time.perf_counter()
    y, status = projected.integrate(system.start(q, qd), times, options)
    settings = {
        "t": t, "by": by, "integrator": integrator, "rtol": rtol, "atol": atol, "samples": samples,
    }  # fmt: skip
    statistics = {
        "steps": projected.steps, "evaluations": system.evaluations,
        "seconds": time.perf_counter() - begin,
    }  # fmt: skip
    found = _run(mechanism, system, times[: y.shape[1]], y, status, statistics, settings)
    if projected.projection is None:
        return found
    return replace(found, singular=projected.projection.singular())


def _start(mechanism: Mechanism, system: System, q0: Any, qd0: Any) -> tuple[Floats, Floats]:
    """A consistent start; what is given by name is kept."""
    names, model = names_of(mechanism), system.model
    if isinstance(q0, dict) or q0 is None:
        given = dict(q0 or {})
        if names.constraints:
            q = assemble(mechanism, given, list(given))
        else:
            q = _placed(model.neutral(), given, names.q, "coordinate")
    else:
        q = _sized(q0, names.nq, "q0")
    if isinstance(qd0, dict) or qd0 is None:
        qd = _placed(np.zeros(names.nv), dict(qd0 or {}), names.qd, "speed")
    else:
        qd = _sized(qd0, names.nv, "qd0")
    if not names.constraints:
        return q, qd
    time = [0.0] if names.in_time else []
    left = np.abs(model.constraint_residual(q, *time)).max(initial=0.0)
    if left > 1e-8:
        raise LinkwrightError(
            f"the loops and constraints do not close at q0: {left:.3g} is left over",
            where=mechanism.name, remedy="give some coordinates by name, or use assemble",
        )  # fmt: skip
    if isinstance(qd0, dict):
        return q, _driven_speeds(model, q, qd0, time)
    return q, consistent_speeds(mechanism, q, qd)


def _driven_speeds(model: Any, q: Floats, given: dict[str, float], time: list[float]) -> Floats:
    """The least speeds with the given ones, under the constraints."""
    J, rows = model.constraint_jacobian(q, *time), [model.names.qd.index(n) for n in given]
    fixed = np.eye(model.nv)[rows]
    still = -model.constraint_velocity(q, np.zeros(model.nv), *time)
    A, b = np.vstack([J, fixed]), np.concatenate([still, list(given.values())])
    qd: Floats = np.linalg.pinv(A, rcond=1e-10) @ b
    if np.abs(A @ qd - b).max(initial=0.0) > 1e-8 * max(1.0, np.abs(b).max(initial=0.0)):
        raise LinkwrightError("the given speeds contradict the constraints", remedy="give fewer")
    return qd


def _placed(values: Floats, given: dict[str, float], names: Any, kind: str) -> Floats:
    for name, value in given.items():
        if name not in names:
            raise NameNotFoundError(
                f"there is no {kind} '{name}'", remedy=suggest(name, list(names))
            )
        values[list(names).index(name)] = float(value)
    return values


def _sized(values: Any, size: int, what: str) -> Floats:
    found = np.array(values, dtype=float)
    if found.shape != (size,) or not np.isfinite(found).all():
        raise LinkwrightError(f"{what} is not {size} finite numbers", remedy=f"give {size}")
    return found


class _Projected:
    """SciPy's steps, with positions and speeds brought back onto the constraints after each."""

    def __init__(self, system: System, integrator: str) -> None:
        self.system, self.integrator = system, integrator
        constrained = bool(system.names.constraints) and system.equations.by != "approximate"
        self.projection = Projection(system.model) if constrained else None
        self.quaternions = system.names.nq != system.names.nv
        self.steps = 0

    def integrate(self, y: Floats, times: Floats, options: dict[str, float]) -> tuple[Floats, str]:
        import scipy.integrate

        method = getattr(scipy.integrate, METHODS[self.integrator])
        known: dict[str, Any] = dict(options)
        if self.integrator in _STIFF and not self.system.guarded:
            known["jac"] = self._slope
        found = [y]
        with np.errstate(all="ignore"):
            for begin, end in self.system.spans(times[0], times[-1]):
                y = self.system.sample(begin, y)
                solver = method(self.system.rates, begin, y, end, **known)
                status = self._through(solver, times, found)
                if status != FINISHED:
                    break
                y = solver.y
        return np.array(found).T, status

    def _through(self, solver: Any, times: Floats, found: list[Floats]) -> str:
        """Steps to the end of a span; the states at its `times` are added to those `found`."""
        while solver.status == "running":
            try:
                message = solver.step()
            except KeyboardInterrupt:
                return f"interrupted at t = {solver.t:g} s"
            if message is not None or not np.isfinite(solver.y).all():
                return _stopped(solver.t, message)
            self.steps += 1
            reached = k = len(found)
            while reached < len(times) and times[reached] <= solver.t:
                reached += 1
            if reached > k:
                dense = solver.dense_output()
                found += [self.mended(x, dense(x)) for x in times[k:reached]]
            self.project(solver)
        return FINISHED

    def _slope(self, t: float, y: Floats) -> Floats:
        return self.system.slope(t, y)

    def mended(self, t: float, y: Floats) -> Floats:
        """The same state with constraints and lengths of quaternions exact."""
        if self.projection is None and not self.quaternions:
            return y
        q, qd = self.system.motion(y)
        model = self.system.model
        if self.quaternions:
            q = model.integrate(q, np.zeros(model.nv))
        if self.projection is not None:
            q, qd = self.projection(t, q, qd)
        return self.system.moved(y, q, qd)

    def project(self, solver: Any) -> None:
        """One-step methods go on from the mended state; others keep their own history."""
        if self.integrator not in _ONE_STEP or (self.projection is None and not self.quaternions):
            return
        solver.y = self.mended(solver.t, solver.y)
        if hasattr(solver, "f"):
            solver.f = solver.fun(solver.t, solver.y)


def _stopped(t: float, message: str | None) -> str:
    why = "its rates are no longer finite" if message is None else "the step became too small"
    return f"stopped at t = {t:g} s: {why}; try a stiff integrator, or look for a singular state"


def _run(
    mechanism: Mechanism,
    system: System,
    times: Floats,
    y: Floats,
    status: str,
    statistics: dict[str, float],
    settings: dict[str, Any],
) -> Run:
    q, qd = system.motion(y)
    model, names = system.model, system.names
    tau = system.torques(times, y)
    clock = [times] if names.in_time else []
    by_recursion = model if "mass_matrix" in system.equations.function_names() else None
    if by_recursion is None:
        from ..model import compile as compiled

        by_recursion = compiled(mechanism, threads=1)
    closure = np.zeros(len(times))
    if names.constraints and names.positions:
        closure = np.abs(by_recursion.constraint_residual(q, *clock)).max(axis=-1)
    return Run(
        mechanism=mechanism, t=times, q=q, qd=qd,
        qdd=by_recursion.forward_dynamics(q, qd, tau, *clock), tau=tau,
        kinetic=by_recursion.kinetic_energy(q, qd), potential=by_recursion.potential_energy(q),
        work=y[-1], closure=closure, status=status, statistics=statistics, settings=settings,
        control=dict(zip(system.control_names, y[system.size : -1], strict=True)),
    )  # fmt: skip
