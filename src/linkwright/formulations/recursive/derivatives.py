"""Derivatives of inverse dynamics by recursion, O(n·depth), with the mass matrix on the way.

Moving joint j by the twist s carries all that it bears along. With the twist v_λ and the
acceleration a_λ of its parent, both seen at the link's origin,

    Ψ̇ = v_λ × s,   Ψ̈ = a_λ × s + v_λ × Ψ̇,   c = (S q̇) × s  (0 for one degree of freedom)

the force that all links k beyond j need changes, per unit of q_j and of q̇_j, by

    F = s ×* f^C + I^C Ψ̈ + 2 B^C Ψ̇,        G = I^C(2Ψ̇ + c) + 2 B^C s

(C: composites of everything beyond; B of Echeandia and Wensing, see `coriolis`), so that

    i below j:          ∂τ_i/∂q_j = S_iᵀ F,                 ∂τ_i/∂q̇_j = S_iᵀ G
    i beyond j or j:    ∂τ_i/∂q_j = u_iᵀΨ̈ + 2 w_iᵀΨ̇,       ∂τ_i/∂q̇_j = u_iᵀ(2Ψ̇ + c) + 2 w_iᵀ s
                        u_i = I_i^C S_i,   w_i = B_i^Cᵀ S_i,   M_ij = S_jᵀ u_i.

These sums do not change when a constant velocity is added to everything. Each link therefore
takes its own origin as being at rest, and no linear velocity has to be known: only its change
from link to link, Δv, when B or w go from one to the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import ZERO3, Array, cross, skew
from ...algebra.spatial import SpatialForce, SpatialInertia, SpatialMotion
from ...kinematics.kinematic_tree import GROUND, KinematicTree, TreeLink
from ...kinematics.recursions import (
    LinkDisplacement,
    LinkKinematics,
    link_accelerations,
    link_displacements,
    link_joint_motion,
    link_motion_subspace,
    project_wrench_on_link_motion,
    recurse_tree_inward,
)
from ...kinematics.rotor_inertias import rotor_inertia_matrix
from ...kinematics.tree_coordinates import (
    gather_columns,
    gather_forces,
    spread_coordinates,
    spread_velocities,
)
from ..recursive_coriolis import RecursiveCoriolisBlock, body_coriolis_block
from .recursive_newton_euler import newton_euler_wrench


@dataclass(frozen=True)
class _CompositeDerivatives:
    """Everything beyond a link: inertia, 2B, and the wrench that it needs."""

    inertia: SpatialInertia
    twice_B: RecursiveCoriolisBlock
    f: SpatialForce

    def __add__(self, other: _CompositeDerivatives) -> _CompositeDerivatives:
        return _CompositeDerivatives(
            self.inertia + other.inertia, self.twice_B + other.twice_B, self.f + other.f
        )


@dataclass(frozen=True)
class _DynamicsDerivativeColumn:
    """One degree of freedom s of a link: Ψ̇, 2Ψ̇ + c and Ψ̈, and the wrenches F, G, u, 2w."""

    index: int
    s: SpatialMotion
    rate: SpatialMotion
    twice: SpatialMotion
    second: SpatialMotion
    F: SpatialForce
    G: SpatialForce
    u: SpatialForce
    twice_w: SpatialForce


def recursive_dynamics_derivatives(
    tree: KinematicTree, q: Array, qd: Array, qdd: Array
) -> tuple[Array, Array, Array]:
    """∂τ/∂q along the tangent, ∂τ/∂q̇, and M, without element forces."""
    moved = link_displacements(tree, spread_coordinates(tree, q))
    v, vd = spread_velocities(tree, qd), spread_velocities(tree, qdd)
    states = link_accelerations(tree, moved, v, vd, -tree.gravity)
    drifts = [
        _origin_velocity_in_derivatives(tree, i, states, moved, v) for i in range(len(tree.links))
    ]
    composites = recurse_tree_inward(
        tree,
        [
            _single_body_derivatives(link, state)
            for link, state in zip(tree.links, states, strict=True)
        ],
        lambda i, _, composite: _composite_derivatives_to_parent(composite, moved[i], drifts[i]),
    )
    size = tree.tree_nv
    by_q, by_qd, M = (ca.SX.zeros(size, size) for _ in range(3))
    columns = [
        _dynamics_derivative_columns(tree, i, composites[i], states, moved[i], v)
        for i in range(len(tree.links))
    ]
    for i, own in enumerate(columns):
        _fill_link_derivatives(own, by_q, by_qd, M)
        for column in own:
            _fill_ancestor_derivatives(
                tree, i, column, columns, moved, drifts, entries=(by_q, by_qd, M)
            )
    M = M + rotor_inertia_matrix(tree)
    by_q, by_qd, M = (gather_columns(tree, gather_forces(tree, X)) for X in (by_q, by_qd, M))
    return by_q, by_qd, M


def _single_body_derivatives(link: TreeLink, state: LinkKinematics) -> _CompositeDerivatives:
    """The composite of one body alone."""
    twice = SpatialInertia(2 * link.inertia.m, 2 * link.inertia.h, 2 * link.inertia.I)
    at_rest = SpatialMotion(state.omega, ZERO3)
    return _CompositeDerivatives(
        link.inertia, body_coriolis_block(twice, at_rest), newton_euler_wrench(link.inertia, state)
    )


def _parent_motion_in_derivatives(
    tree: KinematicTree, link: TreeLink, states: Sequence[LinkKinematics]
) -> LinkKinematics:
    """The motion of a link's parent; ground accelerates by −g."""
    if link.parent == GROUND:
        return LinkKinematics(ZERO3, ZERO3, -tree.gravity)
    return states[link.parent]


def _origin_velocity_in_derivatives(
    tree: KinematicTree,
    i: int,
    states: Sequence[LinkKinematics],
    moved: Sequence[LinkDisplacement],
    v: Array,
) -> Array:
    """Δv: the velocity of the link's origin relative to its parent's origin, in the link's axes."""
    link = tree.links[i]
    omega = _parent_motion_in_derivatives(tree, link, states).omega
    own = link_joint_motion(link, v[link.velocity_range])
    return moved[i].to_link_axes(cross(omega, moved[i].position)) + own.linear


def _composite_derivatives_to_parent(
    composite: _CompositeDerivatives, d: LinkDisplacement, drift: Array
) -> _CompositeDerivatives:
    """A composite in the frame of its parent, whose origin counts as being at rest."""
    m, h = composite.inertia.m, composite.inertia.h
    A = composite.twice_B.A - skew(2 * h) @ skew(drift)
    B2 = RecursiveCoriolisBlock(A, composite.twice_B.f + (2 * m) * drift)
    return _CompositeDerivatives(
        d.inertia_to_parent(composite.inertia), B2.to_parent(d), d.wrench_to_parent(composite.f)
    )


def _dynamics_derivative_columns(
    tree: KinematicTree,
    i: int,
    beyond: _CompositeDerivatives,
    states: Sequence[LinkKinematics],
    d: LinkDisplacement,
    v: Array,
) -> list[_DynamicsDerivativeColumn]:
    link = tree.links[i]
    below, own = (
        _parent_motion_in_derivatives(tree, link, states),
        link_joint_motion(link, v[link.velocity_range]),
    )
    omega, slip = d.to_link_axes(below.omega), -own.linear
    point = d.to_link_axes(below.point_acceleration(d.position))
    v_below = SpatialMotion(omega, slip)
    a_below = SpatialMotion(d.to_link_axes(below.alpha), point - cross(omega, slip))
    found = []
    for k, s in enumerate(link_motion_subspace(link)):
        rate = v_below.cross(s)
        second = a_below.cross(s) + v_below.cross(rate)
        twice = rate.scale(2) + own.cross(s)
        inner = beyond.inertia @ second + beyond.twice_B @ rate
        found.append(
            _DynamicsDerivativeColumn(
                index=link.v + k,
                s=s,
                rate=rate,
                twice=twice,
                second=second,
                F=s.cross_force(beyond.f) + inner,
                G=beyond.inertia @ twice + beyond.twice_B @ s,
                u=beyond.inertia @ s,
                twice_w=beyond.twice_B.multiply_transposed(s),
            )
        )
    return found


def _fill_link_derivatives(
    own: list[_DynamicsDerivativeColumn], by_q: Array, by_qd: Array, M: Array
) -> None:
    """Fill the entries between the degrees of freedom of one link."""
    for i in own:
        for j in own:
            by_q[i.index, j.index] = i.u.power(j.second) + i.twice_w.power(j.rate)
            by_qd[i.index, j.index] = i.u.power(j.twice) + i.twice_w.power(j.s)
            M[i.index, j.index] = i.u.power(j.s)


def _fill_ancestor_derivatives(
    tree: KinematicTree,
    i: int,
    column: _DynamicsDerivativeColumn,
    columns: Sequence[Sequence[_DynamicsDerivativeColumn]],
    moved: Sequence[LinkDisplacement],
    drifts: Sequence[Array],
    *,
    entries: tuple[Array, Array, Array],
) -> None:
    """Fill the entries between a degree of freedom and all those below it on the way to ground."""
    by_q, by_qd, M = entries
    F, G, u, w2 = column.F, column.G, column.u, column.twice_w.moment
    row, here = column.index, i
    while (below := tree.links[here].parent) != GROUND:
        d = moved[here]
        w2 = d.to_parent_axes(w2 + 2 * cross(drifts[here], u.force))
        F, G, u = (d.wrench_to_parent(wrench) for wrench in (F, G, u))
        link = tree.links[below]
        turned = SpatialForce(w2, ZERO3)
        forces = [project_wrench_on_link_motion(link, wrench) for wrench in (F, G, u)]
        for k, other in enumerate(columns[below]):
            by_q[other.index, row] = forces[0][k]
            by_qd[other.index, row] = forces[1][k]
            M[other.index, row] = M[row, other.index] = forces[2][k]
            by_q[row, other.index] = u.power(other.second) + turned.power(other.rate)
            by_qd[row, other.index] = u.power(other.twice) + turned.power(other.s)
        here = below
