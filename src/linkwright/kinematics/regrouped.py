"""Inertia with symbols moved toward ground, wherever no joint's force notices.

What `canonical.regrouped` does with numbers. Frames stay the user's: sliding them along their axes
until origins coincide saves operations with numbers, but costs some with symbols (PUMA 560).
"""

from __future__ import annotations

from dataclasses import replace

import casadi as ca

from ..algebra.linear import ZERO3
from ..algebra.spatial import NO_INERTIA, Inertia
from .joints import Kind
from .tree import GROUND, Link, Tree


def regrouped_symbols(tree: Tree) -> Tree:
    """The tree, as `build_tree` makes it, with inertia moved toward ground."""
    links = list(tree.links)
    for i in range(len(links) - 1, -1, -1):
        link = links[i]
        rest, carried = _split(link)
        links[i] = replace(link, inertia=rest)
        if link.parent != GROUND:
            total = links[link.parent].inertia + carried.rotated(link.R).shifted(link.p)
            links[link.parent] = replace(links[link.parent], inertia=total)
    return replace(tree, links=tuple(links))


def _split(link: Link) -> tuple[Inertia, Inertia]:
    """What a link's motion changes of its inertia, and what it does not."""
    m, h, tensor = link.inertia.m, ca.SX(link.inertia.h), ca.SX(link.inertia.I)
    disk = ca.diag(ca.vertcat(tensor[1, 1], tensor[1, 1], 0))
    rest = ca.SX(tensor)
    rest[0, 0], rest[1, 1] = tensor[0, 0] - tensor[1, 1], 0
    match link.kind:
        case Kind.TURN:
            flat, along = ca.vertcat(h[0], h[1], 0), ca.vertcat(0, 0, h[2])
            return Inertia(0.0, flat, rest), Inertia(m, along, disk)
        case Kind.SLIDE:
            return Inertia(m, h, NO_INERTIA.I), Inertia(0.0, ZERO3, tensor)
        case Kind.SCREW:
            return Inertia(m, h, rest), Inertia(0.0, ZERO3, disk)
        case Kind.BALL:
            return Inertia(0.0, h, tensor), Inertia(m, ZERO3, NO_INERTIA.I)
        case Kind.FREE:
            return link.inertia, NO_INERTIA
