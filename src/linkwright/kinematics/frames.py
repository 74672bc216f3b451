"""Placements, Jacobians, velocities and accelerations of frames, in world axes."""

from __future__ import annotations

import casadi as ca

from ..algebra.linear import ZERO3, Array, cross
from .coordinates import (
    gather_columns,
    spread_accelerations,
    spread_coordinates,
    spread_speeds,
)
from .recursions import Pose, accelerations, displacements, poses, subspace, velocities
from .tree import GROUND, Placed, Tree


def frame_pose(tree: Tree, q: Array, frame: Placed) -> Pose:
    if frame.link == GROUND:
        return Pose(frame.R, frame.p)
    link = poses(tree, displacements(tree, spread_coordinates(tree, q)))[frame.link]
    return Pose(link.R @ frame.R, link.p + link.R @ frame.p)


def placement(tree: Tree, q: Array, frame: Placed) -> Array:
    """4×4 of the frame in the world."""
    pose = frame_pose(tree, q, frame)
    bottom = ca.SX([[0.0, 0.0, 0.0, 1.0]])
    return ca.vertcat(ca.horzcat(ca.SX(pose.R), ca.SX(pose.p)), bottom)


def jacobian(tree: Tree, q: Array, frame: Placed) -> Array:
    """6×nv: angular rows, then the velocity of the frame's origin, both in world axes."""
    placed = poses(tree, displacements(tree, spread_coordinates(tree, q)))
    origin = frame_pose(tree, q, frame).p
    columns = ca.SX.zeros(6, tree.tree_nv)
    for index in tree.path(frame.link):
        link, pose = tree.links[index], placed[index]
        for k, motion in enumerate(subspace(link)):
            angular = pose.R @ motion.angular
            linear = pose.R @ motion.linear + cross(angular, origin - pose.p)
            columns[:, link.v + k] = ca.vertcat(angular, linear)
    return gather_columns(tree, columns)


def frame_velocity(tree: Tree, q: Array, qd: Array, frame: Placed) -> Array:
    """(ω, v) of the frame, world axes, v of its origin."""
    if frame.link == GROUND:
        return ca.SX.zeros(6)
    moved = displacements(tree, spread_coordinates(tree, q))
    twist = velocities(tree, moved, spread_speeds(tree, qd))[frame.link]
    R = poses(tree, moved)[frame.link].R
    linear = twist.linear + cross(twist.angular, frame.p)
    return ca.vertcat(R @ twist.angular, R @ linear)


def frame_acceleration(tree: Tree, q: Array, qd: Array, qdd: Array | None, frame: Placed) -> Array:
    """(ω̇, v̇) of the frame, world axes: rates of `frame_velocity`. qdd None gives J̇ qd."""
    if frame.link == GROUND:
        return ca.SX.zeros(6)
    moved = displacements(tree, spread_coordinates(tree, q))
    rate = spread_accelerations(tree, qd, qdd)
    state = accelerations(tree, moved, spread_speeds(tree, qd), rate, ZERO3)[frame.link]
    R = poses(tree, moved)[frame.link].R
    return ca.vertcat(R @ state.alpha, R @ state.at(frame.p))
