"""The Coriolis matrix whose Ṁ − 2C is skew, by recursion.

Echeandia and Wensing (2021): with each body's B(I, v) = ½[(v×*)I + (I v)×̄* − I(v×)], where
f ×̄* v = v ×* f, the sum C = Σ J_iᵀ(I_i J̇_i + B_i J_i) is the Christoffel one. Written out,

    B = [[A, 0], [−[f]×, 0]],   A = −[ω]×(½tr(I)·1 − I) − [h]×[v]×,   f = m v + ω × h,

a matrix A and the momentum f.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import IDENTITY, ZERO3, Array, cross, skew, vector
from ...algebra.spatial import Inertia, Motion, Wrench, turned_matrix
from ...kinematics.coordinates import (
    gather_columns,
    gather_forces,
    spread_coordinates,
    spread_speeds,
)
from ...kinematics.recursions import (
    Displacement,
    displacements,
    inward,
    joint_force,
    subspace,
    velocities,
)
from ...kinematics.tree import GROUND, Link, Tree


@dataclass(frozen=True)
class Coriolis:
    """B of a body or a composite: the moment's matrix A and the linear momentum f."""

    A: Array
    f: Array

    def __add__(self, other: Coriolis) -> Coriolis:
        return Coriolis(self.A + other.A, self.f + other.f)

    def __matmul__(self, motion: Motion) -> Wrench:
        return Wrench(self.A @ motion.angular, cross(motion.angular, self.f))

    def transposed(self, motion: Motion) -> Wrench:
        """Bᵀ times a motion."""
        return Wrench(self.A.T @ motion.angular + cross(self.f, motion.linear), ZERO3)

    def moved(self, d: Displacement) -> Coriolis:
        """The same, seen from the parent of the frame displaced by d."""
        A = self.A - skew(vector(0.0, 0.0, d.shift)) @ skew(self.f)
        if d.cs is not None:
            A = turned_matrix(A, *d.cs)
        elif d.R is not None:
            A = d.R @ A @ d.R.T
        f = d.out(self.f)
        return Coriolis(d.R0 @ A @ d.R0.T - skew(d.p) @ skew(f), f)


def body_coriolis(inertia: Inertia, twist: Motion) -> Coriolis:
    """B(I, v) of one body."""
    I = inertia.I  # noqa: E741
    w, v = twist.angular, twist.linear
    half_trace = (I[0, 0] + I[1, 1] + I[2, 2]) / 2
    A = skew(w) @ (I - half_trace * IDENTITY) - skew(inertia.h) @ skew(v)
    return Coriolis(A, inertia.m * v + cross(w, inertia.h))


def coriolis_matrix(tree: Tree, q: Array, qd: Array) -> Array:
    """C, nv × nv, with C q̇ the velocity terms and Ṁ − 2C skew."""
    moved = displacements(tree, spread_coordinates(tree, q))
    twists = velocities(tree, moved, spread_speeds(tree, qd))

    def carry_inertia(index: int, _: Link, inertia: Inertia) -> Inertia:
        return moved[index].inertia_out(inertia)

    inertias = inward(tree, [link.inertia for link in tree.links], carry_inertia)
    own = [body_coriolis(link.inertia, t) for link, t in zip(tree.links, twists, strict=True)]
    blocks = inward(tree, own, lambda index, _, block: block.moved(moved[index]))
    C = ca.SX.zeros(tree.tree_nv, tree.tree_nv)
    for j, link in enumerate(tree.links):
        for k, s in enumerate(subspace(link)):
            column = link.v + k
            rate = twists[j].cross(s)
            f1 = inertias[j] @ rate + blocks[j] @ s
            f2, f3 = inertias[j] @ s, blocks[j].transposed(s)
            i = j
            while i != GROUND:
                outer = tree.links[i]
                for row, force in enumerate(joint_force(outer, f1)):
                    C[outer.v + row, column] = force
                if i != j:
                    backward = joint_force(outer, f3)
                    for row, t in enumerate(subspace(outer)):
                        C[column, outer.v + row] = f2.power(twists[i].cross(t)) + backward[row]
                f1, f2, f3 = (moved[i].wrench_out(f) for f in (f1, f2, f3))
                i = outer.parent
    return gather_columns(tree, gather_forces(tree, C))
