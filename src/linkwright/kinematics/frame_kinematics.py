"""Placements, Jacobians, velocities and accelerations of frames, in world axes."""

from __future__ import annotations

import casadi as ca

from ..algebra.linear_algebra import ZERO3, Array, cross
from .kinematic_tree import GROUND, KinematicTree, LinkFrame
from .recursions import (
    LinkPose,
    link_accelerations,
    link_displacements,
    link_motion_subspace,
    link_poses,
    link_twists,
)
from .tree_coordinates import (
    gather_columns,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)


def frame_pose(tree: KinematicTree, q: Array, frame: LinkFrame) -> LinkPose:
    """Return rotation and position of a frame in the world, at q."""
    if frame.link == GROUND:
        return LinkPose(frame.R, frame.p)
    link = link_poses(tree, link_displacements(tree, spread_coordinates(tree, q)))[frame.link]
    return LinkPose(link.R @ frame.R, link.p + link.R @ frame.p)


def frame_placement(tree: KinematicTree, q: Array, frame: LinkFrame) -> Array:
    """Return the placement (4, 4) of the frame in the world."""
    pose = frame_pose(tree, q, frame)
    bottom = ca.SX([[0.0, 0.0, 0.0, 1.0]])
    return ca.vertcat(ca.horzcat(ca.SX(pose.R), ca.SX(pose.p)), bottom)


def frame_jacobian(tree: KinematicTree, q: Array, frame: LinkFrame) -> Array:
    """Return the Jacobian (6, nv) of the frame, world axes: angular rows, then those of its
    origin's velocity."""
    placed = link_poses(tree, link_displacements(tree, spread_coordinates(tree, q)))
    origin = frame_pose(tree, q, frame).p
    columns = ca.SX.zeros(6, tree.tree_nv)
    for index in tree.path_to_ground(frame.link):
        link, pose = tree.links[index], placed[index]
        for k, motion in enumerate(link_motion_subspace(link)):
            angular = pose.R @ motion.angular
            linear = pose.R @ motion.linear + cross(angular, origin - pose.p)
            columns[:, link.v + k] = ca.vertcat(angular, linear)
    return gather_columns(tree, columns)


def frame_velocity(tree: KinematicTree, q: Array, qd: Array, frame: LinkFrame) -> Array:
    """Return (ω, v) of the frame, world axes, v of its origin."""
    if frame.link == GROUND:
        return ca.SX.zeros(6)
    moved = link_displacements(tree, spread_coordinates(tree, q))
    twist = link_twists(tree, moved, spread_velocities(tree, qd))[frame.link]
    R = link_poses(tree, moved)[frame.link].R
    linear = twist.linear + cross(twist.angular, frame.p)
    return ca.vertcat(R @ twist.angular, R @ linear)


def frame_acceleration(
    tree: KinematicTree, q: Array, qd: Array, qdd: Array | None, frame: LinkFrame
) -> Array:
    """Return (ω̇, v̇) of the frame, world axes, the rates of `frame_velocity`; J̇ q̇ if qdd is
    None."""
    if frame.link == GROUND:
        return ca.SX.zeros(6)
    moved = link_displacements(tree, spread_coordinates(tree, q))
    rate = spread_accelerations(tree, qd, qdd)
    state = link_accelerations(tree, moved, spread_velocities(tree, qd), rate, ZERO3)[frame.link]
    R = link_poses(tree, moved)[frame.link].R
    return ca.vertcat(R @ state.alpha, R @ state.point_acceleration(frame.p))
