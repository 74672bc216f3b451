"""Forces that carry a share of a body's weight, as MJCF's `gravcomp`."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, dot
from ...mechanism import Body
from ..body_forces import BodyForce
from ..kinematic_tree import GROUND, ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class GravityCompensation(ForceElement):
    """A force −share · m g on a body at its centre of mass, given in the body's frame."""

    carried_mass: Scalar
    center: Array

    label = "compensation"

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the force against the weight; none for a body that does not move."""
        link, point = self._center_of_mass(world)
        if link == GROUND:
            return []
        force = -self.carried_mass * world.tree.gravity
        return [BodyForce(self.name, link, point, force, ca.SX.zeros(3))]

    def potential_energy(self, world: WorldKinematics) -> Scalar:
        """Return the energy that compensates that of the weight, J."""
        link, point = self._center_of_mass(world)
        if link == GROUND:
            return ca.SX(0)
        return self.carried_mass * dot(world.tree.gravity, point)

    def _center_of_mass(self, world: WorldKinematics) -> tuple[int, Array]:
        link, origin = world.frame_origin(self.name)
        return link, origin + world.frame_rotation(self.name) @ self.center


def read_gravity_compensation(
    tree: KinematicTree, name: str, body: Body, values: KinematicParameters
) -> GravityCompensation:
    """Return the compensation of a body's weight."""
    mass, place = tree.masses[name], tree.bodies[name]
    share = values.read_ratio(body.gravity_compensation, f"gc_{name}")
    return GravityCompensation(name, share * mass.m, place.R.T @ (mass.c - place.p))
