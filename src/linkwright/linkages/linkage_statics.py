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
from ..simulation.kinematic_motion import Kinematics
from ..types import Floats
from .planar_linkage import LinkageJoint, LinkMotions, PlanarLinkage
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
    linkage: PlanarLinkage, motion: Kinematics, motions: LinkMotions, input_index: int, output: int
) -> LinkageStatics:
    """Return the forces that hold a unit load at the output link, along its motion to ground."""
    if not linkage.has_only_joints:
        raise UnsupportedError(
            "static forces need pins, slides and gears, and there are other constraints",
            where=linkage.mechanism.name,
            remedy="use solve_inverse, whose reactions have no such condition",
        )
    G = linkage.rate_matrices(motion.t, motion.q)
    relations = _coordinate_relations(linkage, motion)
    inputs, forces = [], []
    for k in range(len(motion.t)):
        columns = list(_joint_columns(linkage, motions, k))
        rows = _relation_rows(G[k], relations[k])
        rows.append(jacobian_pseudoinverse(G[k], _RELATION_SHARE)[input_index])
        columns += [_rate_wrenches(linkage, motions, k, row) for row in rows]
        load = unit_load(linkage, motions, k, output)
        found = jacobian_pseudoinverse(np.column_stack(columns), _FORCE_SHARE) @ -load
        inputs.append(found[-1])
        pairs = np.asarray(found[: 2 * len(linkage.joints)], dtype=float).reshape(-1, 2)
        forces.append(_joint_forces(linkage, motions, k, pairs))
    return LinkageStatics(np.array(inputs), np.array(forces))


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


def unit_load(linkage: PlanarLinkage, motions: LinkMotions, k: int, link: int) -> Floats:
    """Return the equations' loads for a unit load on a link: a force along its slide on ground,
    else a couple."""
    joint = ground_joint(linkage, link)
    load = np.zeros(3 * (len(linkage.links) - 1))
    if joint is None or joint.kind == "pin":
        load[3 * (link - 1)] = rotation_sense(linkage, link)
        return load
    along = motions.directions(joint.links[0], joint.direction)[k]
    _add_force(load, link, joint_points(motions, joint)[k], along)
    return load


def joint_points(motions: LinkMotions, joint: LinkageJoint) -> Floats:
    """Return the point of a joint in the plane over all positions, (positions, 2)."""
    return motions.points(joint.links[0], joint.point)


def _coordinate_relations(linkage: PlanarLinkage, motion: Kinematics) -> list[Floats]:
    """The rows of the constraint Jacobian that are not of loops: gears and couplings."""
    names = linkage.tree.names
    loops = set(linkage.mechanism.loops)
    chosen = [k for k, owner in enumerate(names.constraints) if owner not in loops]
    if not chosen:
        return [np.zeros((0, names.nv))] * len(motion.t)
    system = constraint_system(linkage.mechanism)
    return [system.jacobian(q, t)[chosen] for q, t in zip(motion.q, motion.t.tolist(), strict=True)]


def _relation_rows(G: Floats, relations: Floats) -> list[Floats]:
    """Rows r with r · (rates of the tree's joints) = 0 for all rates that relations allow."""
    free = G if not len(relations) else G @ jacobian_null_space(relations, _RELATION_SHARE)
    left, sizes, _ = np.linalg.svd(free)
    rank = int((sizes > _RELATION_SHARE * sizes.max(initial=0.0)).sum())
    return list(left[:, rank:].T)


def _add_force(wrenches: Floats, link: int, point: Floats, force: Floats) -> None:
    """Adds a force at a point to the couple about the plane's origin and the force on a link."""
    if link:
        wrenches[3 * link - 3] += plane_cross(point, force)
        wrenches[3 * link - 2 : 3 * link] += force


def _joint_columns(linkage: PlanarLinkage, motions: LinkMotions, k: int) -> Iterator[Floats]:
    """The wrenches on all links of the two unknown forces of each joint."""
    for joint in linkage.joints:
        point = joint_points(motions, joint)[k]
        directions = np.eye(2)
        if joint.kind == "slide":
            directions = quarter_turn(motions.directions(joint.links[0], joint.direction)[k])[None]
        for direction in directions:
            column = np.zeros(3 * (len(linkage.links) - 1))
            _add_force(column, joint.links[1], point, direction)
            _add_force(column, joint.links[0], point, -direction)
            yield column
        if joint.kind == "slide":
            yield _couple_between(linkage, joint, 1.0)


def _couple_between(linkage: PlanarLinkage, joint: LinkageJoint, size: float) -> Floats:
    """The wrenches of a couple on the second link of a joint, and its reaction on the first."""
    column = np.zeros(3 * (len(linkage.links) - 1))
    for link, sign in zip(joint.links, (-1.0, 1.0), strict=True):
        if link:
            column[3 * link - 3] = sign * size
    return column


def _rate_wrenches(linkage: PlanarLinkage, motions: LinkMotions, k: int, row: Floats) -> Floats:
    """The wrenches of generalized forces `row` along the rates of the tree's joints."""
    column = np.zeros(3 * (len(linkage.links) - 1))
    for joint in linkage.joints:
        if joint.velocity_index is None:
            continue
        size = float(row[joint.velocity_index])
        if joint.kind == "pin":
            column += _couple_between(linkage, joint, joint.sense * size)
            continue
        force = size * motions.directions(joint.links[0], joint.direction)[k]
        point = joint_points(motions, joint)[k]
        _add_force(column, joint.links[1], point, force)
        _add_force(column, joint.links[0], point, -force)
    return column


def _joint_forces(linkage: PlanarLinkage, motions: LinkMotions, k: int, pairs: Floats) -> Floats:
    """The forces (joints, 2) on the second links, from the unknowns of the joints."""
    forces = np.empty((len(linkage.joints), 2))
    for number, (joint, pair) in enumerate(zip(linkage.joints, pairs, strict=True)):
        if joint.kind == "slide":
            along = motions.directions(joint.links[0], joint.direction)[k]
            forces[number] = pair[0] * quarter_turn(along)
        else:
            forces[number] = pair
    return forces
