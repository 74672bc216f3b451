"""Springs and dampers between two points."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, dot
from ...mechanism import Spring
from ..body_forces import BodyForce, SpringLength, generalized_forces_in_world
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..sketches import SpringSketch
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class PointSpring(ForceElement):
    """A spring and damper between the origins of two frames or bodies."""

    between: tuple[str, str]
    stiffness: Scalar
    damping: Scalar
    length: Scalar

    label = "spring"

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the pull of spring and damper on the bodies at both ends."""
        (a, x_a), (b, x_b) = (world.frame_origin(name) for name in self.between)
        apart = x_b - x_a
        pull = self._spring_force(
            apart, world.point_velocity(b, x_b, v) - world.point_velocity(a, x_a, v)
        )
        one, other = (world.body_name(name) for name in self.between)
        return [
            BodyForce(one, a, x_a, pull, ca.SX.zeros(3)),
            BodyForce(other, b, x_b, -pull, ca.SX.zeros(3)),
        ]

    def _spring_force(self, apart: Array, rate: Array) -> Array:
        """Return the force on the first end; a linear spring needs no direction."""
        if self.is_linear:
            return self.stiffness * apart
        length = ca.sqrt(dot(apart, apart))
        tension = self.stiffness * (length - self.length)
        return (tension + self.damping * dot(apart, rate) / length) / length * apart

    @property
    def is_linear(self) -> bool:
        """Whether the force is that of a spring without damping whose free length is 0."""
        return all(isinstance(x, float) and x == 0.0 for x in (self.length, self.damping))

    def potential_energy(self, world: WorldKinematics) -> Scalar:
        """Return the elastic energy k (L − l0)²/2, J."""
        (_, x_a), (_, x_b) = (world.frame_origin(name) for name in self.between)
        apart = x_b - x_a
        plain = isinstance(self.length, float) and self.length == 0.0
        square = dot(apart, apart)
        stretch = square if plain else (ca.sqrt(square) - self.length) ** 2
        return self.stiffness * stretch / 2

    def spring_length(self, world: WorldKinematics, qd: Array) -> SpringLength | None:
        """Return L² and its derivatives; None where the force is linear in the distance vector."""
        if self.is_linear:
            return None
        (a, x_a), (b, x_b) = (world.frame_origin(name) for name in self.between)
        apart, none = x_b - x_a, ca.SX.zeros(3)
        ends = (BodyForce("", a, x_a, -apart, none), BodyForce("", b, x_b, apart, none))
        slope = generalized_forces_in_world(world, ends)
        return SpringLength(self, dot(apart, apart), slope, dot(slope, qd))

    @property
    def sketches(self) -> tuple[SpringSketch, ...]:
        """The spring or damper, as pictures show it."""
        return (SpringSketch(self.between, is_damper=not float(self.stiffness)),)


def read_spring_element(
    name: str,
    given: Spring,
    values: KinematicParameters,
    scope: dict[str, Scalar],
    tree: KinematicTree,
) -> PointSpring:
    """Return a spring between two points with its numbers."""
    return PointSpring(
        name,
        given.between,
        values.read_scalar(given.stiffness, f"k_{name}"),
        values.read_scalar(given.damping, f"d_{name}"),
        values.read_scalar(given.length, f"l_{name}"),
    )
