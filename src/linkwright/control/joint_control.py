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
    controlled_equations,
    effort_bounds,
    feedback_law,
    read_control_vector,
    read_gains,
    read_reference,
    saturate_effort,
    stop_windup,
    trajectory_expression,
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
    """Every joint by itself ("uncoordinated"): τ = kp e + ki ∫e + kd ė.

    The integral waits while its drive is at its bound. Joints without an actuator have no torque,
    where there are actuators at all, nor have ball and free joints with quaternions: their entries
    of the reference mean nothing.
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
        z, stop_windup(e, plain, bounds), names, [0.0] * n
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
    """All joints on one clock, which waits for the slowest: they stay together on their way.

    The reference is taken at a time s of its own with ṡ = 1 / (1 + Σ (e/width)²): a joint that
    lags by its `width` halves the pace of all. The law itself is that of `pid`.
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
        ca.vertcat(own.z, ca.SX.sym("clock")), ca.vertcat(own.rates, pace), (*own.names, "clock"),
        [*own.start, float(reference.knots[0])],
    )  # fmt: skip
    read_reference(reference, of.size)
    return feedback_law(of, tau, trajectory_expression(reference, states.z[-1]), period, states)


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
    """τ = kp e + kd ė + g(q): comes to rest at the set point, whatever the masses move."""
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
    """τ = M (q̈_r + kd ė + kp e) + C q̇ + g − f, so that ë + kd ė + kp e = 0 if the model is right.

    kp and kd in 1/s² and 1/s; default: critically damped. Coulomb friction is made up for as
    the reference moves.
    """
    of = controlled_equations(mechanism)
    x, v, a = of.reference_parts
    stiffness, damping = damped_gains(kp, kd, of.size)
    demand = a + damping * (v - of.qd) + stiffness * (x - of.q)
    (tau,) = of.equations.expressions("inverse_dynamics")
    tau = ca.substitute(tau, of.equations.symbols["qdd"], demand) - of.friction(of.q, v)
    tau = saturate_effort(tau, effort_bounds(mechanism, most, of.size))
    return feedback_law(of, tau, read_reference(reference, of.size), period)


def damped_gains(kp: ArrayLike, kd: ArrayLike | None, size: int) -> tuple[ca.DM, ca.DM]:
    """kp, and kd = 2 √kp where none is given."""
    stiffness = read_gains(kp, size, "kp")
    damping = 2 * ca.sqrt(stiffness) if kd is None else read_gains(kd, size, "kd")
    return stiffness, damping
