"""Joints of a mechanism as joints of MJCF: hinges, slides, balls and free joints of a body."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ..expressions import ZERO, Expression, expression_to_float
from ..kinematics.kinematic_tree import TreeLink
from ..mechanism import Joint, joint_coordinate_name
from .mjcf_geometry import MjcfGeometry, MjcfPose, rotation_of_quaternion

UNLIMITED = 1e9
"""The end of a range that has only one, rad or m."""


@dataclass(frozen=True)
class MjcfJoint:
    """A joint of MJCF: its attributes, and the coordinate names that it stands for."""

    name: str
    type: str
    attributes: Mapping[str, object]


class MjcfJointWriter:
    """Writes the joints that carry a body, and notes what MJCF cannot hold."""

    def __init__(self, geometry: MjcfGeometry) -> None:
        self.geometry, self.mechanism = geometry, geometry.mechanism
        self.lost: list[str] = []

    def write_joints(self, owner: str, carrier: str) -> Iterator[MjcfJoint]:
        """Yield the joints that carry the body `owner`, in the axes of the body `carrier`: the
        same, or the next body with mass."""
        name, joint = self.geometry.joint(owner)
        place = self.geometry.body_poses[carrier]
        self.note_losses(name, joint)
        for freedom, (index, link) in enumerate(self.geometry.links_of(owner)):
            pose = self.geometry.link_pose(index).seen_from(place)
            if link.kind.has_quaternion:
                yield from self.write_quaternion_joint(name, joint, link, pose, owner)
                return
            if link.kind.turns_about_axis and link.kind.slides_along_axis:
                self.lost.append(f"joint {name}: its pitch (it is a hinge in the file)")
            kind = "hinge" if link.kind.turns_about_axis else "slide"
            ending = joint.dofs[freedom].ending
            coordinate = joint_coordinate_name(name, ending)
            effects = self.effects(joint, freedom, link) | self.limits(coordinate, joint, freedom)
            yield MjcfJoint(
                coordinate,
                kind,
                {"pos": pose.p, "axis": pose.R[:, 2]} | effects,
            )

    def number(self, expression: Expression) -> float:
        """Return a number of the mechanism."""
        return expression_to_float(expression, self.mechanism.values)

    def effects(self, joint: Joint, freedom: int, link: TreeLink) -> dict[str, object]:
        """Return damping, friction, spring, armature and offset of one degree of freedom."""
        found: dict[str, object] = {}
        numbers = {
            "damping": joint.each(joint.damping)[freedom],
            "frictionloss": joint.each(joint.friction)[freedom],
            "stiffness": joint.each(joint.stiffness)[freedom],
        }
        found |= {key: self.number(x) for key, x in numbers.items() if x != ZERO}
        if "stiffness" in found:
            found["springref"] = self.number(joint.each(joint.rest)[freedom])
        effect = self.geometry.tree.joint_effects[link.v]
        if float(effect.rotor_inertia):
            found["armature"] = float(effect.rotor_inertia)
        follower = self.geometry.tree.followers.get(link.v)
        if follower is not None and float(follower.offset):
            found["ref"] = float(follower.offset)
        return found

    def limits(self, name: str, joint: Joint, freedom: int) -> dict[str, object]:
        """Return the range of a coordinate, and that of its actuators' efforts."""
        found: dict[str, object] = {}
        ends = []
        for bound, none in ((joint.limits.lower, -UNLIMITED), (joint.limits.upper, UNLIMITED)):
            ends.append(none if bound is None else self.number(joint.each(bound)[freedom]))
        if ends[0] == ends[1]:
            self.lost.append(f"joint {name}: its limits, which have no range between them")
        elif ends != [-UNLIMITED, UNLIMITED]:
            found |= {"limited": "true", "range": np.array(ends)}
        effort = joint.limits.effort
        backward = effort if joint.limits.effort_backward is None else joint.limits.effort_backward
        if effort is not None and backward is not None:
            most, least = (self.number(joint.each(one)[freedom]) for one in (effort, backward))
            if most or least:
                span = np.array([-least, most])
                found |= {"actuatorfrclimited": "true", "actuatorfrcrange": span}
        return found

    def write_quaternion_joint(
        self, name: str, joint: Joint, link: TreeLink, pose: MjcfPose, owner: str
    ) -> Iterator[MjcfJoint]:
        """Yield a ball, a free joint, or three slides and a ball where MJCF has no free joint."""
        rows = self.same_effects(name, joint, link)
        is_root = joint.parent == "ground" and self.geometry.body_poses[owner].is_identity
        if not link.kind.has_position:
            yield MjcfJoint(name, "ball", {"pos": pose.p} | rows[0])
        elif is_root and rows[0] == rows[1]:
            yield MjcfJoint(name, "free", rows[0])
        else:
            self.lost.append(
                f"joint {name}: that it is free (it is written as three slides and a ball)"
            )
            for k, ending in enumerate("xyz"):
                axis = pose.R[:, k]
                yield MjcfJoint(
                    f"{name}.{ending}", "slide", {"pos": pose.p, "axis": axis} | rows[1]
                )
            yield MjcfJoint(name, "ball", {"pos": pose.p} | rows[0])

    def free_rest(self, body: str) -> MjcfPose | None:
        """Return the pose in which the spring of a body's free joint is at rest, for which MuJoCo
        takes the pose of the body in the file; None without a spring."""
        _, joint = self.geometry.joint(body)
        is_free = joint.by_quaternion and joint.kind.closure is None and joint.moves
        if not is_free or not isinstance(joint.rest, tuple):
            return None
        numbers = np.array([self.number(x) for x in joint.rest])
        if not self.geometry.body_poses[body].is_identity:
            return None
        return MjcfPose(rotation_of_quaternion(numbers[3:]), numbers[:3])

    def same_effects(self, name: str, joint: Joint, link: TreeLink) -> list[dict[str, object]]:
        """Return the effects of the turning and of the sliding velocities, which MJCF wants equal
        along all three axes."""
        rows: list[dict[str, object]] = []
        for first in range(0, link.kind.velocity_count, 3):
            each = [self.plain_effects(joint, first + k, link.v + first + k) for k in range(3)]
            if each.count(each[0]) < 3:
                self.lost.append(f"joint {name}: damping, friction or inertia that differ by axis")
                each[0] = {}
            rows.append(each[0])
        rest = [self.number(x) for x in joint.rest] if isinstance(joint.rest, tuple) else None
        has_spring = not link.kind.has_position and "stiffness" in rows[0]
        if has_spring and rest not in (None, [1.0, 0.0, 0.0, 0.0]):
            self.lost.append(f"joint {name}: the rest of its spring (it is undisplaced)")
        return rows

    def plain_effects(self, joint: Joint, freedom: int, velocity: int) -> dict[str, object]:
        """Return damping, friction, stiffness and armature of one velocity."""
        numbers = {
            "damping": joint.each(joint.damping)[freedom],
            "frictionloss": joint.each(joint.friction)[freedom],
            "stiffness": joint.each(joint.stiffness)[freedom],
        }
        found: dict[str, object] = {k: self.number(x) for k, x in numbers.items() if x != ZERO}
        rotor = float(self.geometry.tree.joint_effects[velocity].rotor_inertia)
        return found | ({"armature": rotor} if rotor else {})

    def note_losses(self, name: str, joint: Joint) -> None:
        """Note the effects of a joint that MJCF cannot hold."""
        given = joint.model_fields_set
        words = {
            "friction_backward": "its friction at negative velocity",
            "smoothing": "its friction smoothing",
            "stribeck": "its friction that falls with the speed",
            "friction_coefficient": "its friction by reaction",
            "breaks": "its strength",
        }
        self.lost += [f"joint {name}: {text}" for key, text in words.items() if key in given]
        if joint.limits.restitution is not None:
            self.lost.append(f"joint {name}: the restitution of its stops")
        if joint.limits.velocity is not None:
            self.lost.append(f"joint {name}: the limit of its velocity")
        if joint.locked is not None:
            self.lost.append(f"joint {name}: that it is locked (it is written as fixed)")
