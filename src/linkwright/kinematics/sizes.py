"""The size of a mechanism, by which rounded lengths are judged."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..types import Floats
from .tree import GROUND, Placed, Tree
from .world import World


def length_of(tree: Tree, q: Floats) -> float:
    """The largest distance, m, between origins of joints, ends of loops and centres of mass at q;
    1 where all of them coincide."""
    world = World(tree, ca.DM(q))
    places = [Placed(mass.link, np.eye(3), mass.c) for mass in tree.masses.values()]
    places += [span.frame for span in tree.joints] + list(tree.frames.values())
    for tie in tree.restraints.ties:
        places += tie.frames
    points = np.array([_point(world, place) for place in places])
    spread = float(np.linalg.norm(np.ptp(points, axis=0)))
    return spread if spread > 0 else 1.0


def _point(world: World, place: Placed) -> Floats:
    p = ca.SX(place.p)
    if place.link != GROUND:
        link = world.placed[place.link]
        p = link.p + link.R @ p
    return np.asarray(ca.DM(ca.SX(p)), dtype=float).ravel()
