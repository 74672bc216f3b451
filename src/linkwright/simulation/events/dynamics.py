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
        members that may fail."""
        tree, rows = self.rows.tree, self.rows
        own = tree.motion
        constraints = constraints_of(tree)
        lam = ca.SX.sym("lambda", len(constraints) if constraints else 0)
        push = ca.SX.sym("push", 3, len(rows.contacts))
        ties = constraint_loads(tree, constraints, lam) if constraints else []
        loads = [*ties, *self._pushes(push)]
        found = reactions(tree, own.q, own.qd, own.qdd, others=loads)
        every = ca.vertcat(found, *loop_wrenches(tree, ties))
        names = [*(span.name for span in tree.joints), *self.mechanism.loops]
        pressed = [self._pressure(rub, found) for rub in rows.rubs]
        strong = [every[names.index(name), :] for name, _ in self.members]
        sizes = [ca.norm_2(row[cut]) for row in strong for cut in (slice(3, 6), slice(0, 3))]
        return ca.Function(
            "wrenches", [own.q, own.qd, own.qdd, own.t, lam, push],
            [ca.vertcat(ca.SX(0, 1), *pressed), ca.vertcat(ca.SX(0, 1), *sizes)],
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

    def held(
        self, rows: list[int], columns: Floats, known: Floats, weights: Floats | None = None
    ) -> Held:
        """With forces of least norm (of x over its weights) where they are not unique."""
        n, m, c = len(self.qd), len(rows), len(self.J)
        scale = 1 / np.sqrt(np.maximum(np.diag(self.M), 1e-300))
        scale = np.minimum(scale, 1e6 * scale.min())
        A = np.vstack([self.R[rows], self.J]) * scale
        sizes = np.linalg.norm(A, axis=1)
        sizes[sizes == 0] = 1.0
        w = np.ones(m) if weights is None else weights
        D = np.hstack([columns * w / sizes[:m], self.J.T / sizes[m:]]) * scale[:, None]
        K = np.block(
            [[scale[:, None] * self.M * scale, -D], [A / sizes[:, None], np.zeros((m + c, m + c))]]
        )
        gamma = np.concatenate([self.gamma[rows], self.J_bias])
        right = np.concatenate([scale * (self.F + known), -gamma / sizes])
        found = np.linalg.lstsq(K, right, rcond=RANK)[0]
        x, lam = found[n : n + m] * w / sizes[:m], found[n + m :] / sizes[m:]
        return Held(found[:n] * scale, x, lam)

    @cached_property
    def admittance(self) -> Floats:
        """P with Δq̇ = P · impulse along the speeds, under the mechanism's own constraints."""
        if not len(self.J):
            Z = np.eye(len(self.qd))
        else:
            left, sizes, right = np.linalg.svd(self.J)
            Z = right[int((sizes > 1e-9 * max(sizes[0], 1e-300)).sum()) :].T
        inner = Z.T @ self.M @ Z
        found: Floats = Z @ np.linalg.pinv(inner, rcond=1e-13, hermitian=True) @ Z.T
        return found

    def pressed(self, held: Held, pushes: Floats) -> tuple[Floats, Floats]:
        """How rubs are pressed, and the forces and moments of members that may fail."""
        found = self.of.wrenches(
            self.q, self.qd, held.qdd, self.t, held.multipliers, pushes.reshape(3, -1)
        )
        pressure, sizes = (np.asarray(part, dtype=float).ravel() for part in found)
        return pressure, sizes
