"""Functions that follow from those that a formulation builds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import casadi as ca

from ..algebra.linear_algebra import solve_symmetric_matrix
from ..errors import NameNotFoundError
from ..types import SX

if TYPE_CHECKING:
    from .equations import Equations


def _complete_forward_dynamics(eqs: Equations) -> SX:
    rest = eqs.symbols["tau"] - eqs.expressions("bias")[0]
    return ca.SX(solve_symmetric_matrix(eqs.M, rest))


def _complete_coriolis_matrix(eqs: Equations) -> SX:
    """½ ∂(C q̇)/∂q̇, which is Christoffel's C, since C q̇ is quadratic in the velocities."""
    if eqs.nq != eqs.nv:
        raise NameNotFoundError(
            f"the formulation '{eqs.by}' has no coriolis_matrix where velocities are not rates",
            remedy="use 'recursive', or rotation = \"cardan\"",
        )
    (bias,) = eqs.expressions("bias")
    return ca.jacobian(bias + eqs.f, eqs.symbols["qd"]) / 2


def _complete_inverse_with_wrenches(eqs: Equations) -> SX:
    (tau,) = eqs.expressions("inverse_dynamics")
    return tau - wrench_generalized_forces(eqs)


def _complete_forward_with_wrenches(eqs: Equations) -> tuple[SX, ...]:
    qdd, *pivot = eqs.expressions("forward_dynamics")
    tau = eqs.symbols["tau"]
    return ca.substitute(qdd, tau, tau + wrench_generalized_forces(eqs)), *pivot


def wrench_generalized_forces(eqs: Equations) -> SX:
    """The generalized forces Σ Jᵀ w of the wrenches on the bodies."""
    rows = ca.vertsplit(eqs.symbols["wrenches"])
    jacobians = (eqs.expressions("jacobian", body)[0] for body in eqs.names.bodies)
    return sum((J.T @ row.T for J, row in zip(jacobians, rows, strict=True)), ca.SX.zeros(eqs.nv))


def _complete_inverse_derivatives(eqs: Equations) -> tuple[SX, ...]:
    tau, *pivot = eqs.expressions("inverse_dynamics")
    by_qdd = ca.jacobian(tau, eqs.symbols["qdd"]) if eqs.names.constraints else eqs.M
    return eqs.tangent_jacobian(tau), ca.jacobian(tau, eqs.symbols["qd"]), by_qdd, *pivot


def _complete_forward_derivatives(eqs: Equations) -> tuple[SX, ...]:
    qdd, *pivot = eqs.expressions("forward_dynamics")
    by_qd, by_tau = (ca.jacobian(qdd, eqs.symbols[key]) for key in ("qd", "tau"))
    return eqs.tangent_jacobian(qdd), by_qd, by_tau, *pivot


FUNCTION_COMPLETIONS: dict[str, Callable[[Equations], Any]] = {
    "inverse_dynamics": lambda eqs: (
        eqs.M @ eqs.symbols["qdd"] + eqs.C @ eqs.symbols["qd"] + eqs.g - eqs.f
    ),
    "forward_dynamics": _complete_forward_dynamics,
    "forces": lambda eqs: eqs.expressions("passive")[0] + eqs.expressions("external")[0],
    "coriolis_matrix": _complete_coriolis_matrix,
    "inverse_dynamics_with_wrenches": _complete_inverse_with_wrenches,
    "forward_dynamics_with_wrenches": _complete_forward_with_wrenches,
    "bias": lambda eqs: ca.substitute(
        eqs.expressions("inverse_dynamics")[0], eqs.symbols["qdd"], ca.SX.zeros(eqs.nv)
    ),
    "inverse_dynamics_derivatives": _complete_inverse_derivatives,
    "forward_dynamics_derivatives": _complete_forward_derivatives,
}
