"""The Coriolis matrix whose Ṁ − 2C is skew, by recursion.

Echeandia and Wensing (2021): with each body's B(I, v) = ½[(v×*)I + (I v)×̄* − I(v×)], where
f ×̄* v = v ×* f, the sum C = Σ J_iᵀ(I_i J̇_i + B_i J_i) is the Christoffel one. Written out,

    B = [[A, 0], [−[f]×, 0]],   A = −[ω]×(½tr(I)·1 − I) − [h]×[v]×,   f = m v + ω × h,

a matrix A and the momentum f.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..algebra.linear_algebra import IDENTITY, ZERO3, Array, column_vector, cross, skew
from ..algebra.spatial import SpatialForce, SpatialInertia, SpatialMotion, rotate_matrix_about_z
from ..kinematics.kinematic_tree import GROUND, KinematicTree, TreeLink
from ..kinematics.recursions import (
    LinkDisplacement,
    link_displacements,
    link_motion_subspace,
    link_twists,
    project_wrench_on_link_motion,
    recurse_tree_inward,
)
from ..kinematics.tree_coordinates import (
    gather_columns,
    gather_forces,
    spread_coordinates,
    spread_velocities,
)


@dataclass(frozen=True)
class RecursiveCoriolisBlock:
    """B of a body or a composite: the moment's matrix A and the linear momentum f."""

    A: Array
    f: Array

    def __add__(self, other: RecursiveCoriolisBlock) -> RecursiveCoriolisBlock:
        return RecursiveCoriolisBlock(self.A + other.A, self.f + other.f)

    def __matmul__(self, motion: SpatialMotion) -> SpatialForce:
        return SpatialForce(self.A @ motion.angular, cross(motion.angular, self.f))

    def multiply_transposed(self, motion: SpatialMotion) -> SpatialForce:
        """Bᵀ times a motion."""
        return SpatialForce(self.A.T @ motion.angular + cross(self.f, motion.linear), ZERO3)

    def to_parent(self, d: LinkDisplacement) -> RecursiveCoriolisBlock:
        """The block in the parent's frame, for a link displaced by d."""
        A = self.A - skew(column_vector(0.0, 0.0, d.shift)) @ skew(self.f)
        if d.cosine_sine is not None:
            A = rotate_matrix_about_z(A, *d.cosine_sine)
        elif d.R is not None:
            A = d.R @ A @ d.R.T
        f = d.to_parent_axes(self.f)
        return RecursiveCoriolisBlock(
            d.constant_rotation @ A @ d.constant_rotation.T - skew(d.p) @ skew(f), f
        )


def body_coriolis_block(inertia: SpatialInertia, twist: SpatialMotion) -> RecursiveCoriolisBlock:
    """B(I, v) of one body."""
    I = inertia.I  # noqa: E741
    w, v = twist.angular, twist.linear
    half_trace = (I[0, 0] + I[1, 1] + I[2, 2]) / 2
    A = skew(w) @ (I - half_trace * IDENTITY) - skew(inertia.h) @ skew(v)
    return RecursiveCoriolisBlock(A, inertia.m * v + cross(w, inertia.h))


def recursive_coriolis_matrix(tree: KinematicTree, q: Array, qd: Array) -> Array:
    """C, nv × nv, with C q̇ the velocity terms and Ṁ − 2C skew."""
    moved = link_displacements(tree, spread_coordinates(tree, q))
    twists = link_twists(tree, moved, spread_velocities(tree, qd))

    def carry_composite_inertia(index: int, _: TreeLink, inertia: SpatialInertia) -> SpatialInertia:
        return moved[index].inertia_to_parent(inertia)

    inertias = recurse_tree_inward(
        tree, [link.inertia for link in tree.links], carry_composite_inertia
    )
    own = [body_coriolis_block(link.inertia, t) for link, t in zip(tree.links, twists, strict=True)]
    blocks = recurse_tree_inward(tree, own, lambda index, _, block: block.to_parent(moved[index]))
    C = ca.SX.zeros(tree.tree_nv, tree.tree_nv)
    for j, link in enumerate(tree.links):
        for k, s in enumerate(link_motion_subspace(link)):
            column = link.v + k
            rate = twists[j].cross(s)
            f1 = inertias[j] @ rate + blocks[j] @ s
            f2, f3 = inertias[j] @ s, blocks[j].multiply_transposed(s)
            i = j
            while i != GROUND:
                outer = tree.links[i]
                for row, force in enumerate(project_wrench_on_link_motion(outer, f1)):
                    C[outer.v + row, column] = force
                if i != j:
                    backward = project_wrench_on_link_motion(outer, f3)
                    for row, t in enumerate(link_motion_subspace(outer)):
                        C[column, outer.v + row] = f2.power(twists[i].cross(t)) + backward[row]
                f1, f2, f3 = (moved[i].wrench_to_parent(f) for f in (f1, f2, f3))
                i = outer.parent
    return gather_columns(tree, gather_forces(tree, C))
