"""Where bodies and joint axes stand where nothing is displaced, as MJCF describes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array
from ..kinematics.kinematic_tree import GROUND as GROUND_LINK
from ..kinematics.kinematic_tree import JointLinks, TreeLink
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import neutral_coordinates
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import GROUND, Joint, Mechanism
from ..types import Floats

_PARALLEL_ERROR = 1e-14
"""The rounding of rotation matrices that are equal."""


@dataclass(frozen=True)
class MjcfPose:
    """A rotation matrix (3, 3) and a position (3,), m."""

    R: Floats
    p: Floats

    def seen_from(self, other: MjcfPose) -> MjcfPose:
        """Return this pose in the frame of another."""
        return MjcfPose(other.R.T @ self.R, other.R.T @ (self.p - other.p))

    def is_parallel_to(self, other: MjcfPose) -> bool:
        """Return whether both have the same axes."""
        return bool(np.abs(self.R - other.R).max() < _PARALLEL_ERROR)

    @property
    def is_identity(self) -> bool:
        """Whether it is the frame of the world."""
        world = MjcfPose(np.eye(3), np.zeros(3))
        return self.is_parallel_to(world) and bool(np.abs(self.p).max() < _PARALLEL_ERROR)

    @property
    def quaternion(self) -> Floats:
        """The rotation as (w, x, y, z)."""
        return quaternion_of_rotation(self.R)


def quaternion_of_rotation(R: Floats) -> Floats:
    """Return the quaternion (w, x, y, z), w ≥ 0, of a rotation matrix: the eigenvector of
    Bar-Itzhack's matrix, which is exact to rounding at all angles."""
    K = np.array(
        [
            [R[0, 0] + R[1, 1] + R[2, 2], 0, 0, 0],
            [R[2, 1] - R[1, 2], R[0, 0] - R[1, 1] - R[2, 2], 0, 0],
            [R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], R[1, 1] - R[0, 0] - R[2, 2], 0],
            [
                R[1, 0] - R[0, 1],
                R[2, 0] + R[0, 2],
                R[2, 1] + R[1, 2],
                R[2, 2] - R[0, 0] - R[1, 1],
            ],
        ]
    )
    _, vectors = np.linalg.eigh(K)
    found: Floats = vectors[:, -1]
    return found * (1.0 if found[0] >= 0 else -1.0)


def rotation_of_quaternion(quaternion: Floats) -> Floats:
    """Return the rotation matrix (3, 3) of a quaternion (w, x, y, z)."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


class MjcfGeometry:
    """Poses of bodies, frames and links of a mechanism at its neutral coordinates.

    MJCF gives a ball or free joint the axes of its body: the body that such a joint carries has
    the frame of the joint, all others have their own.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.tree = build_kinematic_tree(mechanism)
        self.world = WorldKinematics(self.tree, ca.SX(ca.DM(neutral_coordinates(self.tree))))
        self.spans: dict[str, JointLinks] = {span.name: span for span in self.tree.joints}
        self.joint_of_child = {j.child: name for name, j in mechanism.joints.items()}

    def own_pose(self, name: str) -> MjcfPose:
        """Return the pose of a body or frame of the mechanism."""
        return MjcfPose(
            _numbers(self.world.frame_rotation(name)),
            _numbers(self.world.frame_origin(name)[1]).ravel(),
        )

    def link_pose(self, index: int) -> MjcfPose:
        """Return the pose of a link of the tree."""
        pose = self.world.link_poses[index]
        return MjcfPose(_numbers(pose.R), _numbers(pose.p).ravel())

    @cached_property
    def body_poses(self) -> dict[str, MjcfPose]:
        """The poses of the bodies in MJCF, by name."""
        found = {GROUND: MjcfPose(np.eye(3), np.zeros(3))}
        for name in self.mechanism.bodies:
            own = self.own_pose(name)
            turned = [k for k, link in self.links_of(name) if link.kind.has_quaternion]
            found[name] = self.link_pose(turned[0]) if turned else own
        return found

    def links_of(self, body: str) -> Iterator[tuple[int, TreeLink]]:
        """Yield the links of the joint that carries a body, with their numbers."""
        for index in self.spans[self.joint_of_child[body]].links:
            yield index, self.tree.links[index]

    def joint(self, body: str) -> tuple[str, Joint]:
        """Return the joint that carries a body."""
        name = self.joint_of_child[body]
        return name, self.mechanism.joints[name]

    def has_mass(self, body: str) -> bool:
        """Return whether a body has mass or inertia."""
        mass = self.tree.masses[body]
        return bool(float(mass.m)) or bool(np.any(_numbers(mass.I)))

    def inertia(self, body: str) -> tuple[float, Floats, Floats, Floats]:
        """Return mass, centre of mass, principal moments and their axes' quaternion, all in the
        frame that the body has in MJCF."""
        mass, place = self.tree.masses[body], self.body_poses[body]
        pose = MjcfPose(np.eye(3), np.zeros(3))
        if mass.link != GROUND_LINK:
            pose = self.link_pose(mass.link)
        return self.principal_inertia(
            pose.seen_from(place), float(mass.m), _numbers(mass.c).ravel(), _numbers(mass.I)
        )

    def principal_inertia(
        self, pose: MjcfPose, mass: float, center: Floats, tensor: Floats
    ) -> tuple[float, Floats, Floats, Floats]:
        """Return mass, centre of mass, principal moments and their axes' quaternion of an inertia
        that is given in the axes of `pose`."""
        turned = pose.R @ tensor @ pose.R.T
        moments, axes = np.linalg.eigh((turned + turned.T) / 2)
        if np.linalg.det(axes) < 0:
            axes[:, 0] *= -1
        return mass, pose.p + pose.R @ center, moments, quaternion_of_rotation(axes)


def _numbers(expression: Array) -> Floats:
    """Return a constant expression as an array."""
    return np.array(ca.evalf(ca.SX(expression)), dtype=np.float64)
