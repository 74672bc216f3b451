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
from .parts import (
    ReferenceLike,
    States,
    Subject,
    along,
    awake,
    bounds_of_drives,
    feedback,
    gains,
    reference_of,
    saturated,
    subject,
    vector,
)
from .recipes import controller


@controller
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
    of = subject(mechanism, by_model=False)
    x, v, _ = of.wanted
    tau, states = _pid(of, mechanism, x - of.joints, v - of.qd, (kp, ki, kd), most)
    return feedback(of, tau, reference_of(reference, of.size), period, states)


def _pid(
    of: Subject, mechanism: Mechanism, e: Any, rate: Any, ks: tuple[Any, Any, Any], most: Any
) -> tuple[Any, States]:
    n = of.size
    kp, ki, kd = (gains(k, n, name) for k, name in zip(ks, ("kp", "ki", "kd"), strict=True))
    bounds = bounds_of_drives(mechanism, most, n)
    e, rate = of.driven * e, of.driven * rate
    z = ca.SX.sym("z", n)
    plain = kp * e + ki * z + kd * rate
    names = tuple(f"integral_{name}" for name in of.equations.names.qd)
    return saturated(plain, bounds), States(z, awake(e, plain, bounds), names, [0.0] * n)


@controller
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
    of = subject(mechanism, by_model=False)
    x, v, _ = of.wanted
    e = of.driven * (x - of.joints)
    scale = vector(width, of.size, "width")
    if not (scale > 0).all():
        raise LinkwrightError("width must be above 0")
    pace = 1 / (1 + ca.sumsqr(e / ca.DM(scale)))
    tau, own = _pid(of, mechanism, e, v * pace - of.qd, (kp, ki, kd), most)
    states = States(
        ca.vertcat(own.z, ca.SX.sym("clock")), ca.vertcat(own.rates, pace), (*own.names, "clock"),
        [*own.start, float(reference.knots[0])],
    )  # fmt: skip
    reference_of(reference, of.size)
    return feedback(of, tau, along(reference, states.z[-1]), period, states)


@controller
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
    of = subject(mechanism)
    x, v, _ = of.wanted
    tau = gains(kp, of.size, "kp") * (x - of.q) + gains(kd, of.size, "kd") * (v - of.qd)
    tau = saturated(tau + of.equations.g, bounds_of_drives(mechanism, most, of.size))
    return feedback(of, tau, reference_of(reference, of.size), period)


@controller
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

    kp and kd in 1/s² and 1/s; critically damped unless said. Coulomb friction is made up for as
    the reference moves.
    """
    of = subject(mechanism)
    x, v, a = of.wanted
    stiffness, damping = squares(kp, kd, of.size)
    demand = a + damping * (v - of.qd) + stiffness * (x - of.q)
    (tau,) = of.equations.expressions("inverse_dynamics")
    tau = ca.substitute(tau, of.equations.symbols["qdd"], demand) - of.friction(of.q, v)
    tau = saturated(tau, bounds_of_drives(mechanism, most, of.size))
    return feedback(of, tau, reference_of(reference, of.size), period)


def squares(kp: ArrayLike, kd: ArrayLike | None, size: int) -> tuple[ca.DM, ca.DM]:
    """kp, and kd = 2 √kp where none is given."""
    stiffness = gains(kp, size, "kp")
    damping = 2 * ca.sqrt(stiffness) if kd is None else gains(kd, size, "kd")
    return stiffness, damping
