"""Compliant contacts of points or balls with planes."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, dot
from ...mechanism import Contact
from ..body_forces import BodyForce
from ..kinematic_tree import ForceElement
from ..parameter_values import KinematicParameters
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class CompliantContact(ForceElement):
    """A compliant contact of a point or ball with the plane z = 0 of another frame."""

    point: str
    plane: str
    radius: Scalar
    stiffness: Scalar
    exponent: Scalar
    damping: Scalar
    friction: Scalar
    smoothing: Scalar

    label = "contact"

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the contact force after Hunt and Crossley, F = k δⁿ (1 + c δ̇) ≥ 0, with friction
        against the slip."""
        a, b = world.tree.find_frame(self.point).link, world.tree.find_frame(self.plane).link
        n, at, origin = self._contact_geometry(world)
        slip = world.point_velocity(a, at, v) - world.point_velocity(b, at, v)
        depth, rate = ca.fmax(0, -dot(n, at - origin)), -dot(n, slip)
        push = ca.fmax(0, self.stiffness * depth**self.exponent * (1 + self.damping * rate))
        along = slip + rate * n
        drag_factor = self.friction * push / ca.sqrt(dot(along, along) + self.smoothing**2)
        force = push * n - drag_factor * along
        return [
            BodyForce(world.body_name(name), link, at, sign * force, ca.SX.zeros(3))
            for name, link, sign in ((self.point, a, 1), (self.plane, b, -1))
        ]

    def _contact_geometry(self, world: WorldKinematics) -> tuple[Array, Array, Array]:
        """Return the plane's normal, the point that may touch the plane, and the plane's origin."""
        n = world.frame_rotation(self.plane)[:, 2]
        return (
            n,
            world.frame_origin(self.point)[1] - self.radius * n,
            world.frame_origin(self.plane)[1],
        )

    def potential_energy(self, world: WorldKinematics) -> Scalar:
        """Return the elastic energy k δⁿ⁺¹/(n + 1), J."""
        n, at, origin = self._contact_geometry(world)
        depth, power = ca.fmax(0, -dot(n, at - origin)), self.exponent + 1
        return self.stiffness * depth**power / power


def read_compliant_contact(
    name: str, given: Contact, values: KinematicParameters
) -> CompliantContact:
    """Return a compliant contact with its numbers; rigid contacts are events of a simulation."""
    numbers = (
        (values.read_ratio if key in ("exponent", "friction") else values.read_scalar)(
            getattr(given, key), f"{symbol}_{name}"
        )
        for key, symbol in _CONTACT_SYMBOLS.items()
    )
    return CompliantContact(name, given.point, given.plane, *numbers)


_CONTACT_SYMBOLS = {
    "radius": "r", "stiffness": "k", "exponent": "n", "damping": "d", "friction": "mu",
    "smoothing": "vs",
}  # fmt: skip
