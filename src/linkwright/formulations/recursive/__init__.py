"""The recursive formulation: Newton–Euler, composite and articulated bodies.

What every robotics library computes, in link frames, O(n) or O(n·depth).
"""

from __future__ import annotations

import casadi as ca

from ...algebra.linear import Array
from ...equations import Equations
from ...kinematics.build import build_tree
from ...kinematics.canonical import canonical, is_numeric, regrouped
from ...kinematics.coordinates import convected, rates
from ...kinematics.tree import Tree
from ...kinematics.values import Parameters
from ...mechanism import Mechanism
from ..shared import Shared
from .articulated import forward_dynamics
from .composite import factor, mass_matrix, tree_mass_matrix
from .coriolis import coriolis_matrix
from .derivatives import inverse_dynamics_derivatives
from .newton_euler import inverse_dynamics, reactions
from .regressors import control_regressor, regressor


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return None


def derive(mechanism: Mechanism, parameters: Parameters = "symbolic") -> Equations:
    """Equations of a tree mechanism by recursion over its links."""
    tree = build_tree(mechanism, parameters)
    lean = tree
    if is_numeric(tree):
        tree = canonical(tree)
        lean = regrouped(tree)
    return equations_of(tree, lean)


def equations_of(tree: Tree, lean: Tree) -> Equations:
    """Equations of a tree, with a second one for the forces at the joints."""
    recursion = _Recursion(tree, lean)
    builders = {name: getattr(recursion, name) for name in _BUILDERS}
    return recursion.equations("recursive", builders)


class _Recursion(Shared):
    """Builders of the expressions, each named as the function it makes.

    The `lean` tree has its inertia regrouped: it serves what depends on forces at the joints
    alone; energies, momenta, reactions and parameters need the `tree` itself.
    """

    def __init__(self, tree: Tree, lean: Tree) -> None:
        super().__init__(tree)
        self.lean = lean
        self.bodies = [tree.bodies[name] for name in tree.names.bodies]

    def inverse_dynamics(self) -> Array:
        return inverse_dynamics(self.lean, self.q, self.qd, self.qdd) - self.own_forces()

    def inverse_dynamics_with_wrenches(self) -> Array:
        wrenches = self.symbols["wrenches"]
        return inverse_dynamics(self.lean, self.q, self.qd, self.qdd, wrenches) - self.own_forces()

    def bias(self) -> Array:
        return inverse_dynamics(self.lean, self.q, self.qd, None) - self.own_forces()

    def gravity(self) -> Array:
        return inverse_dynamics(self.lean, self.q, ca.SX.zeros(self.tree.nv), None)

    def forward_dynamics(self) -> Array:
        """By the mass matrix, or by articulated bodies where these take fewer operations.

        Mimicry and chosen coordinates couple branches and need the mass matrix.
        """
        coupled = bool(self.tree.followers) or self.tree.transfer is not None
        if coupled or self.tree.nv <= _FEW:
            return self._by_mass_matrix(self.bias())
        depths = [sum(1 for _ in self.tree.path(i)) for i in range(len(self.tree.links))]
        if sum(depth**2 for depth in depths) > _HOPELESS * len(depths):
            return self._by_articulated_bodies()
        ways = [self._by_mass_matrix(self.bias()), self._by_articulated_bodies()]
        return min(ways, key=_operations)

    def _by_articulated_bodies(self) -> Array:
        return forward_dynamics(self.lean, self.q, self.qd, self.tau + self.own_forces())

    def forward_dynamics_with_wrenches(self) -> Array:
        bias = inverse_dynamics(self.lean, self.q, self.qd, None, self.symbols["wrenches"])
        return self._by_mass_matrix(bias - self.own_forces())

    def _by_mass_matrix(self, bias: Array) -> Array:
        rhs = self.tau - bias
        factors = factor(self.lean, self.mass_matrix())
        return ca.vertcat(*factors.solve(ca.vertsplit(rhs)))

    def mass_matrix(self) -> Array:
        return mass_matrix(self.lean, self.q)

    def coriolis_matrix(self) -> Array:
        C = coriolis_matrix(self.lean, self.q, self.qd)
        return C + convected(self.lean, tree_mass_matrix(self.lean, self.q))

    def inverse_dynamics_derivatives(self) -> tuple[Array, Array, Array]:
        if self.tree.transfer is not None and not self.tree.transfer.is_affine:
            tau = self.inverse_dynamics()
            return ca.jacobian(tau, self.q), ca.jacobian(tau, self.qd), self.mass_matrix()
        by_q, by_qd, M = inverse_dynamics_derivatives(self.lean, self.q, self.qd, self.qdd)
        passive = self.own_forces()
        slope = ca.jacobian(passive, self.q) @ rates(self.tree, self.q)
        return by_q - slope, by_qd - ca.jacobian(passive, self.qd), M

    def forward_dynamics_derivatives(self) -> tuple[Array, Array, Array]:
        """M ∂q̈ = ∂τ − ∂(inverse dynamics) at the q̈ that τ gives; one factorisation for all."""
        *slopes, M = self.inverse_dynamics_derivatives()
        factors = factor(self.lean, M)
        qdd = ca.vertcat(*factors.solve(ca.vertsplit(self.tau - self.bias())))
        by_q, by_qd = ca.substitute(slopes, [self.qdd], [qdd])
        columns: list[Array] = [-by_q, -by_qd, ca.SX.eye(self.tree.nv)]
        return tuple(
            ca.horzcat(*(ca.vertcat(*factors.solve(ca.vertsplit(x))) for x in ca.horzsplit(X)))
            for X in columns
        )  # type: ignore[return-value]

    def reactions(self) -> Array:
        return self._under_forces(self.reactions_of_motion())

    def body_reactions(self) -> Array:
        rows = reactions(self.tree, self.q, self.qd, self.qdd, in_bodies=True)
        return self._under_forces(rows)

    def reactions_of_motion(self) -> Array:
        return reactions(self.tree, self.q, self.qd, self.qdd)

    def _under_forces(self, expression: Array) -> Array:
        """At the accelerations that τ gives."""
        return ca.substitute(expression, self.qdd, self.forward_dynamics())

    def regressor(self) -> Array:
        return regressor(self.tree, self.q, self.qd, self.qdd, self.bodies)

    def control_regressor(self) -> Array:
        v, vd = self.symbols["v"], self.symbols["vd"]
        return control_regressor(self.tree, self.q, self.qd, v, vd, self.bodies)


_FEW = 10
"""Up to so many freedoms the mass matrix is always the cheaper way."""

_HOPELESS = 600
"""Factorising takes about depth² operations a link, articulated bodies some 350."""


def _operations(expression: Array) -> int:
    return int(ca.n_nodes(ca.cse(expression)))


_BUILDERS = (
    "inverse_dynamics", "forward_dynamics", "inverse_dynamics_with_wrenches",
    "forward_dynamics_with_wrenches", "mass_matrix", "coriolis_matrix", "gravity", "bias",
    "reactions", "body_reactions", "reactions_of_motion", "regressor", "control_regressor",
    "inverse_dynamics_derivatives", "forward_dynamics_derivatives",
)  # fmt: skip
