"""Wheels that roll without slipping, on a plane or on another wheel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ...algebra.linear import Array, Scalar, cross, dot
from ...mechanism import RollingConstraint
from ..placements import alignment
from ..sides import starting_pose
from ..sketches import WheelSketch
from ..tree import GROUND, Placed, Restraint, Tree
from ..values import Values
from ..world import World
from .setting import Rows, Scope, Setting

FLAT = 1e-9
"""A wheel that lies flat rolls on no point: the squared sine of its lean stays above this."""

IN_PLANE = 1e-9
"""A wheel's centre nearer to the plane than this share of the radius lies in it."""


@dataclass(frozen=True)
class Wheel(Restraint):
    """A thin wheel that rolls on a plane (z = 0 of the frame `on`), or on another wheel.

    `side` is +1 where it stands on the plane's +z side, −1 on the other.
    """

    wheel: str
    on: str
    axle: Array
    radius: Scalar
    other: Scalar | None
    side: float = 1.0

    @property
    def ends(self) -> tuple[str, ...]:
        return self.wheel, self.on

    def rows(self, setting: Setting) -> Rows:
        return _on_plane(self, setting) if self.other is None else _on_wheel(self, setting)

    def assumed_zero(self, setting: Setting) -> list[Array]:
        """(ω_wheel − ω_other) × axle of wheels on wheels: zero while their axles are parallel."""
        if self.other is None:
            return []
        axle = setting.pose(self.wheel).R @ self.axle
        return [cross(setting.turning(self.wheel) - setting.turning(self.on), axle)]

    def with_side(self, tree: Tree) -> Wheel:
        """On the side of the plane that the file says (`side`), or its pose: the centre's side; if
        the centre lies in the plane, the side against gravity; and +z if gravity does not tell
        either."""
        return self if self.other is not None else replace(self, side=_side(tree, self))

    def turning_axes(self, tree: Tree) -> list[tuple[Placed, Array]]:
        return [(tree.find(self.wheel), self.axle)]

    @property
    def sketches(self) -> tuple[WheelSketch, ...]:
        own = WheelSketch(self.wheel, self.axle, self.radius)
        if self.other is None:
            return (own,)
        return own, WheelSketch(self.on, self.axle, self.other)


def read_wheel(name: str, given: RollingConstraint, values: Values, scope: Scope) -> Wheel:
    axle = alignment(values, given.axle, name, "axle")[:, 2]
    other = given.other_radius
    return Wheel(
        name, given.wheel, given.on, axle, values.scalar(given.radius, f"r_{name}"),
        None if other is None else values.scalar(other, f"r2_{name}"),
    )  # fmt: skip


def _on_plane(tie: Wheel, setting: Setting) -> Rows:
    """The point of the rim nearest to the plane touches it, and does not slip in it.

    The normal n points to the side on which the wheel stands, so that √(1 − tilt²) is the cosine
    of its lean and never changes its sign.
    """
    wheel, plane = setting.pose(tie.wheel), setting.pose(tie.on)
    n, a = tie.side * plane.R[:, 2], wheel.R @ tie.axle
    tilt = dot(n, a)
    upright = ca.sqrt(1 - tilt * tilt)
    contact = wheel.p - tie.radius * (n - tilt * a) / upright
    height = dot(n, wheel.p - plane.p) - tie.radius * upright
    slip = setting.velocity(tie.wheel, contact) - setting.velocity(tie.on, contact)
    return Rows([height], [dot(slip, plane.R[:, k]) for k in (0, 1)], [1 - tilt * tilt - FLAT])


def _on_wheel(tie: Wheel, setting: Setting) -> Rows:
    """Wheels in one plane touch, and do not slip along the tangent."""
    one, two = setting.pose(tie.wheel), setting.pose(tie.on)
    a, apart = one.R @ tie.axle, two.p - one.p
    apart = apart - a * dot(a, apart)
    reach = tie.radius + tie.other
    e = apart / reach
    contact = one.p + tie.radius * e
    slip = setting.velocity(tie.wheel, contact) - setting.velocity(tie.on, contact)
    return Rows([(dot(apart, apart) - reach**2) / (2 * reach)], [dot(slip, cross(a, e))])


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
