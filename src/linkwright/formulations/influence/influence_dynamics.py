"""A model of one instant by influence coefficients, and coordinates as functions of others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...types import Floats


@dataclass(frozen=True)
class InfluenceTransfer:
    """φ as functions of ψ at one instant: φ̇ = G ψ̇, φ̈ = G ψ̈ + ψ̇ᵀ H ψ̇.

    Attributes
    ----------
    G : (n, k) array
        First-order coefficients ∂φ/∂ψ, in units of φ over ψ.
    H : (n, k, k) array
        Second-order coefficients; `H[p]` is the plane of φ_p.
    """

    G: Floats
    H: Floats


@dataclass(frozen=True)
class InfluenceDynamics:
    """T = I* ψ̈ + ψ̇ᵀ P* ψ̇ + C* ψ̇ + loads: the model of one instant, in SI units.

    Attributes
    ----------
    inertia : (n, n) array
        I*, the effective inertia.
    power : (n, n, n) array
        P*, the inertia power array; `power[l]` is the plane of T_l.
    damping : (n, n) array
        C*, of linear dampers.
    loads : (n,) array
        All other forces, of springs too, on the left side: N m or N.
    spring_loads : (n,) array
        The part of the loads that springs cause, the gradient ∂V/∂ψ of their energy.
    stiffness : (n, n) array
        K* = ∂(spring loads)/∂ψ. A change of coordinates changes K* through these loads too.
    """

    inertia: Floats
    power: Floats
    damping: Floats
    loads: Floats
    spring_loads: Floats
    stiffness: Floats

    def generalized_force(self, rate: Floats, acceleration: Floats) -> Floats:
        """Return T, (n,), for a motion with a `rate` ψ̇ and an `acceleration` ψ̈, (n,) arrays."""
        quadratic = np.einsum("lmn,m,n->l", self.power, rate, rate)
        total: Floats = self.inertia @ acceleration + quadratic + self.damping @ rate + self.loads
        return total
