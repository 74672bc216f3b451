"""The size of a mechanism, to which rounding errors of lengths are compared."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array
from ..types import Floats
from .kinematic_tree import GROUND, KinematicTree, LinkFrame
from .tree_coordinates import place_tree_at_time
from .world_kinematics import WorldKinematics


def tree_length(tree: KinematicTree, q: Floats) -> float:
    """Return the largest distance, m, between origins of joints, ends of loops and centres of mass
    at q and t = 0; 1 where all of them coincide."""
    points = np.asarray(ca.DM(tree_points(tree, ca.DM(q))), dtype=float)
    return float(lengths_between_points(points.T))


def tree_points(tree: KinematicTree, q: Array) -> Array:
    """Return origins of joints, ends of loops and centres of mass in the world, (3, count), at q
    and t = 0, m."""
    world = WorldKinematics(place_tree_at_time(tree, 0.0), q)
    places = [LinkFrame(mass.link, np.eye(3), mass.c) for mass in tree.masses.values()]
    places += [span.frame for span in tree.joints] + list(tree.frames.values())
    for tie in tree.restraints.entries:
        places += tie.loop_frames
    return ca.horzcat(*(_frame_origin_in_world(world, place) for place in places))


def lengths_between_points(points: Floats) -> Floats:
    """Return the diagonals of the boxes around points (…, count, 3), m; 1 where all of them
    coincide."""
    spread = np.linalg.norm(np.ptp(points, axis=-2), axis=-1)
    return np.where(spread > 0, spread, 1.0)


def _frame_origin_in_world(world: WorldKinematics, place: LinkFrame) -> Array:
    """Return the position of a frame's origin in the world, m."""
    p = ca.SX(place.p)
    if place.link != GROUND:
        link = world.link_poses[place.link]
        p = link.p + link.R @ p
    return ca.densify(ca.SX(p))
