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
from .parts import (
    ReferenceLike,
    States,
    Subject,
    bounds_of_drives,
    feedback,
    gains,
    reference_of,
    saturated,
    subject,
)
from .recipes import controller


@controller
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
    """Adaptive control with Λ = `slope`, K = `gain`, Γ = `rate` (one, or one a parameter).

    It begins with the mechanism's own inertial parameters unless others (10 a body) are given.
    """
    of = subject(mechanism)
    x, v_r, a_r = of.wanted
    grow = gains(slope, of.size, "slope")
    v, vd = v_r + grow * (x - of.q), a_r + grow * (v_r - of.qd)
    s = of.qd - v
    Phi = _regressor(of, v, vd)
    begin = _begin(of, parameters)
    estimate = ca.SX.sym("pi", len(begin))
    speed = gains(rate, len(begin), "rate")
    known = _rotors(of) @ vd - of.equations.f - of.friction(of.q, v_r)
    tau = Phi @ estimate + known - gains(gain, of.size, "gain") * s
    names = tuple(f"pi_{body}_{k}" for body in of.equations.names.bodies for k in PARAMETERS)
    states = States(estimate, -speed * (Phi.T @ s), names, begin)
    tau = saturated(tau, bounds_of_drives(mechanism, most, of.size))
    return feedback(of, tau, reference_of(reference, of.size), period, states)


PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")


def _regressor(of: Subject, v: Any, vd: Any) -> Any:
    (Phi,) = of.equations.expressions("control_regressor")
    s = of.equations.symbols
    return ca.substitute(Phi, ca.vertcat(s["v"], s["vd"]), ca.vertcat(v, vd))


def _begin(of: Subject, given: Any) -> list[float]:
    own = np.asarray(ca.DM(of.equations.inertial_parameters), dtype=float).ravel()
    if given is None:
        return [float(x) for x in own]
    size, remedy = len(own), "give 10 for each body"
    return [float(x) for x in check_vector(given, size, "the parameters π", remedy=remedy)]


def _rotors(of: Subject) -> Any:
    """What motors add to the mass matrix: the same in every configuration."""
    mechanism = of.equations.mechanism
    if mechanism.coordinates is not None:
        raise UnsupportedError(
            "adaptive control is of joints, not of chosen coordinates", where=mechanism.name
        )
    bare = derive(mechanism.without("motors"), parameters="numeric")
    masses = [
        np.asarray(ca.Function("M", [eqs.symbols["q"]], [eqs.M])(of.equations.neutral), dtype=float)
        for eqs in (of.equations, bare)
    ]
    return ca.DM(masses[0] - masses[1])
