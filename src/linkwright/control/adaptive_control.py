"""Adaptive control of Slotine and Li, which learns the inertial parameters on the way.

    v = q̇_r + Λ e,   s = q̇ − v,   τ = Φ(q, q̇, v, v̇) π̂ − K s,   π̂̇ = −Γ Φᵀ s

Φ is linear in the parameters with the Christoffel C, so that Ṁ − 2C is skew and
V = ½ sᵀ M s + ½ (π̂ − π)ᵀ Γ⁻¹ (π̂ − π) falls with V̇ = −sᵀ K s. Rotors, friction, dampers and
springs are taken as known.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import UnsupportedError
from ..formulations import derive
from ..mechanism import Mechanism
from ..number_checks import check_vector
from ..simulation.feedback import Feedback
from .control_laws import (
    ControlledEquations,
    ControllerStates,
    ReferenceLike,
    controlled_equations,
    effort_bounds,
    feedback_law,
    read_gains,
    read_reference,
    saturate_effort,
)
from .controller_recipes import register_controller


@register_controller
def adaptive(
    mechanism: Mechanism,
    reference: ReferenceLike,
    slope: ArrayLike,
    gain: ArrayLike,
    rate: ArrayLike,
    *,
    parameters: object = None,
    most: ArrayLike | None = None,
    period: float | None = None,
) -> Feedback:
    """Return an adaptive controller (Slotine and Li) that estimates the inertial parameters.

    With e = q_r − q it uses v = q̇_r + Λ e and s = q̇ − v; then τ = Φ π̂ − K s, and the estimates
    change by dπ̂/dt = −Γ Φᵀ s, where Φ is the control regressor.

    Parameters
    ----------
    mechanism : Mechanism
        The controlled mechanism, without loops and constraints.
    reference : Trajectory, (nv,) array or callable
        The reference: a motion, a set point (rad or m), or a function t → (q, q̇, q̈).
    slope : float or (nv,) array
        Λ, 1/s.
    gain : float or (nv,) array
        K, N m s/rad or N s/m.
    rate : float or (10·bodies,) array
        Γ, the adaptation gain: one number, or one for each parameter.
    parameters : (10·bodies,) array, optional
        First estimates of the inertial parameters, SI units, in the order of
        `Model.inertial_parameters` (default: those of the mechanism).
    most : float, (nv,) array or "limits", optional
        Bounds of |τ|, N m or N, or "limits" for those of the mechanism (default: none).
    period : float, optional
        Sampling period, s (default: continuous control).

    Returns
    -------
    Feedback
        A controller for `simulate(…, torque=…)` and `rollout`; the estimates are its states.

    Examples
    --------
    >>> import linkwright as lw
    >>> way = lw.motion.quintic([0.0, 0.0], [0.5, 0.4], 1.0)
    >>> law = lw.control.adaptive(lw.gallery("elbow"), way, slope=5.0, gain=10.0, rate=0.1)
    >>> len(law.start)
    20
    """
    of = controlled_equations(mechanism)
    x, v_r, a_r = of.reference_parts
    grow = read_gains(slope, of.size, "slope")
    v, vd = v_r + grow * (x - of.q), a_r + grow * (v_r - of.qd)
    s = of.qd - v
    Phi = _control_regressor(of, v, vd)
    begin = _first_estimate(of, parameters)
    estimate = ca.SX.sym("pi", len(begin))
    speed = read_gains(rate, len(begin), "rate")
    known = _rotor_mass_matrix(of) @ vd - of.equations.f - of.friction(of.q, v_r)
    tau = Phi @ estimate + known - read_gains(gain, of.size, "gain") * s
    names = tuple(
        f"pi_{body}_{k}" for body in of.equations.names.bodies for k in INERTIAL_PARAMETER_NAMES
    )
    states = ControllerStates(estimate, -speed * (Phi.T @ s), names, begin)
    tau = saturate_effort(tau, effort_bounds(mechanism, most, of.size))
    return feedback_law(of, tau, read_reference(reference, of.size), period, states)


INERTIAL_PARAMETER_NAMES = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def _control_regressor(of: ControlledEquations, v: Any, vd: Any) -> Any:
    (Phi,) = of.equations.expressions("control_regressor")
    s = of.equations.symbols
    return ca.substitute(Phi, ca.vertcat(s["v"], s["vd"]), ca.vertcat(v, vd))


def _first_estimate(of: ControlledEquations, given: Any) -> list[float]:
    own = np.asarray(ca.DM(of.equations.inertial_parameters), dtype=float).ravel()
    if given is None:
        return [float(x) for x in own]
    size, remedy = len(own), "give 10 for each body"
    return [float(x) for x in check_vector(given, size, "the parameters π", remedy=remedy)]


def _rotor_mass_matrix(of: ControlledEquations) -> Any:
    """The part of the mass matrix that belongs to rotors; it is constant."""
    mechanism = of.equations.mechanism
    if mechanism.coordinates is not None:
        raise UnsupportedError(
            "adaptive control supports joint coordinates, not chosen coordinates",
            where=mechanism.name,
        )
    bare = derive(mechanism.without("motors"), parameters="numeric")
    masses = [
        np.asarray(ca.Function("M", [eqs.symbols["q"]], [eqs.M])(of.equations.neutral), dtype=float)
        for eqs in (of.equations, bare)
    ]
    return ca.DM(masses[0] - masses[1])
