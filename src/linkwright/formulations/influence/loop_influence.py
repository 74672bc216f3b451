"""Closed loops: transfer of the model of a cut chain from all joints φ to the inputs a.

With f(φ, t) = 0, A = G^f_φ = [A_p A_a] and H^f = ∂A/∂φ (only its symmetric part counts),

    G = [1; −A_p⁻¹ A_a]                 H = [0; −A_p⁻¹ • (Gᵀ H^f G)]             φ̇ = G ȧ + k
    I*_aa = Gᵀ I* G                     P*_aaa = Gᵀ • (Gᵀ P* G) + (Gᵀ I*) • H
    C*_aa = Gᵀ C* G                     K*_aa = Gᵀ K* G + T_springᵀ • H
    k = [0; −A_p⁻¹ w]                   w = f_t, D = A_t + ∂w/∂φ
    H_t = [0; −A_p⁻¹ (2kᵀH^f G + D G)]    h_tt = [0; −A_p⁻¹ (kᵀH^f k + D k + w_t)]

    φ̈ = G ä + ȧᵀHȧ + H_t ȧ + h_tt
    T_a = I*_aa ä + ȧᵀP*_aaa ȧ + Gᵀ(I* H_t + 2kᵀP* G) ȧ + Gᵀ(I* h_tt + kᵀP* k) − loads

Several loops are several rows; the mechanism chooses the inputs.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from ...algebra.linear_algebra import Array, solve_symmetric_matrix
from ..formulation import Formulation
from ..reduced_dynamics import ReducedDynamics


class LoopInfluence:
    """The model of a chain with closed loops, transferred to its inputs a."""

    def __init__(
        self,
        shared: Formulation,
        inertia: Array,
        power: list[Array],
        reduction: ReducedDynamics | None = None,
    ) -> None:
        self.reduction, self.I, self.P = reduction or shared.reduction, inertia, power
        constraints = self.reduction.constraints
        self.names = tuple(shared.tree.names.qd[k] for k in self.reduction.a)
        rows, q, t = self.reduction.rows, shared.q, shared.tree.motion.t
        A = constraints.J[rows, :]
        self.w = ca.substitute(constraints.velocity[rows], shared.qd, ca.SX.zeros(shared.tree.nv))
        self.H_f = [_symmetric_influence_plane(ca.jacobian(A[r, :].T, q)) for r in range(len(rows))]
        moving = ca.reshape(ca.jacobian(ca.vec(ca.densify(A)), t), *A.shape)
        self.D = moving + ca.jacobian(self.w, q)
        self.w_t = ca.jacobian(self.w, t)
        self.rate = shared.qd[self.reduction.a]

    @property
    def G(self) -> Array:
        """G of φ̇ = G ȧ + k."""
        return self.reduction.G

    @property
    def k(self) -> Array:
        """k of φ̇ = G ȧ + k: velocities that the time dependence of the closure imposes."""
        return self.reduction.imposed_velocities

    def solve_dependent(self, right: Array) -> Array:
        """[0; −A_p⁻¹ right], as rows for all joints."""
        return self.reduction.merge_velocity_rows(
            -self.reduction.solve_dependent(ca.densify(right)),
            ca.SX.zeros(len(self.reduction.a), right.shape[1]),
        )

    @cached_property
    def H(self) -> list[Array]:
        """H, an inputs × inputs plane for each joint of the chain."""
        f = len(self.reduction.a)
        stacked = ca.vertcat(ca.SX(0, f * f), *(ca.vec(self.G.T @ H @ self.G).T for H in self.H_f))
        planes = self.solve_dependent(stacked)
        return [ca.reshape(row, f, f) for row in ca.vertsplit(planes)]

    @cached_property
    def inertia(self) -> Array:
        """I*_aa = Gᵀ I* G, inputs × inputs."""
        return ca.densify(self.G.T @ self.I @ self.G)

    @cached_property
    def power(self) -> list[Array]:
        """P*_aaa, an inputs × inputs plane for each input."""
        inner = [self.G.T @ P @ self.G for P in self.P]
        carried = self.G.T @ self.I
        return [
            sum(
                (self.G[p, m] * inner[p] + carried[m, p] * self.H[p] for p in range(len(inner))),
                ca.SX.zeros(len(self.names), len(self.names)),
            )
            for m in range(len(self.names))
        ]

    def effective_damping(self, C: Array) -> Array:
        """C*_aa = Gᵀ C* G, inputs × inputs."""
        return ca.densify(self.G.T @ C @ self.G)

    def effective_stiffness(self, K: Array, spring_loads: Array) -> Array:
        """K*_aa = Gᵀ K* G + T_springᵀ • H, inputs × inputs."""
        total = self.G.T @ K @ self.G
        for load, H in zip(ca.vertsplit(spring_loads), self.H, strict=True):
            total += load * H
        return ca.densify(total)

    @cached_property
    def H_t(self) -> Array:
        """H_t, the coefficient of ȧ in φ̈ that the time dependence of the closure adds."""
        crossed = ca.vertcat(
            ca.SX(0, len(self.names)), *(2 * self.k.T @ H @ self.G for H in self.H_f)
        )
        return self.solve_dependent(crossed + self.D @ self.G)

    @cached_property
    def h_tt(self) -> Array:
        """h_tt, the part of φ̈ that depends on time alone."""
        squares = ca.vertcat(ca.SX(0, 1), *(self.k.T @ H @ self.k for H in self.H_f))
        return self.solve_dependent(squares + self.D @ self.k + self.w_t)

    def accelerations(self, loads: Array) -> Array:
        """φ̈ under loads along all joints: joint forces, weight, springs, losses."""
        rate = self.rate
        carried = self.H_t @ rate + self.h_tt
        if not self.names:
            return carried
        convected = ca.vertcat(
            *(self.k.T @ (P + P.T) @ (self.G @ rate) + self.k.T @ P @ self.k for P in self.P)
        )
        own = ca.vertcat(*(rate.T @ P @ rate for P in self.power))
        right = self.G.T @ (loads - self.I @ carried - convected) - own
        turned = ca.vertcat(*(rate.T @ H @ rate for H in self.H))
        return self.G @ solve_symmetric_matrix(self.inertia, right) + turned + carried


def _symmetric_influence_plane(H: Array) -> Array:
    """½(H + Hᵀ)."""
    return (H + H.T) / 2
