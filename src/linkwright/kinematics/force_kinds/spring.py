"""Springs and dampers between two points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import Array, Scalar, dot
from ...mechanism import Spring
from ..loads import Load, SpringLength, generalized_in
from ..sketches import SpringSketch
from ..tree import ForceElement
from ..values import Values
from ..world import World


@dataclass(frozen=True)
class PointSpring(ForceElement):
    """A spring and damper between the origins of two frames or bodies."""

    between: tuple[str, str]
    stiffness: Scalar
    damping: Scalar
    length: Scalar

    label = "spring"

    def loads(self, world: World, v: Array) -> list[Load]:
        (a, x_a), (b, x_b) = (world.point(name) for name in self.between)
        apart = x_b - x_a
        pull = self._pull(apart, world.velocity(b, x_b, v) - world.velocity(a, x_a, v))
        one, other = (world.body(name) for name in self.between)
        return [
            Load(one, a, x_a, pull, ca.SX.zeros(3)),
            Load(other, b, x_b, -pull, ca.SX.zeros(3)),
        ]

    def _pull(self, apart: Array, rate: Array) -> Array:
        """The force on the first end; a spring without length needs no direction."""
        if self._is_linear:
            return self.stiffness * apart
        length = ca.sqrt(dot(apart, apart))
        tension = self.stiffness * (length - self.length)
        return (tension + self.damping * dot(apart, rate) / length) / length * apart

    @property
    def _is_linear(self) -> bool:
        """Whether the force is that of a spring without damping whose free length is 0."""
        return all(isinstance(x, float) and x == 0.0 for x in (self.length, self.damping))

    def energy(self, world: World) -> Scalar:
        (_, x_a), (_, x_b) = (world.point(name) for name in self.between)
        apart = x_b - x_a
        plain = isinstance(self.length, float) and self.length == 0.0
        square = dot(apart, apart)
        stretch = square if plain else (ca.sqrt(square) - self.length) ** 2
        return self.stiffness * stretch / 2

    def spring_length(self, world: World, qd: Array) -> SpringLength | None:
        if self._is_linear:
            return None
        (a, x_a), (b, x_b) = (world.point(name) for name in self.between)
        apart, none = x_b - x_a, ca.SX.zeros(3)
        ends = (Load("", a, x_a, -apart, none), Load("", b, x_b, apart, none))
        slope = generalized_in(world, ends)
        return SpringLength(self, dot(apart, apart), slope, dot(slope, qd))

    @property
    def sketches(self) -> tuple[SpringSketch, ...]:
        return (SpringSketch(self.between, is_damper=not float(self.stiffness)),)


def read_spring(
    name: str, given: Spring, values: Values, scope: dict[str, Scalar], freedoms: Mapping[str, int]
) -> PointSpring:
    return PointSpring(
        name,
        given.between,
        values.scalar(given.stiffness, f"k_{name}"),
        values.scalar(given.damping, f"d_{name}"),
        values.scalar(given.length, f"l_{name}"),
    )
