"""The recursive formulation: Newton–Euler, composite and articulated bodies.

The algorithms of robotics libraries, in link frames, O(n) or O(n·depth).
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import casadi as ca

from ...algebra.linear_algebra import ZERO3, Array
from ...equations import Equations
from ...kinematics.canonical_frames import canonical_tree, is_numeric_tree, regroup_link_inertias
from ...kinematics.kinematic_tree import KinematicTree
from ...kinematics.parameter_values import ParameterSelection
from ...kinematics.rotor_inertias import couples_branches
from ...kinematics.tree_builder import build_kinematic_tree
from ...kinematics.tree_coordinates import (
    coordinate_rate_matrix,
    freeze_coordinates,
    transfer_coriolis_matrix,
)
from ...mechanism import Mechanism
from ..composite_mass_matrix import (
    composite_mass_matrix,
    composite_tree_mass_matrix,
    factor_mass_matrix,
)
from ..formulation import Formulation
from ..recursive_coriolis import recursive_coriolis_matrix
from .articulated import articulated_forward_dynamics
from .derivatives import recursive_dynamics_derivatives
from .recursive_newton_euler import newton_euler_forces, newton_euler_joint_reactions


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return None


def derive(mechanism: Mechanism, parameters: ParameterSelection = "symbolic") -> Equations:
    """Equations of a tree mechanism by recursion over its links."""
    tree = build_kinematic_tree(mechanism, parameters)
    lean = tree
    if is_numeric_tree(tree):
        tree = canonical_tree(tree)
        lean = regroup_link_inertias(tree)
    return recursive_equations(tree, lean)


def algorithm_name(mechanism: Mechanism) -> str:
    """The name of the algorithm by which accelerations follow from forces."""
    tree = canonical_tree(build_kinematic_tree(mechanism, "numeric"))
    return _RecursiveFormulation(tree, regroup_link_inertias(tree)).cheapest_accelerations[0]


def recursive_equations(tree: KinematicTree, lean: KinematicTree) -> Equations:
    """Equations of a tree; `lean`, the tree with regrouped inertias, serves the forces at the
    joints."""
    recursion = _RecursiveFormulation(tree, lean)
    builders = {name: getattr(recursion, name) for name in _BUILDERS}
    is_deep = _mean_link_depth(tree) > 2 * _MIN_DEPTH_PER_RECURSION
    accelerations = recursion.constrained_accelerations if is_deep else None
    return recursion.assemble_equations("recursive", builders, accelerations=accelerations)


def _mean_link_depth(tree: KinematicTree) -> float:
    """The mean number of links from a link to ground."""
    depths = [sum(1 for _ in tree.path_to_ground(i)) for i in range(len(tree.links))]
    return sum(depths) / max(1, len(depths))


class _RecursiveFormulation(Formulation):
    """Builders of the expressions, each named as the function it makes.

    The `lean` tree has its inertia regrouped and serves quantities that depend only on forces at
    the joints; energies, momenta, reactions and parameters need the `tree` itself. The class has
    more than 20 methods because there is one for every function.
    """

    def __init__(self, tree: KinematicTree, lean: KinematicTree) -> None:
        super().__init__(tree)
        self.regrouped_tree, self.frozen_tree = lean, freeze_coordinates(lean)

    def constrained_accelerations(self) -> Array:
        """q̈ under forces and constraints. A deep tree with few degrees of freedom needs no mass
        matrix: M times a column of G is the inverse dynamics at that acceleration, without
        velocities and gravity, in O(n) operations each."""
        own, tree = self.reduction, self.regrouped_tree
        if not own.a or _mean_link_depth(self.tree) <= _MIN_DEPTH_PER_RECURSION * (1 + len(own.a)):
            return own.reduced_accelerations(self.mass_matrix(), self.tau - self.bias())
        still, weightless = ca.SX.zeros(tree.nv), replace(self.frozen_tree, gravity=ZERO3)
        columns = [
            newton_euler_forces(weightless, self.q, still, column) for column in ca.horzsplit(own.G)
        ]
        needed = newton_euler_forces(tree, self.q, self.qd, own.bias_accelerations)
        rest = self.tau + self.element_forces() - needed
        return own.independent_accelerations(own.G.T @ ca.horzcat(*columns), rest)

    def inverse_dynamics(self) -> Array:
        """τ for the motion (q, q̇, q̈), by recursive Newton–Euler."""
        return (
            newton_euler_forces(self.regrouped_tree, self.q, self.qd, self.qdd)
            - self.element_forces()
        )

    def inverse_dynamics_with_wrenches(self) -> Array:
        """τ for a motion while given wrenches act on the bodies."""
        wrenches = self.symbols["wrenches"]
        return (
            newton_euler_forces(self.regrouped_tree, self.q, self.qd, self.qdd, wrenches)
            - self.element_forces()
        )

    def bias(self) -> Array:
        """C q̇ + g − f: inverse dynamics at q̈ = 0."""
        return (
            newton_euler_forces(self.regrouped_tree, self.q, self.qd, None) - self.element_forces()
        )

    def gravity(self) -> Array:
        """g: inverse dynamics at rest without element forces."""
        return newton_euler_forces(self.frozen_tree, self.q, ca.SX.zeros(self.tree.nv), None)

    def transport(self) -> Array:
        """d: the bias of moving coordinates without that of the same coordinates at rest."""
        moving, frozen = (
            newton_euler_forces(tree, self.q, self.qd, None)
            for tree in (self.regrouped_tree, self.frozen_tree)
        )
        return moving - frozen

    def forward_dynamics(self) -> Array:
        """q̈ by the mass matrix, or by articulated bodies where these take fewer operations."""
        return self.cheapest_accelerations[1]

    @cached_property
    def cheapest_accelerations(self) -> tuple[str, Array]:
        """The name of the algorithm that takes fewer operations, and its q̈.

        Mimicry, chosen coordinates and armature of lengths couple branches and need the mass
        matrix.
        """
        coupled = bool(self.tree.followers) or self.tree.transfer is not None
        coupled = coupled or couples_branches(self.tree)
        if coupled or self.tree.nv <= _MAX_MASS_MATRIX_SIZE:
            return "mass matrix", self._mass_matrix_accelerations(self.bias())
        depths = [sum(1 for _ in self.tree.path_to_ground(i)) for i in range(len(self.tree.links))]
        forces = self.tau + self.element_forces()
        qdd = articulated_forward_dynamics(self.regrouped_tree, self.q, self.qd, forces)
        articulated = "articulated bodies", qdd
        if sum(depth**2 for depth in depths) > _MAX_SQUARED_DEPTH * len(depths):
            return articulated
        direct = "mass matrix", self._mass_matrix_accelerations(self.bias())
        return min(direct, articulated, key=lambda way: _dynamics_expression_cost(way[1]))

    def forward_dynamics_with_wrenches(self) -> Array:
        """q̈ under τ and given wrenches on the bodies."""
        bias = newton_euler_forces(
            self.regrouped_tree, self.q, self.qd, None, self.symbols["wrenches"]
        )
        return self._mass_matrix_accelerations(bias - self.element_forces())

    def _mass_matrix_accelerations(self, bias: Array) -> Array:
        """q̈ = M⁻¹(τ − bias), by sparse factors of M."""
        rhs = self.tau - bias
        factors = factor_mass_matrix(self.regrouped_tree, self.mass_matrix())
        return ca.vertcat(*factors.solve(ca.vertsplit(rhs)))

    def mass_matrix(self) -> Array:
        """M by composite bodies, nv × nv."""
        return composite_mass_matrix(self.regrouped_tree, self.q)

    def coriolis_matrix(self) -> Array:
        """C with Ṁ − 2C skew, nv × nv."""
        tree = self.frozen_tree
        C = recursive_coriolis_matrix(tree, self.q, self.qd)
        return C + transfer_coriolis_matrix(tree, composite_tree_mass_matrix(tree, self.q))

    def inverse_dynamics_derivatives(self) -> tuple[Array, Array, Array]:
        """∂τ/∂q along the tangent, ∂τ/∂q̇, and M."""
        transfer = self.tree.transfer
        if transfer is not None and (transfer.is_moving or not transfer.is_affine):
            tau = self.inverse_dynamics()
            return ca.jacobian(tau, self.q), ca.jacobian(tau, self.qd), self.mass_matrix()
        by_q, by_qd, M = recursive_dynamics_derivatives(
            self.regrouped_tree, self.q, self.qd, self.qdd
        )
        passive = self.element_forces()
        slope = ca.jacobian(passive, self.q) @ coordinate_rate_matrix(self.tree, self.q)
        return by_q - slope, by_qd - ca.jacobian(passive, self.qd), M

    def forward_dynamics_derivatives(self) -> tuple[Array, Array, Array]:
        """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ from M ∂q̈ = ∂τ − ∂(inverse dynamics), with one
        factorization."""
        *slopes, M = self.inverse_dynamics_derivatives()
        factors = factor_mass_matrix(self.regrouped_tree, M)
        qdd = ca.vertcat(*factors.solve(ca.vertsplit(self.tau - self.bias())))
        by_q, by_qd = ca.substitute(slopes, [self.qdd], [qdd])
        columns: list[Array] = [-by_q, -by_qd, ca.SX.eye(self.tree.nv)]
        return tuple(
            ca.horzcat(*(ca.vertcat(*factors.solve(ca.vertsplit(x))) for x in ca.horzsplit(X)))
            for X in columns
        )  # type: ignore[return-value]

    def reactions(self) -> Array:
        """The wrenches of the joints under τ, in world axes, one row each."""
        return self._substitute_forward_dynamics(self.reactions_of_motion())

    def body_reactions(self) -> Array:
        """The wrenches of the joints under τ, in the axes of the child bodies."""
        rows = newton_euler_joint_reactions(self.tree, self.q, self.qd, self.qdd, in_bodies=True)
        return self._substitute_forward_dynamics(rows)

    def reactions_of_motion(self) -> Array:
        """The wrenches of the joints for given q̈, in world axes."""
        return newton_euler_joint_reactions(self.tree, self.q, self.qd, self.qdd)

    def _substitute_forward_dynamics(self, expression: Array) -> Array:
        """Substitute the accelerations that τ gives."""
        return ca.substitute(expression, self.qdd, self.forward_dynamics())


_MIN_DEPTH_PER_RECURSION = 2
"""Mean depth of links for each recursion (one for each degree of freedom, one for the rest) above
which recursions take fewer operations than the mass matrix; a scissor chain of six stages has 2.2,
and takes a quarter fewer."""

_MAX_MASS_MATRIX_SIZE = 10
"""Up to this many degrees of freedom the mass matrix always takes fewer operations."""

_MAX_SQUARED_DEPTH = 600
"""Factorization takes about depth² operations for each link, articulated bodies about 350."""


def _dynamics_expression_cost(expression: Array) -> int:
    """The number of nodes of the expression's graph."""
    return int(ca.n_nodes(ca.cse(expression)))


_BUILDERS = (
    "inverse_dynamics",
    "forward_dynamics",
    "inverse_dynamics_with_wrenches",
    "forward_dynamics_with_wrenches",
    "mass_matrix",
    "coriolis_matrix",
    "gravity",
    "bias",
    "reactions",
    "body_reactions",
    "reactions_of_motion",
    "inverse_dynamics_derivatives",
    "forward_dynamics_derivatives",
)
