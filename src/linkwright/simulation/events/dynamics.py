"""Accelerations while some rows are held, and the forces that hold them.

    M q̈ = F + Dᵀx + Jᵀλ,    R q̈ + γ = 0 for held rows,    J q̈ + γ_J = 0

D is R except for sliding contacts, whose rows in D add the friction −μ d to the normal force.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import casadi as ca
import numpy as np

from ...formulations.recursive.recursive_newton_euler import newton_euler_joint_reactions
from ...formulations.reduced_dynamics import loop_joint_reactions
from ...kinematics.constraint_equations import constraint_body_forces, constraint_equations
from ...mechanism import Mechanism
from ...model.model import Model
from ...model.near_redundancy import make_rows_redundant
from ...quantities import quantity_signatures
from ...types import Floats
from .coding import NamedExpression, compile_expressions, least_squares, symmetric_inverse
from .event_tolerances import FORCE_SOLVER
from .row_elements import is_absent
from .rows import ModeRows

if TYPE_CHECKING:
    from .modes import ModePlan


Share = Callable[[Floats], Floats]


@dataclass(frozen=True)
class HeldSolution:
    """The solution: accelerations, forces x of the held rows, λ of the mechanism's constraints."""

    qdd: Floats
    x: Floats
    multipliers: Floats


class DynamicsCode:
    """The compiled functions of a mechanism with rows, which its runs share."""

    def __init__(self, mechanism: Mechanism, model: Model, rows: ModeRows) -> None:
        self.mechanism, self.model, self.rows = mechanism, model, rows
        self.constrained = bool(model.names.constraints)
        tables = (mechanism.joints, mechanism.loops)
        self.members = [
            (name, joint.breaks)
            for table in tables
            for name, joint in table.items()
            if joint.breaks is not None
        ]
        self.ties = [
            (name, strength)
            for name, tie in mechanism.constraints.items()
            if (strength := getattr(tie, "breaks", None)) is not None
        ]

    def in_rows(self, outputs: list[Any], arguments: Mapping[str, Any]) -> list[Any]:
        """Return expressions of the equations as expressions of the symbols of the rows."""
        equations, rows = self.model.equations, self.rows
        symbols, values = [equations.symbols[key] for key in arguments], list(arguments.values())
        if self.model.parameters:
            symbols.append(equations.symbols["p"])
            values.append(rows.p[[rows.parameters.index(k) for k in self.model.parameters]])
        found: list[Any] = ca.Function("outputs", symbols, outputs).call(values)
        return found

    @cached_property
    def numbers(self) -> Callable[..., list[Floats]]:
        """The function (q, q̇, t, p) → M, bias, R, γ, J, and the bias of J."""
        own, rows, eqs = self.rows.tree.motion, self.rows, self.model.equations
        n, m = len(self.model.names.qd), len(self.model.names.constraints)
        kinds = ["mass_matrix", "bias"]
        kinds += ["constraint_jacobian", "constraint_bias"] if self.constrained else []
        outputs = [eqs.expressions(kind)[0] for kind in kinds]
        M, bias, *ties = self.in_rows(outputs, {"q": own.q, "qd": own.qd, "t": own.t})
        J, J_bias = ties or (ca.SX(0, n), ca.SX(0, 1))
        return compile_expressions(
            "numbers",
            [("q", own.q, (self.model.nq,)), ("qd", own.qd, (n,)), ("t", own.t, ()), self._p],
            [
                ("M", M, (n, n)),
                ("bias", bias, (n,)),
                ("R", rows.R, (rows.count, n)),
                ("gamma", rows.gamma, (rows.count,)),
                ("J", J, (m, n)),
                ("J_bias", J_bias, (m,)),
            ],
        )

    @property
    def _p(self) -> NamedExpression:
        """The parameters that are inputs."""
        return ("p", self.rows.p, (len(self.rows.parameters),))

    @cached_property
    def wrenches(self) -> Callable[..., list[Floats]]:
        """The function (q, q̇, q̈, t, λ, forces of contacts, p) → forces that press on friction,
        loads of members that may break, wrenches of all joints and loops."""
        return compile_expressions("wrenches", *self.wrench_expressions)

    def model_with(self, values: Floats) -> Model:
        """Return the model with values of the rows' parameters in its functions."""
        if not self.model.parameters:
            return self.model
        places = [self.rows.parameters.index(name) for name in self.model.parameters]
        return cast("Model", ModelWithValues(self.model, values[places]))

    @cached_property
    def wrench_expressions(self) -> tuple[list[NamedExpression], list[NamedExpression]]:
        """The inputs and outputs of `wrenches`."""
        tree, rows = self.rows.tree, self.rows
        own = tree.motion
        constraints = constraint_equations(tree)
        lam = ca.SX.sym("lambda", len(constraints) if constraints else 0)
        push = ca.SX.sym("push", 3, len(rows.contacts))
        ties = constraint_body_forces(tree, constraints, lam) if constraints else []
        loads = [*ties, *rows.contact_loads(push)]
        found: Any = newton_euler_joint_reactions(tree, own.q, own.qd, own.qdd, others=loads)
        every: Any = ca.vertcat(found, *loop_joint_reactions(tree, ties))
        names = [*(span.name for span in tree.joints), *self.mechanism.loops]
        pressed = [self._pressure(joint_friction, found) for joint_friction in rows.joint_frictions]
        strong = [every[names.index(name), :] for name, _ in self.members]
        sizes = [ca.norm_2(cut) for row in strong for cut in (row[0, 3:], row[0, :3])]
        n = (len(self.model.names.qd),)
        return (
            [
                ("q", own.q, (self.model.nq,)),
                ("qd", own.qd, n),
                ("qdd", own.qdd, n),
                ("t", own.t, ()),
                ("lam", lam, (lam.numel(),)),
                ("push", push, tuple(push.shape)),
                *([self._p] if self.rows.parameters else []),
            ],
            [
                ("pressed", ca.vertcat(ca.SX(0, 1), *pressed), (len(pressed),)),
                ("sizes", ca.vertcat(ca.SX(0, 1), *sizes), (len(sizes),)),
                ("every", every, tuple(every.shape)),
            ],
        )

    def _pressure(self, joint_friction: Any, found: Any) -> Any:
        """Return the force that presses on a joint's friction."""
        if is_absent(joint_friction.arm):
            return ca.SX(0)
        force = found[joint_friction.joint, 3:].T
        if joint_friction.axis >= 0:
            axis = self.rows.axis(joint_friction.axis)
            force = force - axis * ca.dot(axis, force)
        return ca.norm_2(force)


class ModelWithValues:
    """A model whose functions take values of the parameters that it keeps as inputs."""

    def __init__(self, model: Model, values: Floats) -> None:
        self._model, self._values = model, values
        self._functions = quantity_signatures(model.names)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._model, name)
        if name not in self._functions:
            return found
        return lambda *inputs: found(*inputs, self._values)


class Dynamics:
    """The dynamics of a mechanism in numbers, for one run.

    `model` lacks the friction that the rows describe. `values` are those of the parameters that
    are inputs of the code (default: the mechanism's).
    """

    def __init__(self, code: DynamicsCode, values: Floats | None = None) -> None:
        self.code, self.mechanism = code, code.mechanism
        self.rows, self.model = code.rows, code.model
        if code.rows.parameters:
            self.rows = code.rows.with_values(code.rows.values if values is None else values)
            self.model = code.model_with(self.rows.values)
        rows, model = self.rows, self.model
        self.in_time = model.names.is_time_dependent
        self.constrained = code.constrained
        self.pressure: Floats = np.zeros(len(rows.joint_frictions))
        """The last solution for the forces that press on friction: a warm start for the next
        one."""
        self.still, self.nothing = np.zeros(len(model.names.qd)), np.zeros(0)
        self.by_reaction = any(joint_friction.arm for joint_friction in rows.joint_frictions)
        self.plan: ModePlan | None = None
        """The plan of the last mode that was solved for."""
        self.members, self.ties = code.members, code.ties

    def at(self, t: float, q: Floats, qd: Floats, tau: Floats) -> InstantDynamics:
        """Return the dynamics at a state under inputs."""
        return InstantDynamics(self, t, q, qd, tau)

    def numbers(self, q: Floats, qd: Floats, t: float) -> list[Floats]:
        """Return M, bias, R, γ, J, and the bias of J."""
        return self.code.numbers(q, qd, t, self.rows.values)

    def wrenches(self, *state: Any) -> list[Floats]:
        """Return the results of `DynamicsCode.wrenches`."""
        return self.code.wrenches(*state, self.rows.values)


class InstantDynamics:
    """The dynamics at one state under inputs."""

    def __init__(self, of: Dynamics, t: float, q: Floats, qd: Floats, tau: Floats) -> None:
        self.of, self.t, self.q, self.qd, self.tau = of, t, q, qd, tau
        self.M, bias, self.R, self.gamma, J, J_bias = of.numbers(q, qd, t)
        self.J, self.J_bias = make_rows_redundant(of.model, J, J_bias)
        self.F = tau - bias

    @cached_property
    def inverse(self) -> Floats | None:
        """M⁻¹; None if some coordinate moves no mass."""
        return symmetric_inverse(self.M)

    def hold_rows(
        self,
        rows: list[int],
        columns: Floats,
        known: Floats,
        share: Share | None = None,
    ) -> HeldSolution:
        """Return accelerations and forces that hold rows, of least norm where they are not unique.

        `share` gives weights of x from the forces of least norm.
        """
        m = len(rows)
        qdd, x, unique = self.solve_held_rows(rows, columns, known)
        if not unique:
            D = np.concatenate([columns, self.J.T], axis=1) if len(self.J) else columns
            total = D @ x
            x, weights = least_squares(D, total, FORCE_SOLVER.rank_share)[0], np.ones(len(x))
            if share is not None:
                weights[:m] = share(x[:m])
                x = weights * least_squares(D * weights, total, FORCE_SOLVER.rank_share)[0]
        return HeldSolution(qdd, x[:m], x[m:])

    def solve_held_rows(
        self, rows: list[int], columns: Floats, known: Floats
    ) -> tuple[Floats, Floats, bool]:
        """Return accelerations, forces x and λ that cause them, and whether these are unique."""
        A, D, gamma = self.R[rows], columns, self.gamma[rows]
        if len(self.J):
            A, D = np.concatenate([A, self.J]), np.concatenate([D, self.J.T], axis=1)
            gamma = np.concatenate([gamma, self.J_bias])
        if self.inverse is None:
            return (*self._held_without_mass(A, D, gamma, self.F + known), False)
        free = self.inverse @ (self.F + known)
        if not len(A):
            return free, self.of.nothing, True
        answer = self.inverse @ D
        S = A @ answer
        scale = np.sqrt(np.abs(S.diagonal()))
        scale[scale == 0.0] = 1.0
        S /= scale[:, None] * scale
        x, rank = least_squares(S, (A @ free + gamma) / -scale, FORCE_SOLVER.rank_share)
        x /= scale
        return free + answer @ x, x, rank == len(S)

    def _held_without_mass(
        self, A: Floats, D: Floats, gamma: Floats, F: Floats
    ) -> tuple[Floats, Floats]:
        """Return all unknowns at once, where M has no inverse."""
        n = len(F)
        K = np.block([[self.M, -D], [A, np.zeros((len(A), len(A)))]])
        size = np.maximum(np.abs(K).max(axis=1), 1e-300)
        found, _ = least_squares(
            K / size[:, None], np.concatenate([F, -gamma]) / size, FORCE_SOLVER.rank_share
        )
        return found[:n], found[n:]

    @cached_property
    def admittance(self) -> Floats:
        """P with Δq̇ = P · generalized impulse, under the mechanism's own constraints."""
        return self.admittance_holding([])

    def admittance_holding(self, rows: list[int]) -> Floats:
        """Return P while some rows are held too."""
        A = np.vstack([self.J, self.R[rows]])
        Z = np.eye(len(self.qd))
        if len(A):
            sizes, right = np.linalg.svd(A)[1:]
            Z = right[int((sizes > 1e-9 * max(sizes[0], 1e-300)).sum()) :].T
        inner = Z.T @ self.M @ Z
        found: Floats = Z @ np.linalg.pinv(inner, rcond=1e-13, hermitian=True) @ Z.T
        return found

    def loads(self, held: HeldSolution, pushes: Floats) -> tuple[Floats, Floats]:
        """Return the forces that press on friction, and the loads of members that may break."""
        pressure, sizes, _ = self._wrenches(held, pushes)
        return pressure, sizes

    def reactions(self, held: HeldSolution, pushes: Floats) -> Floats:
        """Return the reactions of joints and loops, contacts included, (joints and loops, 6)."""
        return self._wrenches(held, pushes)[2]

    def _wrenches(self, held: HeldSolution, pushes: Floats) -> list[Floats]:
        """Return the loads of friction, of members that may break, and of all joints."""
        state = self.q, self.qd, held.qdd, self.t
        return self.of.wrenches(*state, held.multipliers, pushes)
