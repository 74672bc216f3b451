"""Positions and velocities of bodies, and the equations that a constraint puts upon them."""

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
    """The rows of one constraint: what stays zero of positions and of velocities, and what stays
    above zero."""

    positions: list[Scalar] = field(default_factory=list)
    velocities: list[Scalar] = field(default_factory=list)
    upright: list[Scalar] = field(default_factory=list)


class BodyStates:
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
        frames = self.tree.mechanism.frames
        return frames[name].body if name in frames else name

    def frame_pose(self, name: str) -> LinkPose:
        """The pose of a frame or body by name."""
        return self.place_in_world(self.tree.find_frame(name), self.body_name(name))

    def place_in_world(self, place: LinkFrame, body: str) -> LinkPose:
        R, p = ca.SX(place.R), ca.SX(place.p)
        if place.link != GROUND:
            link = self.world.link_poses[place.link]
            R, p = ca.SX(link.R @ R), ca.SX(link.p + link.R @ p)
        if body in self.displacements:
            turn, slide = self.displacements[body][:3], self.displacements[body][3:]
            R, p = R + ca.skew(turn) @ R, p + cross(turn, p) + slide
        return LinkPose(R, p)

    def point_velocity(self, name: str, x: Array) -> Array:
        """The velocity of the point x, carried along by a frame or body."""
        total = ca.SX.zeros(3)
        for freedom in self.world.path_axes(self.tree.find_frame(name).link):
            total += freedom.unit_point_velocity(x) * self.v[freedom.velocity_index]
        if self.body_name(name) in self.velocity_changes:
            push = self.velocity_changes[self.body_name(name)]
            total += cross(push[:3], x) + push[3:]
        return total

    def angular_velocity(self, name: str) -> Array:
        """Angular velocity of a frame or body."""
        path = self.world.path_axes(self.tree.find_frame(name).link)
        return sum(
            (f.unit_angular_velocity * self.v[f.velocity_index] for f in path), ca.SX.zeros(3)
        )
