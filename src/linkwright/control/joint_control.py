"""Control of joints: each by itself, all on one clock, with weight, and by the whole model.

e = q_r − q is the error of the joints.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
from numpy.typing import ArrayLike

from ..errors import LinkwrightError
from ..mechanism import Mechanism
from ..motion import Trajectory
from ..simulation.feedback import Feedback
from .control_laws import (
    ControlledEquations,
    ControllerStates,
    ReferenceLike,
    control_reference_expression,
    controlled_equations,
    effort_bounds,
    feedback_law,
    read_control_vector,
    read_gains,
    read_reference,
    saturate_effort,
    stop_integral_windup,
)
from .controller_recipes import register_controller


@register_controller
def pid(
    mechanism: Mechanism,
    reference: ReferenceLike,
    kp: ArrayLike,
    ki: ArrayLike = 0.0,
    kd: ArrayLike = 0.0,
    *,
    most: ArrayLike | None = None,
    period: float | None = None,
) -> Feedback:
    """Return a PID controller for each joint separately: τ = kp e + ki ∫e dt + kd ė.

    The integral stops while its actuator is saturated. Where the mechanism has actuators, joints
    without one get no torque. Ball and free joints with quaternions get none either: their
    entries of the reference have no effect.

    Parameters
    ----------
    mechanism : Mechanism
        The controlled mechanism.
    reference : Trajectory, (nv,) array or callable
        The reference: a motion, a set point (rad or m), or a function t → (q, q̇, q̈).
    kp, ki, kd : float or (nv,) array
        Gains on e, its integral and its rate: N m/rad or N/m, the same per second, and the same
        times seconds.
    most : float, (nv,) array or "limits", optional
        Bounds of |τ|, N m or N, or "limits" for those of the mechanism (default: none).
    period : float, optional
        Sampling period, s; τ is constant in between (default: continuous control).

    Returns
    -------
    Feedback
        A controller for `simulate(…, torque=…)` and `rollout`.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> law = lw.control.pid(lw.gallery("elbow"), [0.5, 0.0], kp=100.0, kd=10.0)
    >>> tau, _ = law(0.0, np.zeros(2), np.zeros(2), np.zeros(len(law.start)))
    >>> tau.round(6)
    array([50.,  0.])
    """
    of = controlled_equations(mechanism, by_model=False)
    x, v, _ = of.reference_parts
    tau, states = _pid_law(
        of, mechanism, x - of.controlled_coordinates, v - of.qd, (kp, ki, kd), most
    )
    return feedback_law(of, tau, read_reference(reference, of.size), period, states)


def _pid_law(
    of: ControlledEquations,
    mechanism: Mechanism,
    e: Any,
    rate: Any,
    ks: tuple[Any, Any, Any],
    most: Any,
) -> tuple[Any, ControllerStates]:
    n = of.size
    kp, ki, kd = (read_gains(k, n, name) for k, name in zip(ks, ("kp", "ki", "kd"), strict=True))
    bounds = effort_bounds(mechanism, most, n)
    e, rate = of.driven * e, of.driven * rate
    z = ca.SX.sym("z", n)
    plain = kp * e + ki * z + kd * rate
    names = tuple(f"integral_{name}" for name in of.equations.names.qd)
    return saturate_effort(plain, bounds), ControllerStates(
        z, stop_integral_windup(e, plain, bounds), names, [0.0] * n
    )


@register_controller
def coordinated(
    mechanism: Mechanism,
    reference: Trajectory,
    kp: ArrayLike,
    ki: ArrayLike = 0.0,
    kd: ArrayLike = 0.0,
    *,
    width: ArrayLike = 0.05,
    most: ArrayLike | None = None,
    period: float | None = None,
) -> Feedback:
    """Return a PID controller that moves all joints on one clock, which waits for the slowest.

    The controller evaluates the reference at its own time s with ṡ = 1 / (1 + Σ (e/width)²): a
    joint that lags by its `width` halves the rate of s for all joints. The law is that of `pid`.

    Parameters
    ----------
    mechanism : Mechanism
        The controlled mechanism.
    reference : Trajectory
        The motion that the joints follow.
    kp, ki, kd : float or (nv,) array
        Gains, as for `pid`.
    width : float or (nv,) array
        The error that halves the rate of s, rad or m.
    most : float, (nv,) array or "limits", optional
        Bounds of |τ|, N m or N, or "limits" for those of the mechanism (default: none).
    period : float, optional
        Sampling period, s (default: continuous control).

    Returns
    -------
    Feedback
        A controller for `simulate(…, torque=…)` and `rollout`; s is one of its states.

    Examples
    --------
    >>> import linkwright as lw
    >>> way = lw.motion.quintic([0.0, 0.0], [0.5, 0.4], 1.0)
    >>> lw.control.coordinated(lw.gallery("elbow"), way, kp=400.0, kd=40.0).sizes
    (2, 2)
    """
    if not isinstance(reference, Trajectory):
        raise LinkwrightError("coordinated control follows a trajectory", remedy="give one")
    of = controlled_equations(mechanism, by_model=False)
    x, v, _ = of.reference_parts
    e = of.driven * (x - of.controlled_coordinates)
    scale = read_control_vector(width, of.size, "width")
    if not (scale > 0).all():
        raise LinkwrightError("width must be above 0")
    pace = 1 / (1 + ca.sumsqr(e / ca.DM(scale)))
    tau, own = _pid_law(of, mechanism, e, v * pace - of.qd, (kp, ki, kd), most)
    states = ControllerStates(
        ca.vertcat(own.z, ca.SX.sym("clock")),
        ca.vertcat(own.rates, pace),
        (*own.names, "clock"),
        [*own.start, float(reference.knots[0])],
    )
    read_reference(reference, of.size)
    return feedback_law(
        of, tau, control_reference_expression(reference, states.z[-1]), period, states
    )


@register_controller
def pd_gravity(
    mechanism: Mechanism,
    reference: ReferenceLike,
    kp: ArrayLike,
    kd: ArrayLike,
    *,
    most: ArrayLike | None = None,
    period: float | None = None,
) -> Feedback:
    """Return a PD controller with gravity compensation: τ = kp e + kd ė + g(q).

    It brings the mechanism to rest at a set point for any positive gains.

    Parameters
    ----------
    mechanism : Mechanism
        The controlled mechanism, without loops and constraints.
    reference : Trajectory, (nv,) array or callable
        The reference: a motion, a set point (rad or m), or a function t → (q, q̇, q̈).
    kp, kd : float or (nv,) array
        Gains on e and ė: N m/rad or N/m, and the same times seconds.
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
    >>> import numpy as np
    >>> import linkwright as lw
    >>> law = lw.control.pd_gravity(lw.gallery("elbow"), [0.0, 0.0], kp=100.0, kd=10.0)
    >>> law(0.0, np.zeros(2), np.zeros(2), np.zeros(0))[0].round(3)
    array([19.62 ,  4.905])
    """
    of = controlled_equations(mechanism)
    x, v, _ = of.reference_parts
    tau = read_gains(kp, of.size, "kp") * (x - of.q) + read_gains(kd, of.size, "kd") * (v - of.qd)
    tau = saturate_effort(tau + of.equations.g, effort_bounds(mechanism, most, of.size))
    return feedback_law(of, tau, read_reference(reference, of.size), period)


@register_controller
def computed_torque(
    mechanism: Mechanism,
    reference: ReferenceLike,
    kp: ArrayLike,
    kd: ArrayLike | None = None,
    *,
    most: ArrayLike | None = None,
    period: float | None = None,
) -> Feedback:
    """Return a computed-torque controller: τ = M (q̈_r + kd ė + kp e) + C q̇ + g − f.

    With an exact model the error obeys ë + kd ė + kp e = 0. The controller compensates Coulomb
    friction in the direction of the reference velocity.

    Parameters
    ----------
    mechanism : Mechanism
        The controlled mechanism, without loops and constraints.
    reference : Trajectory, (nv,) array or callable
        The reference: a motion, a set point (rad or m), or a function t → (q, q̇, q̈).
    kp : float or (nv,) array
        Gain on e, 1/s².
    kd : float or (nv,) array, optional
        Gain on ė, 1/s (default: 2 √kp, critical damping).
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
    >>> import numpy as np
    >>> import linkwright as lw
    >>> law = lw.control.computed_torque(lw.gallery("elbow"), [0.0, 0.0], kp=400.0)
    >>> law(0.0, np.zeros(2), np.zeros(2), np.zeros(0))[0].round(3)
    array([19.62 ,  4.905])
    """
    of = controlled_equations(mechanism)
    x, v, a = of.reference_parts
    stiffness, damping = critically_damped_gains(kp, kd, of.size)
    demand = a + damping * (v - of.qd) + stiffness * (x - of.q)
    (tau,) = of.equations.expressions("inverse_dynamics")
    tau = ca.substitute(tau, of.equations.symbols["qdd"], demand) - of.friction(of.q, v)
    tau = saturate_effort(tau, effort_bounds(mechanism, most, of.size))
    return feedback_law(of, tau, read_reference(reference, of.size), period)


def critically_damped_gains(kp: ArrayLike, kd: ArrayLike | None, size: int) -> tuple[ca.DM, ca.DM]:
    """kp, and kd = 2 √kp where none is given."""
    stiffness = read_gains(kp, size, "kp")
    damping = 2 * ca.sqrt(stiffness) if kd is None else read_gains(kd, size, "kd")
    return stiffness, damping
