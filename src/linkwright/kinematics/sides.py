"""The side of a plane on which a rolling wheel stands, and the pose in which a file starts."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import numpy as np

from ..algebra.linear import Array, dot
from ..expressions import to_float
from ..mechanism import RollingConstraint
from ..types import Floats
from .coordinates import neutral, quaternion_ranges
from .tree import GROUND, Restraints, Tree, Wheel
from .world import World

IN_PLANE = 1e-9
"""A wheel's centre nearer to the plane than this share of the radius lies in it."""


def starting_pose(tree: Tree) -> Floats:
    """q, (nq), of the file: nothing displaced, but for the rough values under `[assembly]`;
    quaternions have length 1."""
    start = np.array(neutral(tree))
    for name, number in tree.mechanism.assembly.items():
        start[tree.names.q.index(name)] = to_float(number, tree.mechanism.values)
    for part, _ in quaternion_ranges(tree):
        start[part] /= np.linalg.norm(start[part]) or 1.0
    return start


def with_wheel_sides(tree: Tree) -> Tree:
    """The tree whose wheels know on which side of their plane they stand.

    The file says it (`side`), or its pose: the centre's side; if the centre lies in the plane,
    the side against gravity; and +z if gravity does not tell either.
    """
    if not any(isinstance(tie, Wheel) and tie.other is None for tie in tree.restraints.ties):
        return tree
    ties = [
        replace(tie, side=_side(tree, tie)) if isinstance(tie, Wheel) and tie.other is None else tie
        for tie in tree.restraints.ties
    ]
    return replace(tree, restraints=Restraints(tuple(ties)))


def _side(tree: Tree, wheel: Wheel) -> float:
    constraint = tree.mechanism.constraints[wheel.name]
    assert isinstance(constraint, RollingConstraint)
    if constraint.side is not None:
        return -1.0 if constraint.side == "-z" else 1.0
    height, radius, weight = _height_and_weight(tree, wheel)
    if abs(height) > IN_PLANE * abs(radius):
        return float(np.sign(height))
    return -1.0 if weight > IN_PLANE else 1.0


def _height_and_weight(tree: Tree, wheel: Wheel) -> tuple[float, float, float]:
    """Of the file's pose, along the plane's z: the height of the wheel's centre, its radius, and
    gravity's share in this direction."""
    world = World(tree, tree.motion.q)
    (_, center), (R, origin) = (_pose(tree, world, name) for name in (wheel.wheel, wheel.on))
    n, g = R[:, 2], ca.SX(tree.gravity)
    along = dot(n, g) / (ca.norm_2(g) + 1e-300)
    symbols = ca.vertcat(ca.SX(0, 1), *tree.symbols.values())
    outputs = [ca.vertcat(dot(n, center - origin), ca.SX(wheel.radius), along)]
    numbers = [float(value) for value in tree.symbol_values.values()]
    evaluate = ca.Function("standing", [tree.motion.q, symbols], outputs)
    height, radius, weight = np.asarray(evaluate(starting_pose(tree), numbers)).ravel().tolist()
    return height, radius, weight


def _pose(tree: Tree, world: World, name: str) -> tuple[Array, Array]:
    place = tree.find(name)
    R, p = ca.SX(place.R), ca.SX(place.p)
    if place.link == GROUND:
        return R, p
    link = world.placed[place.link]
    return ca.SX(link.R @ R), ca.SX(link.p + link.R @ p)
