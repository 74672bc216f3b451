"""Force elements, once for all formulations: wrenches on links, and forces along freedoms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.linear import Array, Scalar, dot
from .coordinates import gather_forces, spread_speeds
from .tree import Tree
from .world import World

if TYPE_CHECKING:
    from .force_kinds.spring import PointSpring


@dataclass(frozen=True)
class Load:
    """A force and a moment on a body (of a link, or of ground), at a point, world axes; `owner` is
    the loop or constraint that exerts them, if one does."""

    body: str
    link: int
    point: Array
    force: Array
    moment: Array
    owner: str = ""


def spring_loads(tree: Tree, q: Array, qd: Array, only_linear: bool = False) -> list[Load]:
    """What springs and dampers between points do at both ends, and compliant contacts;
    `only_linear` leaves out those of `spring_lengths`."""
    if not tree.loads.passive:
        return []
    world, v = World(tree, q), spread_speeds(tree, qd)
    return [
        load
        for element in tree.loads.passive
        if not (only_linear and element.spring_length(world, qd) is not None)
        for load in element.loads(world, v)
    ]


@dataclass(frozen=True)
class SpringLength:
    """A spring or damper between points that are L apart: f = −(k (L − l0) + c L̇) ∂L/∂q.

    `square` is L², `slope` L ∂L/∂q along the model's speeds and `rate` L L̇, all without roots.
    """

    spring: PointSpring
    square: Scalar
    slope: Array
    rate: Scalar


def spring_lengths(tree: Tree, q: Array, qd: Array) -> tuple[SpringLength, ...]:
    """The springs between points whose force depends on their length."""
    world = World(tree, q)
    found = (element.spring_length(world, qd) for element in tree.loads.passive)
    return tuple(one for one in found if one is not None)


def spring_energy_of_points(tree: Tree, q: Array) -> Scalar:
    """Of springs between points, and of compliant contacts."""
    total = ca.SX(0)
    if tree.loads.passive:
        world = World(tree, q)
        for element in (*tree.loads.pads, *tree.loads.forces):
            energy = element.energy(world)
            total += 0 if energy is None else energy
    return total


def wrench_loads(tree: Tree, q: Array) -> list[Load]:
    """Wrenches that the mechanism gives as expressions."""
    if not tree.loads.declared:
        return []
    world, v = World(tree, q), spread_speeds(tree, tree.motion.qd)
    return [load for element in tree.loads.declared for load in element.loads(world, v)]


def generalized(tree: Tree, q: Array, loads: Iterable[Load]) -> Array:
    """Forces of loads along the model's speeds."""
    loads = list(loads)
    if not loads:
        return gather_forces(tree, ca.SX.zeros(tree.tree_nv))
    return generalized_in(World(tree, q), loads)


def generalized_in(world: World, loads: Iterable[Load]) -> Array:
    """Forces of loads along the model's speeds, bodies standing where the world has them."""
    total = ca.SX.zeros(world.tree.tree_nv)
    for load in loads:
        for freedom in world.path(load.link):
            power = dot(load.force, freedom.linear(load.point))
            total[freedom.index] += power + dot(load.moment, freedom.angular)
    return gather_forces(world.tree, total)


def forces_along(tree: Tree) -> Array:
    """Forces that the mechanism gives along its freedoms, for the model's speeds."""
    total = ca.SX.zeros(tree.tree_nv)
    for element in tree.loads.declared:
        for index, force in element.forces_along():
            total[index] += force
    return gather_forces(tree, total)
