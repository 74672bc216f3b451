"""Where bodies are and how they move, and the equations that a constraint puts upon them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca

from ...algebra.linear import Array, Scalar, cross
from ..coordinates import spread_speeds
from ..recursions import Pose
from ..tree import GROUND, Placed, Tree
from ..world import World

Scope = dict[str, Scalar]
"""What names in expressions stand for."""


@dataclass
class Rows:
    """Of one constraint: what stays zero of positions and of speeds, and what stays above zero."""

    positions: list[Scalar] = field(default_factory=list)
    speeds: list[Scalar] = field(default_factory=list)
    upright: list[Scalar] = field(default_factory=list)


class Setting:
    """Where bodies are and how they move; some may be displaced by a small `shift` (6: turn,
    translation about the world's origin) and a small `push` of their velocity."""

    def __init__(
        self,
        tree: Tree,
        shifts: Mapping[str, Array] | None = None,
        pushes: Mapping[str, Array] | None = None,
    ) -> None:
        self.tree = tree
        self.world = World(tree, tree.motion.q)
        self.v = spread_speeds(tree, tree.motion.qd)
        self.shifts, self.pushes = shifts or {}, pushes or {}

    def body(self, name: str) -> str:
        frames = self.tree.mechanism.frames
        return frames[name].body if name in frames else name

    def pose(self, name: str) -> Pose:
        """Of a frame or body by name."""
        return self.placed(self.tree.find(name), self.body(name))

    def placed(self, place: Placed, body: str) -> Pose:
        R, p = ca.SX(place.R), ca.SX(place.p)
        if place.link != GROUND:
            link = self.world.placed[place.link]
            R, p = ca.SX(link.R @ R), ca.SX(link.p + link.R @ p)
        if body in self.shifts:
            turn, slide = self.shifts[body][:3], self.shifts[body][3:]
            R, p = R + ca.skew(turn) @ R, p + cross(turn, p) + slide
        return Pose(R, p)

    def velocity(self, name: str, x: Array) -> Array:
        """Of the point x, carried along by a frame or body."""
        total = ca.SX.zeros(3)
        for freedom in self.world.path(self.tree.find(name).link):
            total += freedom.linear(x) * self.v[freedom.index]
        if self.body(name) in self.pushes:
            push = self.pushes[self.body(name)]
            total += cross(push[:3], x) + push[3:]
        return total

    def turning(self, name: str) -> Array:
        """Angular velocity of a frame or body."""
        path = self.world.path(self.tree.find(name).link)
        return sum((f.angular * self.v[f.index] for f in path), ca.SX.zeros(3))
