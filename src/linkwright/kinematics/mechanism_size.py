"""The size of a mechanism, to which rounding errors of lengths are compared."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..types import Floats
from .kinematic_tree import GROUND, KinematicTree, LinkFrame
from .tree_coordinates import place_tree_at_time
from .world_kinematics import WorldKinematics


def tree_length(tree: KinematicTree, q: Floats) -> float:
    """Return the largest distance, m, between origins of joints, ends of loops and centres of mass
    at q and t = 0; 1 where all of them coincide."""
    world = WorldKinematics(place_tree_at_time(tree, 0.0), ca.DM(q))
    places = [LinkFrame(mass.link, np.eye(3), mass.c) for mass in tree.masses.values()]
    places += [span.frame for span in tree.joints] + list(tree.frames.values())
    for tie in tree.restraints.entries:
        places += tie.loop_frames
    points = np.array([_frame_origin_in_world(world, place) for place in places])
    spread = float(np.linalg.norm(np.ptp(points, axis=0)))
    return spread if spread > 0 else 1.0


def _frame_origin_in_world(world: WorldKinematics, place: LinkFrame) -> Floats:
    """Return the position of a frame's origin in the world, m."""
    p = ca.SX(place.p)
    if place.link != GROUND:
        link = world.link_poses[place.link]
        p = link.p + link.R @ p
    return np.asarray(ca.DM(ca.SX(p)), dtype=float).ravel()
