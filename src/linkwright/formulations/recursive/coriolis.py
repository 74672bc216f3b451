"""The Coriolis matrix whose Ṁ − 2C is skew, and the regressors, by recursion.

Echeandia and Wensing (2021): with each body's B(I, v) = ½[(v×*)I + (I v)×̄* − I(v×)], where
f ×̄* v = v ×* f, the sum C = Σ J_iᵀ(I_i J̇_i + B_i J_i) is the Christoffel one. Written out,

    B = [[A, 0], [−[f]×, 0]],   A = −[ω]×(½tr(I)·1 − I) − [h]×[v]×,   f = m v + ω × h,

a matrix A and the momentum f.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import IDENTITY, ZERO3, Array, Scalar, cross, skew, vector
from ...algebra.spatial import REST, Inertia, Motion, Wrench, turned_matrix
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
    joint_motion,
    outward,
    subspace,
    velocities,
)
from ...kinematics.tree import GROUND, Link, Placed, Tree


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


def control_regressor(
    tree: Tree, q: Array, qd: Array, v: Array, vd: Array, parameter_frames: list[Placed]
) -> Array:
    """Φ with Φ π = M v̇ + C v + g, nv × 10·bodies, columns in the bodies' own frames.

    A body's share is I(J v̇ + J̇ v − g) + B(I, J q̇) J v, which is linear in I.
    """
    moved = displacements(tree, spread_coordinates(tree, q))
    speeds = spread_speeds(tree, qd)
    reference, rate = spread_speeds(tree, v), spread_speeds(tree, vd)
    real = velocities(tree, moved, speeds)
    wanted = velocities(tree, moved, reference)
    accelerated = _reference_accelerations(tree, moved, real, reference, rate)
    Phi = ca.SX.zeros(tree.tree_nv, 10 * len(parameter_frames))
    for number, place in enumerate(parameter_frames):
        i = place.link
        d = Displacement(place.p, place.R)
        motions = [d.motion_into(m) for m in (real[i], wanted[i], accelerated[i])]
        for k, column in enumerate(_unit_wrenches(*motions)):
            wrench = d.wrench_out(column)
            for index in tree.path(i):
                for row, force in enumerate(joint_force(tree.links[index], wrench)):
                    Phi[tree.links[index].v + row, 10 * number + k] = force
                wrench = moved[index].wrench_out(wrench)
    return gather_forces(tree, Phi)


def _reference_accelerations(
    tree: Tree, moved: list[Displacement], real: list[Motion], v: Array, vd: Array
) -> list[Motion]:
    """Spatial J v̇ + J̇ v, with ground accelerating by −g."""

    def step(index: int, link: Link, parent: Motion) -> Motion:
        own = joint_motion(link, v[link.v_range])
        inherited = moved[index].motion_into(parent)
        return inherited + joint_motion(link, vd[link.v_range]) + real[index].cross(own)

    return outward(tree, Motion(REST.angular, -tree.gravity), step)


def _unit_wrenches(real: Motion, wanted: Motion, a: Motion) -> list[Wrench]:
    """The body's wrench for each inertial parameter (m, mx … Izz) being 1, the others 0."""
    columns = []
    for k in range(10):
        unit = _unit_inertia(k)
        columns.append(unit @ a + body_coriolis(unit, real) @ wanted)
    return columns


def _unit_inertia(k: int) -> Inertia:
    """Order (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz)."""
    import numpy as np

    m: Scalar = 1.0 if k == 0 else 0.0
    h, tensor = np.zeros(3), np.zeros((3, 3))
    if 1 <= k <= 3:
        h[k - 1] = 1.0
    elif k >= 4:
        i, j = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)][k - 4]
        tensor[i, j] = tensor[j, i] = 1.0
    return Inertia(m, h, tensor)
