"""Tyres with linear slip: forces in the plane that they roll on, in proportion to the slip.

    F = −(C_x s_x e_x + C_y s_y e_y),    s = (velocity of the contact)/√(v_x² + v₀²)

e_x points forward, along the line of the wheel's plane and the ground, e_y sideways; v_x is the
forward velocity of the centre. For small angles s_y is the slip angle.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, cross, dot
from ...mechanism import TyreElement
from ..body_forces import BodyForce
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..placement_values import joint_axis_alignment
from ..sketches import WheelSketch
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class LinearTyre(ForceElement):
    """A thin tyre whose forces on the plane z = 0 of a frame are linear in its slip."""

    wheel: str
    on: str
    axle: Array
    radius: Scalar
    longitudinal: Scalar
    cornering: Scalar
    low_speed: Scalar

    label = "tyre"

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the forces on the wheel and on the plane's body, at the lowest point of the
        wheel."""
        n = ca.SX(world.frame_rotation(self.on))[:, 2]
        axle = ca.SX(world.frame_rotation(self.wheel)) @ self.axle
        (wheel, center), (plane, _) = world.frame_origin(self.wheel), world.frame_origin(self.on)
        tilt = dot(n, axle)
        upright = ca.sqrt(1 - tilt * tilt)
        at = center - self.radius * (n - tilt * axle) / upright
        ahead = cross(axle, n) / upright
        aside = cross(n, ahead)

        def relative_velocity(x: Array) -> Array:
            return world.point_velocity(wheel, x, v) - world.point_velocity(plane, x, v)

        forward, slip = dot(relative_velocity(center), ahead), relative_velocity(at)
        speed = ca.sqrt(forward**2 + self.low_speed**2)
        force = self.longitudinal * dot(slip, ahead) * ahead
        force = -(force + self.cornering * dot(slip, aside) * aside) / speed
        one, other = (world.body_name(name) for name in (self.wheel, self.on))
        none = ca.SX.zeros(3)
        return [BodyForce(one, wheel, at, force, none), BodyForce(other, plane, at, -force, none)]

    @property
    def sketches(self) -> tuple[WheelSketch, ...]:
        """The wheel, as pictures show it."""
        return (WheelSketch(self.wheel, self.axle, self.radius),)


def read_tyre_element(
    name: str,
    given: TyreElement,
    values: KinematicParameters,
    scope: dict[str, Scalar],
    tree: KinematicTree,
) -> LinearTyre:
    """Return a tyre with its numbers and its axle as a unit vector."""
    return LinearTyre(
        name,
        given.wheel,
        given.on,
        joint_axis_alignment(values, given.axle, name, "axle")[:, 2],
        values.read_scalar(given.radius, f"r_{name}"),
        values.read_scalar(given.longitudinal, f"Cx_{name}"),
        values.read_scalar(given.cornering, f"Cy_{name}"),
        values.read_scalar(given.low_speed, f"v0_{name}"),
    )
