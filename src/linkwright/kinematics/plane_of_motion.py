"""The plane of motion of a planar mechanism."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..types import Floats
from .kinematic_tree import KinematicTree
from .world_kinematics import WorldKinematics


def without_rounding_noise(a: Floats) -> Floats:
    """Return a vector without rounding errors and negative zeros."""
    return np.where(np.abs(a) < 1e-12, 0.0, a) + 0.0


def motion_plane_normal(tree: KinematicTree, gravity: Floats) -> Floats | None:
    """Return the normal of the plane to which all motions are parallel at all configurations; None
    if there is none."""
    q = tree.motion.q
    world = WorldKinematics(tree, q)
    rows: list[Any] = [ca.horzcat(ca.SX(f.s).T, float(f.has_rotation)) for f in world.joint_axes]
    rows += [ca.horzcat(ca.SX(axis).T, 1.0) for axis in _restraint_turning_axes(tree, world)]
    if not rows:
        return None
    function = ca.Function("axes", [ca.vertcat(q, tree.motion.t)], [ca.vertcat(*rows)])
    rng = np.random.default_rng(0)
    found = [np.asarray(function(rng.uniform(0.2, 1.2, q.shape[0] + 1)), float) for _ in range(3)]
    table = np.vstack(found)
    turning, sliding = table[table[:, 3] == 1, :3], table[table[:, 3] == 0, :3]
    normal = turning[0] if len(turning) else _sliding_plane_normal(sliding, gravity)
    normal = normal / np.linalg.norm(normal)
    aligned = np.abs(np.cross(turning, normal)).max(initial=0.0) < 1e-6
    within = np.abs(sliding @ normal).max(initial=0.0) < 1e-6
    return without_rounding_noise(normal) if aligned and within else None


def _restraint_turning_axes(tree: KinematicTree, world: WorldKinematics) -> list[Any]:
    """Return the axes of wheels and of loops that turn, in the world."""
    found: list[Any] = []
    for tie in tree.restraints.entries:
        for place, axis in tie.turning_axes(tree):
            R = world.link_poses[place.link].R if place.link >= 0 else np.eye(3)
            found.append(R @ place.R @ axis)
    return found


def _sliding_plane_normal(sliding: Floats, gravity: Floats) -> Floats:
    """Return the normal of a mechanism that only slides: across two directions, or one and the
    vertical."""
    first = sliding[0]
    for other in (*sliding[1:], gravity, np.eye(3)[2], np.eye(3)[0]):
        normal = np.cross(first, other)
        if np.linalg.norm(normal) > 1e-6:
            return np.asarray(normal)
    return np.array([0.0, 0.0, 1.0])
