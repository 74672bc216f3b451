"""Forces and moments on a body that the mechanism declares as expressions."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar
from ...mechanism import WrenchElement
from ..body_forces import BodyForce
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class AppliedWrench(ForceElement):
    """Force and moment on a frame or body, in the axes of another."""

    on: str
    axes: str
    force: Array
    moment: Array

    is_declared = True

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the wrench at the frame's origin, in world axes."""
        link, point = world.frame_origin(self.on)
        R = world.frame_rotation(self.axes)
        return [BodyForce(world.body_name(self.on), link, point, R @ self.force, R @ self.moment)]


def read_wrench_element(
    name: str,
    given: WrenchElement,
    values: KinematicParameters,
    scope: dict[str, Scalar],
    tree: KinematicTree,
) -> AppliedWrench:
    """Return the declared wrench with its components as expressions."""
    force, moment = (
        ca.vertcat(*(values.read_motion_expression(entry, scope) for entry in vector))
        for vector in (given.force, given.moment)
    )
    return AppliedWrench(name, given.on, given.axes, force, moment)
