"""Inverse dynamics along a motion: what drives it, and what joints and loops bear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..mechanism import Mechanism, mechanism_names
from ..model.model import Model
from ..model.model import compile as compiled
from ..types import Floats
from .checked import check_mechanism
from .kinematic import Kinematics, solve_kinematics
from .powers import power_of
from .provenance import versions, written
from .record import actuator_forces
from .run import FINISHED, Run

Rows = tuple[Floats, Floats, Floats, Floats]


def solve_inverse(
    mechanism: Mechanism,
    motion: Mapping[str, object] | Kinematics | Run | None = None,
    t: float = 1.0,
    *,
    rough: Mapping[str, float] | None = None,
    samples: int = 501,
) -> Run:
    """Return the generalized forces that a motion takes, as a run along it.

    Under constraints τ has the least norm among those that the actuators can give. Where they
    cannot give it, `status` says so, and τ is what the motion takes.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    motion : mapping, Kinematics or Run, optional
        As for `solve_kinematics`: under constraints the driven coordinates are enough.
    t : float
        Duration, s.
    rough : mapping of names to numbers, optional
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
    check_mechanism(mechanism)
    rows, status, settings = _motion(mechanism, motion, t, rough, samples)
    times, q, qd, qdd = rows
    model = compiled(mechanism, threads=1)
    tau, u, complaint = _drives(model, rows)
    clock = [times] if model.names.is_time_dependent else []
    powers = power_of(mechanism, rows, tau)
    works = _integrated(times, powers)
    closure = np.zeros(len(times))
    if model.names.position_row_count:
        closure = np.abs(model.constraint_residual(q, *clock)).max(axis=-1)
    return Run(
        mechanism=mechanism, t=times, q=q, qd=qd, qdd=qdd, tau=tau,
        kinetic=model.kinetic_energy(q, qd), potential=model.potential_energy(q),
        work=works[2], work_inputs=works[0], work_given=works[1], closure=closure,
        status=complaint if status == FINISHED else status,
        statistics={"evaluations": len(times)}, settings=written(settings),
        versions=versions(), u=u,
    )  # fmt: skip


def _motion(
    mechanism: Mechanism, motion: Any, t: float, rough: Any, samples: int
) -> tuple[Rows, str, dict[str, Any]]:
    if motion is not None and not isinstance(motion, Mapping | Kinematics | Run):
        raise LinkwrightError(
            f"a {type(motion).__name__} is no motion",
            remedy="give a table by coordinate, a Kinematics or a Run",
        )
    if isinstance(motion, Mapping) or motion is None:
        motion = solve_kinematics(mechanism, motion, t, rough=rough, samples=samples)
    if mechanism_names(motion.mechanism).q != mechanism_names(mechanism).q:
        raise LinkwrightError(
            f"the motion is one of {motion.mechanism.name}, with other coordinates",
            where=mechanism.name, remedy="give a motion of this mechanism",
        )  # fmt: skip
    settings = {**motion.settings, "mode": "inverse"}
    return (motion.t, motion.q, motion.qd, motion.qdd), motion.status, settings


def _drives(model: Model, rows: Rows) -> tuple[Floats, Floats | None, str]:
    """τ, u where there are actuators, and a complaint where they cannot do it."""
    times, q, qd, qdd = rows
    clock = [times] if model.names.is_time_dependent else []
    if not model.names.constraints:
        tau: Floats = model.inverse_dynamics(q, qd, qdd, *clock)
        if not model.names.actuators:
            return tau, None, FINISHED
        u = actuator_forces(model, q, tau)
        return tau, u, FINISHED if u is not None else _lacking(model, times, q, tau)
    try:
        tau = model.inverse_dynamics(q, qd, qdd, *clock)
        u = model.actuator_forces(q, qd, qdd, *clock) if model.names.actuators else None
    except LinkwrightError as error:
        tau = model.required_forces(q, qd, qdd, *clock)
        return tau, None, f"cannot be driven so: {error}"
    return tau, u, FINISHED


def _lacking(model: Model, times: Floats, q: Floats, tau: Floats) -> str:
    """What actuators of a tree cannot give, and where most of it is lacking."""
    B = model.input_matrix(q)
    left = np.abs((B @ (np.linalg.pinv(B) @ tau[..., None]))[..., 0] - tau)
    row, column = np.unravel_index(np.argmax(left), left.shape)
    return (
        f"cannot be driven so: at t = {times[row]:g} s the actuators cannot give "
        f"{left[row, column]:.4g} (N m or N) along '{model.names.qd[column]}'; "
        "add an actuator, or choose a motion that needs none there"
    )


def _integrated(times: Floats, powers: Floats) -> Floats:
    """Works from powers (times, 3), by splines through the samples."""
    from scipy.interpolate import CubicSpline

    if len(times) < 2:
        return np.zeros(powers.T.shape)
    found: Floats = CubicSpline(times, powers).antiderivative()(times).T
    return found
