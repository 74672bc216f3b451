"""Springs and added inertia of joints whose coordinates contain a quaternion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, cross, dot
from ...algebra.quaternion_steps import rotation_of_quaternion_vector, rotation_vector_between
from ...expressions import ONE, ZERO, Expression
from ...mechanism import Joint
from ..kinematic_tree import ForceElement, KinematicTree, TreeLink
from ..parameter_values import KinematicParameters
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class QuaternionSpring(ForceElement):
    """A spring of a spherical or free joint: −k_r θ with the rotation vector θ from its rest, in
    the child's axes, and −k_x (x − x₀) along the parent's axes."""

    link: TreeLink
    turning: Scalar
    sliding: Scalar
    rest: tuple[Scalar, ...]

    label = "spring"

    def joint_forces(self, world: WorldKinematics, v: Array) -> tuple[tuple[int, Scalar], ...]:
        """Return moments and forces along the joint's velocities."""
        first = self.link.v
        found = [(first + k, -self.turning * x) for k, x in enumerate(self._turn(world))]
        if self.link.kind.has_position:
            R = rotation_of_quaternion_vector(self._coordinates(world)[-4:])
            pull = -self.sliding * (R.T @ self._shift(world))
            found += [(first + 3 + k, x) for k, x in enumerate(ca.vertsplit(pull))]
        return tuple(found)

    def potential_energy(self, world: WorldKinematics) -> Scalar:
        """Return k_r θ²/2 + k_x |x − x₀|²/2, J."""
        turn = ca.vertcat(*self._turn(world))
        energy = self.turning * dot(turn, turn) / 2
        if self.link.kind.has_position:
            shift = self._shift(world)
            energy += self.sliding * dot(shift, shift) / 2
        return energy

    def _coordinates(self, world: WorldKinematics) -> Array:
        first = self.link.q
        return world.coordinates[first : first + self.link.kind.coordinate_count]

    def _turn(self, world: WorldKinematics) -> list[Scalar]:
        rest = ca.vertcat(*self.rest[-4:])
        turned = rotation_vector_between(rest, self._coordinates(world)[-4:])
        return [turned[k] for k in range(3)]

    def _shift(self, world: WorldKinematics) -> Array:
        return self._coordinates(world)[:3] - ca.vertcat(*self.rest[:3])


@dataclass(frozen=True)
class AddedMass(ForceElement):
    """The workless part −a ω × v of the inertia a that a free joint adds to the velocity v of its
    child's origin: the momentum a v changes by a (v̇ + ω × v), and the mass matrix has a v̇."""

    link: TreeLink
    mass: Scalar

    label = "added mass"

    def joint_forces(self, world: WorldKinematics, v: Array) -> tuple[tuple[int, Scalar], ...]:
        """Return the force along the joint's sliding velocities."""
        first = self.link.v
        force = -self.mass * cross(v[first : first + 3], v[first + 3 : first + 6])
        return tuple((first + 3 + k, force[k]) for k in range(3))


def read_quaternion_joint_elements(
    tree: KinematicTree, name: str, joint: Joint, values: KinematicParameters
) -> Iterator[ForceElement]:
    """Yield the spring of a joint with a quaternion, and what its added mass does."""
    links = next(span.links for span in tree.joints if span.name == name)
    link = tree.links[links[0]]
    numbers = joint.each(joint.stiffness)
    if any(number != ZERO for number in numbers):
        values.enter_place(f"joints.{name}")
        turning = values.read_scalar(numbers[0], f"k_{name}")
        sliding = values.read_scalar(numbers[-1], f"kx_{name}") if len(numbers) > 3 else 0.0
        rest = tuple(
            values.read_scalar(x, f"q0_{name}_{ending}")
            for x, ending in zip(_rest_coordinates(joint), joint.coordinates, strict=True)
        )
        yield QuaternionSpring(name, link, turning, sliding, rest)
    if joint.added_mass != ZERO:
        values.enter_place(f"joints.{name}")
        yield AddedMass(name, link, values.read_scalar(joint.added_mass, f"ma_{name}"))


def _rest_coordinates(joint: Joint) -> tuple[Expression, ...]:
    """Return the coordinates at which the spring is at rest; default: nothing displaced."""
    if isinstance(joint.rest, tuple):
        return joint.rest
    return tuple(ONE if ending == "qw" else ZERO for ending in joint.coordinates)
