"""Articulated bodies: accelerations from forces, O(n). Featherstone (1983), with spatial
accelerations, in link frames.

    outward   v_i, c_i = v_i × S q̇
    inward    U = I^A S, D = SᵀU + rotor, u = τ − Sᵀp^A
              I^a = I^A − U D⁻¹ Uᵀ,  p^a = p^A + I^a c + U D⁻¹ u     → parent
    outward   a' = X a_parent + c,  q̈ = D⁻¹(u − Uᵀa'),  a = a' + S q̈
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import ZERO3, Array, Scalar, outer, symmetric
from ...algebra.spatial import ArticulatedInertia, Motion, Wrench, articulated
from ...kinematics.coordinates import spread_coordinates, spread_speeds
from ...kinematics.recursions import (
    displacements,
    inward,
    joint_force,
    joint_motion,
    outward,
    subspace,
    velocities,
)
from ...kinematics.tree import Link, Tree


@dataclass(frozen=True)
class _Load:
    """An articulated body: its inertia and bias force."""

    inertia: ArticulatedInertia
    p: Wrench

    def __add__(self, other: _Load) -> _Load:
        return _Load(self.inertia + other.inertia, self.p + other.p)


@dataclass(frozen=True)
class _Joint:
    """What the way back needs: the columns U, D factored as LDLᵀ, and u."""

    U: list[Wrench]
    D: list[list[Scalar]]
    u: list[Scalar]


def forward_dynamics(tree: Tree, q: Array, qd: Array, tau: Array) -> Array:
    """q̈ from the forces τ along the tree's speeds (no mimicry)."""
    moved = displacements(tree, spread_coordinates(tree, q))
    v = spread_speeds(tree, qd)
    twists = velocities(tree, moved, v)
    own = [joint_motion(link, v[link.v_range]) for link in tree.links]
    bias = [twist.cross(motion) for twist, motion in zip(twists, own, strict=True)]
    loads = [
        _Load(articulated(link.inertia), twist.cross_force(link.inertia @ twist))
        for link, twist in zip(tree.links, twists, strict=True)
    ]
    joints: dict[int, _Joint] = {}

    def carry(index: int, link: Link, load: _Load) -> _Load:
        joint = joints[index] = _open(tree, link, load, tau)
        reduced = _reduce(load.inertia, joint)
        onto = load.p + reduced @ bias[index]
        for column, y in zip(joint.U, _solve(joint.D, joint.u), strict=True):
            onto = onto + column.times(y)
        d = moved[index]
        return _Load(d.inertia_out(reduced), d.wrench_out(onto))

    totals = inward(tree, loads, carry)
    qdd: dict[int, Scalar] = {}

    def step(index: int, link: Link, parent: Motion) -> Motion:
        joint = joints.get(index) or _open(tree, link, totals[index], tau)
        a = moved[index].motion_into(parent) + bias[index]
        rest = [u - column.power(a) for u, column in zip(joint.u, joint.U, strict=True)]
        rates = _solve(joint.D, rest)
        qdd.update({link.v + k: rate for k, rate in enumerate(rates)})
        return a + joint_motion(link, ca.vertcat(*rates))

    outward(tree, Motion(ZERO3, -tree.gravity), step)
    return ca.vertcat(*(qdd[k] for k in range(tree.nv)))


def _open(tree: Tree, link: Link, load: _Load, tau: Array) -> _Joint:
    columns = subspace(link)
    U = [load.inertia @ s for s in columns]
    D = [joint_force(link, column) for column in U]
    for k in range(len(D)):
        D[k][k] = D[k][k] + tree.effects[link.v + k].rotor
    pull = joint_force(link, load.p)
    return _Joint(U, _factor(D), [tau[link.v + k] - pull[k] for k in range(len(D))])


def _reduce(inertia: ArticulatedInertia, joint: _Joint) -> ArticulatedInertia:
    """I^A − U D⁻¹ Uᵀ, one column of W = U L⁻ᵀ after the other."""
    result = inertia
    for W, d in _decoupled(joint):
        n, f = W.moment, W.force
        result = ArticulatedInertia(
            symmetric(result.I - outer(n, n) / d),
            result.H - outer(n, f) / d,
            symmetric(result.M - outer(f, f) / d),
        )
    return result


def _decoupled(joint: _Joint) -> list[tuple[Wrench, Scalar]]:
    """Columns of U L⁻ᵀ with the pivots d, D = L diag(d) Lᵀ."""
    found: list[tuple[Wrench, Scalar]] = []
    for k, column in enumerate(joint.U):
        for i in range(k):
            column = column - found[i][0].times(joint.D[k][i])
        found.append((column, joint.D[k][k]))
    return found


def _factor(D: list[list[Scalar]]) -> list[list[Scalar]]:
    """D = L diag(d) Lᵀ in place: d on the diagonal, L below it."""
    n = len(D)
    L = [list(row) for row in D]
    for j in range(n):
        for k in range(j):
            L[j][j] = L[j][j] - L[j][k] * L[j][k] * L[k][k]
        for i in range(j + 1, n):
            for k in range(j):
                L[i][j] = L[i][j] - L[i][k] * L[j][k] * L[k][k]
            L[i][j] = L[i][j] / L[j][j]
    return L


def _solve(L: list[list[Scalar]], rhs: Sequence[Scalar]) -> list[Scalar]:
    x = list(rhs)
    n = len(x)
    for i in range(n):
        for k in range(i):
            x[i] = x[i] - L[i][k] * x[k]
    x = [x[i] / L[i][i] for i in range(n)]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            x[i] = x[i] - L[k][i] * x[k]
    return x
