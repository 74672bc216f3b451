"""Transfer of a model from one set of generalized coordinates φ to another, ψ.

Freeman and Tesar's text breaks off before its equation (26); the formulas are derived anew. An
array H has planes H[p] in m, n; A • H contracts the columns of A with the first index of H:
(A • H)[l] = Σ A_lp H[p]. Everything here is numbers of one instant.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import UnsupportedError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """φ as functions of ψ at one instant: φ̇ = G ψ̇, φ̈ = G ψ̈ + ψ̇ᵀ H ψ̇."""

    G: Floats
    H: Floats


@dataclass(frozen=True)
class Dynamics:
    """T = I* ψ̈ + ψ̇ᵀ P* ψ̇ + C* ψ̇ + loads; K* = ∂(spring loads)/∂ψ."""

    inertia: Floats
    power: Floats
    damping: Floats
    loads: Floats
    stiffness: Floats

    def force(self, rate: Floats, acceleration: Floats) -> Floats:
        """T for a motion."""
        quadratic = np.einsum("lmn,m,n->l", self.power, rate, rate)
        total: Floats = self.inertia @ acceleration + quadratic + self.damping @ rate + self.loads
        return total


def inverse(G: Floats, H: Floats) -> Motion:
    """φ(ψ) from the coefficients of ψ(φ), as many of each; refuses a singular G.

    G^φ_ψ = (G^ψ_φ)⁻¹,   H^φ_ψψ = −G^φ_ψ • [(G^φ_ψ)ᵀ H^ψ_φφ G^φ_ψ]
    """
    left, sizes, _ = np.linalg.svd(G)
    if G.shape[0] != G.shape[1]:
        raise UnsupportedError(
            f"{G.shape[0]} coordinates cannot take the place of {G.shape[1]}",
            remedy="give as many functions as there are joints (add a posture if redundant)",
        )
    if sizes[-1] <= 1e-12 * sizes[0]:
        direction = np.round(left[:, -1] * np.sign(left[np.argmax(np.abs(left[:, -1])), -1]), 6)
        raise UnsupportedError(
            f"the configuration is singular: no joint motion moves along {direction.tolist()}",
            remedy="leave it, or choose other coordinates",
        )
    back: Floats = np.linalg.inv(G).astype(float)
    planes = np.einsum("am,pab,bn->pmn", back, H, back)
    return Motion(back, -np.einsum("lp,pmn->lmn", back, planes))


def transferred(dynamics: Dynamics, motion: Motion, spring_loads: Floats | None = None) -> Dynamics:
    """The model in ψ: every load by Gᵀ, and

    I*_ψ = Gᵀ I* G,   P*_ψ = Gᵀ • (Gᵀ P* G) + (Gᵀ I*) • H,   K*_ψ = Gᵀ K* G + T_springᵀ • H
    """
    G, H = motion.G, motion.H
    inner = np.einsum("am,pab,bn->pmn", G, dynamics.power, G)
    power = np.einsum("pl,pmn->lmn", G, inner)
    power = power + np.einsum("lp,pmn->lmn", G.T @ dynamics.inertia, H)
    stiffness = G.T @ dynamics.stiffness @ G
    if spring_loads is not None:
        stiffness = stiffness + np.einsum("p,pmn->mn", spring_loads, H)
    return Dynamics(
        inertia=G.T @ dynamics.inertia @ G,
        power=power,
        damping=G.T @ dynamics.damping @ G,
        loads=G.T @ dynamics.loads,
        stiffness=stiffness,
    )


def of_dependent(G: Floats, H: Floats, motion: Motion) -> Motion:
    """Coefficients in ψ of anything z(φ):  G_z G,  and  Gᵀ H_z G + G_z • H."""
    planes = np.einsum("am,pab,bn->pmn", motion.G, H, motion.G)
    return Motion(G @ motion.G, planes + np.einsum("lp,pmn->lmn", G, motion.H))
