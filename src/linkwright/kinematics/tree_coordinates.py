"""Coordinates and velocities: chosen coordinates, mimicry, and steps on the manifold of unit
quaternions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar
from ..algebra.quaternion_steps import (
    quaternion_rate_matrix,
    rotate_quaternion,
    rotation_of_quaternion_vector,
    rotation_vector_between,
    screw_path_matrix,
    screw_path_matrix_inverse,
)
from ..mechanism import MechanismNames
from .kinematic_tree import JointTransfer, KinematicSymbols, KinematicTree, MimicFollower, TreeLink

SpreadFunction = Callable[[Array], Array]


def make_kinematic_symbols(names: MechanismNames) -> KinematicSymbols:
    """Return symbols named after the joints: q1, dq1, ddq1, tau_q1; and t."""

    def symbol_column(words: Iterable[str], prefix: str = "") -> Array:
        return ca.vertcat(*(ca.SX.sym(f"{prefix}{name}") for name in words))

    return KinematicSymbols(
        symbol_column(names.q),
        symbol_column(names.velocity_symbols),
        symbol_column(names.velocity_symbols, "d"),
        symbol_column(names.qd, "tau_"),
        ca.SX.sym("t"),
    )


def make_joint_transfer(
    q: Array, own: KinematicSymbols, start: tuple[float, ...], *, is_frozen: bool = False
) -> JointTransfer:
    """Return joint variables q, expressions of the model's coordinates and time, with their
    derivatives; `is_frozen` takes the time in them for a constant."""

    def total_rate(x: Array) -> Array:
        rate = ca.jtimes(ca.vec(x), own.q, own.qd)
        if not is_frozen:
            rate += ca.jacobian(ca.vec(x), own.t)
        return ca.sparsify(ca.reshape(rate, *x.shape))

    G = ca.jacobian(q, own.q)
    drift = ca.SX(q.shape[0], 1) if is_frozen else ca.sparsify(ca.jacobian(q, own.t))
    return JointTransfer(q, G, total_rate(G), drift, total_rate(drift), start)


def freeze_coordinates(tree: KinematicTree) -> KinematicTree:
    """Return the tree with the coordinates that it has at the present time t, at rest: its mass
    matrix, Coriolis matrix and gravity vector are those of the tree."""
    if tree.transfer is None or not tree.transfer.is_moving:
        return tree
    own = tree.transfer
    return replace(
        tree, transfer=make_joint_transfer(own.q, tree.motion, own.neutral, is_frozen=True)
    )


def place_tree_at_time(tree: KinematicTree, t: float) -> KinematicTree:
    """Return the tree with the coordinates that it has at the time t, s, at rest."""
    if tree.transfer is None or not tree.transfer.is_moving:
        return tree
    q = ca.substitute(tree.transfer.q, tree.motion.t, t)
    return replace(tree, transfer=make_joint_transfer(q, tree.motion, tree.transfer.neutral))


def _follower_coordinates(tree: KinematicTree) -> dict[int, MimicFollower]:
    """Return followers by the index of their tree coordinate (each has one degree of freedom)."""
    return {link.q: tree.followers[link.v] for link in tree.links if link.v in tree.followers}


def spread_coordinates(tree: KinematicTree, q: Array) -> Array:
    """Return the tree's coordinates from the model's: joint variables; gain · q + offset for
    followers."""
    if tree.transfer is not None:
        q = ca.substitute(tree.transfer.q, tree.motion.q, ca.SX(q))
    if not tree.followers:
        return q
    followers, leaders = _follower_coordinates(tree), _leader_coordinates(tree)
    own = count()
    size = sum(link.kind.coordinate_count for link in tree.links)
    entries: list[Scalar] = []
    for index in range(size):
        if (follower := followers.get(index)) is None:
            entries.append(q[next(own)])
        else:
            entries.append(follower.gain * q[leaders[follower.leader]] + follower.offset)
    return ca.vertcat(*entries)


def _leader_coordinates(tree: KinematicTree) -> dict[int, int]:
    """Return the index of the model's coordinate by index of the model's velocities (single degrees
    of freedom)."""
    found: dict[int, int] = {}
    q = v = 0
    for link in tree.links:
        if link.v in tree.followers:
            continue
        found[v] = q
        q += link.kind.coordinate_count
        v += link.kind.velocity_count
    return found


def spread_velocities(tree: KinematicTree, v: Array) -> Array:
    """Return the tree's velocities from the model's: G v + k, at the model's own coordinates."""
    transfer = tree.transfer
    return _spread_to_followers(tree, v if transfer is None else transfer.G @ v + transfer.drift)


def spread_accelerations(tree: KinematicTree, qd: Array, qdd: Array | None) -> Array:
    """Return rates of the tree's velocities, G q̈ + Ġ q̇ + k̇; None stands for zero in `qdd` and in
    the result."""
    transfer = tree.transfer
    if transfer is None:
        return None if qdd is None else _spread_to_followers(tree, qdd)
    if transfer.is_affine and not transfer.is_moving and qdd is None:
        return None
    total = transfer.G_rate @ qd + transfer.drift_rate
    return _spread_to_followers(tree, total if qdd is None else total + transfer.G @ qdd)


def _spread_to_followers(tree: KinematicTree, v: Array) -> Array:
    """Return the tree's velocities from those of joints with coordinates of their own."""
    if not tree.followers:
        return v
    own = count()
    entries: list[Scalar] = []
    for index in range(tree.tree_nv):
        if (follower := tree.followers.get(index)) is None:
            entries.append(v[next(own)])
        else:
            entries.append(follower.gain * v[follower.leader])
    return ca.vertcat(*entries)


def gather_forces(tree: KinematicTree, forces: Array) -> Array:
    """Return the model's forces from the tree's (rows of a vector or matrix): Gᵀ f."""
    if tree.followers:
        rows = [forces[v, :] for v in tree.own_velocity_indices()]
        for index, follower in tree.followers.items():
            rows[follower.leader] = rows[follower.leader] + follower.gain * forces[index, :]
        forces = ca.vertcat(*rows)
    return forces if tree.transfer is None else tree.transfer.G.T @ forces


def transfer_coriolis_matrix(tree: KinematicTree, M: Array) -> Array:
    """Return Gᵀ M Ġ, which a change of coordinates adds to the Coriolis matrix; M is that of the
    tree."""
    if tree.transfer is None or tree.transfer.is_affine:
        return ca.SX(tree.nv, tree.nv)
    columns = [_spread_to_followers(tree, column) for column in ca.horzsplit(tree.transfer.G_rate)]
    return gather_forces(tree, M @ ca.horzcat(*columns))


def gather_columns(tree: KinematicTree, columns: Array) -> Array:
    """Return columns for the model's velocities from those for the tree's: A G."""
    return gather_forces(tree, columns.T).T


# -- the manifold of unit quaternions ------------------------------------------------------


def links_with_coordinates(tree: KinematicTree) -> list[tuple[TreeLink, slice, slice]]:
    """Return links with coordinates of their own, and the ranges of these among the model's q and
    q̇."""
    found = []
    q = v = 0
    for link in tree.links:
        if link.v not in tree.followers:
            coordinates, speeds = link.kind.coordinate_count, link.kind.velocity_count
            found.append((link, slice(q, q + coordinates), slice(v, v + speeds)))
            q, v = q + coordinates, v + speeds
    return found


def coordinate_rate_matrix(tree: KinematicTree, q: Array) -> Array:
    """Return N(q), (nq, nv), with dq/dt = N(q) · velocities."""
    if tree.transfer is not None:
        return ca.SX.eye(tree.nq)
    N = ca.SX(tree.nq, tree.nv)
    for link, qs, vs in links_with_coordinates(tree):
        if not link.kind.has_quaternion:
            N[qs, vs] = 1
            continue
        quaternion = q[qs][-4:]
        N[qs.stop - 4 : qs.stop, vs.start : vs.start + 3] = quaternion_rate_matrix(quaternion)
        if link.kind.has_position:
            N[qs.start : qs.start + 3, vs.start + 3 : vs.stop] = rotation_of_quaternion_vector(
                quaternion
            )
    return N


def neutral_coordinates(tree: KinematicTree) -> list[float]:
    """Return q where nothing is displaced: zeros, and quaternions (1, 0, 0, 0)."""
    if tree.transfer is not None:
        return list(tree.transfer.neutral)
    q = [0.0] * tree.nq
    for link, qs, _ in links_with_coordinates(tree):
        if link.kind.has_quaternion:
            q[qs.stop - 4] = 1.0
    return q


def quaternion_ranges(tree: KinematicTree) -> list[tuple[slice, slice]]:
    """Return the ranges of quaternions (w, x, y, z) of free and spherical joints in q, and of their
    angular velocities among the velocities."""
    if tree.transfer is not None:
        return []
    turned = [own for own in links_with_coordinates(tree) if own[0].kind.has_quaternion]
    return [(slice(q.stop - 4, q.stop), slice(v.start, v.start + 3)) for _, q, v in turned]


def position_ranges(tree: KinematicTree) -> list[tuple[slice, slice]]:
    """Return the ranges of positions (x, y, z) of free joints with quaternions in q, and of their
    velocities (child's axes) among the velocities."""
    if tree.transfer is not None:
        return []
    free = [own for own in links_with_coordinates(tree) if own[0].kind.has_position]
    return [(slice(q.start, q.start + 3), slice(v.start + 3, v.stop)) for _, q, v in free]


def integrate_coordinates(tree: KinematicTree, q: Array, v: Array) -> Array:
    """Return q ⊕ v, the coordinates after unit time at constant velocities v; quaternions have
    length 1."""
    if tree.transfer is not None:
        return q + v
    parts = []
    for link, qs, vs in links_with_coordinates(tree):
        here, by = q[qs], v[vs]
        if not link.kind.has_quaternion:
            parts.append(here + by)
            continue
        if link.kind.has_position:
            travelled = rotation_of_quaternion_vector(here[-4:]) @ (
                screw_path_matrix(by[:3]) @ by[3:]
            )
            parts.append(here[:3] + travelled)
        parts.append(rotate_quaternion(here[-4:], by[:3]))
    return ca.vertcat(*parts)


def coordinate_difference(tree: KinematicTree, q0: Array, q1: Array) -> Array:
    """Return v with q0 ⊕ v = q1; rotations take the shorter way."""
    if tree.transfer is not None:
        return q1 - q0
    parts = []
    for link, qs, _ in links_with_coordinates(tree):
        a, b = q0[qs], q1[qs]
        if not link.kind.has_quaternion:
            parts.append(b - a)
            continue
        turn = rotation_vector_between(a[-4:], b[-4:])
        parts.append(turn)
        if link.kind.has_position:
            local = rotation_of_quaternion_vector(a[-4:]).T @ (b[:3] - a[:3])
            parts.append(screw_path_matrix_inverse(turn) @ local)
    return ca.vertcat(*parts)
