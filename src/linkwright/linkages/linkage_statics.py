"""Static forces of a planar linkage without masses: a unit load at one link, held by the input.

Each moving link is in equilibrium: three equations for the forces of pins (two components), of
slides (normal force and couple), of gears and other relations of coordinates, and of the input.
A relation r · (rates of the joints) = 0 acts by couples and forces λ r at the joints.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import UnsupportedError
from ..kinematics.closing import jacobian_null_space, jacobian_pseudoinverse
from ..kinematics.constraint_system import constraint_system
from ..types import Floats
from .planar_linkage import LinkageJoint, LinkMotions, MotionRows, PlanarLinkage
from .plane_vectors import plane_cross, quarter_turn

_RELATION_SHARE = 1e-9
"""Singular values below this share of the largest belong to relations between rates."""

_FORCE_SHARE = 1e-12
"""Singular values below this share of the largest belong to forces that equilibrium leaves open."""


@dataclass(frozen=True)
class LinkageStatics:
    """Forces under a unit load, one row for each position.

    `input_force` is the force of the input that holds the load, per unit of the load;
    `joint_forces` (…, joints, 2) act on the second link of each joint.
    """

    input_force: Floats
    joint_forces: Floats

    def force_on(self, linkage: PlanarLinkage, joint: LinkageJoint, link: int) -> Floats:
        """Return the force (positions, 2) of a joint on one of its links."""
        sign = 1.0 if joint.links[1] == link else -1.0
        return sign * self.joint_forces[:, linkage.joints.index(joint)]


def linkage_statics(
    linkage: PlanarLinkage, motion: MotionRows, motions: LinkMotions, input_index: int, output: int
) -> LinkageStatics:
    """Return the forces that hold a unit load at the output link, along its motion to ground."""
    if not linkage.has_only_joints:
        raise UnsupportedError(
            "static forces need pins, slides and gears, and there are other constraints",
            where=linkage.mechanism.name,
            remedy="use solve_inverse, whose reactions have no such condition",
        )
    G = linkage.rate_matrices(motion.t, motion.q)
    rates = jacobian_pseudoinverse(G, _RELATION_SHARE)[:, input_index]
    rows = [*_relation_rows(G, _coordinate_relations(linkage, motion)), rates]
    columns = list(_joint_columns(linkage, motions))
    columns += [_rate_wrenches(linkage, motions, row) for row in rows]
    inverse = jacobian_pseudoinverse(np.stack(columns, axis=-1), _FORCE_SHARE)
    found = -(inverse @ _unit_load(linkage, motions, output)[..., None])[..., 0]
    pairs = found[:, : 2 * len(linkage.joints)].reshape(len(found), -1, 2)
    return LinkageStatics(found[:, -1], _joint_forces(linkage, motions, pairs))


def ground_joint(linkage: PlanarLinkage, link: int) -> LinkageJoint | None:
    """Return the pin or slide between a link and ground; None if there is none."""
    found = [joint for joint in linkage.joints_between(0, link) if joint.kind != "other"]
    return found[0] if len(found) == 1 else None


def rotation_sense(linkage: PlanarLinkage, link: int) -> float:
    """Return 1 where the rotation of a link counts about the normal of the plane, −1 where against
    it: about the axis of its pin on ground, else of the pin that carries it in the tree."""
    joint = ground_joint(linkage, link)
    carrying = [one for one in linkage.joints if one.links[1] == link and one.kind == "pin"]
    chosen = [joint] if joint is not None and joint.kind == "pin" else carrying
    return chosen[0].sense if chosen else 1.0


def _unit_load(linkage: PlanarLinkage, motions: LinkMotions, link: int) -> Floats:
    """Return the equations' loads (positions, …) for a unit load on a link: a force along its slide
    on ground, else a couple."""
    joint, load = ground_joint(linkage, link), _no_wrenches(linkage, motions)
    if joint is None or joint.kind == "pin":
        load[:, 3 * (link - 1)] = rotation_sense(linkage, link)
        return load
    along = motions.directions(joint.links[0], joint.direction)
    _add_force(load, link, joint_points(motions, joint), along)
    return load


def joint_points(motions: LinkMotions, joint: LinkageJoint) -> Floats:
    """Return the point of a joint in the plane over all positions, (positions, 2)."""
    return motions.points(joint.links[0], joint.point)


def _coordinate_relations(linkage: PlanarLinkage, motion: MotionRows) -> Floats:
    """The rows (positions, rows, nv) of the constraint Jacobian that are not of loops: gears and
    couplings."""
    names = linkage.tree.names
    loops = set(linkage.mechanism.loops)
    chosen = [k for k, owner in enumerate(names.constraints) if owner not in loops]
    if not chosen:
        return np.zeros((len(motion.t), 0, names.nv))
    system = constraint_system(linkage.mechanism)
    states = zip(motion.q, motion.t.tolist(), strict=True)
    return np.array([system.jacobian(q, t)[chosen] for q, t in states])


def _relation_rows(G: Floats, relations: Floats) -> Floats:
    """Rows r (rows, positions, rates) with r · (rates of the tree's joints) = 0 for all rates that
    relations allow; a position that has fewer of them has zeros in place of the others."""
    free = G
    if relations.shape[1]:
        free = np.zeros_like(G)
        for k, rows in enumerate(relations):
            allowed = G[k] @ jacobian_null_space(rows, _RELATION_SHARE)
            free[k, :, : allowed.shape[1]] = allowed
    left, sizes, _ = np.linalg.svd(free)
    counts = (sizes > _RELATION_SHARE * sizes.max(axis=1, keepdims=True, initial=0.0)).sum(axis=1)
    is_relation = np.arange(left.shape[-1]) >= counts[:, None]
    rows = np.where(is_relation[:, None, :], left, 0.0)
    return np.moveaxis(rows[..., counts.min() :], -1, 0)


def _no_wrenches(linkage: PlanarLinkage, motions: LinkMotions) -> Floats:
    """Zeros (positions, 3 for each moving link)."""
    return np.zeros((len(motions.placements), 3 * (len(linkage.links) - 1)))


def _add_force(wrenches: Floats, link: int, point: Floats, force: Floats) -> None:
    """Adds a force at a point to the couple about the plane's origin and the force on a link."""
    if link:
        wrenches[:, 3 * link - 3] += plane_cross(point, force)
        wrenches[:, 3 * link - 2 : 3 * link] += force


def _joint_columns(linkage: PlanarLinkage, motions: LinkMotions) -> Iterator[Floats]:
    """The wrenches on all links of the two unknown forces of each joint."""
    for joint in linkage.joints:
        point = joint_points(motions, joint)
        directions = [np.broadcast_to(axis, point.shape) for axis in np.eye(2)]
        if joint.kind == "slide":
            directions = [quarter_turn(motions.directions(joint.links[0], joint.direction))]
        for direction in directions:
            column = _no_wrenches(linkage, motions)
            _add_force(column, joint.links[1], point, direction)
            _add_force(column, joint.links[0], point, -direction)
            yield column
        if joint.kind == "slide":
            yield _couple_between(linkage, motions, joint, np.ones(len(point)))


def _couple_between(
    linkage: PlanarLinkage, motions: LinkMotions, joint: LinkageJoint, sizes: Floats
) -> Floats:
    """The wrenches of couples on the second link of a joint, and their reactions on the first."""
    column = _no_wrenches(linkage, motions)
    for link, sign in zip(joint.links, (-1.0, 1.0), strict=True):
        if link:
            column[:, 3 * link - 3] = sign * sizes
    return column


def _rate_wrenches(linkage: PlanarLinkage, motions: LinkMotions, rows: Floats) -> Floats:
    """The wrenches of generalized forces `rows` along the rates of the tree's joints."""
    column = _no_wrenches(linkage, motions)
    for joint in linkage.joints:
        if joint.velocity_index is None:
            continue
        sizes = rows[:, joint.velocity_index]
        if joint.kind == "pin":
            column += _couple_between(linkage, motions, joint, joint.sense * sizes)
            continue
        force = sizes[:, None] * motions.directions(joint.links[0], joint.direction)
        point = joint_points(motions, joint)
        _add_force(column, joint.links[1], point, force)
        _add_force(column, joint.links[0], point, -force)
    return column


def _joint_forces(linkage: PlanarLinkage, motions: LinkMotions, pairs: Floats) -> Floats:
    """The forces (positions, joints, 2) on the second links, from the unknowns of the joints."""
    forces = pairs.copy()
    for number, joint in enumerate(linkage.joints):
        if joint.kind == "slide":
            along = motions.directions(joint.links[0], joint.direction)
            forces[:, number] = pairs[:, number, :1] * quarter_turn(along)
    return forces
