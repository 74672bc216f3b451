"""D and C of a long tree in world axes, O(n²): sums over all that lies beyond each joint.

With twists S of the degrees of freedom at the world's origin, and the inertia I^C and the Coriolis
block B^C (Echeandia and Wensing, see `recursive_coriolis`) of everything beyond degree of freedom
k,

    j below k or k:   D_jk = S_jᵀ I^C_k S_k,   C_jk = S_jᵀ(I^C_k Ṡ_k + B^C_k S_k)
    j beyond k:       D_jk = D_kj,              C_jk = (I^C_j S_j)ᵀ Ṡ_k + (B^C_jᵀ S_j)ᵀ S_k

All products of one kind are one matrix product, which is fast in CasADi.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import casadi as ca

from ...algebra.linear_algebra import Array, cross
from ...algebra.spatial import SpatialForce, SpatialInertia, SpatialMotion, inertia_about_origin
from ...kinematics.kinematic_tree import TreeLink
from ...kinematics.recursions import recurse_tree_inward, recurse_tree_outward
from ...kinematics.world_kinematics import WorldKinematics
from ..recursive_coriolis import body_coriolis_block

ZERO_TWIST = SpatialMotion(ca.SX.zeros(3), ca.SX.zeros(3))


class LagrangeCompositeBodies:
    """D and C along the tree's velocities by composite bodies, without rotors."""

    def __init__(self, world: WorldKinematics) -> None:
        self.tree = world.tree
        self.joint_axes = world.joint_axes
        self.axis_motions = [
            SpatialMotion(f.unit_angular_velocity, f.unit_point_velocity(ca.SX.zeros(3)))
            for f in self.joint_axes
        ]
        self.S = _lagrange_twist_columns(self.axis_motions)
        self.own_inertias = [
            SpatialInertia(0.0, ca.SX.zeros(3), ca.SX.zeros(3, 3)) for _ in self.tree.links
        ]
        for body in world.bodies:
            inertia = inertia_about_origin(body.m, body.r, body.I)
            self.own_inertias[body.link] = self.own_inertias[body.link] + inertia
        self.composite_inertias = recurse_tree_inward(
            self.tree, self.own_inertias, lambda _, __, inertia: inertia
        )
        self.composite_momenta = [
            self.composite_inertias[f.link] @ s
            for f, s in zip(self.joint_axes, self.axis_motions, strict=True)
        ]

    @cached_property
    def axis_pairs(self) -> list[tuple[int, int]]:
        """Pairs (j, k) of degrees of freedom with j on the way to k, the same link included."""
        on_path = [set(self.tree.path_to_ground(f.link)) for f in self.joint_axes]
        n = range(len(self.joint_axes))
        return [(j, k) for k in n for j in n if self.joint_axes[j].link in on_path[k]]

    def mass_matrix(self) -> Array:
        """D(q), symmetric, along the tree's velocities."""
        upper = self.select_entries(
            self.S.T @ _lagrange_wrench_columns(self.composite_momenta), self.axis_pairs
        )
        return ca.densify(ca.triu2symm(ca.triu(upper)))

    def coriolis_matrix(self, v: Array) -> Array:
        """C(q, v) with Ḋ − 2C skew, along the tree's velocities v."""

        def composite_twist(_: int, link: TreeLink, parent: SpatialMotion) -> SpatialMotion:
            for k in range(link.velocity_range.start, link.velocity_range.stop):
                parent = parent + self.axis_motions[k].scale(v[k])
            return parent

        twists = recurse_tree_outward(self.tree, ZERO_TWIST, composite_twist)
        own = [
            body_coriolis_block(inertia, twist)
            for inertia, twist in zip(self.own_inertias, twists, strict=True)
        ]
        blocks = recurse_tree_inward(self.tree, own, lambda _, __, block: block)
        rates, forces, turned = [], [], []
        for f, s in zip(self.joint_axes, self.axis_motions, strict=True):
            rates.append(twists[f.link].cross(s))
            forces.append(self.composite_inertias[f.link] @ rates[-1] + blocks[f.link] @ s)
            turned.append(blocks[f.link].multiply_transposed(s))
        upper = self.select_entries(self.S.T @ _lagrange_wrench_columns(forces), self.axis_pairs)
        known = set(self.axis_pairs)
        beyond = [(k, j) for j, k in self.axis_pairs if (k, j) not in known]
        lower = (
            _lagrange_wrench_columns(self.composite_momenta).T @ _lagrange_twist_columns(rates)
            + _lagrange_wrench_columns(turned).T @ self.S
        )
        return ca.densify(upper + self.select_entries(lower, beyond))

    def field_forces(self, field: Array) -> Array:
        """Generalized forces of a uniform field of acceleration."""
        found = []
        for f, s in zip(self.joint_axes, self.axis_motions, strict=True):
            beyond = self.composite_inertias[f.link]
            found.append(SpatialForce(cross(beyond.h, field), beyond.m * field).power(s))
        return ca.vertcat(*found)

    def select_entries(self, matrix: Array, entries: list[tuple[int, int]]) -> Array:
        """The matrix with only the given entries, the others zero."""
        n = len(self.joint_axes)
        rows, columns = [j for j, _ in entries], [k for _, k in entries]
        return ca.project(matrix, ca.Sparsity.triplet(n, n, rows, columns))


def _lagrange_twist_columns(motions: Iterable[SpatialMotion]) -> Array:
    """Twists as the columns of a 6 × n matrix."""
    return ca.horzcat(*(ca.vertcat(m.angular, m.linear) for m in motions))


def _lagrange_wrench_columns(wrenches: Iterable[SpatialForce]) -> Array:
    """Wrenches as the columns of a 6 × n matrix."""
    return ca.horzcat(*(ca.vertcat(w.moment, w.force) for w in wrenches))
