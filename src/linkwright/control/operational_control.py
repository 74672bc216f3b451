"""Control of a tool in space: the model is transferred from the joints to the tool (`influence`).

    u̇ = G q̇,   ü = G q̈ + q̇ᵀHq̇,   Λ = (G I*⁻¹ Gᵀ)⁻¹,   τ = Gᵀ Λ (a − q̇ᵀHq̇) + h

with h all forces but inertia; then ü = a = ü_r + kd ė + kp e, and the error of the hand obeys
ë + kd ė + kp e = 0. What a redundant arm can do beside that, it does toward its posture: with
accelerations b of the joints, τ = Gᵀ Λ (a − q̇ᵀHq̇ − G b) + I* b + h.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..algebra.linear_algebra import solve_symmetric_matrix
from ..errors import LinkwrightError, UnsupportedError
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism
from ..number_checks import read_number_array
from ..simulation.feedback import Feedback
from .control_laws import (
    ControlledEquations,
    ReferenceLike,
    controlled_equations,
    effort_bounds,
    feedback_law,
    read_control_vector,
    read_gains,
    read_reference,
    saturate_effort,
)
from .controller_recipes import register_controller
from .joint_control import critically_damped_gains


@register_controller
def operational(
    mechanism: Mechanism,
    frame: str,
    reference: ReferenceLike,
    kp: ArrayLike,
    kd: ArrayLike | None = None,
    *,
    rotation: ArrayLike | None = None,
    posture: ArrayLike | str | None = None,
    stiffness: ArrayLike = 25.0,
    plane: bool = False,
    most: ArrayLike | None = None,
    period: float | None = None,
) -> Feedback:
    """Return an operational-space controller: the origin of a frame follows a reference.

    Joints that the task leaves free are drawn to a posture with critical damping. The controller
    does not compensate Coulomb friction; the feedback must overcome it.

    Parameters
    ----------
    mechanism : Mechanism
        The controlled mechanism, without loops and constraints.
    frame : str
        The frame or body whose origin follows the reference.
    reference : Trajectory, (3,) or (2,) array, or callable
        (x, y, z) in the world, m, or (x, y) with `plane`; a function returns the point, its
        velocity and its acceleration.
    kp : float or array
        Gain on the error, 1/s².
    kd : float or array, optional
        Gain on the rate of the error, 1/s (default: critical damping).
    rotation : (3, 3) array, optional
        The rotation of the frame in the world that the controller holds (default: free).
    posture : (nq,) array, or name of a pose, optional
        The posture that the free joints approach, rad or m (default: home).
    stiffness : float or (nv,) array
        Gain toward the posture, 1/s².
    plane : bool
        Control x and y only.
    most : float, (nv,) array or "limits", optional
        Bounds of |τ|, N m or N, or "limits" for those of the mechanism (default: none).
    period : float, optional
        Sampling period, s (default: continuous control).

    Returns
    -------
    Feedback
        A controller for `simulate(…, torque=…)` and `rollout`.

    Examples
    --------
    >>> import linkwright as lw
    >>> elbow = lw.gallery("elbow")
    >>> law = lw.control.operational(elbow, "tool", [1.2, 0.8], kp=400.0, plane=True)
    >>> law.sizes
    (2, 2)
    """
    rows = 2 if plane else 3
    of = controlled_equations(mechanism, rows)
    x, v, a = of.reference_parts
    G, drift, place = _tool_kinematics(of, frame, rows, rotation is not None)
    spring, damping = critically_damped_gains(kp, kd, rows)
    speed = G @ of.qd
    demand = a + damping * (v - speed[-rows:]) + spring * (x - place[:rows, 3])
    if rotation is not None:
        turn = _controlled_rotation_error(place[:3, :3], _read_controlled_rotation(rotation))
        strongest = ca.mmax(spring)
        demand = ca.vertcat(strongest * turn - 2 * ca.sqrt(strongest) * speed[:3], demand)
    tau = _operational_torque(of, G, demand - drift, _posture_acceleration(of, posture, stiffness))
    tau = saturate_effort(tau, effort_bounds(mechanism, most, of.equations.nv))
    return feedback_law(of, tau, read_reference(reference, rows), period)


def _tool_kinematics(
    of: ControlledEquations, frame: str, rows: int, turning: bool
) -> tuple[Any, Any, Any]:
    """G, q̇ᵀHq̇ and the placement of the frame, with rows (ω, v) or only v."""
    J, drift, place = (
        of.equations.expressions(name, frame)[0]
        for name in ("jacobian", "frame_bias_acceleration", "placement")
    )
    chosen = [*range(3 if turning else 0), *range(3, 3 + rows)]
    return J[chosen, :], drift[chosen], place


def _read_controlled_rotation(given: Any) -> Any:
    R = read_number_array(given)
    if (
        R is None
        or R.shape != (3, 3)
        or np.abs(R.T @ R - np.eye(3)).max() > 1e-6
        or np.linalg.det(R) < 0
    ):
        raise LinkwrightError("the rotation to hold is not a rotation matrix")
    return ca.DM(R)


def _controlled_rotation_error(R: Any, T: Any) -> Any:
    """The vector sin θ along the axis of the rotation from R to T."""
    return sum((ca.cross(R[:, k], T[:, k]) for k in range(3)), ca.SX.zeros(3)) / 2


def _posture_acceleration(of: ControlledEquations, posture: Any, stiffness: Any) -> Any:
    """Accelerations that bring the joints toward the posture."""
    n = of.equations.nv
    given = read_pose(of.equations.mechanism, posture)
    home = of.equations.neutral if given is None else read_control_vector(given, n, "the posture")
    k = read_gains(stiffness, n, "stiffness")
    return k * (ca.DM(home) - of.q) - 2 * ca.sqrt(k) * of.qd


def _operational_torque(of: ControlledEquations, G: Any, acceleration: Any, spare: Any) -> Any:
    """τ with G q̈ = acceleration, and `spare` in the null space of G."""
    eqs = of.equations
    (h,) = eqs.expressions("bias")
    _check_tool_rank(of, G)
    back = solve_symmetric_matrix(eqs.M, G.T)  # I*⁻¹ Gᵀ
    if G.shape[0] == eqs.nv:
        spare = ca.SX.zeros(eqs.nv)
    force = solve_symmetric_matrix(G @ back, acceleration - G @ spare)
    return eqs.M @ spare + G.T @ force + h


def _check_tool_rank(of: ControlledEquations, G: Any) -> None:
    q = np.asarray(of.equations.neutral) + np.random.default_rng(0).uniform(0.2, 1.0, of.q.shape[0])
    numbers = np.asarray(ca.Function("G", [of.t, of.q], [G])(0, q), dtype=float)
    rank = np.linalg.matrix_rank(numbers, 1e-9)
    if rank < len(numbers):
        raise UnsupportedError(
            f"the joints move the frame in {rank} of {len(numbers)} directions",
            where=of.equations.mechanism.name,
            remedy="use plane=True, or leave the rotation free",
        )
