"""Properties of a mechanism that URDF cannot express, each as one line of text."""

from __future__ import annotations

from collections.abc import Iterator

from ..expressions import expression_to_float
from ..mechanism import Joint, Limits, Mechanism
from .urdf_shapes_writer import is_urdf_shape

_URDF_GRAVITY = [0.0, 0.0, -9.81]


def list_urdf_losses(mechanism: Mechanism) -> Iterator[str]:
    """Yield one line for each property with an effect (or a meaning for users) that URDF cannot
    hold."""
    gravity = [expression_to_float(entry, mechanism.values) for entry in mechanism.gravity]
    if gravity != _URDF_GRAVITY:
        words = " ".join(repr(entry + 0.0).removesuffix(".0") for entry in gravity)
        yield f"gravity {words} m/s^2 (URDF has none; readers take 0 0 -9.81)"
    if mechanism.parameters:
        names = ", ".join(mechanism.parameters)
        yield f"the names of the parameters {names} (their values are kept)"
    if mechanism.coordinates is not None:
        yield f"the coordinates {', '.join(mechanism.coordinates.own_names)}"
    if mechanism.speeds:
        yield f"the generalized speeds {', '.join(mechanism.speeds)}"
    for table in ("loops", "constraints", "lengths", "forces", "contacts", "actuators"):
        for name in getattr(mechanism, table):
            yield f"{table.removesuffix('s')} {name}"
    if mechanism.ground_shapes:
        yield f"{len(mechanism.ground_shapes)} shapes of the ground"
    for name, body in mechanism.bodies.items():
        for shape in body.shapes:
            if not is_urdf_shape(shape):
                yield f"body {name}: its shape, a {shape.type}"
    for name, joint in mechanism.joints.items():
        for what in _UrdfJointLosses(mechanism, joint).effects_lost_in_urdf():
            yield f"joint {name}: {what}"


class _UrdfJointLosses:
    """The effects of a joint beyond its motion."""

    def __init__(self, mechanism: Mechanism, joint: Joint) -> None:
        self.values = mechanism.values
        self.joint = joint

    def has_nonzero(self, field: object) -> bool:
        """Return whether one of the field's numbers is not zero."""
        entries = field if isinstance(field, tuple) else (field,)
        return any(expression_to_float(entry, self.values) != 0 for entry in entries)

    def effects_lost_in_urdf(self) -> Iterator[str]:
        """Yield the effects of the joint that its URDF element cannot hold."""
        joint, motor = self.joint, self.joint.motor
        locked = joint.locked is not None
        if locked:
            yield "that it is locked (it is written as fixed)"
        if self.has_nonzero(joint.stiffness):
            yield "its spring"
        if motor is not None and self.has_nonzero(motor.inertia) and self.has_nonzero(motor.ratio):
            yield "its motor"
        if self.has_nonzero(joint.smoothing) and self.has_nonzero(joint.friction):
            yield "its friction smoothing"
        if joint.friction_backward is not None:
            yield "its friction at negative velocity"
        if self.has_nonzero(joint.stribeck) and self.has_nonzero(joint.friction):
            yield "Stribeck's velocity of its friction"
        if self.has_nonzero(joint.friction_coefficient):
            yield "its friction by reaction"
        if joint.limits.effort_backward is not None:
            yield "the limit of its negative efforts"
        if joint.limits.restitution is not None:
            yield "the restitution of its stops"
        if joint.breaks is not None:
            yield "its strength"
        if locked or joint.by_quaternion or not joint.dofs:
            if self.has_nonzero(joint.damping):
                yield "its damping"
            if self.has_nonzero(joint.friction):
                yield "its friction"
            if joint.limits != Limits():
                yield "its limits"
