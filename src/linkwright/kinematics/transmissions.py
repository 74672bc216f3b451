"""What actuators drive: lengths that coordinates determine, joints with quaternions, and frames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar
from ..algebra.quaternion_steps import rotation_vector_between
from ..mechanism import Actuator, Mechanism, joint_coordinate_names, joint_velocity_names
from .body_forces import BodyForce, generalized_forces_in_world
from .kinematic_tree import KinematicTree, Transmission
from .parameter_values import KinematicParameters
from .tree_coordinates import coordinate_rate_matrix
from .world_kinematics import WorldKinematics


@dataclass(frozen=True)
class LengthTransmission(Transmission):
    """Drives a length or angle, an expression of the model's coordinates."""

    driven: Scalar

    def length(self, tree: KinematicTree, q: Array) -> Scalar:
        """Return the expression at the coordinates q."""
        return ca.substitute(ca.SX(self.driven), tree.motion.q, q)

    def input_column(self, tree: KinematicTree, q: Array) -> Array:
        """Return the gradient of the length along the model's velocities."""
        slope = ca.jacobian(self.length(tree, q), q)
        return (slope @ coordinate_rate_matrix(tree, q)).T


@dataclass(frozen=True)
class QuaternionTransmission(Transmission):
    """Drives the velocities of a spherical or free joint, each times a gear, in the child's axes.

    l is the rotation vector times the gears for a spherical joint. A free joint has no length.
    """

    velocity_names: tuple[str, ...]
    coordinate_names: tuple[str, ...]
    gears: tuple[Scalar, ...]

    def length(self, tree: KinematicTree, q: Array) -> Scalar:
        """Return the turned angle about the axis of the gears; 0 for a free joint."""
        if len(self.coordinate_names) > len(("w", "x", "y", "z")):
            return ca.SX(0)
        indices = [tree.names.q.index(name) for name in self.coordinate_names]
        turn = rotation_vector_between(ca.SX([1, 0, 0, 0]), ca.vertcat(*(q[i] for i in indices)))
        return ca.dot(turn, ca.vertcat(*self.gears))

    def input_column(self, tree: KinematicTree, q: Array) -> Array:
        """Return the gears at the joint's velocities."""
        column = ca.SX(tree.nv, 1)
        for name, gear in zip(self.velocity_names, self.gears, strict=True):
            column[tree.names.qd.index(name)] = gear
        return ca.densify(column)


@dataclass(frozen=True)
class FrameTransmission(Transmission):
    """Pushes a frame or body: u times a force and a moment in the axes of a frame; no length."""

    frame: str
    axes: str
    force: Array
    moment: Array

    def length(self, tree: KinematicTree, q: Array) -> Scalar:
        """Return 0: only the rate of what is pushed has a meaning."""
        return ca.SX(0)

    def input_column(self, tree: KinematicTree, q: Array) -> Array:
        """Return the generalized forces of the wrench of unit effort."""
        world = WorldKinematics(tree, q)
        link, point = world.frame_origin(self.frame)
        R = world.frame_rotation(self.axes)
        wrench = BodyForce("", link, point, R @ self.force, R @ self.moment)
        return generalized_forces_in_world(world, [wrench])


def read_transmission(
    mechanism: Mechanism,
    name: str,
    actuator: Actuator,
    values: KinematicParameters,
    scope: Mapping[str, Scalar],
) -> Transmission:
    """Return what an actuator drives, with its numbers as floats or symbols."""
    if actuator.moves is not None:
        return LengthTransmission(values.read_motion_expression(actuator.moves, scope))
    if actuator.length is not None:
        assert not isinstance(actuator.gear, tuple)
        gear = values.read_ratio(actuator.gear, f"gear_{name}")
        return LengthTransmission(gear * scope[actuator.length])
    if actuator.joint is not None:
        return _read_joint_transmission(mechanism, name, actuator, values, scope)
    assert actuator.frame is not None
    force, moment = (
        ca.vertcat(*(values.read_ratio(x, f"{key}_{name}_{k + 1}") for k, x in enumerate(vector)))
        for key, vector in (("f", actuator.force), ("m", actuator.moment))
    )
    return FrameTransmission(actuator.frame, actuator.axes or actuator.frame, force, moment)


def _read_joint_transmission(
    mechanism: Mechanism,
    name: str,
    actuator: Actuator,
    values: KinematicParameters,
    scope: Mapping[str, Scalar],
) -> Transmission:
    """Return the transmission to a joint: Σ gear · coordinate, or gears at the velocities of a
    joint with a quaternion."""
    assert actuator.joint is not None
    joint = mechanism.joints[actuator.joint]
    numbers = joint.each(actuator.gear)
    labels = (
        [f"gear_{name}"]
        if len(numbers) == 1
        else [f"gear_{name}_{k + 1}" for k in range(len(numbers))]
    )
    gears = tuple(values.read_ratio(x, label) for x, label in zip(numbers, labels, strict=True))
    coordinates = joint_coordinate_names(actuator.joint, joint)
    if joint.by_quaternion:
        speeds = joint_velocity_names(actuator.joint, joint)
        return QuaternionTransmission(tuple(speeds), tuple(coordinates), gears)
    total = sum(gear * scope[x] for gear, x in zip(gears, coordinates, strict=True))
    return LengthTransmission(total)
