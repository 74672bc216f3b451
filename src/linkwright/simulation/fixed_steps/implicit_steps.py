"""Implicit steps as expressions, solved by Newton's method: midpoint and variational.

With w the velocities in the middle, q_m = q₀ ⊕ ½dt w and q₁ = q₀ ⊕ dt w, they solve

    midpoint:     M(q_m)(w − v₀) + ½dt (C w + g − f − τ − J_mᵀλ) = 0         v₁ = 2w − v₀
    variational:  p(q_m, w) − p₀ − ½dt (∂L/∂q + f + τ + J₀ᵀλ) = 0             p₁ = p₀ + dt (…)

with constraints φ(q₁) = 0. The second is the discrete Euler–Lagrange equation of
L_d = dt L(q_m, w) in position and momentum. It is symplectic, so that energy does not drift. At the
end the velocities are projected onto the constraints in the metric of M, as by forces Jᵀμ at q₁.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import casadi as ca

from ...algebra.linear_algebra import LUFactorization, solve_symmetric_matrix
from ...types import SX
from .step_equations import StepEquations
from .step_projection import StepProjection
from .step_states import SMALLEST_RELIABLE_PIVOT, StepEnd, StepStart, closure_doubt

NEWTON_ITERATIONS = 6
"""Iterations of Newton's method, all with the matrix of the first: each gains two digits or more
at steps that resolve the motion."""

NEWTON_TOLERANCE = 1e-10
"""Share by which the last iteration may change the velocities; the remaining error is far
smaller."""


class ImplicitStep(ABC):
    """A step whose unknowns are the velocities in the middle and the multipliers λ of the chosen
    rows."""

    def __init__(
        self, equations: StepEquations, projection: StepProjection | None, start: StepStart
    ) -> None:
        self.equations, self.projection, self.start = equations, projection, start
        self.nv = equations.names.nv
        self.rows = [] if projection is None else projection.rows
        self.unknowns = ca.SX.sym("z", self.nv + len(self.rows))
        self.w, self.multipliers = self.unknowns[: self.nv], self.unknowns[self.nv :]
        self.t = start.t + start.dt / 2
        self.q = equations.move_coordinates(start.q, start.dt / 2 * self.w)
        self.q_end = equations.move_coordinates(start.q, start.dt * self.w)
        self.tau = equations.total_forces(self.q, self.w, start.tau, self.t, 0.5)

    @abstractmethod
    def constraint_forces(self) -> SX:
        """Return Jᵀλ."""

    @abstractmethod
    def force_residual(self) -> SX:
        """Return the left side of the step's equation of motion, which must be zero."""

    @abstractmethod
    def end_velocities(self) -> SX:
        """Return q̇ at the end, not yet projected onto the constraints."""

    def jacobian_forces(self, q: SX, t: SX) -> SX:
        """Return Jᵀλ with the Jacobian at q and t."""
        if self.projection is None or not self.rows:
            return ca.SX.zeros(self.nv)
        return self.projection.jacobian(q, t)[self.rows, :].T @ self.multipliers

    def constraint_residual(self) -> SX:
        """Return φ(q₁)/dt of the position rows, and J w − b in the middle of the others."""
        if self.projection is None or not self.rows:
            return ca.SX(0, 1)
        end = self.start.t + self.start.dt
        rows = self.projection.velocity_residual(self.q, self.w, self.t)
        position_rows = list(self.equations.names.position_rows)
        rows[position_rows] = self.projection.residual(self.q_end, end) / self.start.dt
        return rows[self.rows]

    def solve_unknowns(self) -> tuple[SX, SX]:
        """Return the unknowns, and the last change of the velocities as a share of the allowed
        one."""
        known = self._known_inputs()
        equation = ca.vertcat(self.force_residual(), self.constraint_residual())
        matrix = ca.densify(ca.jacobian(equation, self.unknowns))
        residual = ca.Function("R", [self.unknowns, *known], [equation])
        derivative = ca.Function("K", [self.unknowns, *known], [matrix])
        z = ca.vertcat(self.start.qd, ca.SX.zeros(len(self.rows)))
        factors = LUFactorization(derivative(z, *known))
        change = z
        for _ in range(NEWTON_ITERATIONS):
            change = factors.solve(-residual(z, *known))
            z = z + change
        size = 1 + ca.mmax(ca.fabs(z[: self.nv]))
        return z, ca.mmax(ca.fabs(change[: self.nv])) / (NEWTON_TOLERANCE * size)

    def _known_inputs(self) -> list[SX]:
        """Return the symbols on which the equations depend, apart from the unknowns."""
        x = self.start
        return [x.q, x.qd, x.tau, x.t, x.dt, self.equations.outside, self.equations.p]

    def solve_step(self) -> StepEnd:
        """Return the state after the step, projected onto the constraints."""
        start = self.start
        z, doubt = self.solve_unknowns()
        q, qd = (ca.substitute(x, self.unknowns, z) for x in (self.q_end, self.end_velocities()))
        if self.projection is not None:
            end = start.t + start.dt
            qd, pivot = self.projection.project_velocities(q, qd, end)
            doubt = ca.fmax(doubt, SMALLEST_RELIABLE_PIVOT / pivot)
            doubt = ca.fmax(doubt, closure_doubt(self.projection, q, end))
        # the mean acceleration, with which constraints that drive do the work of the whole step
        qdd = (qd - start.qd) / start.dt
        work = start.dt * self.equations.power(self.q, self.w, qdd, self.tau, self.t)
        return StepEnd(q, qd, start.z, ca.substitute(work, self.unknowns, z), doubt)


class MidpointStep(ImplicitStep):
    """A step of the implicit midpoint rule."""

    def force_residual(self) -> SX:
        """Return ½dt (M q̈ + C w + g − f − τ − Jᵀλ) in the middle."""
        dt = self.start.dt
        qdd = 2 / dt * (self.w - self.start.qd)
        required = self.equations.required_forces(self.q, self.w, qdd, self.t)
        return dt / 2 * (required - self.tau - self.constraint_forces())

    def constraint_forces(self) -> SX:
        """Return Jᵀλ in the middle."""
        return self.jacobian_forces(self.q, self.t)

    def end_velocities(self) -> SX:
        """Return 2w − v₀."""
        return 2 * self.w - self.start.qd


class VariationalStep(ImplicitStep):
    """A step of the discrete Euler–Lagrange equation."""

    def __init__(
        self, equations: StepEquations, projection: StepProjection | None, start: StepStart
    ) -> None:
        super().__init__(equations, projection, start)
        self.momenta = equations.momenta(start.q, start.qd, start.t)

    def constraint_forces(self) -> SX:
        """Return Jᵀλ at the start."""
        return self.jacobian_forces(self.start.q, self.start.t)

    def momentum_rate(self) -> SX:
        """Return ∂L/∂q + f + τ = ṗ − (C w + g − f) + τ in the middle, ṗ at constant w."""
        w, t = ca.SX.sym("still", self.nv), ca.SX.sym("now")
        q = ca.SX.sym("place", self.equations.names.nq)
        momenta = self.equations.momenta(q, w, t)
        rate = ca.jtimes(momenta, q, w) + ca.jacobian(momenta, t)
        change = ca.Function("change", [q, w, t, self.equations.p], [rate])
        zero = ca.SX.zeros(self.nv)
        bias = self.equations.required_forces(self.q, self.w, zero, self.t)
        return change(self.q, self.w, self.t, self.equations.p) - bias + self.tau

    def force_residual(self) -> SX:
        """Return p(q_m, w) − p₀ − ½dt (∂L/∂q + f + τ + Jᵀλ)."""
        impulse = self.start.dt / 2 * (self.momentum_rate() + self.constraint_forces())
        return self.equations.momenta(self.q, self.w, self.t) - self.momenta - impulse

    def end_velocities(self) -> SX:
        """Return q̇ of the momenta at the end.

        Half of the impulse of the constraints is that at q₀; the projection gives that at q₁.
        """
        impulse = self.start.dt * (self.momentum_rate() + self.constraint_forces() / 2)
        end = self.start.t + self.start.dt
        at_rest = self.equations.momenta(self.q_end, ca.SX.zeros(self.nv), end)
        M = self.equations.mass_matrix(self.q_end, end)
        velocities: SX = solve_symmetric_matrix(M, self.momenta + impulse - at_rest)
        return velocities
