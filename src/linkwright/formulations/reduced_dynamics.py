"""Reduction of all velocities to the independent ones that constraints leave.

With the independent rows of J q̇ = … split into dependent velocities p and independent ones a,
A = [A_p A_a], the transfer of `reference/transfer.md` (Freeman and Tesar; Maggi) is

    q̇ = G a + k,     G = [1; −A_p⁻¹ A_a],   k = [0; −A_p⁻¹ V₀]      V₀: rows of V at q̇ = 0
    q̈ = G ȧ + c,     c = [0; −A_p⁻¹ γ]
    GᵀM G ȧ = Gᵀ(τ − b − M c)                                       b: bias of the tree
    λ = A_p⁻ᵀ (M q̈ + b − τ)_p                                        forces of the chosen rows

The choice of rows and velocities is data (`PivotChoice`); `smallest_pivot` says how close a state
is to a failure of that choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import casadi as ca

from ..algebra.linear_algebra import Array, LUFactorization, Scalar, cross, solve_symmetric_matrix
from ..kinematics.body_forces import BodyForce
from ..kinematics.constraint_equations import ConstraintEquations
from ..kinematics.constraint_kinds.body_states import ConstrainedBodyStates
from ..kinematics.constraint_kinds.loop import LoopRestraint
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.pivots import PivotChoice

MAX_REDUNDANT_RATE = 1e-3
"""The largest violation of rows that were left out as redundant (a rate per unit velocity), unless
ten times the leeway of nearly redundant rows is larger."""


class ReducedDynamics:
    """Elimination of dependent velocities; `leeway` is how far nearly redundant rows may stay open
    (m, rad)."""

    def __init__(
        self,
        tree: KinematicTree,
        constraints: ConstraintEquations,
        choice: PivotChoice,
        leeway: float = 0.0,
    ) -> None:
        self.tree, self.n = tree, tree.nv
        self.max_redundant_rate = max(MAX_REDUNDANT_RATE, 10 * leeway)
        self.constraints, self.choice = constraints, choice
        self.rows, self.p = list(choice.rows), list(choice.dependent)
        self.a = list(choice.independent)
        still = ca.substitute(constraints.velocity, tree.motion.qd, ca.SX.zeros(tree.nv))
        whole = ca.horzcat(constraints.J[:, self.a], constraints.bias, still)
        self.right_sides = whole[self.rows, :] if self.rows else ca.SX(0, len(self.a) + 2)

    @cached_property
    def dependent_factors(self) -> LUFactorization:
        """The factors of A_p, the chosen rows of J in the dependent velocities."""
        return LUFactorization(self.constraints.J[self.rows, self.p])

    @cached_property
    def dependent_solutions(self) -> Array:
        """A_p⁻¹ [A_a γ V₀]."""
        return self.solve_dependent(self.right_sides)

    def solve_dependent(self, right: Array) -> Array:
        """A_p⁻¹ times a matrix with a row for each chosen row of J."""
        return self.dependent_factors.solve(right)

    def merge_velocity_rows(self, dependent: Array, independent: Array) -> Array:
        """Rows for all velocities, from those of the dependent and the independent ones."""
        rows: dict[int, Array] = {}
        for places, part in ((self.p, dependent), (self.a, independent)):
            rows |= dict(zip(places, ca.vertsplit(part) if places else [], strict=True))
        return ca.vertcat(*(rows[k] for k in range(self.n)))

    @cached_property
    def G(self) -> Array:
        """G of q̇ = G a + k, nv × degrees of freedom."""
        f = len(self.a)
        return self.merge_velocity_rows(-self.dependent_solutions[:, :f], ca.SX.eye(f))

    @cached_property
    def bias_accelerations(self) -> Array:
        """c of q̈ = G ȧ + c: the accelerations at ȧ = 0."""
        f = len(self.a)
        return self.merge_velocity_rows(-self.dependent_solutions[:, f], ca.SX.zeros(f, 1))

    @cached_property
    def imposed_velocities(self) -> Array:
        """k of q̇ = G a + k: the velocities that constraints impose by their time dependence."""
        f = len(self.a)
        return self.merge_velocity_rows(-self.dependent_solutions[:, f + 1], ca.SX.zeros(f, 1))

    def reduced_accelerations(self, M: Array, forces: Array) -> Array:
        """q̈ under the forces τ − b and the constraints."""
        if not self.a:
            return self.bias_accelerations
        rest = forces - M @ self.bias_accelerations
        return self.independent_accelerations(self.G.T @ M @ self.G, rest)

    def velocities_from_momenta(self, M: Array, p: Array) -> Array:
        """q̇ = G a + k with the momenta p = M q̇ + Jᵀμ, for any μ; M may be singular."""
        k = self.imposed_velocities
        if not self.a:
            return k
        right = self.G.T @ (p - M @ k)
        return self.G @ solve_symmetric_matrix(ca.densify(self.G.T @ M @ self.G), right) + k

    def independent_accelerations(self, reduced_mass_matrix: Array, rest: Array) -> Array:
        """q̈ = G ȧ + c from GᵀM G and the forces τ − b − M c."""
        rates = solve_symmetric_matrix(ca.densify(reduced_mass_matrix), self.G.T @ rest)
        return self.G @ rates + self.bias_accelerations

    def least_norm_multipliers(self, needed: Array) -> Array:
        """λ of all rows from M q̈ + b − τ, of least norm where rows are redundant."""
        return self.distribute_multipliers(self.dependent_factors.solve_transposed(needed[self.p]))

    def distribute_multipliers(self, chosen: Array) -> Array:
        """λ of least norm with the same Jᵀλ, from the forces of the chosen rows alone.

        Redundant rows are T times the chosen ones: λ_d = (1 + T Tᵀ)⁻¹ T λ, λ − Tᵀ λ_d.
        """
        spare = list(self.choice.redundant)
        rows: list[Scalar] = [ca.SX(0)] * len(self.constraints)
        if spare:
            J = self.constraints.J
            T = self.dependent_factors.solve_transposed(J[spare, self.p].T).T
            gram = ca.densify(ca.SX.eye(len(spare)) + T @ T.T)
            shared = solve_symmetric_matrix(gram, T @ chosen)
            chosen = chosen - T.T @ shared
            for k, row in enumerate(spare):
                rows[row] = shared[k]
        for k, row in enumerate(self.rows):
            rows[row] = chosen[k]
        return ca.vertcat(*rows)

    @cached_property
    def smallest_pivot(self) -> Scalar:
        """The smallest pivot relative to its size where the choice was made; 0 where rows that were
        left out restrict the independent velocities, so that the choice does not hold."""
        least = ca.SX(1)
        for pivot, size in zip(self.dependent_factors.pivots, self.choice.pivots, strict=True):
            least = ca.fmin(least, ca.fabs(pivot) / size)
        others = [k for k in range(len(self.constraints)) if k not in self.rows]
        if others and self.a:
            left_out = self.constraints.J[others, :] @ self.G
            largest = ca.SX(0)
            for entry in left_out.nonzeros():
                largest = ca.fmax(largest, ca.fabs(entry))
            least = ca.if_else(largest > self.max_redundant_rate, 0, least)
        return least

    def solve_actuator_forces(
        self, B: Array, needed: Array, at_home: Callable[[Array], Sequence[float]]
    ) -> tuple[Array, Scalar]:
        """u of least norm with GᵀB u = Gᵀ(M q̈ + b): the actuator forces of a motion.

        The second result is the smallest pivot, those of GᵀB included; 0 if a degree of freedom is
        not driven.
        """
        if not self.a:
            return ca.SX.zeros(B.shape[1]), self.smallest_pivot
        A = self.G.T @ B
        gram = ca.densify(A @ A.T)
        factors = LUFactorization(gram)
        least = self.smallest_pivot
        sizes = at_home(ca.vertcat(*factors.pivots))
        for pivot, size in zip(factors.pivots, sizes, strict=True):
            share = ca.sqrt(ca.fmax(0, pivot / size)) if size > 1e-12 * max(sizes) else ca.SX(0)
            least = ca.fmin(least, share)
        return A.T @ factors.solve(self.G.T @ needed), least

    def multiplier_null_space(self) -> Array:
        """Columns: changes of λ that do not change the motion."""
        choice, count = self.choice, len(self.constraints)
        others = [k for k in range(count) if k not in choice.rows]
        Z: Array = ca.SX(count, len(others))
        for column, spare_row in enumerate(others):
            Z[spare_row, column] = 1
        if choice.redundant:
            columns = [others.index(k) for k in choice.redundant]
            J = self.constraints.J[list(choice.redundant), self.p]
            Z[list(choice.rows), columns] = -self.dependent_factors.solve_transposed(J.T)
        return Z


def loop_joint_reactions(tree: KinematicTree, loads: Sequence[BodyForce]) -> list[Array]:
    """The wrench of every loop's parent on its child, about the joint's origin in the parent, in
    the order of `mechanism.loops`; `loads` come from `constraint_body_forces` and name their
    loop."""
    found, setting = [], ConstrainedBodyStates(tree)
    loops = {tie.name: tie for tie in tree.restraints.entries if isinstance(tie, LoopRestraint)}
    for tie in (loops[name] for name in tree.mechanism.loops):
        own = [load for load in loads if load.owner == tie.name]
        sign = 1 if own[-1].body == tie.bodies[1] else -1
        origin = setting.place_in_world(tie.at_parent, "").p
        moment = own[-1].moment - cross(origin, own[-1].force)
        found.append(sign * ca.vertcat(moment, own[-1].force).T)
    return found


def least_norm_joint_reactions(
    rows: Array, lam: Array, chosen: Array, chosen_rows: Sequence[int], spare: Array
) -> Array:
    """Rows that are affine in λ, at the λ of the chosen rows plus the null-space part of least
    norm."""
    first = ca.SX.zeros(lam.shape[0])
    for k, row in enumerate(chosen_rows):
        first[row] = chosen[k]
    at = ca.vec(ca.substitute(rows, lam, first))
    if spare.shape[1]:
        W = ca.jacobian(ca.vec(rows), lam) @ spare
        at -= W @ solve_symmetric_matrix(ca.densify(W.T @ W), W.T @ at)
    return ca.reshape(at, *rows.shape)
