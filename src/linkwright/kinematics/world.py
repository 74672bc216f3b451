"""The tree in world axes, as textbooks draw it: axes of the freedoms, mass centres, Jacobians."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from ..algebra.linear import Array, Scalar, cross
from .coordinates import spread_coordinates
from .recursions import Pose, displacements, poses
from .tree import GROUND, Mass, Tree


@dataclass(frozen=True)
class Freedom:
    """One freedom of the tree: it turns about the axis s through the point r, or slides along
    s, or both (`pitch`, metres a radian); `index` is its place among the tree's speeds."""

    index: int
    link: int
    s: Array
    r: Array
    turns: bool = True
    pitch: Scalar = 0.0

    @property
    def angular(self) -> Array:
        return self.s if self.turns else ca.SX.zeros(3)

    def linear(self, x: Array) -> Array:
        """The velocity of the point x that is carried along, a unit of speed."""
        if not self.turns:
            return self.s
        turned = cross(self.s, x - self.r)
        return turned if isinstance(self.pitch, float) else turned + self.pitch * self.s


@dataclass(frozen=True)
class Placing:
    """A body in the world: its mass m, mass centre r, and tensor I about it, world axes."""

    name: str
    link: int
    R: Array
    m: Scalar
    r: Array
    I: Array  # noqa: E741


def freedoms_of(tree: Tree, i: int, pose: Pose) -> Iterator[Freedom]:
    """Those of one link where it is placed."""
    link = tree.links[i]
    axes = [pose.R[:, k] for k in range(3)]
    if link.kind.has_quaternion:
        for k in range(3):
            yield Freedom(link.v + k, i, axes[k], pose.p)
        for k in range(link.kind.speeds - 3):
            yield Freedom(link.v + 3 + k, i, axes[k], pose.p, turns=False)
    else:
        is_screw = link.kind.turns_about_axis and link.kind.slides_along_axis
        pitch = ca.SX(link.pitch) if is_screw else 0.0
        yield Freedom(link.v, i, axes[2], pose.p, link.kind.turns_about_axis, pitch)


class World:
    """Everything in world axes at the coordinates q."""

    def __init__(self, tree: Tree, q: Array) -> None:
        self.tree = tree
        self.placed: list[Pose] = poses(tree, displacements(tree, spread_coordinates(tree, q)))

    @cached_property
    def freedoms(self) -> list[Freedom]:
        """By the tree's speeds."""
        return [f for i, pose in enumerate(self.placed) for f in freedoms_of(self.tree, i, pose)]

    @cached_property
    def bodies(self) -> list[Placing]:
        """The moving bodies, in the order of the mechanism."""
        return [
            self._placed(name, mass)
            for name, mass in self.tree.masses.items()
            if mass.link != GROUND
        ]

    def _placed(self, name: str, mass: Mass) -> Placing:
        pose = self.placed[mass.link]
        I = pose.R @ mass.I @ pose.R.T  # noqa: E741
        return Placing(name, mass.link, pose.R, mass.m, pose.p + pose.R @ mass.c, I)

    def path(self, link: int) -> list[Freedom]:
        """Freedoms that move a link, from ground outward."""
        below = set(self.tree.path(link))
        return [freedom for freedom in self.freedoms if freedom.link in below]

    def jacobians(self, link: int, x: Array) -> tuple[Array, Array]:
        """(J_v, J_ω), 3 × the tree's speeds, of the point x of a link."""
        J_v, J_w = (ca.SX(3, self.tree.tree_nv) for _ in range(2))
        for freedom in self.path(link):
            J_v[:, freedom.index] = freedom.linear(x)
            J_w[:, freedom.index] = freedom.angular
        return J_v, J_w

    def body(self, name: str) -> str:
        """The body that a frame (or body) belongs to."""
        frames = self.tree.mechanism.frames
        return frames[name].body if name in frames else name

    def point(self, name: str) -> tuple[int, Array]:
        """The origin of a frame or body, and the link that carries it."""
        place = self.tree.find(name)
        if place.link == GROUND:
            return GROUND, ca.SX(place.p)
        pose = self.placed[place.link]
        return place.link, pose.p + pose.R @ place.p

    def axes(self, name: str) -> Array:
        """The rotation of a frame or body."""
        place = self.tree.find(name)
        return place.R if place.link == GROUND else self.placed[place.link].R @ place.R

    def velocity(self, link: int, x: Array, v: Array) -> Array:
        """Of the point x of a link, v the tree's speeds."""
        total = ca.SX.zeros(3)
        if link != GROUND:
            for freedom in self.path(link):
                total += freedom.linear(x) * v[freedom.index]
        return total
