"""Back onto the constraints inside of a step: straight-line code, with the rows that were chosen.

With d = [0; −A_p⁻¹ r] a change that meets the rows, the least one in the metric of M is
d − G (GᵀM G)⁻¹ GᵀM d. How small the pivots became tells whether to believe it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca

from ...algebra.linear_algebra import LUFactorization, solve_symmetric_matrix
from ...kinematics.mobility_analysis import reference_configuration
from ...types import SX
from .ingredients import Ingredients

CORRECTIONS = 3
"""Of positions, all with the first one's matrices: each takes off several digits."""


class Onto:
    def __init__(self, ingredients: Ingredients) -> None:
        self.of = ingredients
        equations = ingredients.equations
        choice, self.leeway = (
            reference_configuration(equations.mechanism)[1],
            equations.closure_leeway,
        )
        self.choice = choice
        self.rows, self.p, self.a = (
            list(x) for x in (choice.rows, choice.dependent, choice.independent)
        )
        self.n, self.positions = ingredients.names.nv, ingredients.names.position_row_count

    @cached_property
    def _values(self) -> Any:
        eqs = self.of.full
        q, qd, t = (eqs.symbols[key] for key in ("q", "qd", "t"))
        names = ("jacobian", "velocity", "residual", "bias")
        outputs = [eqs.expressions(f"constraint_{name}")[0] for name in names]
        return self.of.function(eqs, "constraints", outputs, [q, qd, t])

    def jacobian(self, q: SX, t: SX) -> SX:
        found: SX = self._values(q, ca.SX.zeros(self.n), t)[0]
        return found

    def violated(self, q: SX, qd: SX, t: SX) -> SX:
        """J q̇ − b of all rows."""
        found: SX = self._values(q, qd, t)[1]
        return found

    def residual(self, q: SX, t: SX) -> SX:
        """φ of the rows of positions."""
        found: SX = self._values(q, ca.SX.zeros(self.n), t)[2]
        return found

    def residual_of_all_rows(self, q: SX, t: SX) -> SX:
        """φ in the rows of positions, zeros in those of velocities."""
        rows: SX = ca.SX.zeros(len(self.of.names.constraints))
        rows[list(self.of.names.position_rows)] = self.residual(q, t)
        return rows

    def bias(self, q: SX, qd: SX, t: SX) -> SX:
        """γ with J q̈ + γ = 0."""
        found: SX = self._values(q, qd, t)[3]
        return found

    def metric(self, q: SX, t: SX) -> Metric:
        return Metric(self, self.jacobian(q, t), self.of.mass(q))

    def positions_of(self, q: SX, t: SX) -> tuple[SX, SX]:
        """q on the constraints, and the smallest pivot."""
        if not self.positions:
            return q, ca.SX(1)
        metric = self.metric(q, t)
        for _ in range(CORRECTIONS):
            q = self.of.moved(q, metric.least(self.residual_of_all_rows(q, t)))
        return q, metric.pivot

    def speeds_of(self, q: SX, qd: SX, t: SX) -> tuple[SX, SX]:
        """q̇ on the constraints, and the smallest pivot."""
        metric = self.metric(q, t)
        return qd + metric.least(self.violated(q, qd, t)), metric.pivot


class Metric:
    """The constraints at one configuration."""

    def __init__(self, onto: Onto, J: SX, M: SX) -> None:
        self.onto, self.M = onto, M
        rows, p, a = onto.rows, onto.p, onto.a
        self.factors = LUFactorization(J[rows, p])
        self.G = self.spread(-self.factors.solve(J[rows, a]), ca.SX.eye(len(a)))
        self.inertia = ca.densify(self.G.T @ M @ self.G)

    def spread(self, dependent: SX, independent: SX) -> SX:
        found: SX = ca.SX.zeros(self.onto.n, dependent.shape[1])
        if self.onto.p:
            found[self.onto.p, :] = dependent
        if self.onto.a:
            found[self.onto.a, :] = independent
        return found

    def least(self, rows: SX) -> SX:
        """The least change that takes `rows` off."""
        meets = self.factors.solve(-rows[self.onto.rows])
        d = self.spread(meets, ca.SX.zeros(len(self.onto.a), 1))
        if not self.onto.a:
            return d
        found: SX = d - self.G @ solve_symmetric_matrix(self.inertia, self.G.T @ (self.M @ d))
        return found

    @property
    def pivot(self) -> SX:
        """The smallest, as a share of its size where rows were chosen."""
        least = ca.SX(1)
        for pivot, size in zip(self.factors.pivots, self.onto.choice.pivots, strict=True):
            least = ca.fmin(least, ca.fabs(pivot) / size)
        return least
