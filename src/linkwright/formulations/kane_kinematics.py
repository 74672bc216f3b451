"""Dual velocities of the links of a tree and their partials, for Kane's method.

    V̂ = ω + εv = Σ v̂_r u_r             (6)    dual velocity, and its partials
    V̂_i = V̂_{i−1} + dθ̂/dt ẑ_i           (3)    along a chain of dual angles θ̂ = θ + εl

Components are in the links' own axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.dual import DualDisplacement, DualNumber, DualVector, dual_rotation
from ..algebra.linear_algebra import Array
from ..kinematics.kinematic_tree import GROUND, KinematicTree, TreeLink
from ..kinematics.recursions import (
    link_displacements,
    link_joint_motion,
    link_motion_subspace,
    link_slide_along_axis,
)
from ..kinematics.tree_coordinates import gather_columns, spread_coordinates, spread_velocities


@dataclass(frozen=True)
class KaneDualVelocity:
    """The dual velocity of a link at its origin, in its own axes, and the rate of its
    components."""

    V: DualVector
    rate: DualVector


ZERO_DUAL_VELOCITY = DualVector(np.zeros(3), np.zeros(3))


class DualKinematics:
    """Displacements, dual velocities and partial velocities of a tree's links at (q, q̇); `shortcut`
    uses the dual product of cylindrical joints."""

    def __init__(self, tree: KinematicTree, shortcut: bool = True) -> None:
        self.tree, self.shortcut = tree, shortcut
        self.tree_coordinates = spread_coordinates(tree, tree.motion.q)
        self.v = spread_velocities(tree, tree.motion.qd)
        self.displacements_in_parents = [self.dual_displacement(i) for i in range(len(tree.links))]

    def dual_displacement(self, i: int) -> DualDisplacement:
        """The displacement of a link in its parent: a constant one, then a rotation by a dual angle
        about z."""
        link = self.tree.links[i]
        fixed = DualDisplacement(link.R, link.p)
        q = self.tree_coordinates[link.coordinate_range]
        if link.kind.has_quaternion:
            moved = link_displacements(self.tree, self.tree_coordinates)[i]
            return DualDisplacement(moved.rotation, moved.position)
        turn, slide = q if link.kind.turns_about_axis else 0.0, link_slide_along_axis(link, q)
        return fixed @ dual_rotation(2, DualNumber(turn, 0.0 if slide is None else slide))

    def joint_dual_velocity(self, link: TreeLink, v: Array) -> DualVector:
        """The dual velocity of a joint's motion, with velocities v, in the link's axes."""
        motion = link_joint_motion(link, v[link.velocity_range])
        return DualVector(motion.angular, motion.linear)

    def link_dual_velocities(self, vd: Array) -> list[KaneDualVelocity]:
        """V̂ of every link, and its rate at the rates `vd` of the tree's velocities (3)."""
        found: list[KaneDualVelocity] = []
        for i, link in enumerate(self.tree.links):
            below = (
                KaneDualVelocity(ZERO_DUAL_VELOCITY, ZERO_DUAL_VELOCITY)
                if link.parent == GROUND
                else found[link.parent]
            )
            own, place = self.joint_dual_velocity(link, self.v), self.displacements_in_parents[i]
            carried = place.to_displaced_axes(below.V)
            rate = place.to_displaced_axes(below.rate) + carried.cross(own)
            found.append(KaneDualVelocity(carried + own, rate + self.joint_dual_velocity(link, vd)))
        return found

    @cached_property
    def origin_partial_velocities(self) -> list[dict[int, DualVector]]:
        """v̂_r of every link at its origin, by velocity index.

        With the shortcut, the slide of a cylindrical joint has no partial of its own.
        """
        found: list[dict[int, DualVector]] = []
        for i, link in enumerate(self.tree.links):
            below = {} if link.parent == GROUND else found[link.parent]
            own = {
                r: self.displacements_in_parents[i].to_displaced_axes(v) for r, v in below.items()
            }
            for k, s in enumerate(link_motion_subspace(link)):
                if link.v + k not in self.cylindrical_slides:
                    own[link.v + k] = DualVector(s.angular, s.linear)
            found.append(own)
        return found

    @cached_property
    def cylindrical_slides(self) -> dict[int, int]:
        """The velocity index of each cylindrical joint's slide, with that of its rotation."""
        if not self.shortcut:
            return {}
        joints = self.tree.mechanism.joints
        spans = [span for span in self.tree.joints if joints[span.name].kind.is_cylindrical]
        pairs = (span.links for span in spans if len(span.links) == 2)
        return {self.tree.links[b].v: self.tree.links[a].v for a, b in pairs}

    def point_partial_velocities(self, link: int, p: Array, G: Array) -> Array:
        """The partials of a link at its point p as columns (ω, v): ṽ_r = Σ v̂_s G_sr of the speeds u
        with q̇ = G u + k (7)."""
        at = DualDisplacement(np.eye(3), p)
        columns = ca.SX(6, self.tree.tree_nv)
        for r, v in self.origin_partial_velocities[link].items():
            moved = at.to_displaced_axes(v)
            columns[:, r] = ca.vertcat(moved.real, moved.dual)
        for slide, turn in self.cylindrical_slides.items():
            if self.moves_link(slide, link):
                columns[3:, slide] = columns[:3, turn]  # ε times the turn's
        return ca.densify(gather_columns(self.tree, columns) @ G)

    def moves_link(self, speed: int, link: int) -> bool:
        """Whether a generalized speed moves a link."""
        return any(self.tree.links[i].v == speed for i in self.tree.path_to_ground(link))

    def link_rotations(self) -> list[Array]:
        """The rotation matrices of all links in the world."""
        found: list[Array] = []
        for i, link in enumerate(self.tree.links):
            R = self.displacements_in_parents[i].R
            found.append(R if link.parent == GROUND else found[link.parent] @ R)
        return found
