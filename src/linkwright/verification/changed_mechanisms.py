"""Changed copies of a mechanism whose motion is known: on a vertical slide, with a huge mass, or
with a joint that is held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca
import numpy as np

from ..errors import LinkwrightError
from ..formulations import derive
from ..kinematics.mobility_analysis import reference_configuration
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import (
    GROUND,
    ChosenCoordinates,
    Mechanism,
    joint_coordinate_names,
    mechanism_names,
    replace_part_fields,
)
from ..mechanism.coordinates import joint_variable_names
from ..mechanism.parts import MechanismPart
from ..types import Floats

HUGE_MASS = 1e10
"""The mass (kg) and moments of inertia (kg m²) of a link that serves as ground: large against those
of all mechanisms, while 1e-6 of a light link's acceleration is still above rounding errors."""
SLIDE_NAME = "vertical_slide"
FALL_NAME = "fall"


class CheckNotApplicableError(LinkwrightError):
    """A check does not apply to the mechanism; the message says why."""


def mechanism_without_losses(mechanism: Mechanism) -> Mechanism:
    """The mechanism without friction, dampers, springs, declared forces, contacts and actuators."""
    bare = mechanism.without("friction", "damping", "springs", "forces", "contacts")
    return replace_part_fields(bare, ["actuators"])


def mechanism_on_slide(mechanism: Mechanism, direction: Floats) -> Mechanism:
    """The mechanism on a body that slides in a direction, in place of ground.

    The slide has mass, so that it does not move without moving mass if the mechanism can slide in
    the same direction.
    """
    joints = {
        SLIDE_NAME: {"type": "prismatic", "child": SLIDE_NAME, "axis": direction.tolist()},
        **{name: _move_part_to_slide(joint) for name, joint in mechanism.joints.items()},
    }
    changed: dict[str, Any] = {
        table: {name: _move_part_to_slide(part) for name, part in parts.items()}
        for table in ("loops", "constraints", "frames")
        if (parts := getattr(mechanism, table))
    }
    if mechanism.coordinates is not None:
        changed["coordinates"] = _add_slide_coordinate(mechanism.coordinates)
    if mechanism.independent:
        own = SLIDE_NAME if mechanism.coordinates is None else FALL_NAME
        changed["independent"] = (own, *mechanism.independent)
    bodies = {SLIDE_NAME: {"mass": 1}, **mechanism.bodies}
    return replace_part_fields(mechanism, joints=joints, bodies=bodies, **changed)


def _move_part_to_slide(part: MechanismPart) -> MechanismPart:
    """A joint, constraint or frame with the slide in place of ground."""
    moved: dict[str, Any] = {}
    for key in type(part).model_fields:
        value = getattr(part, key)
        if value == GROUND:
            moved[key] = SLIDE_NAME
        elif isinstance(value, tuple) and GROUND in value:
            moved[key] = tuple(SLIDE_NAME if end == GROUND else end for end in value)
    return replace_part_fields(part, **moved)


def _add_slide_coordinate(own: ChosenCoordinates) -> ChosenCoordinates:
    """Chosen coordinates with one more for the slide, before the others."""
    if own.new:
        return replace_part_fields(own, new={FALL_NAME: SLIDE_NAME, **own.new})
    names, joints = (FALL_NAME, *own.names), {SLIDE_NAME: FALL_NAME, **own.joints}
    return replace_part_fields(own, names=names, joints=joints)


def mechanism_with_huge_body(mechanism: Mechanism, body: str) -> Mechanism:
    """The mechanism with a body of huge mass and inertia."""
    huge = replace_part_fields(mechanism.bodies[body], mass=HUGE_MASS, inertia=[HUGE_MASS] * 3)
    return replace_part_fields(mechanism, bodies={**mechanism.bodies, body: huge})


def mechanism_with_held_joint(mechanism: Mechanism, values: Mapping[str, float]) -> Mechanism:
    """The mechanism with constraints that hold coordinates of its joints at given values."""
    held = {
        f"hold_{k}": {"type": "gear", "factors": {name: 1}, "offset": value}
        for k, (name, value) in enumerate(values.items())
    }
    return replace_part_fields(
        mechanism, ["independent"], constraints={**mechanism.constraints, **held}
    )


def lowest_joint_angle(mechanism: Mechanism, joint: str) -> float:
    """The angle of a joint of least potential energy, which is a sine of that angle; zero where it
    does not change."""
    plain = replace_part_fields(mechanism, ["coordinates"])
    names = mechanism_names(plain).q
    eqs = derive(plain, parameters="numeric")
    energy, q, V = eqs.function_at_values("potential_energy"), np.array(eqs.neutral), []
    for angle in (0.0, np.pi / 2, np.pi):
        q[names.index(joint)] = angle
        V.append(float(energy(q)))
    middle = (V[0] + V[2]) / 2
    a, b = (V[0] - V[2]) / 2, V[1] - middle
    return float(np.arctan2(-b, -a)) if max(abs(a), abs(b)) > 1e-9 * HUGE_MASS else 0.0


def assembled_joint_coordinates(mechanism: Mechanism, joint: str) -> dict[str, float]:
    """The coordinates of a joint by name where the mechanism is assembled; zeros in a tree."""
    names = joint_coordinate_names(joint, mechanism.joints[joint])
    if not (mechanism.loops or mechanism.constraints):
        return dict.fromkeys(names, 0.0)
    tree, (home, _) = build_kinematic_tree(mechanism, "numeric"), reference_configuration(mechanism)
    own = tree.motion.q if tree.transfer is None else tree.transfer.q
    inputs = [tree.motion.q, tree.motion.t]
    values = np.asarray(ca.Function("joints", inputs, [own])(home, 0.0)).ravel()
    known = dict(zip(joint_variable_names(mechanism), values, strict=True))
    return {name: float(known[name]) for name in names}
