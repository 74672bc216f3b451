"""Lagrange's equations, as Spong and Vidyasagar (6.3.9)–(6.3.13) and Virgala et al. (2016)
derive them for manipulators.

    D(q) = Σ m J_vᵀ J_v + J_ωᵀ R I Rᵀ J_ω                        Virgala (7), Spong (6.3.1)
    c_ijk = ½(∂d_kj/∂q_i + ∂d_ki/∂q_j − ∂d_ij/∂q_k) = c_jik       Virgala (22), Spong (6.3.9)
    C_kj = Σ c_ijk q̇_i,   φ_k = ∂V/∂q_k                           Virgala (21, 18)

All Christoffel symbols of n links are n³ sums, each of a length that grows with n. The same D and C
(Ḋ − 2C skew) are also sums over `composite_bodies`, n² sums of equal length: another algorithm. The
option `algorithm` chooses between them, "christoffel" or "composite". Its default is "christoffel"
up to `MAX_CHRISTOFFEL_VELOCITIES` degrees of freedom and "composite" beyond, and `algorithm_name`
says which one it is.
"""

from __future__ import annotations

from functools import cached_property, partial

import casadi as ca

from ...algebra.linear_algebra import Array, dot
from ...equations import Equations
from ...errors import NameNotFoundError, suggest_remedy
from ...kinematics.kinematic_tree import KinematicTree
from ...kinematics.parameter_values import ParameterSelection
from ...kinematics.rotor_inertias import rotor_inertia_matrix
from ...kinematics.tree_builder import build_kinematic_tree
from ...kinematics.tree_coordinates import (
    freeze_coordinates,
    gather_columns,
    gather_forces,
    spread_velocities,
    transfer_coriolis_matrix,
)
from ...kinematics.world_kinematics import WorldKinematics
from ...mechanism import Mechanism, mechanism_names
from ..formulation import Formulation, reject_quaternions
from .composite_bodies import LagrangeCompositeBodies
from .derivation_steps import lagrange_derivation

MAX_CHRISTOFFEL_VELOCITIES = 8
"""Up to this many degrees of freedom, Christoffel symbols are written out by default: 12 000
operations for a chain of 8 links, 370 000 for one of 20, which takes minutes to compile."""

ALGORITHMS = {"christoffel": "Christoffel symbols", "composite": "composite bodies"}
"""The names of both algorithms, for the option and for people."""


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return reject_quaternions(mechanism)


def algorithm_name(mechanism: Mechanism, algorithm: str | None = None) -> str:
    """The name of the algorithm by which D and C are derived."""
    return ALGORITHMS[_chosen_algorithm(mechanism_names(mechanism).nv, algorithm)]


def _chosen_algorithm(nv: int, algorithm: str | None) -> str:
    """The algorithm that is asked for, or the default at nv degrees of freedom."""
    if algorithm is None:
        return "christoffel" if nv <= MAX_CHRISTOFFEL_VELOCITIES else "composite"
    if algorithm not in ALGORITHMS:
        raise NameNotFoundError(
            f"lagrange has no algorithm '{algorithm}'",
            remedy=suggest_remedy(algorithm, list(ALGORITHMS)),
        )
    return algorithm


def derive(
    mechanism: Mechanism,
    parameters: ParameterSelection = "symbolic",
    algorithm: str | None = None,
) -> Equations:
    """Lagrange's equations of the second kind in the joint variables."""
    lagrange = LagrangeFormulation(build_kinematic_tree(mechanism, parameters), algorithm)
    builders = {
        "mass_matrix": lagrange.mass_matrix,
        "coriolis_matrix": lagrange.coriolis_matrix,
        "gravity": lagrange.gravity,
    }
    extras = {"christoffel": lagrange.christoffel_symbols}
    steps = partial(lagrange_derivation, lagrange)
    return lagrange.assemble_equations("lagrange", builders, extras, derivation_steps=steps)


class LagrangeFormulation(Formulation):
    """Lagrange's equations by Jacobians and Christoffel symbols, or by composite bodies."""

    def __init__(self, tree: KinematicTree, algorithm: str | None = None) -> None:
        super().__init__(tree)
        self.uses_composites = _chosen_algorithm(tree.nv, algorithm) == "composite"
        self.world = WorldKinematics(tree, self.q)

    @cached_property
    def body_jacobians(self) -> list[tuple[Array, Array]]:
        """(J_v, J_ω) of the centres of mass: steps 2 and 3 of Virgala's algorithm."""
        return [self.world.point_jacobians(body.link, body.r) for body in self.world.bodies]

    @cached_property
    def composite_bodies(self) -> LagrangeCompositeBodies:
        """The sums over composite bodies, for trees with many degrees of freedom."""
        return LagrangeCompositeBodies(self.world)

    def mass_matrix(self) -> Array:
        """D(q), rotors included."""
        tree = self.tree
        return ca.densify(gather_columns(tree, gather_forces(tree, self.tree_mass_matrix())))

    def tree_mass_matrix(self) -> Array:
        """D along the tree's own velocities, rotors included."""
        D = self.rotor_inertias()
        if self.uses_composites:
            D += self.composite_bodies.mass_matrix()
        else:
            for body, (J_v, J_w) in zip(self.world.bodies, self.body_jacobians, strict=True):
                D += body.m * (J_v.T @ J_v) + J_w.T @ body.I @ J_w
        return D

    def rotor_inertias(self) -> Array:
        """The inertias of rotors and lengths along the tree's velocities."""
        return rotor_inertia_matrix(self.tree)

    def christoffel_symbols(self) -> list[Array]:
        """c_ijk as a matrix in i, j for each k."""
        D, n = self.mass_matrix(), self.tree.nv
        by = [ca.reshape(column, n, n) for column in ca.horzsplit(ca.jacobian(ca.vec(D), self.q))]
        symbols = []
        for k in range(n):
            c = ca.SX.zeros(n, n)
            for i in range(n):
                for j in range(i + 1):
                    c[i, j] = c[j, i] = (by[i][k, j] + by[j][k, i] - by[k][i, j]) / 2
            symbols.append(c)
        return symbols

    def coriolis_matrix(self) -> Array:
        """C(q, q̇) with Ḋ − 2C skew."""
        if self.uses_composites:
            tree = freeze_coordinates(self.tree)
            C = self.composite_bodies.coriolis_matrix(spread_velocities(tree, self.qd))
            D = self.rotor_inertias() + self.composite_bodies.mass_matrix()
            gathered = gather_columns(tree, gather_forces(tree, C))
            return gathered + transfer_coriolis_matrix(tree, D)
        return ca.vertcat(*(self.qd.T @ c for c in self.christoffel_symbols()))

    def transport(self) -> Array:
        """d_k = 2 Σ c_0jk q̇_j + c_00k: Christoffel symbols of D with the time as coordinate 0.

        Its column D_0 is a = Gᵀ D k, and D_00 = kᵀ D k is 2 T₀.
        """
        tree, t = self.tree, self.tree.motion.t
        tree_D = self.tree_mass_matrix()
        drift = spread_velocities(tree, ca.SX.zeros(tree.nv))
        D, a = self.mass_matrix(), gather_forces(tree, tree_D @ drift)
        by_time = ca.reshape(ca.jacobian(ca.vec(D), t), *D.shape)
        by_q = ca.jacobian(a, self.q)
        mixed = by_time + by_q - by_q.T
        T_0 = drift.T @ tree_D @ drift / 2
        return mixed @ self.qd + ca.jacobian(a, t) - ca.gradient(T_0, self.q)

    def gravity(self) -> Array:
        """φ = ∂V/∂q: the weight of each centre of mass through its Jacobian."""
        if self.uses_composites:
            return gather_forces(self.tree, self.composite_bodies.field_forces(-self.tree.gravity))
        phi = ca.SX.zeros(self.tree.tree_nv)
        for body in self.world.bodies:
            weight = body.m * self.tree.gravity
            for freedom in self.world.path_axes(body.link):
                phi[freedom.velocity_index] -= dot(weight, freedom.unit_point_velocity(body.r))
        return gather_forces(self.tree, phi)
