"""Bushings: linear springs and dampers between two frames in all six directions.

The deformation e = (θ, d) of the second frame against the first, in the axes of the first, has the
displacement d of its origin and θ = sin(φ) n, where n is the axis and φ the angle of its rotation.
The wrench is s = K e + C ė, and the potential energy eᵀK e/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar
from ...expressions import Expression
from ...mechanism import BushingElement, Vector
from ..body_forces import BodyForce
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..sketches import SpringSketch
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class FrameBushing(ForceElement):
    """A bushing between two frames or bodies, with the matrices K and C."""

    between: tuple[str, str]
    K: Array
    C: Array

    label = "bushing"

    def _deformation(self, world: WorldKinematics) -> tuple[Array, Array]:
        """Return e, and the rotation of the second frame in the first."""
        R_a, R_b = (ca.SX(world.frame_rotation(name)) for name in self.between)
        (_, x_a), (_, x_b) = (world.frame_origin(name) for name in self.between)
        R = R_a.T @ R_b
        return ca.vertcat(_axial_vector(R), R_a.T @ (x_b - x_a)), R

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the wrenches on both bodies at the origin of the second frame."""
        R_a = ca.SX(world.frame_rotation(self.between[0]))
        a, (b, at) = world.frame_origin(self.between[0])[0], world.frame_origin(self.between[1])
        e, R = self._deformation(world)
        A = (ca.trace(R) * ca.SX.eye(3) - R) / 2  # θ̇ = A ω of the second frame in the first
        turning = R_a.T @ (world.angular_velocity(b, v) - world.angular_velocity(a, v))
        moving = R_a.T @ (world.point_velocity(b, at, v) - world.point_velocity(a, at, v))
        s = self.K @ e + self.C @ ca.vertcat(A @ turning, moving)
        moment, force = -(R_a @ (A.T @ s[:3])), -(R_a @ s[3:])
        one, other = (world.body_name(name) for name in self.between)
        return [
            BodyForce(one, a, at, -force, -moment),
            BodyForce(other, b, at, force, moment),
        ]

    def potential_energy(self, world: WorldKinematics) -> Scalar:
        """Return the elastic energy eᵀK e/2, J."""
        e, _ = self._deformation(world)
        return ca.dot(e, self.K @ e) / 2

    @property
    def sketches(self) -> tuple[SpringSketch, ...]:
        """A spring between the frames."""
        return (SpringSketch(self.between),)


def read_bushing_element(
    name: str,
    given: BushingElement,
    values: KinematicParameters,
    scope: dict[str, Scalar],
    tree: KinematicTree,
) -> FrameBushing:
    """Return a bushing with its matrices."""

    def read_matrix(numbers: Vector, letter: str) -> Array:
        def entry(number: Expression, i: int, j: int) -> Scalar:
            return values.read_scalar(number, f"{letter}{i + 1}{j + 1}_{name}")

        if len(numbers) == 6:
            return ca.diag(ca.vertcat(*(ca.SX(entry(x, i, i)) for i, x in enumerate(numbers))))
        entries = [ca.SX(entry(x, *divmod(k, 6))) for k, x in enumerate(numbers)]
        return ca.reshape(ca.vertcat(*entries), 6, 6).T

    stiffness, damping = read_matrix(given.stiffness, "k"), read_matrix(given.damping, "d")
    return FrameBushing(name, given.between, stiffness, damping)


def _axial_vector(R: Array) -> Array:
    """Return the axial vector of the skew part of a matrix: sin(φ) n of a rotation."""
    return ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
