"""Derivatives of inverse dynamics by recursion, O(n·depth), with the mass matrix on the way.

Moving joint j by the twist s carries all that it bears along. With the twist v_λ and the
acceleration a_λ of its parent, both seen at the link's origin,

    Ψ̇ = v_λ × s,   Ψ̈ = a_λ × s + v_λ × Ψ̇,   c = (S q̇) × s  (0 for one freedom)

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

from ...algebra.linear import ZERO3, Array, cross, skew
from ...algebra.spatial import Inertia, Motion, Wrench
from ...kinematics.coordinates import (
    gather_columns,
    gather_forces,
    spread_coordinates,
    spread_speeds,
)
from ...kinematics.recursions import (
    Displacement,
    State,
    accelerations,
    displacements,
    inward,
    joint_force,
    joint_motion,
    subspace,
)
from ...kinematics.tree import GROUND, Link, Tree
from .coriolis import Coriolis, body_coriolis
from .newton_euler import inertia_wrench


@dataclass(frozen=True)
class _Composite:
    """Everything beyond a link: inertia, 2B, and the wrench that it needs."""

    inertia: Inertia
    B2: Coriolis
    f: Wrench

    def __add__(self, other: _Composite) -> _Composite:
        return _Composite(self.inertia + other.inertia, self.B2 + other.B2, self.f + other.f)


@dataclass(frozen=True)
class _Column:
    """One freedom s of a link: Ψ̇, 2Ψ̇ + c and Ψ̈, and the wrenches F, G, u, 2w."""

    index: int
    s: Motion
    rate: Motion
    twice: Motion
    second: Motion
    F: Wrench
    G: Wrench
    u: Wrench
    w2: Wrench


def inverse_dynamics_derivatives(
    tree: Tree, q: Array, qd: Array, qdd: Array
) -> tuple[Array, Array, Array]:
    """∂τ/∂q along the tangent, ∂τ/∂qd, and M, without what the joints' own losses add."""
    moved = displacements(tree, spread_coordinates(tree, q))
    v, vd = spread_speeds(tree, qd), spread_speeds(tree, qdd)
    states = accelerations(tree, moved, v, vd, -tree.gravity)
    drifts = [_drift(tree, i, states, moved, v) for i in range(len(tree.links))]
    composites = inward(
        tree,
        [_own(link, state) for link, state in zip(tree.links, states, strict=True)],
        lambda i, _, composite: _carried(composite, moved[i], drifts[i]),
    )
    size = tree.tree_nv
    by_q, by_qd, M = (ca.SX.zeros(size, size) for _ in range(3))
    columns = [
        _columns(tree, i, composites[i], states, moved[i], v) for i in range(len(tree.links))
    ]
    for i, own in enumerate(columns):
        _within(own, by_q, by_qd, M)
        for column in own:
            _down(tree, i, column, columns, moved, drifts, (by_q, by_qd, M))
    for k, effect in enumerate(tree.effects):
        M[k, k] += effect.rotor
    by_q, by_qd, M = (gather_columns(tree, gather_forces(tree, X)) for X in (by_q, by_qd, M))
    return by_q, by_qd, M


def _own(link: Link, state: State) -> _Composite:
    twice = Inertia(2 * link.inertia.m, 2 * link.inertia.h, 2 * link.inertia.I)
    at_rest = Motion(state.omega, ZERO3)
    return _Composite(
        link.inertia, body_coriolis(twice, at_rest), inertia_wrench(link.inertia, state)
    )


def _parent_state(tree: Tree, link: Link, states: Sequence[State]) -> State:
    if link.parent == GROUND:
        return State(ZERO3, ZERO3, -tree.gravity)
    return states[link.parent]


def _drift(
    tree: Tree, i: int, states: Sequence[State], moved: Sequence[Displacement], v: Array
) -> Array:
    """Δv: velocity of the link's origin when its parent's is at rest, in the link's axes."""
    link = tree.links[i]
    omega = _parent_state(tree, link, states).omega
    own = joint_motion(link, v[link.v_range])
    return moved[i].into(cross(omega, moved[i].position)) + own.linear


def _carried(composite: _Composite, d: Displacement, drift: Array) -> _Composite:
    """A composite seen from the parent, which takes its own origin as being at rest."""
    m, h = composite.inertia.m, composite.inertia.h
    A = composite.B2.A - skew(2 * h) @ skew(drift)
    B2 = Coriolis(A, composite.B2.f + (2 * m) * drift)
    return _Composite(d.inertia_out(composite.inertia), B2.moved(d), d.wrench_out(composite.f))


def _columns(
    tree: Tree, i: int, beyond: _Composite, states: Sequence[State], d: Displacement, v: Array
) -> list[_Column]:
    link = tree.links[i]
    below, own = _parent_state(tree, link, states), joint_motion(link, v[link.v_range])
    omega, slip = d.into(below.omega), -own.linear
    point = d.into(below.at(d.position))
    v_below = Motion(omega, slip)
    a_below = Motion(d.into(below.alpha), point - cross(omega, slip))
    found = []
    for k, s in enumerate(subspace(link)):
        rate = v_below.cross(s)
        second = a_below.cross(s) + v_below.cross(rate)
        twice = rate.times(2) + own.cross(s)
        inner = beyond.inertia @ second + beyond.B2 @ rate
        found.append(
            _Column(
                index=link.v + k,
                s=s,
                rate=rate,
                twice=twice,
                second=second,
                F=s.cross_force(beyond.f) + inner,
                G=beyond.inertia @ twice + beyond.B2 @ s,
                u=beyond.inertia @ s,
                w2=beyond.B2.transposed(s),
            )
        )
    return found


def _within(own: list[_Column], by_q: Array, by_qd: Array, M: Array) -> None:
    """Entries between the freedoms of one link."""
    for i in own:
        for j in own:
            by_q[i.index, j.index] = i.u.power(j.second) + i.w2.power(j.rate)
            by_qd[i.index, j.index] = i.u.power(j.twice) + i.w2.power(j.s)
            M[i.index, j.index] = i.u.power(j.s)


def _down(
    tree: Tree,
    i: int,
    column: _Column,
    columns: Sequence[Sequence[_Column]],
    moved: Sequence[Displacement],
    drifts: Sequence[Array],
    entries: tuple[Array, Array, Array],
) -> None:
    """Entries between a freedom and all those below it, on the way to ground."""
    by_q, by_qd, M = entries
    F, G, u, w2 = column.F, column.G, column.u, column.w2.moment
    row, here = column.index, i
    while (below := tree.links[here].parent) != GROUND:
        d = moved[here]
        w2 = d.out(w2 + 2 * cross(drifts[here], u.force))
        F, G, u = (d.wrench_out(wrench) for wrench in (F, G, u))
        link = tree.links[below]
        turned = Wrench(w2, ZERO3)
        forces = [joint_force(link, wrench) for wrench in (F, G, u)]
        for k, other in enumerate(columns[below]):
            by_q[other.index, row] = forces[0][k]
            by_qd[other.index, row] = forces[1][k]
            M[other.index, row] = M[row, other.index] = forces[2][k]
            by_q[row, other.index] = u.power(other.second) + turned.power(other.rate)
            by_qd[row, other.index] = u.power(other.twice) + turned.power(other.s)
        here = below
