"""What a joint does, as elementary motions: turns and slides about axes, balls, free bodies.

Every joint is a sequence of elementary steps, each about an axis fixed in the frame that
the steps before it have moved. A step has constant motion subspace in its own moved frame,
which is all that the recursions need to know.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from ..mechanism import Joint, Vector
from ..mechanism.joints import X_AXIS, Y_AXIS, Z_AXIS


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


_CARDAN = [Step(Kind.TURN, axis) for axis in (X_AXIS, Y_AXIS, Z_AXIS)]
_CARTESIAN = [Step(Kind.SLIDE, axis) for axis in (X_AXIS, Y_AXIS, Z_AXIS)]


def steps(joint: Joint) -> list[Step]:
    """The joint as elementary motions, in the order of its coordinates.

    Those of a planar joint are given in the frame of its plane (x along `axis2`, z normal).
    """
    turn, slide = Step(Kind.TURN, joint.axis), Step(Kind.SLIDE, joint.axis)
    match joint.type:
        case "revolute" | "continuous":
            return [turn]
        case "prismatic":
            return [slide]
        case "helical":
            return [Step(Kind.SCREW, joint.axis)]
        case "cylindrical":
            return [turn, slide]
        case "turn-slide":
            return [turn, Step(Kind.SLIDE, joint.second_axis)]
        case "universal":
            return [turn, Step(Kind.TURN, joint.second_axis)]
        case "spherical":
            return [Step(Kind.BALL)] if joint.by_quaternion else _CARDAN
        case "free":
            return [Step(Kind.FREE)] if joint.by_quaternion else _CARTESIAN + _CARDAN
        case "planar":
            return [*_CARTESIAN[:2], Step(Kind.TURN, Z_AXIS)]
        case _:
            return []
