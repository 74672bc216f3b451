"""Joints of free bodies: arms, free directions, and the reactions that are named in equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import IDENTITY, ZERO3, Array, cross, dot
from ..algebra.spatial import SpatialMotion
from ..kinematics.kinematic_tree import GROUND, JointLinks, KinematicTree
from ..kinematics.recursions import LinkPose, link_motion_subspace
from ..types import SX, Floats
from .free_body_equations import NewtonEulerFormulation, newton_euler_body_mass
from .free_body_states import formulation_axis_letter


@dataclass(frozen=True)
class ReactionComponent:
    """A unit moment or force of a joint, with the name and the meaning of its amount."""

    name: str
    meaning: str
    moment: Array
    force: Array

    def power(self, motion: SpatialMotion) -> SX:
        """The power of the component in a motion of the joint's origin."""
        return ca.SX(dot(self.moment, motion.angular) + dot(self.force, motion.linear))


@dataclass
class FreeBodyJoint:
    """The joint before a body, in the axes in which equations are written: those of the world in a
    plane, in space those of the body's own link.

    `own_arm` and `parent_arm` lead from the centres of mass of the body and of its parent to the
    joint's origin, `parent_arm` in the parent's axes; `to_parent` rotates vectors into these.
    `symbols` are the reactions that are unknown, `conditions` the equations of joint forces that
    could not be put into the reactions.
    """

    span: JointLinks
    body: int
    parent: int
    relative: LinkPose
    own_arm: Array
    parent_arm: Array
    to_parent: Array
    moment: Array = field(default_factory=lambda: ca.SX.zeros(3))
    force: Array = field(default_factory=lambda: ca.SX.zeros(3))
    symbols: dict[str, str] = field(default_factory=dict)
    conditions: list[tuple[SX, SX]] = field(default_factory=list)


class FreeBodyJoints:
    """The joints of all free bodies, and the axes in which equations are written."""

    def __init__(self, free: NewtonEulerFormulation) -> None:
        self.free, self.tree = free, free.tree
        turning = free.P[:, :3].any(axis=1)
        self.is_spatial = len(free.P) == len(IDENTITY) * 2
        self.normals: Floats = free.P[turning, :3]
        self.directions: Floats = free.P[~turning, 3:]
        self.centers = [newton_euler_body_mass(self.tree, link).c for link in free.links]
        self.axis_letters = [
            formulation_axis_letter(row, k) for k, row in enumerate(self.directions)
        ]
        self.normal_letters = [formulation_axis_letter(row, 2) for row in self.normals]
        self.random_point = RandomSymbolValues(self.tree)
        self.joints = [self._make_joint(b) for b in range(len(free.links))]

    def world_rotation(self, b: int) -> Array:
        """The rotation from the axes of a body's link to those of its equations."""
        if self.is_spatial or b < 0:
            return IDENTITY
        return self.free.world.link_poses[self.free.links[b]].R

    def _make_joint(self, b: int) -> FreeBodyJoint:
        """The joint before body b with its arms and reactions."""
        span = next(s for s in self.tree.joints if s.links and s.links[-1] == self.free.links[b])
        parent = self.free.bodies[b].parent
        relative = self._relative_pose(span)
        own, before = self.world_rotation(b), self.world_rotation(parent)
        c_parent = self.centers[parent] if parent >= 0 else ZERO3
        gap = span.frame.p - relative.p
        own_arm = relative.R.T @ gap if self.is_spatial else before @ gap
        return FreeBodyJoint(
            span,
            b,
            parent,
            relative,
            own_arm - own @ self.centers[b],
            before @ (span.frame.p - c_parent),
            relative.R if self.is_spatial else IDENTITY,
        )

    def _relative_pose(self, span: JointLinks) -> LinkPose:
        """The pose of a joint's last link in the axes of the link before the joint."""
        here = LinkPose(IDENTITY, ZERO3)
        for i in span.links:
            d = self.free.link_displacements[i]
            here = LinkPose(here.R @ d.rotation, here.p + here.R @ d.position)
        return here

    # -- reactions ---------------------------------------------------------------------------

    def name_reactions(self, joint: FreeBodyJoint, joint_forces: Array) -> None:
        """Set the wrench of a joint: named components, and the given forces (along the tree's
        velocities) in its free directions."""
        motions = self._free_motions(joint)
        tried = []
        for local in (True,) if self.is_spatial else (False, True):
            components = self._reaction_components(joint, local)
            powers = self._power_table(components, motions)
            tried.append((components, powers, _pivot_columns(powers)))
        components, powers, chosen = max(tried, key=lambda one: len(one[2]))
        amounts: dict[int, Array] = {}
        for j, one in enumerate(components):
            if j not in chosen.values():
                amounts[j] = ca.SX.sym(one.name)
                joint.symbols[one.name] = one.meaning
        forces = [joint_forces[v] for v, _ in motions]
        waiting = [*chosen]
        while waiting:
            row = next(r for r in waiting if _other_columns(powers[r], chosen[r]) <= {*amounts})
            waiting.remove(row)
            rest = sum(
                (powers[row][j] * amounts[j] for j in _other_columns(powers[row], chosen[row])),
                ca.SX(0),
            )
            amounts[chosen[row]] = powers[row][chosen[row]] * (forces[row] - rest)
        for j, one in enumerate(components):
            joint.moment += amounts[j] * one.moment
            joint.force += amounts[j] * one.force
        for row, force in enumerate(forces):
            if row not in chosen:
                power = sum((x * amounts[j] for j, x in enumerate(powers[row])), ca.SX(0))
                joint.conditions.append((power, force))

    def _reaction_components(self, joint: FreeBodyJoint, local: bool) -> list[ReactionComponent]:
        """Unit moments and forces of a joint: along the axes of the equations, or of the joint's
        last link (`local`), of which the third is the joint's axis."""
        b, name = joint.body, joint.span.name
        parent = self.free.names[joint.parent] if joint.parent >= 0 else "ground"
        said = f"of {parent} on {self.free.names[b]} at {name}"
        axes, letters, where = [*self.directions], self.axis_letters, ", {}"
        if local:
            R = ca.SX(self.world_rotation(b))
            inside = [
                j for j in range(3)
                if np.linalg.norm(self.directions @ self.random_point(R)[0][:, j]) > 1e-9
            ]  # fmt: skip
            axes, letters = [R[:, j] for j in inside], [str(j + 1) for j in inside]
            where = f", axis {{}} of {self.free.names[b]}"
        turns, turn_letters, turn_where = [*self.normals], self.normal_letters, ", {}"
        if self.is_spatial:
            turns, turn_letters, turn_where = axes, letters, where
        found = []
        for kind, word, units, names, place in (
            ("M", "moment", turns, turn_letters, turn_where),
            ("F", "force", axes, letters, where),
        ):
            for unit, letter in zip(units, names, strict=True):
                parts = (ca.SX(unit), ca.SX.zeros(3))
                moment, force = parts if kind == "M" else parts[::-1]
                meaning = f"{word} {said}{place.format(letter)}"
                found.append(ReactionComponent(f"{kind}{letter}_{name}", meaning, moment, force))
        return found

    def _free_motions(self, joint: FreeBodyJoint) -> list[tuple[int, SpatialMotion]]:
        """The motions that a joint leaves free, at its origin, by index of the tree's velocity."""
        span = joint.span
        if not self.is_spatial:
            frame = span.frame
            pose = LinkPose(IDENTITY, ZERO3)
            if frame.link != GROUND:
                pose = self.free.world.link_poses[frame.link]
            origin = pose.p + pose.R @ frame.p
            return [
                (
                    axis.velocity_index,
                    SpatialMotion(axis.unit_angular_velocity, axis.unit_point_velocity(origin)),
                )
                for axis in self.free.world.joint_axes
                if axis.link in span.links
            ]
        found: list[tuple[int, SpatialMotion]] = []
        for i in span.links:
            link, d = self.tree.links[i], self.free.link_displacements[i]
            found = [(v, d.motion_to_link(motion)) for v, motion in found]
            found += [(link.v + k, own) for k, own in enumerate(link_motion_subspace(link))]
        origin = joint.own_arm + self.centers[joint.body]
        return [
            (v, SpatialMotion(m.angular, m.linear + cross(m.angular, origin))) for v, m in found
        ]

    def _power_table(
        self,
        components: Sequence[ReactionComponent],
        motions: Sequence[tuple[int, SpatialMotion]],
    ) -> list[list[Array]]:
        """The power of each component in each free motion; entries that are 0 or ±1 at two random
        points are these numbers."""
        rows = [[one.power(motion) for one in components] for _, motion in motions]
        if not rows:
            return rows
        first, second = self.random_point(ca.vertcat(*(ca.horzcat(*row) for row in rows)))
        exact = np.round(first)
        known = (np.abs(first - exact) < 1e-9) & (np.abs(second - exact) < 1e-9)
        return [
            [ca.SX(exact[r, j]) if known[r, j] else x for j, x in enumerate(row)]
            for r, row in enumerate(rows)
        ]


def _other_columns(row: Sequence[Array], pivot: int) -> set[int]:
    """The columns of a row with entries that do not vanish, except its pivot."""
    return {j for j, x in enumerate(row) if j != pivot and not x.is_zero()}


def _pivot_columns(rows: Sequence[Sequence[Array]]) -> dict[int, int]:
    """For each row, if there is one, a column with ±1 in which all other rows are zero."""
    found: dict[int, int] = {}
    for r, row in enumerate(rows):
        for j, x in enumerate(row):
            others = (other[j] for k, other in enumerate(rows) if k != r)
            if (x.is_one() or x.is_minus_one()) and all(other.is_zero() for other in others):
                found[r] = j
                break
    return found


class RandomSymbolValues:
    """Values of expressions of the tree's symbols at two random points."""

    def __init__(self, tree: KinematicTree) -> None:
        motion = tree.motion
        self.symbols = [ca.vertcat(motion.q, motion.t), ca.vertcat(*tree.symbols.values())]
        rng = np.random.default_rng(3)
        self.points = [
            [rng.uniform(-1, 1, tree.nq + 1), rng.uniform(0.2, 1.2, self.symbols[1].numel())]
            for _ in range(2)
        ]

    def __call__(self, expression: Array) -> list[Floats]:
        """The values of a matrix at both points."""
        at = ca.Function("at", self.symbols, [ca.densify(ca.SX(expression))])
        return [np.asarray(at(*point), dtype=float) for point in self.points]
