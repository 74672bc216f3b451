"""Projection onto the constraints inside a step: straight-line code with rows chosen beforehand.

With d = [0; −A_p⁻¹ r] a change that satisfies the rows, the smallest one in the metric of M is
d − G (GᵀM G)⁻¹ GᵀM d. Small pivots show that the result is not reliable.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from ...algebra.linear_algebra import LUFactorization, solve_symmetric_matrix
from ...kinematics.mobility_analysis import reference_configuration
from ...types import SX
from .step_equations import StepEquations, StepFunction

POSITION_CORRECTIONS = 3
"""Corrections of positions, all with the matrices of the first: each gains several digits."""


class StepProjection:
    """The constraints of a mechanism, and the projection of states onto them, as expressions."""

    def __init__(self, equations: StepEquations) -> None:
        self.step_equations = equations
        mechanism_equations = equations.equations
        self.choice = reference_configuration(mechanism_equations.mechanism)[1]
        self.leeway = mechanism_equations.closure_leeway
        self.rows = list(self.choice.rows)
        self.dependent = list(self.choice.dependent)
        self.independent = list(self.choice.independent)
        self.nv, self.position_row_count = equations.names.nv, equations.names.position_row_count

    @cached_property
    def _constraint_terms(self) -> StepFunction:
        """The function (q, q̇, t) → (J, J q̇ − b, φ, γ)."""
        equations = self.step_equations.complete_equations
        q, qd, t = (equations.symbols[key] for key in ("q", "qd", "t"))
        names = ("jacobian", "velocity", "residual", "bias")
        outputs = [equations.expressions(f"constraint_{name}")[0] for name in names]
        return self.step_equations.make_function(equations, "constraints", outputs, [q, qd, t])

    def jacobian(self, q: SX, t: SX) -> SX:
        """Return J of all rows."""
        return self._constraint_terms(q, ca.SX.zeros(self.nv), t)[0]

    def velocity_residual(self, q: SX, qd: SX, t: SX) -> SX:
        """Return J q̇ − b of all rows."""
        return self._constraint_terms(q, qd, t)[1]

    def residual(self, q: SX, t: SX) -> SX:
        """Return φ of the position rows."""
        return self._constraint_terms(q, ca.SX.zeros(self.nv), t)[2]

    def residual_of_all_rows(self, q: SX, t: SX) -> SX:
        """Return φ in the position rows, and zeros in the velocity rows."""
        rows: SX = ca.SX.zeros(len(self.step_equations.names.constraints))
        rows[list(self.step_equations.names.position_rows)] = self.residual(q, t)
        return rows

    def bias(self, q: SX, qd: SX, t: SX) -> SX:
        """Return γ with J q̈ + γ = 0."""
        return self._constraint_terms(q, qd, t)[3]

    def metric(self, q: SX, t: SX) -> ProjectionMetric:
        """Return the factorized constraints at one configuration."""
        return ProjectionMetric(self, self.jacobian(q, t), self.step_equations.mass_matrix(q, t))

    def close_positions(self, q: SX, t: SX) -> tuple[SX, SX]:
        """Return q that satisfies the constraints, and the smallest pivot."""
        if not self.position_row_count:
            return q, ca.SX(1)
        metric = self.metric(q, t)
        for _ in range(POSITION_CORRECTIONS):
            change = metric.smallest_correction(self.residual_of_all_rows(q, t))
            q = self.step_equations.move_coordinates(q, change)
        return q, metric.smallest_pivot

    def project_velocities(self, q: SX, qd: SX, t: SX) -> tuple[SX, SX]:
        """Return q̇ that satisfies the constraints, and the smallest pivot."""
        metric = self.metric(q, t)
        change = metric.smallest_correction(self.velocity_residual(q, qd, t))
        return qd + change, metric.smallest_pivot


def project_motion(
    equations: StepEquations, q: SX, qd: SX, t: SX, *, holds_constraints: bool
) -> tuple[SX, SX, SX, SX]:
    """Return q and q̇ with unit quaternions and on the constraints, the remaining residual, and the
    smallest pivot."""
    if equations.names.nq != equations.names.nv:
        q = equations.move_coordinates(q, ca.SX.zeros(equations.names.nv))
    gap, pivot = ca.SX(0), ca.SX(1)
    if holds_constraints:
        onto = StepProjection(equations)
        q, one = onto.close_positions(q, t)
        qd, other = onto.project_velocities(q, qd, t)
        pivot = ca.fmin(one, other)
        if onto.position_row_count:
            gap = ca.mmax(ca.fabs(onto.residual(q, t)))
    return q, qd, gap, pivot


class ProjectionMetric:
    """The constraints at one configuration, factorized, and the mass matrix as the metric."""

    def __init__(self, projection: StepProjection, J: SX, M: SX) -> None:
        self.projection, self.M = projection, M
        rows, independent = projection.rows, projection.independent
        self.factors = LUFactorization(J[rows, projection.dependent])
        dependent_rates = -self.factors.solve(J[rows, independent])
        self.G = self._scatter_rows(dependent_rates, ca.SX.eye(len(independent)))
        self.inertia = ca.densify(self.G.T @ M @ self.G)

    def _scatter_rows(self, dependent: SX, independent: SX) -> SX:
        """Return a matrix with the given rows at dependent and independent velocities."""
        whole: SX = ca.SX.zeros(self.projection.nv, dependent.shape[1])
        if self.projection.dependent:
            whole[self.projection.dependent, :] = dependent
        if self.projection.independent:
            whole[self.projection.independent, :] = independent
        return whole

    def smallest_correction(self, residuals: SX) -> SX:
        """Return the smallest change in the metric of M that removes the residuals of all rows."""
        dependent = self.factors.solve(-residuals[self.projection.rows])
        d = self._scatter_rows(dependent, ca.SX.zeros(len(self.projection.independent), 1))
        if not self.projection.independent:
            return d
        correction: SX = d - self.G @ solve_symmetric_matrix(self.inertia, self.G.T @ (self.M @ d))
        return correction

    @property
    def smallest_pivot(self) -> SX:
        """The smallest pivot, as a share of its size where the rows were chosen."""
        smallest = ca.SX(1)
        for pivot, size in zip(self.factors.pivots, self.projection.choice.pivots, strict=True):
            smallest = ca.fmin(smallest, ca.fabs(pivot) / size)
        return smallest
