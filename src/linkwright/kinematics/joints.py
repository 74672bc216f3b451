"""What a joint does, as elementary motions: turns and slides about axes, balls, free bodies.

Every joint is a sequence of elementary steps, each about an axis fixed in the frame that
the steps before it have moved. A step has constant motion subspace in its own moved frame,
which is all that the recursions need to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..mechanism import Joint, Vector
from ..mechanism.joint_kinds import X_AXIS, Y_AXIS, Z_AXIS, Direction


class Kind(Enum):
    """Elementary motions; turns, slides and screws are about z of the moved frame."""

    TURN = "turn"
    SLIDE = "slide"
    SCREW = "screw"
    BALL = "ball"
    FREE = "free"

    @property
    def coordinates(self) -> int:
        return {Kind.BALL: 4, Kind.FREE: 7}.get(self, 1)

    @property
    def speeds(self) -> int:
        return {Kind.BALL: 3, Kind.FREE: 6}.get(self, 1)


@dataclass(frozen=True, slots=True)
class Step:
    """One elementary motion; the axis (None for balls and free bodies) as written."""

    kind: Kind
    axis: Vector | None = None


_FRAME = {"x": X_AXIS, "y": Y_AXIS, "z": Z_AXIS}


def steps(joint: Joint) -> list[Step]:
    """The joint as elementary motions, in the order of its coordinates.

    Those of a joint with a plane are given in the frame of its plane (x along `axis2`, z normal).
    """
    return [Step(Kind(motion.type), _axis(joint, motion.direction)) for motion in joint.motions]


def _axis(joint: Joint, direction: Direction) -> Vector | None:
    """A direction of a motion as it is written, in the joint's frame."""
    match direction:
        case "axis":
            return joint.axis
        case "axis2":
            return joint.second_axis
        case "":
            return None
        case _:
            return _FRAME[direction]
