"""Composite rigid bodies: the mass matrix, O(n·depth). Walker and Orin (1982), method 3;
and its factorization M = LᵀD L without fill-in along the branches. Featherstone (2008), ch. 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar
from ..algebra.spatial import SpatialInertia
from ..kinematics.kinematic_tree import GROUND, KinematicTree, TreeLink
from ..kinematics.recursions import (
    link_displacements,
    link_motion_subspace,
    project_wrench_on_link_motion,
    recurse_tree_inward,
)
from ..kinematics.rotor_inertias import couples_branches, rotor_inertia_matrix
from ..kinematics.tree_coordinates import gather_columns, gather_forces, spread_coordinates


def composite_mass_matrix(tree: KinematicTree, q: Array) -> Array:
    """M, nv × nv, rotors included."""
    return gather_columns(tree, gather_forces(tree, composite_tree_mass_matrix(tree, q)))


def composite_tree_mass_matrix(tree: KinematicTree, q: Array) -> Array:
    """M along the tree's own velocities."""
    moved = link_displacements(tree, spread_coordinates(tree, q))

    def carry_composite_inertia(index: int, _: TreeLink, inertia: SpatialInertia) -> SpatialInertia:
        return moved[index].inertia_to_parent(inertia)

    composites = recurse_tree_inward(
        tree, [link.inertia for link in tree.links], carry_composite_inertia
    )
    M = ca.SX.zeros(tree.tree_nv, tree.tree_nv)
    for index, link in enumerate(tree.links):
        for k, motion in enumerate(link_motion_subspace(link)):
            momentum = composites[index] @ motion
            column = link.v + k
            here = index
            while here != GROUND:
                for row, force in enumerate(
                    project_wrench_on_link_motion(tree.links[here], momentum)
                ):
                    M[tree.links[here].v + row, column] = force
                    M[column, tree.links[here].v + row] = force
                momentum = moved[here].wrench_to_parent(momentum)
                here = tree.links[here].parent
    return M + rotor_inertia_matrix(tree)


def mass_matrix_parent_indices(tree: KinematicTree) -> list[int]:
    """For each velocity of the model, the next one on the way to ground; −1 for none.

    With mimicry or armature of lengths, rows of the mass matrix couple across branches: then every
    velocity depends on the one before it, and the factors are dense.
    """
    if tree.followers or tree.transfer is not None or couples_branches(tree):
        return list(range(-1, tree.nv - 1))
    parents = []
    for link in tree.links:
        below = -1 if link.parent == GROUND else tree.links[link.parent].velocity_range.stop - 1
        parents += [below, *range(link.v, link.velocity_range.stop - 1)]
    return parents


@dataclass(frozen=True)
class MassMatrixFactors:
    """M = LᵀD L, with L as sparse as the tree: one entry for each velocity and each one below
    it."""

    parents: list[int]
    L: dict[tuple[int, int], Scalar]
    D: list[Scalar]

    def path_to_ground(self, i: int) -> list[int]:
        """The velocities below i on the way to ground."""
        found = []
        while (i := self.parents[i]) != -1:
            found.append(i)
        return found

    def solve(self, rhs: Sequence[Scalar]) -> list[Scalar]:
        """x with M x = rhs, from the tips inward, then outward."""
        x = list(rhs)
        for k in range(len(x) - 1, -1, -1):
            for i in self.path_to_ground(k):
                x[i] = x[i] - self.L[k, i] * x[k]
        x = [x[k] / self.D[k] for k in range(len(x))]
        for k in range(len(x)):
            for i in self.path_to_ground(k):
                x[k] = x[k] - self.L[k, i] * x[i]
        return x


def factor_mass_matrix(tree: KinematicTree, M: Array) -> MassMatrixFactors:
    """The factors LᵀD L of a mass matrix, from the tips of the tree inward."""
    below = mass_matrix_parent_indices(tree)
    n = len(below)
    factors = MassMatrixFactors(below, {}, [])
    H = [[M[i, j] for j in range(i + 1)] for i in range(n)]
    for k in range(n - 1, -1, -1):
        way = factors.path_to_ground(k)
        for i in way:
            factors.L[k, i] = H[k][i] / H[k][k]
        for i in way:
            for j in [i, *factors.path_to_ground(i)]:
                H[i][j] = H[i][j] - factors.L[k, i] * H[k][j]
    factors.D.extend(H[k][k] for k in range(n))
    return factors
