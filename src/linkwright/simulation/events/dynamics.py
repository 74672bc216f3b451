"""Accelerations while some rows are held, and what holding them takes.

    M q̈ = F + Dᵀx + Jᵀλ,    R q̈ + γ = 0 for the rows held,    J q̈ + γ_J = 0

D is R, but for contacts that slide: there the friction −μ d goes with the normal force.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...formulations.recursive.newton_euler import reactions
from ...formulations.reduction import loop_wrenches
from ...kinematics.constraints import constraint_loads, constraints_of
from ...kinematics.loads import Load
from ...mechanism import Mechanism
from ...model import Model
from .rows import Rows

Floats = NDArray[np.float64]

RANK = 1e-10


@dataclass(frozen=True)
class Held:
    """The solution: accelerations, forces x of the held rows, λ of the mechanism's constraints."""

    qdd: Floats
    x: Floats
    multipliers: Floats


class Dynamics:
    """A mechanism in numbers, state by state; `model` lacks what the rows bring about."""

    def __init__(self, mechanism: Mechanism, model: Model, rows: Rows) -> None:
        self.mechanism, self.model, self.rows = mechanism, model, rows
        self.in_time = model.names.in_time
        self.constrained = bool(model.names.constraints)
        self.pressure: Floats = np.zeros(len(rows.rubs))
        """Of the rubs when last solved for: a start for the next."""
        tables = (mechanism.joints, mechanism.loops)
        self.members = [
            (name, joint.breaks) for table in tables for name, joint in table.items()
            if joint.breaks is not None
        ]  # fmt: skip
        self.ties = [
            (name, strength) for name, tie in mechanism.constraints.items()
            if (strength := getattr(tie, "breaks", None)) is not None
        ]  # fmt: skip

    def at(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Instant:
        return Instant(self, t, q, qd, tau)

    @cached_property
    def wrenches(self) -> Any:
        """(q, q̇, q̈, t, λ, forces of contacts) → how rubs are pressed; forces and moments of
        members that may fail; wrenches of all joints and loops."""
        tree, rows = self.rows.tree, self.rows
        own = tree.motion
        constraints = constraints_of(tree)
        lam = ca.SX.sym("lambda", len(constraints) if constraints else 0)
        push = ca.SX.sym("push", 3, len(rows.contacts))
        ties = constraint_loads(tree, constraints, lam) if constraints else []
        loads = [*ties, *self._pushes(push)]
        found: Any = reactions(tree, own.q, own.qd, own.qdd, others=loads)
        every: Any = ca.vertcat(found, *loop_wrenches(tree, ties))
        names = [*(span.name for span in tree.joints), *self.mechanism.loops]
        pressed = [self._pressure(rub, found) for rub in rows.rubs]
        strong = [every[names.index(name), :] for name, _ in self.members]
        sizes = [ca.norm_2(cut) for row in strong for cut in (row[0, 3:], row[0, :3])]
        return ca.Function(
            "wrenches", [own.q, own.qd, own.qdd, own.t, lam, push],
            [ca.vertcat(ca.SX(0, 1), *pressed), ca.vertcat(ca.SX(0, 1), *sizes), every],
        )  # fmt: skip

    def _pressure(self, rub: Any, found: Any) -> Any:
        if rub.arm == 0.0:
            return ca.SX(0)
        force = found[rub.joint, 3:].T
        if rub.axis >= 0:
            axis = self.rows.axis(rub.axis)
            force = force - axis * ca.dot(axis, force)
        return ca.norm_2(force)

    def _pushes(self, push: Any) -> list[Load]:
        """What contacts do to both bodies: components along the plane's x and y, and normal."""
        found = []
        for k, (barrier, at, R) in enumerate(self.rows.contacts):
            force = R @ push[:, k]
            for body, sign in ((barrier.body, 1), (barrier.other, -1)):
                if body != "ground":
                    link = self.rows.tree.bodies[body].link
                    found.append(Load(body, link, at, sign * force, ca.SX.zeros(3)))
        return found


class Instant:
    """One state under drives."""

    def __init__(self, of: Dynamics, t: float, q: Floats, qd: Floats, tau: Floats) -> None:
        self.of, self.t, self.q, self.qd, self.tau = of, t, q, qd, tau
        self.time = [t] if of.in_time else []
        self.R, self.gamma = of.rows.linear(q, qd)

    @cached_property
    def M(self) -> Floats:
        found: Floats = self.of.model.mass_matrix(self.q)
        return found

    @cached_property
    def F(self) -> Floats:
        found: Floats = self.tau - self.of.model.bias(self.q, self.qd, *self.time)
        return found

    @cached_property
    def J(self) -> Floats:
        if not self.of.constrained:
            return np.zeros((0, len(self.qd)))
        found: Floats = self.of.model.constraint_jacobian(self.q, *self.time)
        return found

    @cached_property
    def J_bias(self) -> Floats:
        if not self.of.constrained:
            return np.zeros(0)
        found: Floats = self.of.model.constraint_bias(self.q, self.qd, *self.time)
        return found

    @cached_property
    def inverse(self) -> Floats | None:
        """M⁻¹; None where some coordinate moves no mass."""
        try:
            np.linalg.cholesky(self.M)
        except np.linalg.LinAlgError:
            return None
        return np.asarray(np.linalg.inv(self.M), dtype=float)

    def held(
        self, rows: list[int], columns: Floats, known: Floats, weights: Floats | None = None
    ) -> Held:
        """With forces of least norm (of x over its weights) where they are not unique."""
        m = len(rows)
        A, gamma = self.R[rows], self.gamma[rows]
        D = columns if weights is None else columns * weights
        if len(self.J):
            A, D = np.vstack([A, self.J]), np.hstack([D, self.J.T])
            gamma = np.concatenate([gamma, self.J_bias])
        if self.inverse is None:
            qdd, x = self._held_without_mass(A, D, gamma, self.F + known)
        else:
            free = self.inverse @ (self.F + known)
            if not len(A):
                return Held(free, np.zeros(0), np.zeros(0))
            answer = self.inverse @ D
            S = A @ answer
            scale = np.sqrt(np.abs(np.diag(S)))
            scale = np.where(scale > 0, scale, 1.0)
            S = S / scale[:, None] / scale
            scaled, _, rank, _ = np.linalg.lstsq(S, -(A @ free + gamma) / scale, rcond=RANK)
            x = np.asarray(scaled / scale, dtype=float)
            qdd = free + answer @ x
            if rank < len(S):
                x = np.asarray(np.linalg.lstsq(D, D @ x, rcond=RANK)[0], dtype=float)
        forces = x[:m] if weights is None else x[:m] * weights
        return Held(qdd, forces, x[m:])

    def _held_without_mass(
        self, A: Floats, D: Floats, gamma: Floats, F: Floats
    ) -> tuple[Floats, Floats]:
        """All unknowns at once, where M alone has no inverse."""
        n = len(F)
        K = np.block([[self.M, -D], [A, np.zeros((len(A), len(A)))]])
        size = np.maximum(np.abs(K).max(axis=1), 1e-300)
        found = np.linalg.lstsq(K / size[:, None], np.concatenate([F, -gamma]) / size, rcond=RANK)[
            0
        ]
        return found[:n], found[n:]

    @cached_property
    def admittance(self) -> Floats:
        """P with Δq̇ = P · impulse along the speeds, under the mechanism's own constraints."""
        return self.admittance_holding([])

    def admittance_holding(self, rows: list[int]) -> Floats:
        """The same while some rows are held too."""
        A = np.vstack([self.J, self.R[rows]])
        Z = np.eye(len(self.qd))
        if len(A):
            sizes, right = np.linalg.svd(A)[1:]
            Z = right[int((sizes > 1e-9 * max(sizes[0], 1e-300)).sum()) :].T
        inner = Z.T @ self.M @ Z
        found: Floats = Z @ np.linalg.pinv(inner, rcond=1e-13, hermitian=True) @ Z.T
        return found

    def pressed(self, held: Held, pushes: Floats) -> tuple[Floats, Floats]:
        """How rubs are pressed, and the forces and moments of members that may fail."""
        found = self._wrenches(held, pushes)
        pressure, sizes = (np.asarray(part, dtype=float).ravel() for part in found[:2])
        return pressure, sizes

    def borne(self, held: Held, pushes: Floats) -> Floats:
        """What joints and loops bear, contacts included, (joints and loops, 6)."""
        return np.asarray(self._wrenches(held, pushes)[2], dtype=float)

    def _wrenches(self, held: Held, pushes: Floats) -> Any:
        state = self.q, self.qd, held.qdd, self.t
        return self.of.wrenches(*state, held.multipliers, pushes.reshape(3, -1))
