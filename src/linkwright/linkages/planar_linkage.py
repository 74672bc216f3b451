"""A planar mechanism as textbooks on linkages have it: links, and the pins and slides between them.

Links are numbered from 0, the ground. What is fixed together is one link, named after the first of
its bodies. Everything is expressed in the plane of motion, with axes `right` and `up`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

import casadi as ca
import numpy as np

from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from ..expressions import expression_to_float
from ..kinematics.constraint_kinds.loop import LoopRestraint
from ..kinematics.kinematic_tree import GROUND as GROUND_LINK
from ..kinematics.kinematic_tree import JointLinks, KinematicTree
from ..kinematics.plane_of_motion import motion_plane_normal
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import spread_velocities
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import GROUND, JointKind, Mechanism, require_mechanism
from ..types import SX, Floats
from .plane_vectors import quarter_turn

LinkageJointKind = Literal["pin", "slide", "other"]


@dataclass(frozen=True)
class LinkageJoint:
    """A joint between two links of a planar linkage, the parent first.

    `point` and `direction` (of a slide, or the pin's axis) are in the axes of the parent.
    `velocity_index` is the place of its rate among the velocities of the tree; None: the joint
    closes a loop. A pin whose axis points against the normal of the plane has `sense` −1.
    """

    name: str
    kind: LinkageJointKind
    links: tuple[int, int]
    point: Floats
    direction: Floats
    velocity_index: int | None = None
    sense: float = 1.0

    def other_link(self, link: int) -> int:
        """Return the link on the other side of the joint."""
        return self.links[0] if self.links[1] == link else self.links[1]


class MotionRows(Protocol):
    """A motion: one row for each position, with rates by the travel of the input."""

    @property
    def t(self) -> Floats:
        """The travel of the input."""

    @property
    def q(self) -> Floats:
        """Coordinates."""

    @property
    def qd(self) -> Floats:
        """Their rates."""

    @property
    def qdd(self) -> Floats:
        """Their second rates."""


@dataclass(frozen=True)
class LinkMotions:
    """Motions of all links at some times: arrays (times, links, …) in the plane.

    `placements` (…, 2, 4) map points of a link, (x, y, z, 1), to the plane; `angular_velocity` and
    `velocity` are those of the link and of its origin, `angular_acceleration` and `acceleration`
    their rates.
    """

    placements: Floats
    angular_velocity: Floats
    velocity: Floats
    angular_acceleration: Floats
    acceleration: Floats

    @property
    def origins(self) -> Floats:
        """Origins of the links in the plane, m."""
        return np.asarray(self.placements[..., 3])

    def points(self, link: int, point: Floats) -> Floats:
        """Return a point of a link in the plane, (times, 2)."""
        at = self.placements[:, link]
        return np.asarray(at[..., :3] @ point + at[..., 3])

    def directions(self, link: int, direction: Floats) -> Floats:
        """Return a direction of a link in the plane, (times, 2)."""
        return np.asarray(self.placements[:, link, :, :3] @ direction)

    def point_velocities(self, link: int, points: Floats) -> Floats:
        """Return the velocities (times, 2) of those points of a link that are at `points`."""
        arms = quarter_turn(points - self.origins[:, link])
        return np.asarray(self.velocity[:, link] + self.angular_velocity[:, link, None] * arms)


class PlanarLinkage:
    """The links and joints of a planar mechanism, and how they move."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.tree = build_kinematic_tree(mechanism, "numeric")
        self.right, self.up, self.normal = _plane_axes(mechanism, self.tree)
        numbers = sorted({place.link for place in self.tree.bodies.values()} - {GROUND_LINK})
        self._numbers = {GROUND_LINK: 0} | {link: k + 1 for k, link in enumerate(numbers)}
        self.links = (GROUND, *(_first_body(self.tree, link) for link in numbers))
        self.joints = (*self._tree_joints(), *self._loop_joints())
        self._function = self._motion_function(numbers)

    @property
    def has_only_joints(self) -> bool:
        """Whether pins, slides and relations of coordinates (gears) are all that connects links."""
        relations = self.tree.restraints.entries
        return all(joint.kind != "other" for joint in self.joints) and all(
            not one.attached_names or isinstance(one, LoopRestraint) for one in relations
        )

    def link_number(self, name: str) -> int:
        """Return the number of the link that has a body or frame."""
        if name == GROUND:
            return 0
        places = self.tree.bodies | self.tree.frames
        if name not in places:
            raise NameNotFoundError(
                f"{self.mechanism.name} has no body '{name}'",
                remedy=suggest_remedy(name, [GROUND, *places]),
            )
        return self._numbers[places[name].link]

    def joints_of(self, link: int) -> list[LinkageJoint]:
        """Return the joints of a link."""
        return [joint for joint in self.joints if link in joint.links]

    def joints_between(self, one: int, other: int) -> list[LinkageJoint]:
        """Return the joints that connect two links directly."""
        return [joint for joint in self.joints if set(joint.links) == {one, other}]

    def to_world(self, points: Floats) -> Floats:
        """Return points (…, 2) of the plane in the world, (…, 3), in the plane through its
        origin."""
        return np.asarray(points @ np.array([self.right, self.up]))

    def motions(self, t: Floats, q: Floats, qd: Floats, qdd: Floats | None = None) -> LinkMotions:
        """Return the motions of the links at q, q̇ and q̈, (times, n) each."""
        rates = np.zeros_like(qd) if qdd is None else qdd
        found = self._function(q.T, qd.T, rates.T, np.reshape(t, (1, -1)))
        rows = np.asarray(found, dtype=float).T.reshape(len(q), len(self.links) - 1, 14)
        ground = np.zeros((len(q), 1, 14))
        ground[:, 0, :8] = self._project(np.eye(3, 4)).ravel()
        every = np.concatenate([ground, rows], axis=1)
        return LinkMotions(
            every[..., :8].reshape(len(q), -1, 2, 4),
            every[..., 8],
            every[..., 9:11],
            every[..., 11],
            every[..., 12:14],
        )

    def rate_matrices(self, t: Floats, q: Floats) -> Floats:
        """Return ∂(velocities of the tree)/∂q̇, (times, velocities of the tree, nv)."""
        symbols = self.tree.motion
        G = ca.jacobian(spread_velocities(self.tree, symbols.qd), symbols.qd)
        function = ca.Function("rates", [symbols.q, symbols.t], [ca.vec(ca.densify(G.T))])
        rows = np.asarray(function(q.T, np.reshape(t, (1, -1))), dtype=float).T
        return rows.reshape(len(q), self.tree.tree_nv, self.tree.nv)

    def _project(self, vectors: Floats) -> Floats:
        return np.asarray(np.array([self.right, self.up]) @ vectors)

    def _motion_function(self, numbers: list[int]) -> ca.Function:
        """The function of (q, q̇, q̈, t) with 14 numbers for each moving link."""
        symbols = self.tree.motion
        world = WorldKinematics(self.tree, symbols.q)
        v = spread_velocities(self.tree, symbols.qd)
        state, rates = ca.vertcat(symbols.q, symbols.qd, symbols.t), [symbols.qd, symbols.qdd, 1]
        plane = ca.DM(np.array([self.right, self.up]))
        rows: list[SX] = []
        for link in numbers:
            pose = world.link_poses[link]
            placement = plane @ ca.horzcat(ca.SX(pose.R), ca.SX(pose.p))
            omega = ca.SX(0)
            for axis in world.path_axes(link):
                omega += (
                    ca.dot(ca.DM(self.normal), ca.SX(axis.unit_angular_velocity))
                    * v[axis.velocity_index]
                )
            velocity = plane @ ca.SX(world.point_velocity(link, pose.p, v))
            first = ca.vertcat(omega, velocity)
            second = ca.jtimes(first, state, ca.vertcat(*rates))
            rows += [ca.vec(placement.T), first, second]
        inputs = [symbols.q, symbols.qd, symbols.qdd, symbols.t]
        return ca.Function("links", inputs, [ca.densify(ca.vertcat(*rows))])

    def _tree_joints(self) -> list[LinkageJoint]:
        """The joints of the tree that move."""
        found = []
        for joint in self.tree.joints:
            if joint.links:
                found.append(self._tree_joint(joint))
        return found

    def _tree_joint(self, joint: JointLinks) -> LinkageJoint:
        """A joint of the tree; its frame in the parent is that before it moves."""
        first, last = self.tree.links[joint.links[0]], joint.links[-1]
        R, p = np.asarray(first.R, dtype=float), np.asarray(first.p, dtype=float).ravel()
        is_single = len(joint.links) == 1
        kind: LinkageJointKind = "other"
        if is_single and not (first.kind.turns_about_axis and first.kind.slides_along_axis):
            kind = "pin" if first.kind.turns_about_axis else "slide"
        links = (self._numbers[first.parent], self._numbers[last])
        sense = self._axis_sense(first.parent, R[:, 2])
        return LinkageJoint(joint.name, kind, links, p, R[:, 2], first.v, sense)

    def _axis_sense(self, link: int, axis: Floats) -> float:
        """1 where an axis of a link points along the normal of the plane, −1 where against it: pins
        keep it at every q."""
        if link != GROUND_LINK:
            world = WorldKinematics(self.tree, ca.DM.zeros(self.tree.nq))
            R = ca.substitute(ca.SX(world.link_poses[link].R), self.tree.motion.t, 0)
            axis = np.asarray(ca.evalf(R)) @ axis
        return float(np.sign(np.round(axis @ self.normal, 6))) or 1.0

    def _loop_joints(self) -> list[LinkageJoint]:
        """The joints that close loops."""
        found = []
        for tie in self.tree.restraints.entries:
            if not isinstance(tie, LoopRestraint):
                continue
            parent, child = tie.loop_frames
            links = (self._numbers[parent.link], self._numbers[child.link])
            R = np.asarray(ca.DM(ca.SX(parent.R)), dtype=float)
            axis = R @ np.asarray(ca.DM(ca.SX(tie.first_axis)), dtype=float)[:, 2]
            point = np.asarray(ca.DM(ca.SX(parent.p)), dtype=float).ravel()
            kind, sense = _loop_joint_kind(tie.kind), self._axis_sense(parent.link, axis)
            found.append(LinkageJoint(tie.name, kind, links, point, axis, None, sense))
        return found


def planar_linkage(mechanism: Mechanism) -> PlanarLinkage:
    """Return the planar linkage of a mechanism; the most recent ones are kept."""
    return _cached_planar_linkage(require_mechanism(mechanism))


@lru_cache(maxsize=16)
def _cached_planar_linkage(mechanism: Mechanism) -> PlanarLinkage:
    return PlanarLinkage(mechanism)


def _loop_joint_kind(kind: JointKind) -> LinkageJointKind:
    """What a joint that closes a loop is in the plane: origins that stay together make a pin."""
    if kind.is_slider:
        return "slide"
    is_pin = kind.closure is not None and kind.closure.held_directions == "bca"
    return "pin" if is_pin and kind.closure.orientation != "same" else "other"  # type: ignore[union-attr]


def _plane_axes(mechanism: Mechanism, tree: KinematicTree) -> tuple[Floats, Floats, Floats]:
    """The unit vectors to the right, upward, and normal to the plane of motion."""
    gravity = np.array([expression_to_float(g, mechanism.values) for g in mechanism.gravity])
    has_angles_only = tree.nq == tree.nv
    normal = motion_plane_normal(tree, gravity) if has_angles_only else None
    if normal is None:
        raise UnsupportedError(
            "does not move in a plane",
            where=mechanism.name,
            remedy="give a planar linkage, or use screw_axis, solve_kinematics and solve_inverse",
        )
    normal = normal * (np.sign(normal[np.argmax(np.abs(normal))]) or 1.0)
    first = np.eye(3)[0 if abs(normal[0]) < 0.9 else 1]
    right = first - normal * (first @ normal)
    right = right / np.linalg.norm(right)
    return right, np.cross(normal, right), normal


def _first_body(tree: KinematicTree, link: int) -> str:
    """The name of a link: that of its first body in the file."""
    return next(name for name, place in tree.bodies.items() if place.link == link)
