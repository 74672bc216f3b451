"""The tree in world axes: axes of the degrees of freedom, centres of mass, Jacobians."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar, cross
from .kinematic_tree import GROUND, BodyMass, KinematicTree
from .recursions import LinkPose, link_displacements, link_poses
from .tree_coordinates import spread_coordinates


@dataclass(frozen=True)
class JointAxis:
    """One degree of freedom of the tree: it turns about the axis s through the point r, or slides
    along s, or both (`pitch`, metres a radian); `velocity_index` is its place among the tree's
    velocities."""

    velocity_index: int
    link: int
    s: Array
    r: Array
    has_rotation: bool = True
    pitch: Scalar = 0.0

    @property
    def unit_angular_velocity(self) -> Array:
        """The angular velocity of what it carries, at unit velocity."""
        return self.s if self.has_rotation else ca.SX.zeros(3)

    def unit_point_velocity(self, x: Array) -> Array:
        """Return the velocity of the point x that moves with it, at unit velocity."""
        if not self.has_rotation:
            return self.s
        turned = cross(self.s, x - self.r)
        return turned if isinstance(self.pitch, float) else turned + self.pitch * self.s


@dataclass(frozen=True)
class WorldBody:
    """A body in the world: its mass m, centre of mass r, and tensor I about it, world axes."""

    name: str
    link: int
    R: Array
    m: Scalar
    r: Array
    I: Array  # noqa: E741


def link_joint_axes(tree: KinematicTree, i: int, pose: LinkPose) -> Iterator[JointAxis]:
    """Yield the joint axes of link i at its pose."""
    link = tree.links[i]
    axes = [pose.R[:, k] for k in range(3)]
    if link.kind.has_quaternion:
        for k in range(3):
            yield JointAxis(link.v + k, i, axes[k], pose.p)
        for k in range(link.kind.velocity_count - 3):
            yield JointAxis(link.v + 3 + k, i, axes[k], pose.p, has_rotation=False)
    else:
        is_screw = link.kind.turns_about_axis and link.kind.slides_along_axis
        pitch = ca.SX(link.pitch) if is_screw else 0.0
        yield JointAxis(link.v, i, axes[2], pose.p, link.kind.turns_about_axis, pitch)


class WorldKinematics:
    """Everything in world axes at the coordinates q."""

    def __init__(self, tree: KinematicTree, q: Array) -> None:
        self.tree = tree
        self.coordinates = spread_coordinates(tree, q)
        self.displacements = link_displacements(tree, self.coordinates)
        self.link_poses: list[LinkPose] = link_poses(tree, self.displacements)

    @cached_property
    def joint_axes(self) -> list[JointAxis]:
        """The joint axes in the order of the tree's velocities."""
        return [
            f for i, pose in enumerate(self.link_poses) for f in link_joint_axes(self.tree, i, pose)
        ]

    @cached_property
    def bodies(self) -> list[WorldBody]:
        """The moving bodies, in the order of the mechanism."""
        return [
            self._place_body(name, mass)
            for name, mass in self.tree.masses.items()
            if mass.link != GROUND
        ]

    def _place_body(self, name: str, mass: BodyMass) -> WorldBody:
        """Return a body's mass, centre of mass and inertia tensor in world axes."""
        pose = self.link_poses[mass.link]
        I = pose.R @ mass.I @ pose.R.T  # noqa: E741
        return WorldBody(name, mass.link, pose.R, mass.m, pose.p + pose.R @ mass.c, I)

    def path_axes(self, link: int) -> list[JointAxis]:
        """Return the joint axes that move a link, from ground outward."""
        below = set(self.tree.path_to_ground(link))
        return [freedom for freedom in self.joint_axes if freedom.link in below]

    def point_jacobians(self, link: int, x: Array) -> tuple[Array, Array]:
        """Return (J_v, J_ω), each 3 × the tree's velocities, of the point x of a link."""
        J_v, J_w = (ca.SX(3, self.tree.tree_nv) for _ in range(2))
        for freedom in self.path_axes(link):
            J_v[:, freedom.velocity_index] = freedom.unit_point_velocity(x)
            J_w[:, freedom.velocity_index] = freedom.unit_angular_velocity
        return J_v, J_w

    def body_name(self, name: str) -> str:
        """Return the body that a frame (or body) belongs to."""
        frames = self.tree.mechanism.frames
        return frames[name].body if name in frames else name

    def frame_origin(self, name: str) -> tuple[int, Array]:
        """Return the link that carries a frame or body, and its origin in the world."""
        place = self.tree.find_frame(name)
        if place.link == GROUND:
            return GROUND, ca.SX(place.p)
        pose = self.link_poses[place.link]
        return place.link, pose.p + pose.R @ place.p

    def frame_rotation(self, name: str) -> Array:
        """Return the rotation (3, 3) of a frame or body in the world."""
        place = self.tree.find_frame(name)
        return place.R if place.link == GROUND else self.link_poses[place.link].R @ place.R

    def angular_velocity(self, link: int, v: Array) -> Array:
        """Return the angular velocity of a link, world axes, at the tree's velocities v."""
        total = ca.SX.zeros(3)
        if link != GROUND:
            for freedom in self.path_axes(link):
                total += freedom.unit_angular_velocity * v[freedom.velocity_index]
        return total

    def point_velocity(self, link: int, x: Array, v: Array) -> Array:
        """Return the velocity of the point x of a link, world axes, at the tree's velocities v."""
        total = ca.SX.zeros(3)
        if link != GROUND:
            for freedom in self.path_axes(link):
                total += freedom.unit_point_velocity(x) * v[freedom.velocity_index]
        return total
