"""Constraint multipliers at the level of accelerations: M q̈ = F + Jᵀλ, J q̈ + γ = 0."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, solve_symmetric_matrix
from ..errors import UnsupportedError
from ..kinematics.mobility_analysis import reference_configuration
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_totals import tree_kinetic_energy
from ..mechanism import Mechanism
from .reduced_dynamics import ReducedDynamics


class FormulationMultipliers:
    """Multipliers of the independent rows that the reduction has chosen. `solve` applies M⁻¹, `F`
    are all forces; `J` replaces the Jacobian of all rows where a formulation has its own."""

    def __init__(
        self,
        reduction: ReducedDynamics,
        solve: Callable[[Array], Array],
        F: Array,
        J: Array | None = None,
    ) -> None:
        self.reduction, self.solve_mass_matrix, self.F = reduction, solve, F
        rows = list(reduction.choice.rows)
        self.J = (reduction.constraints.J if J is None else J)[rows, :]
        self.gamma = reduction.constraints.bias[rows]

    @cached_property
    def _mass_solutions(self) -> Array:
        """M⁻¹ [Jᵀ F]."""
        return self.solve_mass_matrix(ca.densify(ca.horzcat(self.J.T, self.F)))

    @cached_property
    def independent_multipliers(self) -> Array:
        """λ = −(J M⁻¹ Jᵀ)⁻¹ (J M⁻¹ F + γ)."""
        if not self.J.shape[0]:
            return ca.SX(0, 1)
        A = ca.densify(self.J @ self._mass_solutions[:, :-1])
        return -solve_symmetric_matrix(A, self.J @ self._mass_solutions[:, -1] + self.gamma)

    @cached_property
    def accelerations(self) -> Array:
        """q̈ = M⁻¹(F + Jᵀλ)."""
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


def require_mass_for_multipliers(mechanism: Mechanism) -> None:
    """Raise an error if M is singular: multipliers need inertia in every coordinate."""
    tree = build_kinematic_tree(mechanism, "numeric")
    T = tree_kinetic_energy(tree, tree.motion.q, tree.motion.qd)
    M = ca.Function("M", [tree.motion.q], [ca.hessian(T, tree.motion.qd)[0]])
    sizes, vectors = np.linalg.eigh(
        np.asarray(M(reference_configuration(mechanism)[0]), dtype=float)
    )
    if sizes[0] <= 1e-12 * max(sizes[-1], 1e-300):
        weak = tree.names.qd[int(np.argmax(np.abs(vectors[:, 0])))]
        raise UnsupportedError(
            f"'{weak}' can move without moving mass, and multipliers need its inertia",
            where=mechanism.name,
            remedy="give the bodies beyond it inertia, or use 'recursive' or 'kane'",
        )
