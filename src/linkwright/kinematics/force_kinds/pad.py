"""Compliant contacts of points or balls with planes."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import Array, Scalar, dot
from ...mechanism import Contact
from ..loads import Load
from ..tree import ForceElement
from ..values import Values
from ..world import World


@dataclass(frozen=True)
class Pad(ForceElement):
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

    def loads(self, world: World, v: Array) -> list[Load]:
        """After Hunt and Crossley: F = k δⁿ (1 + c δ̇), never pulling; friction opposes the slip."""
        a, b = world.tree.find(self.point).link, world.tree.find(self.plane).link
        n, at, origin = self._touching(world)
        slip = world.velocity(a, at, v) - world.velocity(b, at, v)
        depth, rate = ca.fmax(0, -dot(n, at - origin)), -dot(n, slip)
        push = ca.fmax(0, self.stiffness * depth**self.exponent * (1 + self.damping * rate))
        along = slip + rate * n
        rub = self.friction * push / ca.sqrt(dot(along, along) + self.smoothing**2)
        force = push * n - rub * along
        return [
            Load(world.body(name), link, at, sign * force, ca.SX.zeros(3))
            for name, link, sign in ((self.point, a, 1), (self.plane, b, -1))
        ]

    def _touching(self, world: World) -> tuple[Array, Array, Array]:
        """The plane's normal, the point that may touch it, and the plane's origin."""
        n = world.axes(self.plane)[:, 2]
        return n, world.point(self.point)[1] - self.radius * n, world.point(self.plane)[1]

    def energy(self, world: World) -> Scalar:
        n, at, origin = self._touching(world)
        depth, power = ca.fmax(0, -dot(n, at - origin)), self.exponent + 1
        return self.stiffness * depth**power / power


def read_pad(name: str, given: Contact, values: Values) -> Pad:
    """A contact with a stiffness; rigid ones are no forces, but events of a simulation."""
    numbers = (
        values.scalar(getattr(given, key), f"{symbol}_{name}") for key, symbol in _NUMBERS.items()
    )
    return Pad(name, given.point, given.plane, *numbers)


_NUMBERS = {
    "radius": "r", "stiffness": "k", "exponent": "n", "damping": "d", "friction": "mu",
    "smoothing": "vs",
}  # fmt: skip
