"""Positions and velocities of bodies, and the rows that a constraint adds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, cross
from ..kinematic_tree import GROUND, KinematicTree, LinkFrame
from ..recursions import LinkPose
from ..tree_coordinates import spread_velocities
from ..world_kinematics import WorldKinematics

SymbolScope = dict[str, Scalar]
"""The meaning of names in expressions."""


@dataclass
class ConstraintRows:
    """The rows of one constraint: expressions of positions and of velocities that stay zero, and
    those that stay above zero (`upright`)."""

    positions: list[Scalar] = field(default_factory=list)
    velocities: list[Scalar] = field(default_factory=list)
    upright: list[Scalar] = field(default_factory=list)


class ConstrainedBodyStates:
    """Positions and velocities of bodies; some may be displaced by a small `shift` (6: turn,
    translation about the world's origin) and a small `push` of their velocity."""

    def __init__(
        self,
        tree: KinematicTree,
        shifts: Mapping[str, Array] | None = None,
        pushes: Mapping[str, Array] | None = None,
    ) -> None:
        self.tree = tree
        self.world = WorldKinematics(tree, tree.motion.q)
        self.v = spread_velocities(tree, tree.motion.qd)
        self.displacements, self.velocity_changes = shifts or {}, pushes or {}

    def body_name(self, name: str) -> str:
        """Return the body that a frame (or body) belongs to."""
        frames = self.tree.mechanism.frames
        return frames[name].body if name in frames else name

    def frame_pose(self, name: str) -> LinkPose:
        """Return the pose of a frame or body in the world, by name."""
        return self.place_in_world(self.tree.find_frame(name), self.body_name(name))

    def place_in_world(self, place: LinkFrame, body: str) -> LinkPose:
        """Return the pose in the world of a frame on a body, including the body's displacement."""
        R, p = ca.SX(place.R), ca.SX(place.p)
        if place.link != GROUND:
            link = self.world.link_poses[place.link]
            R, p = ca.SX(link.R @ R), ca.SX(link.p + link.R @ p)
        if body in self.displacements:
            turn, slide = self.displacements[body][:3], self.displacements[body][3:]
            R, p = R + ca.skew(turn) @ R, p + cross(turn, p) + slide
        return LinkPose(R, p)

    def place_pair(
        self, places: tuple[LinkFrame, LinkFrame], bodies: tuple[str, str]
    ) -> tuple[LinkPose, LinkPose]:
        """Return the poses of two frames in the axes of the nearest link that carries both: their
        relative pose does not depend on the joints below that link. If one of the bodies is
        displaced, both poses are in the world."""
        one, other = places
        carrier = GROUND if self.displacements else self._common_carrier(one.link, other.link)
        if carrier == GROUND:
            return self.place_in_world(one, bodies[0]), self.place_in_world(other, bodies[1])
        return self._place_on_carrier(one, carrier), self._place_on_carrier(other, carrier)

    def _common_carrier(self, one: int, other: int) -> int:
        """Return the outermost link that lies on the paths of both links to ground."""
        carriers = set(self.tree.path_to_ground(one))
        return next((link for link in self.tree.path_to_ground(other) if link in carriers), GROUND)

    def _place_on_carrier(self, place: LinkFrame, carrier: int) -> LinkPose:
        """Return the pose of a frame in the axes of a link that carries it."""
        R, p, link = ca.SX(place.R), ca.SX(place.p), place.link
        while link != carrier:
            step = self.world.displacements[link]
            R, p = ca.SX(step.rotation @ R), ca.SX(step.position + step.rotation @ p)
            link = self.tree.links[link].parent
        return LinkPose(R, p)

    def point_velocity(self, name: str, x: Array) -> Array:
        """Return the velocity, world axes, of the point x that moves with a frame or body."""
        total = ca.SX.zeros(3)
        for freedom in self.world.path_axes(self.tree.find_frame(name).link):
            total += freedom.unit_point_velocity(x) * self.v[freedom.velocity_index]
        if self.body_name(name) in self.velocity_changes:
            push = self.velocity_changes[self.body_name(name)]
            total += cross(push[:3], x) + push[3:]
        return total

    def angular_velocity(self, name: str) -> Array:
        """Return the angular velocity of a frame or body, world axes."""
        path = self.world.path_axes(self.tree.find_frame(name).link)
        return sum(
            (f.unit_angular_velocity * self.v[f.velocity_index] for f in path), ca.SX.zeros(3)
        )
