"""One more body, fixed to a frame or body of a mechanism: what a gripper holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import NameNotFoundError, suggest_remedy
from .bodies import Body
from .joints import Joint
from .placements import Placement

if TYPE_CHECKING:
    from .mechanism import Mechanism


def fields_with_payload(
    mechanism: Mechanism, frame: str, payload: Body, name: str
) -> dict[str, dict[str, object]]:
    """Return bodies and joints of a mechanism with a payload; raise where a name does not fit."""
    if name in mechanism.bodies or name in mechanism.joints:
        raise NameNotFoundError(
            f"{mechanism.name} has a body or joint '{name}' already", remedy="give another name="
        )
    if frame in mechanism.frames:
        body, origin = mechanism.frames[frame].body, mechanism.frames[frame].origin
    elif frame in mechanism.bodies:
        body, origin = frame, Placement()
    else:
        raise NameNotFoundError(
            f"{mechanism.name} has no frame or body '{frame}'",
            remedy=suggest_remedy(frame, [*mechanism.frames, *mechanism.bodies]),
        )
    joint = Joint(type="fixed", parent=body, child=name, origin=origin)
    return {
        "bodies": {**mechanism.bodies, name: payload},
        "joints": {**mechanism.joints, name: joint},
    }
