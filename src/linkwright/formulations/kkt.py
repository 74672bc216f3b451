"""Multipliers of constraints from their accelerations: M q̈ = F + Jᵀλ, J q̈ + γ = 0."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear import Array, solve_symmetric
from ..errors import UnsupportedError
from ..kinematics.build import build_tree
from ..kinematics.mobility_analysis import reference
from ..kinematics.totals import kinetic_energy
from ..mechanism import Mechanism
from .reduction import Reduction


class Multipliers:
    """Of the independent rows that the reduction has chosen; `solve` is M⁻¹, `F` all forces,
    `J` the Jacobian of all rows where the formulation has made its own."""

    def __init__(
        self,
        reduction: Reduction,
        solve: Callable[[Array], Array],
        F: Array,
        J: Array | None = None,
    ) -> None:
        self.reduction, self.solve, self.F = reduction, solve, F
        rows = list(reduction.choice.rows)
        self.J = (reduction.constraints.J if J is None else J)[rows, :]
        self.gamma = reduction.constraints.bias[rows]

    @cached_property
    def _solved(self) -> Array:
        """M⁻¹ [Jᵀ F]."""
        return self.solve(ca.densify(ca.horzcat(self.J.T, self.F)))

    @cached_property
    def chosen(self) -> Array:
        """λ = −(J M⁻¹ Jᵀ)⁻¹ (J M⁻¹ F + γ)."""
        if not self.J.shape[0]:
            return ca.SX(0, 1)
        A = ca.densify(self.J @ self._solved[:, :-1])
        return -solve_symmetric(A, self.J @ self._solved[:, -1] + self.gamma)

    @cached_property
    def accelerations(self) -> Array:
        return self._solved[:, -1] + self._solved[:, :-1] @ self.chosen

    @cached_property
    def forces(self) -> Array:
        """Jᵀλ."""
        return self.J.T @ self.chosen

    @cached_property
    def all(self) -> Array:
        """λ of all rows, of least norm where some are redundant."""
        return self.reduction.distributed(self.chosen)


def check_regular(mechanism: Mechanism) -> None:
    """Raises where M is singular: multipliers need inertia in every coordinate."""
    tree = build_tree(mechanism, "numeric")
    T = kinetic_energy(tree, tree.motion.q, tree.motion.qd)
    M = ca.Function("M", [tree.motion.q], [ca.hessian(T, tree.motion.qd)[0]])
    sizes, vectors = np.linalg.eigh(np.asarray(M(reference(mechanism)[0]), dtype=float))
    if sizes[0] <= 1e-12 * max(sizes[-1], 1e-300):
        weak = tree.names.qd[int(np.argmax(np.abs(vectors[:, 0])))]
        raise UnsupportedError(
            f"'{weak}' can move without moving mass, and multipliers need its inertia",
            where=mechanism.name,
            remedy="give the bodies beyond it inertia, or use 'recursive' or 'kane'",
        )
