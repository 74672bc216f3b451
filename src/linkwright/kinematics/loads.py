"""Force elements, once for all formulations: wrenches on links, and forces along freedoms."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import casadi as ca

from ..algebra.linear import Array, Scalar, dot
from .coordinates import gather_forces, spread_speeds
from .tree import GROUND, Pad, Placed, PointSpring, Tree
from .world import World


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
    if not (tree.loads.springs or tree.loads.pads):
        return []
    world, v = World(tree, q), spread_speeds(tree, qd)
    found = []
    for spring in tree.loads.springs:
        if only_linear and not _is_linear(spring):
            continue
        ends = [_point(world, tree.find(name)) for name in spring.between]
        (a, x_a), (b, x_b) = ends
        apart = x_b - x_a
        closing = _velocity(world, b, x_b, v) - _velocity(world, a, x_a, v)
        pull = _pull(spring, apart, closing)
        for name, link, point, force in (
            (spring.between[0], a, x_a, pull),
            (spring.between[1], b, x_b, -pull),
        ):
            found.append(Load(_body(tree, name), link, point, force, ca.SX.zeros(3)))
    for pad in tree.loads.pads:
        found += _pressed(tree, pad, world, v)
    return found


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
    world, found = World(tree, q), []
    for spring in tree.loads.springs:
        if _is_linear(spring):
            continue
        (a, x_a), (b, x_b) = (_point(world, tree.find(name)) for name in spring.between)
        apart, none = x_b - x_a, ca.SX.zeros(3)
        ends = (Load("", a, x_a, -apart, none), Load("", b, x_b, apart, none))
        slope = generalized(tree, q, ends)
        found.append(SpringLength(spring, dot(apart, apart), slope, dot(slope, qd)))
    return tuple(found)


def _is_linear(spring: PointSpring) -> bool:
    """Whether the force is that of a spring without damping whose free length is 0."""
    return all(isinstance(x, float) and x == 0.0 for x in (spring.length, spring.damping))


def _pressed(tree: Tree, pad: Pad, world: World, v: Array) -> list[Load]:
    """After Hunt and Crossley: F = k δⁿ (1 + c δ̇), never pulling; friction opposes the slip."""
    a, b = tree.find(pad.point).link, tree.find(pad.plane).link
    n, at, origin = _touching(tree, pad, world)
    slip = _velocity(world, a, at, v) - _velocity(world, b, at, v)
    depth, rate = ca.fmax(0, -dot(n, at - origin)), -dot(n, slip)
    push = ca.fmax(0, pad.stiffness * depth**pad.exponent * (1 + pad.damping * rate))
    along = slip + rate * n
    rub = pad.friction * push / ca.sqrt(dot(along, along) + pad.smoothing**2)
    force = push * n - rub * along
    return [
        Load(_body(tree, name), link, at, sign * force, ca.SX.zeros(3))
        for name, link, sign in ((pad.point, a, 1), (pad.plane, b, -1))
    ]


def _touching(tree: Tree, pad: Pad, world: World) -> tuple[Array, Array, Array]:
    """The plane's normal, the point that may touch it, and the plane's origin."""
    plane = tree.find(pad.plane)
    n = _axes(world, plane)[:, 2]
    return n, _point(world, tree.find(pad.point))[1] - pad.radius * n, _point(world, plane)[1]


def _pull(spring: PointSpring, apart: Array, rate: Array) -> Array:
    """The force on the first end; a spring without length needs no direction."""
    if _is_linear(spring):
        return spring.stiffness * apart
    length = ca.sqrt(dot(apart, apart))
    tension = spring.stiffness * (length - spring.length)
    return (tension + spring.damping * dot(apart, rate) / length) / length * apart


def spring_energy_of_points(tree: Tree, q: Array) -> Scalar:
    """Of springs between points, and of compliant contacts."""
    total = ca.SX(0)
    if tree.loads.springs or tree.loads.pads:
        world = World(tree, q)
        for pad in tree.loads.pads:
            n, at, origin = _touching(tree, pad, world)
            depth, power = ca.fmax(0, -dot(n, at - origin)), pad.exponent + 1
            total += pad.stiffness * depth**power / power
        for spring in tree.loads.springs:
            total += spring_energy_of(world, spring)
    return total


def spring_energy_of(world: World, spring: PointSpring) -> Scalar:
    (_, x_a), (_, x_b) = (_point(world, world.tree.find(name)) for name in spring.between)
    apart = x_b - x_a
    plain = isinstance(spring.length, float) and spring.length == 0.0
    square = dot(apart, apart)
    stretch = square if plain else (ca.sqrt(square) - spring.length) ** 2
    return spring.stiffness * stretch / 2


def wrench_loads(tree: Tree, q: Array) -> list[Load]:
    """Wrenches that the mechanism gives as expressions."""
    world = World(tree, q) if tree.loads.wrenches else None
    found = []
    for wrench in tree.loads.wrenches:
        assert world is not None
        link, point = _point(world, tree.find(wrench.on))
        R = _axes(world, tree.find(wrench.axes))
        body = _body(tree, wrench.on)
        found.append(Load(body, link, point, R @ wrench.force, R @ wrench.moment))
    return found


def generalized(tree: Tree, q: Array, loads: Iterable[Load]) -> Array:
    """Forces of loads along the model's speeds."""
    total = ca.SX.zeros(tree.tree_nv)
    loads = list(loads)
    if loads:
        world = World(tree, q)
        for load in loads:
            for freedom in world.path(load.link):
                power = dot(load.force, freedom.linear(load.point))
                total[freedom.index] += power + dot(load.moment, freedom.angular)
    return gather_forces(tree, total)


def forces_along(tree: Tree) -> Array:
    """Forces that the mechanism gives along its freedoms, for the model's speeds."""
    total = ca.SX.zeros(tree.tree_nv)
    for index, force in tree.loads.along:
        total[index] += force
    return gather_forces(tree, total)


def _body(tree: Tree, name: str) -> str:
    frames = tree.mechanism.frames
    return frames[name].body if name in frames else name


def _point(world: World, place: Placed) -> tuple[int, Array]:
    if place.link == GROUND:
        return GROUND, ca.SX(place.p)
    pose = world.placed[place.link]
    return place.link, pose.p + pose.R @ place.p


def _axes(world: World, place: Placed) -> Array:
    return place.R if place.link == GROUND else world.placed[place.link].R @ place.R


def _velocity(world: World, link: int, x: Array, v: Array) -> Array:
    total = ca.SX.zeros(3)
    if link != GROUND:
        for freedom in world.path(link):
            total += freedom.linear(x) * v[freedom.index]
    return total
