"""Joint coordinates and velocities, computed from bodies that are placed independently.

A joint's angles follow from the attitudes of its two bodies, its sliding coordinates from their
centres of mass, its velocities from the difference of their velocities. This is exact where bodies
satisfy the joints; where they have drifted apart, deviations across the joint are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import IDENTITY, ZERO3, Array, cross, solve_symmetric_matrix
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..kinematics.recursions import LinkDisplacement, LinkPose, link_displacements
from ..kinematics.tree_coordinates import links_with_coordinates, spread_coordinates
from ..kinematics.world_kinematics import JointAxis, link_joint_axes
from .body_attitudes import NewtonEulerAttitude

_NEWTON_STEPS = 3
"""The number of Newton steps from approximate coordinates to those of the model."""


@dataclass(frozen=True)
class NewtonEulerBodyState:
    """A body by its own states: attitude, pose of its link, centre of mass r, ω and v of r. `links`
    are those of the joint before it; `parent` is the body before that (−1 for ground)."""

    parent: int
    links: tuple[int, ...]
    attitude: Array
    pose: LinkPose
    r: Array
    omega: Array
    v: Array

    def velocity_at(self, x: Array) -> Array:
        """The velocity of the body's point at x, in world axes."""
        return self.v + cross(self.omega, x - self.r)


class NewtonEulerJointReading:
    """(q, q̇) of bodies that are placed one by one; `near` are approximate coordinates of the
    model."""

    def __init__(
        self,
        tree: KinematicTree,
        attitude: NewtonEulerAttitude,
        bodies: Sequence[NewtonEulerBodyState],
        near: Array,
    ) -> None:
        self.tree, self.attitude, self.bodies, self.nearby_coordinates = (
            tree,
            attitude,
            bodies,
            near,
        )
        self.ground = NewtonEulerBodyState(
            GROUND,
            (),
            attitude.ground_attitude,
            LinkPose(IDENTITY, ZERO3),
            ZERO3,
            ca.SX(3, 1),
            ca.SX(3, 1),
        )
        self.read_bodies = [body for body in bodies if self._has_own_coordinates(body)]

    def _has_own_coordinates(self, body: NewtonEulerBodyState) -> bool:
        """Whether the joint has its own coordinates, or mimics another."""
        return self.tree.links[body.links[0]].v not in self.tree.followers

    def body_before(self, body: NewtonEulerBodyState) -> NewtonEulerBodyState:
        """The parent body, or ground."""
        return self.bodies[body.parent] if body.parent >= 0 else self.ground

    @cached_property
    def tree_angles(self) -> Array:
        """The tree's coordinates with sliding coordinates at zero."""
        full = ca.SX.zeros(sum(link.kind.coordinate_count for link in self.tree.links))
        near = ca.SX(spread_coordinates(self.tree, self.nearby_coordinates))
        for body in self.read_bodies:
            parent = self.body_before(body)
            for index, values in self.attitude.read_joint_angles(
                parent.attitude, body.attitude, body.links, near
            ):
                full[index : index + values.shape[0]] = values
        return full

    @cached_property
    def tree_coordinates(self) -> Array:
        """The tree's coordinates, except those of mimicking joints."""
        full = ca.SX(self.tree_angles)
        for body in self.read_bodies:
            for index, values in self._read_joint_slides(body):
                full[index : index + values.shape[0]] = values
        return full

    def _read_joint_slides(self, body: NewtonEulerBodyState) -> list[tuple[int, Array]]:
        """The sliding coordinates of a body's joint, whose axes are orthogonal."""
        chain = self._joint_link_poses(body, self._displacements_by_angles)
        gap = body.pose.p - chain[-1].p
        found = []
        for i, pose in zip(body.links, chain, strict=True):
            link = self.tree.links[i]
            if link.kind.has_position:
                axes = self.body_before(body).pose.R @ link.R
                found.append((link.q, axes.T @ gap))
            elif not link.kind.has_rotation:
                found.append((link.q, ca.dot(pose.R[:, 2], gap)))
        return found

    @cached_property
    def _displacements_by_angles(self) -> list[LinkDisplacement]:
        """Displacements of the links with sliding coordinates at zero."""
        return link_displacements(self.tree, self.tree_angles)

    @cached_property
    def _displacements(self) -> list[LinkDisplacement]:
        """Displacements of the links in the tree's coordinates."""
        return link_displacements(self.tree, self.tree_coordinates)

    def _joint_link_poses(
        self, body: NewtonEulerBodyState, moved: list[LinkDisplacement]
    ) -> list[LinkPose]:
        """The poses of a joint's links, from the pose of its parent body."""
        here, found = self.body_before(body).pose, []
        for i in body.links:
            d = moved[i]
            here = LinkPose(here.R @ d.rotation, here.p + here.R @ d.position)
            found.append(here)
        return found

    @cached_property
    def q(self) -> Array:
        """The coordinates of the model."""
        own = ca.vertcat(
            *(
                self.tree_coordinates[link.coordinate_range]
                for link, *_ in links_with_coordinates(self.tree)
            )
        )
        transfer = self.tree.transfer
        if transfer is None:
            return own
        p = self.nearby_coordinates
        for _ in range(1 if transfer.is_affine else _NEWTON_STEPS):
            q, G = self._transfer_at(p)
            p = p - self._solve_transfer(G, q - own)
        return p

    def _transfer_at(self, p: Array) -> tuple[Array, Array]:
        """The joint variables at coordinates p of the model, and their Jacobian G."""
        transfer = self.tree.transfer
        assert transfer is not None
        q, G = ca.substitute([transfer.q, transfer.G], [self.tree.motion.q], [ca.SX(p)])
        return q, G

    @staticmethod
    def _solve_transfer(G: Array, b: Array) -> Array:
        """G⁻¹ b for the Jacobian G of a change of coordinates, by least squares where these are
        fewer than joint variables."""
        if G.shape[0] > G.shape[1]:
            G, b = G.T @ G, G.T @ b
        if G.is_constant():
            return ca.sparsify(ca.SX(ca.DM(np.linalg.inv(np.array(ca.DM(G)))))) @ b
        return ca.solve(G, b)

    @cached_property
    def qd(self) -> Array:
        """The velocities of the model."""
        v = ca.SX.zeros(self.tree.tree_nv)
        for body in self.read_bodies:
            for freedom, value in self._read_joint_velocities(body):
                v[freedom.velocity_index] = value
        own = v[self.tree.own_velocity_indices()]
        if self.tree.transfer is None:
            return own
        drift = ca.substitute(self.tree.transfer.drift, self.tree.motion.q, ca.SX(self.q))
        return self._solve_transfer(self._transfer_at(self.q)[1], own - drift)

    def _read_joint_velocities(self, body: NewtonEulerBodyState) -> list[tuple[JointAxis, Array]]:
        """The velocities along the axes of a body's joint, from both bodies' motions."""
        parent, chain = self.body_before(body), self._joint_link_poses(body, self._displacements)
        freedoms = [
            freedom
            for i, pose in zip(body.links, chain, strict=True)
            for freedom in link_joint_axes(self.tree, i, pose)
        ]
        turning = [freedom for freedom in freedoms if freedom.has_rotation]
        rest = body.v - parent.velocity_at(body.r)
        found = []
        for freedom, rate in zip(turning, self._read_turning_rates(body, turning), strict=True):
            found.append((freedom, rate))
            rest = rest - rate * freedom.unit_point_velocity(body.r)
        sliding = (freedom for freedom in freedoms if not freedom.has_rotation)
        return found + [(freedom, ca.dot(freedom.s, rest)) for freedom in sliding]

    def _read_turning_rates(
        self, body: NewtonEulerBodyState, turning: list[JointAxis]
    ) -> list[Array]:
        """The rates of a joint's rotations, from the difference of the angular velocities."""
        if not turning:
            return []
        A = ca.horzcat(*(ca.SX(freedom.s) for freedom in turning))
        rates = A.T @ (body.omega - self.body_before(body).omega)
        orthogonal = len(turning) == 1 or len({freedom.link for freedom in turning}) == 1
        return ca.vertsplit(
            rates if orthogonal else solve_symmetric_matrix(ca.densify(A.T @ A), rates)
        )
