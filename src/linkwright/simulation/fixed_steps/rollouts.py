"""`rollout`: many trajectories at once, and the checks of its arguments."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from ...errors import LimitWarning, LinkwrightError, UnsupportedError
from ...kinematics.closing import CLOSURE_TOLERANCES
from ...kinematics.pose_configurations import read_pose, read_pose_velocities
from ...mechanism import Mechanism
from ...mechanism.strength import breaking_members
from ...model.model import Model
from ...model.model import compile as compile_model
from ...number_checks import check_finite_array, check_number, check_whole_number
from ...types import Floats, ForceLike, VectorLike
from ..adaptive_rollouts import adaptive_settings, held_forces, roll_out_adaptively
from ..compiled_motion import METHODS
from ..effort_limits import clip_given_arrays
from ..feedback import Feedback
from ..inputs import ForceLaw, read_force_law
from ..start import with_unit_quaternions
from ..varied_inputs import check_inputs_without
from .compiled_steps import CompiledStep
from .parameter_inputs import read_kept_parameters
from .step_methods import check_method
from .tableaus import IMPLICIT_METHODS
from .trajectory_batch import TrajectoryBatch

CACHED_STEPS = 16
"""Number of compiled steps in the cache of each model, one for each method and input; the oldest is
dropped first."""

CACHED_MODELS = 16
"""Number of models of mechanisms in the cache; the oldest is dropped first."""

MAX_STATES_CHECKED = 64
"""States at which inputs that Python computes one by one are compared with limits."""

StepInputs = Mapping[str, object] | Feedback | None
"""Inputs that become part of a compiled step."""


def rollout(
    model: Model | Mechanism,
    q0: ArrayLike,
    qd0: ArrayLike,
    inputs: ForceLike | Feedback | None = None,
    dt: float = 1e-3,
    steps: int = 1000,
    *,
    method: str = "rk4",
    history: bool = False,
    threads: int | None = None,
    t: float = 0.0,
    parameters: VectorLike | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-10,
) -> tuple[Floats, Floats]:
    """Integrate many trajectories at once, with fixed or adaptive steps.

    Loops and constraints hold after every step; a step that cannot be made raises an error that
    names the trajectory.

    Parameters
    ----------
    model : Model or Mechanism
        A mechanism is compiled with the parameters that are named in `parameters`.
    q0, qd0 : (…, nq) and (…, nv) arrays
        States at the start, which broadcast: rad or m, rad/s or m/s.
    inputs : array, mapping or Feedback, optional
        Forces (nv) or (…, nv); forces that are constant over each step (…, steps, nv); a table by
        velocity or actuator of numbers, expressions and (times, values); or a controller, whose
        states each trajectory has for itself. N m or N. Limits of efforts and ranges of actuators
        that the mechanism declares are imposed, as `simulate` does; a `LimitWarning` says so where
        arrays exceed them, or expressions at the start or at the end.
    dt, steps : float and int
        Length of a step, s, and number of steps; with adaptive steps, the distance in time of the
        states that are returned, and their number.
    method : str
        The integrator: of fixed steps such as "rk4", or "dop853", "rk45" or "rodas", which choose
        their own steps in each trajectory.
    history : bool
        Return all steps, as axis −2.
    threads : int, optional
        Threads (default: one for each core).
    t : float
        Time at the start, s.
    parameters : mapping or (…, parameters) array, optional
        Values of the parameters that the model keeps; they broadcast with q0.
    rtol, atol : float
        Tolerances of adaptive steps: relative, and absolute (rad, m and their rates).

    Returns
    -------
    tuple of two arrays
        (q, q̇) at the end, (…, nq) and (…, nv), or at all steps.

    Examples
    --------
    >>> import linkwright as lw
    >>> q, qd = lw.rollout(lw.gallery("elbow"), [[0.0, 0.0], [0.5, 0.0]], [0.0, 0.0], steps=10)
    >>> q.shape
    (2, 2)
    """
    model = _model_with_parameters(model, parameters)
    if method not in METHODS:
        check_method(method, model.equations)
    refuse_events(model.equations.mechanism)
    steps, dt, t = check_whole_number(steps, "steps"), check_number(dt, "dt"), check_number(t, "t")
    if dt == 0:
        raise LinkwrightError("dt must not be 0 s", remedy="give another step")
    cores = _core_count() if threads is None else check_whole_number(threads, "threads", 1)
    _check_inputs(inputs, method, dt)
    p = read_kept_parameters(model, parameters)
    q, qd, batch = _read_starts(model, q0, qd0, p, t)
    step_inputs = inputs if isinstance(inputs, Mapping | Feedback) else None
    given_forces = None if isinstance(inputs, Mapping | Feedback) or callable(inputs) else inputs
    forces = clip_given_arrays(model.mechanism, _read_forces(given_forces, batch, steps, model.nv))
    if method in METHODS:
        settings = adaptive_settings(method, dt, steps, t, history=history, rtol=rtol, atol=atol)
        torque = step_inputs if given_forces is None else held_forces(forces)
        own = np.broadcast_to(p, (*batch, p.shape[-1])).reshape(len(q), p.shape[-1])
        starts = replace(settings, q0=q, qd0=qd)
        q, qd = roll_out_adaptively(model, starts, torque, own, threads=cores, history=history)
        return q.reshape(*batch, *q.shape[1:]), qd.reshape(*batch, *qd.shape[1:])
    check_inputs_without(model.equations.mechanism, step_inputs, model.parameters)
    step = cached_step(model, method, step_inputs)
    times = t + dt * np.arange(steps, dtype=np.float64)
    trajectories = TrajectoryBatch(model, step, step_inputs, dt, times, history=history)
    own = p.reshape(1, -1) if p.ndim == 1 else _rows_of_batch(p, batch)
    _warn_of_clipped_inputs(step.force_law, q, qd, t, is_start=True)
    q, qd = trajectories.integrate(q, qd, forces, own, threads=cores)
    ends = (q[:, -1], qd[:, -1]) if history else (q, qd)
    _warn_of_clipped_inputs(step.force_law, *ends, t + steps * dt, is_start=False)
    return q.reshape(*batch, *q.shape[1:]), qd.reshape(*batch, *qd.shape[1:])


def _warn_of_clipped_inputs(
    law: ForceLaw | None, q: Floats, qd: Floats, t: float, *, is_start: bool
) -> None:
    """Warn where expressions ask for more than declared limits allow in states (runs, n) at a time.
    Inputs with states of their own are compared at the start only."""
    if law is None or not law.demands or law.function is not None:
        return
    if law.start_states and not is_start:
        return
    rows = slice(None) if not (law.feedback or law.tables) else slice(MAX_STATES_CHECKED)
    times, z = np.full(len(q[rows]), t), np.array(law.start_states, dtype=float)
    states = np.broadcast_to(z, (len(times), len(z)))
    for sentence in law.clipped_demands(times, q[rows], qd[rows], states):
        warnings.warn(sentence, LimitWarning, stacklevel=3)


def _model_with_parameters(source: Model | Mechanism, parameters: VectorLike | None) -> Model:
    """Return the model, compiled with the named parameters if a mechanism is given."""
    if isinstance(source, Mechanism):
        if not (parameters is None or isinstance(parameters, Mapping)):
            raise LinkwrightError(
                "parameters of a mechanism have no order", remedy="give them by name"
            )
        return _compile_cached_model(source, tuple(parameters or ()))
    if not isinstance(source, Model):
        raise LinkwrightError(
            f"a {type(source).__name__} is not a model", remedy="compile it first"
        )
    return source


@lru_cache(maxsize=CACHED_MODELS)
def _compile_cached_model(mechanism: Mechanism, names: tuple[str, ...]) -> Model:
    """Return the model of a mechanism with parameters as inputs, compiled once."""
    return compile_model(mechanism, parameters=names)


def _check_inputs(inputs: ForceLike | Feedback | None, method: str, dt: float) -> None:
    """Raise for Python functions, and for controllers that the method cannot run."""
    if callable(inputs) and not isinstance(inputs, Feedback):
        raise UnsupportedError(
            "rollouts are compiled as a whole and do not accept Python functions as inputs",
            remedy="give expressions, tables, a controller, or forces for every step",
        )
    if not isinstance(inputs, Feedback):
        return
    if method in IMPLICIT_METHODS:
        raise UnsupportedError(
            f"'{method}' does not support controllers", remedy="use another method"
        )
    if dt < 0:
        raise UnsupportedError("controllers do not run backward in time", remedy="give dt above 0")


def refuse_events(mechanism: Mechanism, caller: str = "rollouts") -> None:
    """Raise for parts that act only through events of a simulation, instead of ignoring them."""
    joints = mechanism.joints.items()
    refused = [(name, "rigid contacts") for name, c in mechanism.contacts.items() if c.is_rigid]
    refused += [
        (name, "friction by reaction")
        for name, joint in joints
        if "friction_coefficient" in joint.model_fields_set
    ]
    bouncing = {
        **{name: joint.limits.restitution for name, joint in joints},
        **{name: length.limits.restitution for name, length in mechanism.lengths.items()},
    }
    refused += [(name, "stops with restitution") for name, e in bouncing.items() if e is not None]
    refused += [(name, "members that break") for name in breaking_members(mechanism)]
    for name, what in refused:
        raise UnsupportedError(
            f"{caller} do not support {what} ('{name}')",
            where=mechanism.name,
            remedy='use simulate, or leave it out: without("contacts", "friction", "limits")',
        )


def _core_count() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _read_starts(
    model: Model, q0: ArrayLike, qd0: ArrayLike, p: Floats, t: float
) -> tuple[Floats, Floats, tuple[int, ...]]:
    """Return rows of q and q̇ that satisfy the constraints, and the shape of the batch."""
    mechanism = model.mechanism
    q = check_finite_array(read_pose(mechanism, q0), "q0")
    qd = check_finite_array(read_pose_velocities(mechanism, qd0), "qd0")
    for what, array, size in (("q0", q, model.nq), ("qd0", qd, model.nv)):
        if array.shape[-1:] != (size,):
            raise LinkwrightError(f"{what} has shape {array.shape}", remedy=f"give (…, {size})")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], qd.shape[:-1], p.shape[:-1])
    except ValueError:
        more = f", and parameters have {p.shape[:-1]}" if p.ndim > 1 else ""
        raise LinkwrightError(
            f"q0 has shape {q.shape} and qd0 {qd.shape}{more}",
            remedy="give the same number of each, or one",
        ) from None
    last = [_rows_of_batch(p, batch)] if model.parameters else []
    own = last[0] if last else None
    q, qd = with_unit_quaternions(model, _rows_of_batch(q, batch), own), _rows_of_batch(qd, batch)
    if model.names.constraints:
        _check_constraints(model, q, qd, last, t)
    return q, qd, batch


def _rows_of_batch(values: Floats, batch: tuple[int, ...]) -> Floats:
    """Return one row for each trajectory of the batch."""
    return np.broadcast_to(values, (*batch, values.shape[-1])).reshape(-1, values.shape[-1])


def _check_constraints(model: Model, q: Floats, qd: Floats, last: list[Floats], t: float) -> None:
    """Raise where the starts do not satisfy the constraints."""
    time: list[float | Floats] = [*([t] if model.names.is_time_dependent else []), *last]
    positions = (
        model.constraint_residual(q, *time) if model.names.position_row_count else np.zeros((1, 1))
    )
    for what, left in (("q0", positions), ("qd0", model.constraint_velocity(q, qd, *time))):
        if not (np.abs(left) < max(CLOSURE_TOLERANCES.accepted_residual, model.leeway)).all():
            raise LinkwrightError(
                f"loops and constraints do not hold at {what}: {np.abs(left).max():.3g} is left",
                where=model.mechanism.name,
                remedy="use model.close, or assemble and assemble_velocities",
            )


def _read_forces(given: ArrayLike | None, batch: tuple[int, ...], steps: int, nv: int) -> Floats:
    """Return the given forces, (rows or 1, steps or 1, nv)."""
    forces = np.zeros(nv) if given is None else check_finite_array(given, "inputs")
    in_time = forces.ndim == len(batch) + 2 or (forces.ndim == 2 and batch == ())
    wanted = (*batch, steps, nv) if in_time else (*batch, nv)
    try:
        np.broadcast_to(forces, wanted)
    except ValueError:
        raise LinkwrightError(
            f"the forces have shape {forces.shape}",
            remedy=f"give {(*batch, steps, nv)}, or {(nv,)}",
        ) from None
    if forces.ndim <= 1:
        return np.array(np.broadcast_to(forces, (1, 1, nv)))
    rows, count = math.prod(batch), steps if in_time else 1
    whole: Floats = np.broadcast_to(forces, wanted).reshape(rows, count, nv)
    return whole


_CACHED_STEPS: WeakKeyDictionary[Model, dict[object, CompiledStep]] = WeakKeyDictionary()


def cached_step(model: Model, method: str, inputs: StepInputs) -> CompiledStep:
    """Return the compiled step of a method and inputs; compile it if it is not in the cache."""
    steps = _CACHED_STEPS.setdefault(model, {})
    drive = None
    if isinstance(inputs, Mapping):
        drive = read_force_law(model.equations, inputs or None)
    key = (method, id(inputs) if isinstance(inputs, Feedback) else repr(drive and drive.written))
    if key not in steps:
        for oldest in list(steps)[: len(steps) + 1 - CACHED_STEPS]:
            steps.pop(oldest, None)
        drive = drive or read_force_law(model.equations, inputs)
        if drive.state_names and method in IMPLICIT_METHODS:
            raise UnsupportedError(
                f"'{method}' does not support activations of actuators",
                remedy="use another method",
            )
        steps[key] = CompiledStep(model.equations, method, drive, kept=model.parameters)
    return steps[key]
