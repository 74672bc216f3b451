"""Powers of inputs, given forces and losses along a motion."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np

from ..equations import Equations
from ..formulations import derive
from ..mechanism import Mechanism
from ..types import SX, Floats


def power_function(eqs: Equations, *, has_springs: bool = False) -> Callable[..., SX]:
    """Return the function (q, q̇, q̈, τ, t) → three powers: of the inputs, of given forces, driven
    constraints and moving coordinates, and of these and losses together.

    Springs and weight are in the potential. Parameters that the equations keep stay symbols. Powers
    of constraints and moving coordinates are left out if springs have their own (`has_springs`).
    """
    q, qd, qdd, tau, t = (eqs.symbols[key] for key in ("q", "qd", "qdd", "tau", "t"))
    (passive,), (external,), (V,) = (
        eqs.expressions(name) for name in ("passive", "external", "potential_energy")
    )
    springs = (ca.jacobian(V, q) @ eqs.rate_matrix).T - eqs.g
    given = external
    if eqs.names.constraints and eqs.names.is_time_dependent and not has_springs:
        given = given + eqs.expressions("required_forces")[0] - tau
    powers = [ca.dot(qd, f) for f in (tau, given, tau + given + passive + springs)]
    if eqs.names.has_moving_coordinates and not has_springs:
        moved = moving_power(eqs)
        powers[1:] = [power + moved for power in powers[1:]]
    if not eqs.parameters:
        function: Callable[..., SX] = ca.Function(
            "power", [q, qd, qdd, tau, t], [ca.vertcat(*powers)]
        )
        return function
    p = eqs.symbols["p"]
    kept = ca.Function("power", [q, qd, qdd, tau, t, p], [ca.vertcat(*powers)])
    return lambda *given: kept(*given, p)


def moving_power(eqs: Equations) -> SX:
    """Return the power of what moves the coordinates: d(T + V)/dt without the power of forces along
    q̇. The rest h = T₂ − T₀ + V of T + V changes by −∂L/∂t and these."""
    q, qd, qdd, t = (eqs.symbols[key] for key in ("q", "qd", "qdd", "t"))
    T, V, h = (eqs.expressions(f"{kind}_energy")[0] for kind in ("kinetic", "potential", "jacobi"))
    rest = T + V - h
    rate = ca.jtimes(rest, q, qd) + ca.jtimes(rest, qd, qdd) + ca.jacobian(rest, t)
    return rate - ca.jacobian(T - V, t)


def power_of(mechanism: Mechanism, rows: tuple[Floats, ...], tau: Floats) -> Floats:
    """Return the three powers along a motion of rows (t, q, q̇, q̈), (times, 3)."""
    t, q, qd, qdd = rows
    function = power_function(derive(mechanism, by="recursive", parameters="numeric"))
    return np.asarray(function(q.T, qd.T, qdd.T, tau.T, t[None]), dtype=float).T
