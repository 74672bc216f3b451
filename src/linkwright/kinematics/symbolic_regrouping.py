"""Symbolic inertia moved toward ground where no joint force depends on it.

The same as in `canonical_frames`, which does it with numbers. Frames stay the user's: sliding them
along their axes until origins coincide saves operations with numbers, but costs some with symbols
(PUMA 560).
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..algebra.linear_algebra import ZERO3
from ..algebra.spatial import ZERO_INERTIA, SpatialInertia
from .kinematic_tree import GROUND, KinematicTree, TreeLink


def regroup_symbolic_link_inertias(tree: KinematicTree) -> KinematicTree:
    """Return the tree of a mechanism in the user's frames, with inertia moved toward ground."""
    links = list(tree.links)
    for i in range(len(links) - 1, -1, -1):
        link = links[i]
        rest, carried = _split_link_inertia(link)
        links[i] = replace(link, inertia=rest)
        if link.parent != GROUND:
            total = links[link.parent].inertia + carried.rotate(link.R).shift_origin(link.p)
            links[link.parent] = replace(links[link.parent], inertia=total)
    return replace(tree, links=tuple(links))


def _split_link_inertia(link: TreeLink) -> tuple[SpatialInertia, SpatialInertia]:
    """Return the parts of a link's inertia that its motion changes and does not change."""
    m, h, tensor = link.inertia.m, ca.SX(link.inertia.h), ca.SX(link.inertia.I)
    disk = ca.diag(ca.vertcat(tensor[1, 1], tensor[1, 1], 0))
    rest = ca.SX(tensor)
    rest[0, 0], rest[1, 1] = tensor[0, 0] - tensor[1, 1], 0
    kind, along, unmoved = link.kind, ZERO3, ZERO_INERTIA.I
    if not kind.has_rotation:
        tensor, unmoved = unmoved, tensor
    elif kind.turns_about_axis:
        tensor, unmoved = rest, disk
    if kind.keeps_axial_moment:
        h, along = ca.vertcat(h[0], h[1], 0), ca.vertcat(0, 0, h[2])
    masses = (0.0, m) if kind.keeps_mass else (m, 0.0)
    return SpatialInertia(masses[0], h, tensor), SpatialInertia(masses[1], along, unmoved)
