"""Constraint multipliers at the level of accelerations: M q̈ = F + Jᵀλ, J q̈ + γ = 0."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, solve_symmetric_matrix
from ..kinematics.mobility_analysis import reference_configuration
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import place_tree_at_time
from ..kinematics.tree_totals import tree_kinetic_energy
from ..mechanism import Mechanism
from .reduced_dynamics import ReducedDynamics


class FormulationMultipliers:
    """Multipliers of the independent rows that the reduction has chosen. `F` are all forces; `J`
    replaces the Jacobian of all rows where a formulation has its own.

    With a regular mass matrix M, λ = −(J M⁻¹ Jᵀ)⁻¹ (J M⁻¹ F + γ). If some coordinate moves no mass,
    M has no inverse; then the independent accelerations are found first, GᵀM G ȧ = Gᵀ(F − M c).
    """

    def __init__(
        self, reduction: ReducedDynamics, M: Array, F: Array, J: Array | None = None
    ) -> None:
        self.reduction, self.M, self.F = reduction, M, F
        rows = list(reduction.choice.rows)
        self.J = (reduction.constraints.J if J is None else J)[rows, :]
        self.gamma = reduction.constraints.bias[rows]

    @cached_property
    def is_mass_regular(self) -> bool:
        """Whether every coordinate of the tree moves mass, so that M has an inverse."""
        return has_regular_mass_matrix(self.reduction.tree.mechanism)

    @cached_property
    def _mass_solutions(self) -> Array:
        """M⁻¹ [Jᵀ F]."""
        return solve_symmetric_matrix(self.M, ca.densify(ca.horzcat(self.J.T, self.F)))

    @cached_property
    def independent_multipliers(self) -> Array:
        """λ of the independent rows."""
        if not self.J.shape[0]:
            return ca.SX(0, 1)
        if not self.is_mass_regular:
            forces = self.M @ self.accelerations - self.F
            own = self.reduction
            return own.dependent_factors.solve_transposed(forces[own.p])
        A = ca.densify(self.J @ self._mass_solutions[:, :-1])
        return -solve_symmetric_matrix(A, self.J @ self._mass_solutions[:, -1] + self.gamma)

    @cached_property
    def accelerations(self) -> Array:
        """q̈ = M⁻¹(F + Jᵀλ)."""
        if not self.is_mass_regular:
            return self.reduction.reduced_accelerations(self.M, self.F)
        return (
            self._mass_solutions[:, -1]
            + self._mass_solutions[:, :-1] @ self.independent_multipliers
        )

    @cached_property
    def constraint_forces(self) -> Array:
        """Jᵀλ."""
        return self.J.T @ self.independent_multipliers

    @cached_property
    def all_multipliers(self) -> Array:
        """λ of all rows, of least norm where rows are redundant."""
        return self.reduction.distribute_multipliers(self.independent_multipliers)


def has_regular_mass_matrix(mechanism: Mechanism) -> bool:
    """Whether every coordinate of the tree, without its constraints, moves mass where the mechanism
    is assembled."""
    tree = place_tree_at_time(build_kinematic_tree(mechanism, "numeric"), 0.0)
    T = tree_kinetic_energy(tree, tree.motion.q, tree.motion.qd)
    M = ca.Function("M", [tree.motion.q], [ca.hessian(T, tree.motion.qd)[0]])
    sizes = np.linalg.eigvalsh(np.asarray(M(reference_configuration(mechanism)[0]), dtype=float))
    return bool(sizes[0] > 1e-12 * max(sizes[-1], 1e-300))
