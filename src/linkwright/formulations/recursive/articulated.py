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

from ...algebra.linear_algebra import ZERO3, Array, Scalar, outer, symmetric_from_upper
from ...algebra.spatial import (
    ArticulatedInertia,
    SpatialForce,
    SpatialMotion,
    articulated_from_rigid,
)
from ...kinematics.kinematic_tree import KinematicTree, TreeLink
from ...kinematics.recursions import (
    link_displacements,
    link_joint_motion,
    link_motion_subspace,
    link_twists,
    project_wrench_on_link_motion,
    recurse_tree_inward,
    recurse_tree_outward,
)
from ...kinematics.tree_coordinates import spread_coordinates, spread_velocities


@dataclass(frozen=True)
class _ArticulatedBody:
    """An articulated body: its inertia and bias force."""

    inertia: ArticulatedInertia
    p: SpatialForce

    def __add__(self, other: _ArticulatedBody) -> _ArticulatedBody:
        return _ArticulatedBody(self.inertia + other.inertia, self.p + other.p)


@dataclass(frozen=True)
class _ArticulatedJoint:
    """The data that the outward pass needs: the columns U, D factored as LDLᵀ, and u."""

    U: list[SpatialForce]
    D: list[list[Scalar]]
    u: list[Scalar]


def articulated_forward_dynamics(tree: KinematicTree, q: Array, qd: Array, tau: Array) -> Array:
    """q̈ from forces τ along the tree's velocities, without mimicry."""
    moved = link_displacements(tree, spread_coordinates(tree, q))
    v = spread_velocities(tree, qd)
    twists = link_twists(tree, moved, v)
    own = [link_joint_motion(link, v[link.velocity_range]) for link in tree.links]
    bias = [twist.cross(motion) for twist, motion in zip(twists, own, strict=True)]
    loads = [
        _ArticulatedBody(
            articulated_from_rigid(link.inertia), twist.cross_force(link.inertia @ twist)
        )
        for link, twist in zip(tree.links, twists, strict=True)
    ]
    joints: dict[int, _ArticulatedJoint] = {}

    def carry_articulated_body(
        index: int, link: TreeLink, load: _ArticulatedBody
    ) -> _ArticulatedBody:
        joint = joints[index] = _factor_articulated_joint(tree, link, load, tau)
        reduced = _reduce_articulated_inertia(load.inertia, joint)
        onto = load.p + reduced @ bias[index]
        for column, y in zip(joint.U, _solve_articulated_inertia(joint.D, joint.u), strict=True):
            onto = onto + column.scale(y)
        d = moved[index]
        return _ArticulatedBody(d.inertia_to_parent(reduced), d.wrench_to_parent(onto))

    totals = recurse_tree_inward(tree, loads, carry_articulated_body)
    qdd: dict[int, Scalar] = {}

    def articulated_acceleration(
        index: int, link: TreeLink, parent: SpatialMotion
    ) -> SpatialMotion:
        joint = joints.get(index) or _factor_articulated_joint(tree, link, totals[index], tau)
        a = moved[index].motion_to_link(parent) + bias[index]
        rest = [u - column.power(a) for u, column in zip(joint.u, joint.U, strict=True)]
        rates = _solve_articulated_inertia(joint.D, rest)
        qdd.update({link.v + k: rate for k, rate in enumerate(rates)})
        return a + link_joint_motion(link, ca.vertcat(*rates))

    recurse_tree_outward(tree, SpatialMotion(ZERO3, -tree.gravity), articulated_acceleration)
    return ca.vertcat(*(qdd[k] for k in range(tree.nv)))


def _factor_articulated_joint(
    tree: KinematicTree, link: TreeLink, load: _ArticulatedBody, tau: Array
) -> _ArticulatedJoint:
    """U, the factors of D, and u of a link's joint, from the articulated body that it carries."""
    columns = link_motion_subspace(link)
    U = [load.inertia @ s for s in columns]
    D = [project_wrench_on_link_motion(link, column) for column in U]
    for k in range(len(D)):
        D[k][k] = D[k][k] + tree.joint_effects[link.v + k].rotor_inertia
    pull = project_wrench_on_link_motion(link, load.p)
    return _ArticulatedJoint(
        U, _factor_articulated_inertia(D), [tau[link.v + k] - pull[k] for k in range(len(D))]
    )


def _reduce_articulated_inertia(
    inertia: ArticulatedInertia, joint: _ArticulatedJoint
) -> ArticulatedInertia:
    """I^A − U D⁻¹ Uᵀ, one column of W = U L⁻ᵀ after the other."""
    result = inertia
    for W, d in _decouple_articulated_columns(joint):
        n, f = W.moment, W.force
        result = ArticulatedInertia(
            symmetric_from_upper(result.I - outer(n, n) / d),
            result.H - outer(n, f) / d,
            symmetric_from_upper(result.M - outer(f, f) / d),
        )
    return result


def _decouple_articulated_columns(joint: _ArticulatedJoint) -> list[tuple[SpatialForce, Scalar]]:
    """Columns of U L⁻ᵀ with the pivots d, D = L diag(d) Lᵀ."""
    found: list[tuple[SpatialForce, Scalar]] = []
    for k, column in enumerate(joint.U):
        for i in range(k):
            column = column - found[i][0].scale(joint.D[k][i])
        found.append((column, joint.D[k][k]))
    return found


def _factor_articulated_inertia(D: list[list[Scalar]]) -> list[list[Scalar]]:
    """D = L diag(d) Lᵀ: d on the diagonal, L below it."""
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


def _solve_articulated_inertia(L: list[list[Scalar]], rhs: Sequence[Scalar]) -> list[Scalar]:
    """x with L diag(d) Lᵀ x = rhs."""
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
