"""Joints as elementary motions: turns and slides about axes, balls, free bodies.

The motions are told apart here alone: the recursions ask what a motion does (`turns_about_axis`,
`has_quaternion`, …), not which it is.

Every joint is a sequence of elementary steps, each about an axis fixed in the frame that
the steps before it have moved. A step has constant motion subspace in its own moved frame,
which is all that the recursions need to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from ..mechanism import Joint, Vector
from ..mechanism.joint_kinds import X_AXIS, Y_AXIS, Z_AXIS, MotionDirection


class LinkMotionKind(Enum):
    """Elementary motions; turns, slides and screws are about z of the moved frame."""

    TURN = "turn"
    SLIDE = "slide"
    SCREW = "screw"
    BALL = "ball"
    FREE = "free"

    @cached_property
    def coordinate_count(self) -> int:
        """The number of coordinates: 1, 4 (ball) or 7 (free)."""
        return 4 * self.has_quaternion + 3 * self.has_position + (not self.has_quaternion)

    @cached_property
    def velocity_count(self) -> int:
        """The number of velocities: 1, 3 (ball) or 6 (free)."""
        return 3 * self.has_quaternion + 3 * self.has_position + (not self.has_quaternion)

    @cached_property
    def turns_about_axis(self) -> bool:
        """Whether its coordinate is an angle about z."""
        return self in (LinkMotionKind.TURN, LinkMotionKind.SCREW)

    @cached_property
    def slides_along_axis(self) -> bool:
        """Whether it moves along z: by its coordinate, or, if it turns too, by pitch times it."""
        return self in (LinkMotionKind.SLIDE, LinkMotionKind.SCREW)

    @cached_property
    def has_quaternion(self) -> bool:
        """Whether its last four coordinates are a quaternion, and its first three velocities ω."""
        return self in (LinkMotionKind.BALL, LinkMotionKind.FREE)

    @cached_property
    def has_position(self) -> bool:
        """Whether its first three coordinates are a position, and its last three velocities v."""
        return self is LinkMotionKind.FREE

    @cached_property
    def has_rotation(self) -> bool:
        """Whether it turns its link."""
        return self.turns_about_axis or self.has_quaternion

    @cached_property
    def keeps_mass(self) -> bool:
        """Whether the motion leaves a mass at the origin where it is."""
        return not (self.slides_along_axis or self.has_position)

    @cached_property
    def keeps_axial_moment(self) -> bool:
        """Whether it leaves a mass on the axis where it is."""
        return self.keeps_mass and self.turns_about_axis


@dataclass(frozen=True, slots=True)
class ElementaryLinkMotion:
    """One elementary motion; the axis (None for balls and free bodies) as written."""

    kind: LinkMotionKind
    axis: Vector | None = None


_FRAME_AXES = {"x": X_AXIS, "y": Y_AXIS, "z": Z_AXIS}


def elementary_link_motions(joint: Joint) -> list[ElementaryLinkMotion]:
    """Return the joint as elementary motions, in the order of its coordinates.

    Those of a joint with a plane are given in the frame of its plane (x along `axis2`, z normal).
    """
    return [
        ElementaryLinkMotion(
            LinkMotionKind(motion.type), _link_motion_axis(joint, motion.direction)
        )
        for motion in joint.motions
    ]


def _link_motion_axis(joint: Joint, direction: MotionDirection) -> Vector | None:
    """Return the axis of a motion as the file gives it, in the joint's frame."""
    match direction:
        case "axis":
            return joint.axis
        case "axis2":
            return joint.second_axis
        case "":
            return None
        case _:
            return _FRAME_AXES[direction]
