"""Steps as expressions: (q, q̇, z, τ, t, dt) → (q, q̇, z), the work done, and how far to believe it.

Explicit methods are those of Munthe-Kaas: stages in a chart u with q = q₀ ⊕ u, so that quaternions
keep their length by themselves. With w the speeds in the middle, q_m = q₀ ⊕ ½dt w and
q₁ = q₀ ⊕ dt w, the implicit ones solve

    midpoint:     M(q_m)(w − v₀) + ½dt (C w + g − f − τ − J_mᵀλ) = 0         v₁ = 2w − v₀
    variational:  M(q_m) w − p₀ − ½dt (∂L/∂q + f + τ + J₀ᵀλ) = 0             p₁ = p₀ + dt (…)

by Newton's method, with constraints φ(q₁) = 0. The second is the discrete Euler–Lagrange equation
of L_d = dt L(q_m, w) in position and momentum: symplectic, so that energy does not drift. Speeds
are put onto the constraints in the metric of M at the end, which is what forces Jᵀμ at q₁ do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import LUFactorization, solve_symmetric_matrix
from ...kinematics.closing import CLOSURE_TOLERANCES
from ...types import SX
from .ingredients import Ingredients
from .onto import Onto
from .tables import MIDPOINT, SEMI_IMPLICIT, TABLES, VARIATIONAL, Table

Slope = tuple[SX, SX, SX]

ITERATIONS = 6
"""Of Newton's method, with the matrix of the first."""

CONVERGED = 1e-10
"""The last of them may change the speeds by this share."""

CLOSED = CLOSURE_TOLERANCES.continued_residual
SMALL_PIVOT = 1e-2


@dataclass(frozen=True)
class Step:
    """Expressions of a state after a step, z that of a controller. `doubt` below 1: it is to be
    believed."""

    q: SX
    qd: SX
    z: SX
    work: SX
    doubt: SX


@dataclass(frozen=True)
class Before:
    """A state before a step, the forces held over it, and its length."""

    q: SX
    qd: SX
    z: SX
    tau: SX
    t: SX
    dt: SX


def evaluations_of(method: str) -> int:
    """How often a step evaluates the equations of motion."""
    if method in TABLES:
        return len(TABLES[method].c)
    return 1 if method == SEMI_IMPLICIT else ITERATIONS


def step_of(method: str, of: Ingredients, x: Before) -> Step:
    """A step by any method, on the constraints where there are any."""
    onto = Onto(of) if of.names.constraints else None
    if method == MIDPOINT:
        return _Midpoint(of, onto, x).step()
    if method == VARIATIONAL:
        return _Variational(of, onto, x).step()
    step = _semi_implicit(of, x) if method == SEMI_IMPLICIT else _explicit(TABLES[method], of, x)
    return step if onto is None else _held(step, of, onto, x)


def _explicit(table: Table, of: Ingredients, x: Before) -> Step:
    slopes: list[Slope] = []
    work, pivot = ca.SX(0), ca.SX(1)
    for c, row, b in zip(table.c, table.A, table.b, strict=True):
        u, qd, z = _changes(x, row, slopes)
        q, qd, t = of.moved(x.q, u) if row else x.q, x.qd + qd, x.t + c * x.dt
        tau, z_rate = of.driven(q, qd, x.z + z, x.tau, t, c)
        qdd, own = of.acceleration(q, qd, tau, t)
        slopes.append((of.chart_rate(u, qd) if row else qd, qdd, z_rate))
        work, pivot = work + x.dt * b * of.power(q, qd, qdd, tau, t), ca.fmin(pivot, own)
    u, change, z = _changes(x, table.b, slopes)
    return Step(of.moved(x.q, u), x.qd + change, x.z + z, work, SMALL_PIVOT / pivot)


def _changes(x: Before, weights: tuple[float, ...], slopes: list[Slope]) -> Slope:
    """Of u, q̇ and z along so much of the slopes."""
    total: Slope = (ca.SX.zeros(*x.qd.shape), ca.SX.zeros(*x.qd.shape), ca.SX.zeros(*x.z.shape))
    for weight, slope in zip(weights, slopes, strict=True):
        if weight:
            total = (
                total[0] + weight * slope[0], total[1] + weight * slope[1],
                total[2] + weight * slope[2],
            )  # fmt: skip
    return x.dt * total[0], x.dt * total[1], x.dt * total[2]


def _semi_implicit(of: Ingredients, x: Before) -> Step:
    """The new speeds move the positions."""
    tau, z_rate = of.driven(x.q, x.qd, x.z, x.tau, x.t, 0.0)
    qdd, pivot = of.acceleration(x.q, x.qd, tau, x.t)
    qd = x.qd + x.dt * qdd
    work = x.dt * of.power(x.q, qd, qdd, tau, x.t)
    return Step(of.moved(x.q, x.dt * qd), qd, x.z + x.dt * z_rate, work, SMALL_PIVOT / pivot)


def _held(step: Step, of: Ingredients, onto: Onto, x: Before) -> Step:
    """A step and its way back onto the constraints."""
    t = x.t + x.dt
    q, one = onto.positions_of(step.q, t)
    qd, other = onto.speeds_of(q, step.qd, t)
    doubt = ca.fmax(step.doubt, SMALL_PIVOT / ca.fmin(one, other))
    return Step(q, qd, step.z, step.work, ca.fmax(doubt, _open(onto, q, t)))


def _open(onto: Onto, q: SX, t: SX) -> SX:
    """Above 1 where positions are left open."""
    if not onto.positions:
        return ca.SX(0)
    return ca.mmax(ca.fabs(onto.residual(q, t))) / max(CLOSED, onto.leeway)


class _Implicit(ABC):
    """A step with the speeds in the middle as unknowns, and forces λ of the chosen rows."""

    def __init__(self, of: Ingredients, onto: Onto | None, x: Before) -> None:
        self.of, self.onto, self.x = of, onto, x
        self.n = of.names.nv
        self.rows = [] if onto is None else onto.rows
        self.z = ca.SX.sym("z", self.n + len(self.rows))
        self.w, self.lam = self.z[: self.n], self.z[self.n :]
        self.t = x.t + x.dt / 2
        self.q = of.moved(x.q, x.dt / 2 * self.w)
        self.q_end = of.moved(x.q, x.dt * self.w)
        self.tau = of.tau(self.q, self.w, x.tau, self.t, 0.5)

    @abstractmethod
    def forces(self) -> SX:
        """Jᵀλ."""

    @abstractmethod
    def balance(self) -> SX:
        """What must be zero along the speeds."""

    @abstractmethod
    def speeds(self) -> SX:
        """q̇ at the end, not yet on the constraints."""

    def mean_acceleration(self, qd: SX) -> SX:
        """With which the forces of driven constraints are those of the whole step."""
        return (qd - self.x.qd) / self.x.dt

    def closing(self) -> SX:
        """φ(q₁)/dt of rows of positions, V of the others in the middle."""
        if self.onto is None or not self.rows:
            return ca.SX(0, 1)
        end = self.x.t + self.x.dt
        rows = self.onto.violated(self.q, self.w, self.t)
        position_rows = list(self.of.names.position_rows)
        rows[position_rows] = self.onto.residual(self.q_end, end) / self.x.dt
        return rows[self.rows]

    def solved(self) -> tuple[SX, SX]:
        """The unknowns, and how far the last iteration changed them, in what is allowed."""
        R = ca.vertcat(self.balance(), self.closing())
        residual = ca.Function("R", [self.z, *self._given()], [R])
        slope = ca.Function("K", [self.z, *self._given()], [ca.densify(ca.jacobian(R, self.z))])
        z = ca.vertcat(self.x.qd, ca.SX.zeros(len(self.rows)))
        factors = LUFactorization(slope(z, *self._given()))
        change = z
        for _ in range(ITERATIONS):
            change = factors.solve(-residual(z, *self._given()))
            z = z + change
        size = 1 + ca.mmax(ca.fabs(z[: self.n]))
        return z, ca.mmax(ca.fabs(change[: self.n])) / (CONVERGED * size)

    def _given(self) -> list[SX]:
        x = self.x
        return [x.q, x.qd, x.tau, x.t, x.dt, self.of.outside, self.of.p]

    def step(self) -> Step:
        z, doubt = self.solved()
        q, qd = (ca.substitute(e, self.z, z) for e in (self.q_end, self.speeds()))
        if self.onto is not None:
            end = self.x.t + self.x.dt
            qd, pivot = self.onto.speeds_of(q, qd, end)
            doubt = ca.fmax(ca.fmax(doubt, SMALL_PIVOT / pivot), _open(self.onto, q, end))
        qdd = self.mean_acceleration(qd)
        work = self.x.dt * self.of.power(self.q, self.w, qdd, self.tau, self.t)
        return Step(q, qd, self.x.z, ca.substitute(work, self.z, z), doubt)


class _Midpoint(_Implicit):
    def balance(self) -> SX:
        dt = self.x.dt
        needed = self.of.required(self.q, self.w, 2 / dt * (self.w - self.x.qd), self.t)
        return dt / 2 * (needed - self.tau - self.forces())

    def forces(self) -> SX:
        if self.onto is None or not self.rows:
            return ca.SX.zeros(self.n)
        return self.onto.jacobian(self.q, self.t)[self.rows, :].T @ self.lam

    def speeds(self) -> SX:
        return 2 * self.w - self.x.qd


class _Variational(_Implicit):
    def __init__(self, of: Ingredients, onto: Onto | None, x: Before) -> None:
        super().__init__(of, onto, x)
        self.p = of.mass(x.q) @ x.qd

    def forces(self) -> SX:
        if self.onto is None or not self.rows:
            return ca.SX.zeros(self.n)
        return self.onto.jacobian(self.x.q, self.x.t)[self.rows, :].T @ self.lam

    def others(self) -> SX:
        """∂L/∂q + f + τ = Ṁ w − (C w + g − f) + τ in the middle."""
        still = ca.SX.sym("still", self.n)
        place = ca.SX.sym("place", self.of.names.nq)
        momentum = self.of.mass(place) @ still
        rate = ca.jtimes(momentum, place, still)
        change = ca.Function("change", [place, still, self.of.p], [rate])
        bias = self.of.required(self.q, self.w, ca.SX.zeros(self.n), self.t)
        return change(self.q, self.w, self.of.p) - bias + self.tau

    def balance(self) -> SX:
        dt = self.x.dt
        return self.of.mass(self.q) @ self.w - self.p - dt / 2 * (self.others() + self.forces())

    def speeds(self) -> SX:
        """Half of the impulse of constraints is at q₀, half at q₁: the projection's."""
        p = self.p + self.x.dt * (self.others() + self.forces() / 2)
        found: SX = solve_symmetric_matrix(self.of.mass(self.q_end), p)
        return found
