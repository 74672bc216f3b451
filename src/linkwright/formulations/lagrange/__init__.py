"""Lagrange's equations, as Spong and Vidyasagar (6.3.9)–(6.3.13) and Virgala et al. (2016)
derive them for manipulators.

    D(q) = Σ m J_vᵀ J_v + J_ωᵀ R I Rᵀ J_ω                        Virgala (7), Spong (6.3.1)
    c_ijk = ½(∂d_kj/∂q_i + ∂d_ki/∂q_j − ∂d_ij/∂q_k) = c_jik       Virgala (22), Spong (6.3.9)
    C_kj = Σ c_ijk q̇_i,   φ_k = ∂V/∂q_k                           Virgala (21, 18)

All Christoffel symbols of n links are n³ sums, each of a length that grows with n. Beyond
`MAX_CHRISTOFFEL_VELOCITIES` degrees of freedom the same D and C (Ḋ − 2C skew) are summed by
`composite_bodies`, n² sums of one length.
"""

from __future__ import annotations

from functools import cached_property, partial

import casadi as ca

from ...algebra.linear_algebra import Array, dot
from ...equations import Equations
from ...kinematics.kinematic_tree import KinematicTree
from ...kinematics.parameter_values import ParameterSelection
from ...kinematics.tree_builder import build_kinematic_tree
from ...kinematics.tree_coordinates import (
    gather_columns,
    gather_forces,
    spread_velocities,
    transfer_coriolis_matrix,
)
from ...kinematics.world_kinematics import WorldKinematics
from ...mechanism import Mechanism
from ..formulation import Formulation, formulation_rotor_inertias, reject_quaternions
from .composite_bodies import LagrangeCompositeBodies
from .derivation_steps import lagrange_derivation

MAX_CHRISTOFFEL_VELOCITIES = 8
"""Up to this many degrees of freedom, Christoffel symbols are written out."""


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return reject_quaternions(mechanism)


def derive(mechanism: Mechanism, parameters: ParameterSelection = "symbolic") -> Equations:
    """Lagrange's equations of the second kind in the joint variables."""
    lagrange = LagrangeFormulation(build_kinematic_tree(mechanism, parameters))
    builders = {
        "mass_matrix": lagrange.mass_matrix,
        "coriolis_matrix": lagrange.coriolis_matrix,
        "gravity": lagrange.gravity,
    }
    extras = {"christoffel": lagrange.christoffel_symbols}
    steps = partial(lagrange_derivation, lagrange)
    return lagrange.assemble_equations("lagrange", builders, extras, derivation_steps=steps)


class LagrangeFormulation(Formulation):
    """Lagrange's equations by Jacobians and Christoffel symbols."""

    def __init__(self, tree: KinematicTree) -> None:
        super().__init__(tree)
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
        D = self.rotor_inertias()
        if tree.nv > MAX_CHRISTOFFEL_VELOCITIES:
            D += self.composite_bodies.mass_matrix()
        else:
            for body, (J_v, J_w) in zip(self.world.bodies, self.body_jacobians, strict=True):
                D += body.m * (J_v.T @ J_v) + J_w.T @ body.I @ J_w
        return ca.densify(gather_columns(tree, gather_forces(tree, D)))

    def rotor_inertias(self) -> Array:
        """The inertias of the rotors along the tree's velocities, as a diagonal matrix."""
        return formulation_rotor_inertias(self.tree)

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
        if self.tree.nv > MAX_CHRISTOFFEL_VELOCITIES:
            C = self.composite_bodies.coriolis_matrix(spread_velocities(self.tree, self.qd))
            D = self.rotor_inertias() + self.composite_bodies.mass_matrix()
            gathered = gather_columns(self.tree, gather_forces(self.tree, C))
            return gathered + transfer_coriolis_matrix(self.tree, D)
        return ca.vertcat(*(self.qd.T @ c for c in self.christoffel_symbols()))

    def gravity(self) -> Array:
        """φ = ∂V/∂q: the weight of each centre of mass through its Jacobian."""
        if self.tree.nv > MAX_CHRISTOFFEL_VELOCITIES:
            return gather_forces(self.tree, self.composite_bodies.field_forces(-self.tree.gravity))
        phi = ca.SX.zeros(self.tree.tree_nv)
        for body in self.world.bodies:
            weight = body.m * self.tree.gravity
            for freedom in self.world.path_axes(body.link):
                phi[freedom.velocity_index] -= dot(weight, freedom.unit_point_velocity(body.r))
        return gather_forces(self.tree, phi)
