"""`solve_inverse`: the forces that a motion needs, and the reactions of joints and loops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import LinkwrightError
from ..mechanism import Mechanism, mechanism_names, require_mechanism
from ..model.model import Model
from ..model.model import compile as compile_model
from ..types import Floats
from .driving_forces import find_driving_forces
from .kinematic_motion import Kinematics
from .kinematic_solver import solve_kinematics
from .powers import power_of
from .provenance import software_versions, stored_settings
from .record import actuator_forces
from .run import FINISHED, Run

MotionRows = tuple[Floats, Floats, Floats, Floats]
"""Histories t, q, q̇ and q̈."""


def solve_inverse(
    mechanism: Mechanism,
    motion: Mapping[str, object] | Kinematics | Run | None = None,
    t: float = 1.0,
    *,
    rough: Mapping[str, float] | str | None = None,
    samples: int = 501,
) -> Run:
    """Return the generalized forces that a motion needs, as a run along it.

    Under constraints τ has the least norm among those that the actuators can give. Where they
    cannot give it, `status` says so, and τ is what the motion takes. If the mechanism declares no
    actuators, τ acts along the coordinates whose motion is given.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    motion : mapping, Kinematics or Run, optional
        As for `solve_kinematics`: under constraints the driven coordinates are enough.
    t : float
        Duration, s.
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which choose the branch.
    samples : int
        Number of equal times.

    Returns
    -------
    Run
        The motion with τ (N m or N), powers, works and reactions.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.solve_inverse(lw.gallery("elbow"), {"q1": "t", "q2": "0"}, 0.1, samples=3).tau.shape
    (3, 2)
    """
    require_mechanism(mechanism)
    if motion is None or isinstance(motion, Mapping):
        motion = solve_kinematics(mechanism, motion, t, rough=rough, samples=samples)
    _check_motion(mechanism, motion)
    times, q, qd, qdd = rows = (motion.t, motion.q, motion.qd, motion.qdd)
    model = compile_model(mechanism, threads=1)
    tau, u, status = _forces_of_motion(model, rows)
    driven = motion.driven if isinstance(motion, Kinematics) else ()
    tau = find_driving_forces(model, tau, q, driven, *model.names.time_arguments(times))
    works = _integrate_powers(times, power_of(mechanism, rows, tau))
    closure = np.zeros(len(times))
    if model.names.position_row_count:
        clock = [times] if model.names.is_time_dependent else []
        closure = np.abs(model.constraint_residual(q, *clock)).max(axis=-1)
    return Run(
        mechanism=mechanism,
        t=times,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=tau,
        kinetic=model.kinetic_energy(q, qd, *model.names.position_time_arguments(times)),
        potential=model.potential_energy(q, *model.names.position_time_arguments(times)),
        work=works[2],
        work_inputs=works[0],
        work_given=works[1],
        closure=closure,
        status=status if motion.status == FINISHED else motion.status,
        statistics={"evaluations": len(times)},
        settings=stored_settings({**motion.settings, "mode": "inverse"}),
        versions=software_versions(),
        u=u,
    )


def _check_motion(mechanism: Mechanism, motion: Kinematics | Run) -> None:
    """Raise an error unless the motion is in the mechanism's coordinates."""
    if not isinstance(motion, Kinematics | Run):
        raise LinkwrightError(
            f"a {type(motion).__name__} is not a motion",
            remedy="give a table by coordinate, a Kinematics or a Run",
        )
    if mechanism_names(motion.mechanism).q != mechanism_names(mechanism).q:
        raise LinkwrightError(
            f"the motion is one of {motion.mechanism.name}, with other coordinates",
            where=mechanism.name,
            remedy="give a motion of this mechanism",
        )


def _forces_of_motion(model: Model, rows: MotionRows) -> tuple[Floats, Floats | None, str]:
    """Return τ, the actuator efforts u, and the status, which says whether actuators can produce
    τ."""
    times, q, qd, qdd = rows
    clock = [times] if model.names.is_time_dependent else []
    if not model.names.constraints:
        tau: Floats = model.inverse_dynamics(q, qd, qdd, *clock)
        if not model.names.actuators:
            return tau, None, FINISHED
        u = actuator_forces(model, times, q, tau)
        return tau, u, FINISHED if u is not None else _missing_effort(model, times, q, tau)
    try:
        tau = model.inverse_dynamics(q, qd, qdd, *clock)
        u = model.actuator_forces(q, qd, qdd, *clock) if model.names.actuators else None
    except LinkwrightError as error:
        tau = model.required_forces(q, qd, qdd, *clock)
        return tau, None, f"cannot be driven so: {error}"
    return tau, u, FINISHED


def _missing_effort(model: Model, times: Floats, q: Floats, tau: Floats) -> str:
    """Return the status that names the largest force which the actuators of a tree cannot give."""
    B = model.input_matrix(q, *model.names.position_time_arguments(times))
    left = np.abs((B @ (np.linalg.pinv(B) @ tau[..., None]))[..., 0] - tau)
    row, column = np.unravel_index(np.argmax(left), left.shape)
    return (
        f"cannot be driven so: at t = {times[row]:g} s the actuators cannot give "
        f"{left[row, column]:.4g} (N m or N) along '{model.names.qd[column]}'; "
        "add an actuator, or choose a motion that needs none there"
    )


def _integrate_powers(times: Floats, powers: Floats) -> Floats:
    """Return works (3, times) from powers (times, 3), by splines through the samples."""
    from scipy.interpolate import CubicSpline

    if len(times) < 2:
        return np.zeros(powers.T.shape)
    works: Floats = CubicSpline(times, powers).antiderivative()(times).T
    return works
