"""The forces of stops, contacts and friction as one expression, in which the mode is data.

R are the rows of all stops, contacts and friction, with speeds V = R q̇; P = ∂q̈/∂τ is the inverse of
the mass matrix under the mechanism's constraints. The forces f of the rows are known forces k and,
for the rows that the mode holds, forces x with

    m ∘ (A C x + A k + a₀) = 0,    f = k + C x,    A = R P Rᵀ,    a₀ = R q̈(τ) + γ.

m is 1 for rows that are held and 0 for others; k is the friction of joints that slide; C is the
identity for rows that are held, and adds the friction −μ d to the normal force of contacts that
slide in the direction d. One program therefore serves all modes; the mode is among its parameters.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ...types import SX
from .dynamics import DynamicsCode
from .mode_layout import (
    ModeLayout,
    RowGroups,
    SlipNumbers,
    sample_configurations,
    sample_parameters,
    sample_rows,
)
from .modes import SLOW_SLIP_VELOCITY
from .redundant_systems import LeastNormSystem, RegularSystem, symmetric_product
from .row_elements import is_absent

MAX_UNKNOWNS = 12
"""Unknown forces beyond which the expression is not made: its size grows with their third power, to
about 20,000 instructions for 12."""

RANK_TOLERANCE = 1e-9
"""Rows with unit response whose singular values are below this depend on each other."""


class ModeForces:
    """Generalized forces as expressions of (q, q̇, τ, t, mode).

    Stops and joint friction of the same coordinate share one unknown force: `groups` has the rows
    of each unknown, with their signs.

    The class has more than 20 methods because there is one for every term of these expressions.
    """

    def __init__(self, code: DynamicsCode) -> None:
        self.code, self.rows, samples = code, code.rows, sample_rows(code)
        self.layout = ModeLayout(code.rows, samples)
        self.groups = RowGroups(code.rows, samples)
        own = self.rows.tree.motion
        self.q, self.qd, self.t = own.q, own.qd, own.t
        self.tau = ca.SX.sym("tau", len(code.model.names.qd))
        self.mode = ca.SX.sym("mode", self.layout.size)
        firsts = [rows[0] for rows, _ in self.groups.all]
        self.R, self.gamma = self.rows.R[firsts, :], self.rows.gamma[firsts]

    @cached_property
    def _free(self) -> tuple[SX, SX]:
        """q̈ without forces of rows, and P."""
        equations = self.code.model.equations
        qdd, *_ = equations.expressions("forward_dynamics")
        state = {"q": self.q, "qd": self.qd, "tau": self.tau, "t": self.t}
        qdd, P = self.code.in_rows([qdd, ca.jacobian(qdd, equations.symbols["tau"])], state)
        return qdd, P

    @property
    def qdd(self) -> SX:
        """q̈ without forces of rows."""
        return self._free[0]

    @cached_property
    def answer(self) -> SX:
        """P Rᵀ: accelerations for units of the unknown forces."""
        return ca.densify(self._free[1] @ self.R.T)

    @cached_property
    def A(self) -> SX:
        """R P Rᵀ."""
        return symmetric_product(self.R, self.answer)

    @property
    def inputs(self) -> list[SX]:
        """The symbols of q, q̇, τ, t, the mode and, if there are some, the parameters."""
        return [self.q, self.qd, self.tau, self.t, self.mode, *self.parameters]

    @property
    def parameters(self) -> list[SX]:
        """The symbols of the parameters that are inputs, as one vector; none if there are none."""
        return [self.rows.p] if self.rows.parameters else []

    # -- the mode --------------------------------------------------------------------------------

    @cached_property
    def held_rows(self) -> SX:
        """1 for rows that are held, 0 for others."""
        found = ca.SX.zeros(self.rows.count)
        for i in range(self.layout.unilaterals):
            found[i] = self.mode[i]
        for slip in self.layout.slips:
            sticks = self.mode[slip.contact] * self.mode[slip.grip]
            found[list(self.rows.unilaterals[slip.contact].slip)] = sticks
        for k, joint_friction in enumerate(self.rows.joint_frictions):
            found[joint_friction.row] = self.mode[self.layout.first_hold + k]
        return found

    @cached_property
    def held(self) -> SX:
        """m: 1 for unknowns of which a row is held, 0 for others."""
        found = []
        for rows, _ in self.groups.all:
            free = ca.SX(1)
            for row in rows:
                free = free * (1 - self.held_rows[row])
            found.append(1 - free)
        return ca.vertcat(*found)

    @cached_property
    def known(self) -> SX:
        """k: friction of the joints that slide or ride along."""
        found = ca.SX.zeros(len(self.groups))
        for k, joint_friction in enumerate(self.rows.joint_frictions):
            group, sign = self.groups.place(joint_friction.row)
            slides = self.sign(k)
            rides = self.mode[self.layout.first_share + k] * joint_friction.ratio
            along = slides**2 * joint_friction.shift + (rides - slides) * joint_friction.force
            found[group] += sign * along
        return found

    @cached_property
    def mixing(self) -> SX:
        """C: the forces that go with each unknown: itself, and friction of contacts that slide."""
        found = ca.diag(self.held)
        for slip in self.layout.slips:
            slides = self.mode[slip.contact] * (1 - self.mode[slip.grip])
            drag = slides * self.drag(slip)
            for k, row in enumerate(self.rows.unilaterals[slip.contact].slip):
                if self.groups.is_live(row):
                    found[self.groups.place(row)[0], self.groups.place(slip.contact)[0]] = drag[k]
        return found

    def sign(self, k: int) -> SX:
        """Return the sign of a joint's slide, 0 if it sticks."""
        return self.mode[self.layout.first_sign + k]

    def slip_speed(self, slip: SlipNumbers) -> SX:
        """Return the two speeds of slip."""
        found: SX = self.rows.R[list(self.rows.unilaterals[slip.contact].slip), :] @ self.qd
        return found

    def drag(self, slip: SlipNumbers) -> SX:
        """Return the friction of a contact that slides, for a unit of normal force."""
        v, begun = self.slip_speed(slip), self.mode[list(slip.direction)]
        along = ca.dot(v, begun)
        kept = (1 - self.mode[slip.fast]) * (ca.sqrt(along**2 + SLOW_SLIP_VELOCITY**2) - along)
        toward = v + kept * begun
        friction = self.rows.unilaterals[slip.contact].friction
        found: SX = -friction * toward / ca.sqrt(ca.sumsqr(toward) + 1e-300)
        return found

    # -- forces ----------------------------------------------------------------------------------

    @cached_property
    def is_redundant(self) -> bool:
        """Whether unknowns that can be held together depend on each other, like the legs of a
        table. Joints hold the motion only if they do not depend on what is held."""
        home, other, *_ = sample_configurations(self.code)
        values = sample_parameters(self.code)[1]
        q = home if self.code.constrained else other
        found = ca.Function("A", [self.q, self.t, self.rows.p], [self.A])(q, 0, values)
        joints = {joint_friction.row for joint_friction in self.rows.joint_frictions}
        kept = [k for k, (rows, _) in enumerate(self.groups.all) if not {*rows} <= joints]
        numbers = np.asarray(found, dtype=float)[np.ix_(kept, kept)]
        sizes = np.sqrt(np.maximum(numbers.diagonal(), 1e-300))
        rank = np.linalg.matrix_rank(numbers / np.outer(sizes, sizes), tol=RANK_TOLERANCE)
        return bool(rank < len(numbers))

    @cached_property
    def matrix(self) -> SX:
        """m ∘ A C, with 1 on the diagonal for unknowns that are not held."""
        rows = ca.repmat(self.held, 1, len(self.groups))
        return ca.densify(rows * (self.A @ self.mixing) + ca.diag(1 - self.held))

    @cached_property
    def balance(self) -> LeastNormSystem | RegularSystem:
        """The equations of x; where x has least norm, rows are scaled to the same size."""
        if not self.is_redundant:
            return RegularSystem(self.matrix)
        return LeastNormSystem(self.matrix * (self.scale @ self.scale.T))

    @cached_property
    def scale(self) -> SX:
        """The scale of rows: one over the square root of each diagonal entry."""
        return 1 / ca.sqrt(ca.fabs(ca.diag(self.matrix)) + 1e-300)

    @cached_property
    def x(self) -> SX:
        """Unknown forces, which make the accelerations of held rows zero."""
        rest = -self.held * (self.R @ self.qdd + self.gamma + self.A @ self.known)
        if isinstance(self.balance, RegularSystem):
            return self.balance.solve(rest)
        return self.balance.solve(rest * self.scale) * self.scale

    @cached_property
    def push(self) -> SX:
        """Generalized forces of stops, contacts and friction."""
        found: SX = ca.densify(self.R.T @ (self.known + self.mixing @ self.x))
        return found

    @cached_property
    def share(self) -> SX:
        """The smallest pivot of the balance, as a share; 1 where it needs none."""
        return self.balance.share if isinstance(self.balance, RegularSystem) else ca.SX(1)

    @cached_property
    def accelerations(self) -> SX:
        """q̈ under all forces."""
        found: SX = self.qdd + self.answer @ (self.known + self.mixing @ self.x)
        return found


def find_mode_forces(code: DynamicsCode) -> ModeForces | None:
    """Return the forces of a mechanism's modes; None if they are not an expression (friction that
    depends on reactions takes iterations), if the expression is too large, or if the
    mechanism has no such forces."""
    rows = code.rows
    can_rest = any(unilateral.restitution is not None for unilateral in rows.unilaterals)
    if not (can_rest or rows.joint_frictions) or any(
        not is_absent(joint_friction.arm) for joint_friction in rows.joint_frictions
    ):
        return None
    found = ModeForces(code)
    return found if len(found.groups) <= MAX_UNKNOWNS else None
