"""D and C of a long tree in world axes, O(n²): sums over all that lies beyond each joint.

With twists S of the freedoms at the world's origin, and the inertia I^C and the Coriolis block
B^C (Echeandia and Wensing, see `recursive.coriolis`) of everything beyond freedom k,

    j below k or k:   D_jk = S_jᵀ I^C_k S_k,   C_jk = S_jᵀ(I^C_k Ṡ_k + B^C_k S_k)
    j beyond k:       D_jk = D_kj,              C_jk = (I^C_j S_j)ᵀ Ṡ_k + (B^C_jᵀ S_j)ᵀ S_k

All products of one kind are one product of matrices, which CasADi does fast.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import casadi as ca

from ...algebra.linear import Array, cross
from ...algebra.spatial import Inertia, Motion, Wrench, inertia_about_origin
from ...kinematics.recursions import inward, outward
from ...kinematics.tree import Link
from ...kinematics.world import World
from ..recursive.coriolis import body_coriolis

REST = Motion(ca.SX.zeros(3), ca.SX.zeros(3))


class Composites:
    """Matrices along the tree's speeds, without rotors."""

    def __init__(self, world: World) -> None:
        self.tree = world.tree
        self.freedoms = world.freedoms
        self.motions = [Motion(f.angular, f.linear(ca.SX.zeros(3))) for f in self.freedoms]
        self.S = _twists(self.motions)
        self.own = [Inertia(0.0, ca.SX.zeros(3), ca.SX.zeros(3, 3)) for _ in self.tree.links]
        for body in world.bodies:
            inertia = inertia_about_origin(body.m, body.r, body.I)
            self.own[body.link] = self.own[body.link] + inertia
        self.inertias = inward(self.tree, self.own, lambda _, __, inertia: inertia)
        self.momenta = [
            self.inertias[f.link] @ s for f, s in zip(self.freedoms, self.motions, strict=True)
        ]

    @cached_property
    def below(self) -> list[tuple[int, int]]:
        """Pairs (j, k) of freedoms with j on the way to k, the same link included."""
        on_path = [set(self.tree.path(f.link)) for f in self.freedoms]
        n = range(len(self.freedoms))
        return [(j, k) for k in n for j in n if self.freedoms[j].link in on_path[k]]

    def mass_matrix(self) -> Array:
        upper = self.selected(self.S.T @ _wrenches(self.momenta), self.below)
        return ca.densify(ca.triu2symm(ca.triu(upper)))

    def coriolis_matrix(self, v: Array) -> Array:
        def step(_: int, link: Link, parent: Motion) -> Motion:
            for k in range(link.v_range.start, link.v_range.stop):
                parent = parent + self.motions[k].times(v[k])
            return parent

        twists = outward(self.tree, REST, step)
        own = [
            body_coriolis(inertia, twist) for inertia, twist in zip(self.own, twists, strict=True)
        ]
        blocks = inward(self.tree, own, lambda _, __, block: block)
        rates, forces, turned = [], [], []
        for f, s in zip(self.freedoms, self.motions, strict=True):
            rates.append(twists[f.link].cross(s))
            forces.append(self.inertias[f.link] @ rates[-1] + blocks[f.link] @ s)
            turned.append(blocks[f.link].transposed(s))
        upper = self.selected(self.S.T @ _wrenches(forces), self.below)
        known = set(self.below)
        beyond = [(k, j) for j, k in self.below if (k, j) not in known]
        lower = _wrenches(self.momenta).T @ _twists(rates) + _wrenches(turned).T @ self.S
        return ca.densify(upper + self.selected(lower, beyond))

    def weight(self, field: Array) -> Array:
        """Forces along the freedoms of a uniform field of acceleration."""
        found = []
        for f, s in zip(self.freedoms, self.motions, strict=True):
            beyond = self.inertias[f.link]
            found.append(Wrench(cross(beyond.h, field), beyond.m * field).power(s))
        return ca.vertcat(*found)

    def selected(self, matrix: Array, entries: list[tuple[int, int]]) -> Array:
        n = len(self.freedoms)
        rows, columns = [j for j, _ in entries], [k for _, k in entries]
        return ca.project(matrix, ca.Sparsity.triplet(n, n, rows, columns))


def _twists(motions: Iterable[Motion]) -> Array:
    return ca.horzcat(*(ca.vertcat(m.angular, m.linear) for m in motions))


def _wrenches(wrenches: Iterable[Wrench]) -> Array:
    return ca.horzcat(*(ca.vertcat(w.moment, w.force) for w in wrenches))
