"""Force elements as all formulations use them: wrenches on links, and forces along degrees of
freedom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar, dot
from .kinematic_tree import ForceElement, KinematicTree
from .tree_coordinates import gather_forces, spread_velocities
from .world_kinematics import WorldKinematics

if TYPE_CHECKING:
    from .force_kinds.spring import PointSpring


@dataclass(frozen=True)
class BodyForce:
    """A force and a moment on a body (of a link, or of ground), at a point, world axes; `owner` is
    the loop or constraint that exerts them, if one does."""

    body: str
    link: int
    point: Array
    force: Array
    moment: Array
    owner: str = ""


def spring_body_forces(
    tree: KinematicTree, q: Array, qd: Array, only_linear: bool = False
) -> list[BodyForce]:
    """Return the forces of springs and dampers at both of their ends, and of compliant contacts;
    `only_linear` leaves out those of `spring_lengths`."""
    if not tree.forces.passive_elements:
        return []
    world, v = WorldKinematics(tree, q), spread_velocities(tree, qd)
    return [
        load
        for element in tree.forces.passive_elements
        if not (only_linear and element.spring_length(world, qd) is not None)
        for load in element.body_forces(world, v)
    ]


@dataclass(frozen=True)
class SpringLength:
    """A spring or damper between points that are L apart: f = −(k (L − l0) + c L̇) ∂L/∂q.

    `length_squared` is L², `length_jacobian` L ∂L/∂q along the model's velocities and `length_rate`
    L L̇, all without roots.
    """

    spring: PointSpring
    length_squared: Scalar
    length_jacobian: Array
    length_rate: Scalar


def spring_lengths(tree: KinematicTree, q: Array, qd: Array) -> tuple[SpringLength, ...]:
    """Return the springs between points whose force depends on their length."""
    world = WorldKinematics(tree, q)
    found = (element.spring_length(world, qd) for element in tree.forces.passive_elements)
    return tuple(one for one in found if one is not None)


def point_spring_energy(tree: KinematicTree, q: Array) -> Scalar:
    """Return the potential energy, J, of springs between points and of compliant contacts."""
    total = ca.SX(0)
    if tree.forces.passive_elements:
        world = WorldKinematics(tree, q)
        for element in (*tree.forces.compliant_contacts, *tree.forces.force_elements):
            energy = element.potential_energy(world)
            total += 0 if energy is None else energy
    return total


def declared_body_forces(tree: KinematicTree, q: Array) -> list[BodyForce]:
    """Return the wrenches that the mechanism declares as expressions."""
    if not tree.forces.declared_elements:
        return []
    world, v = WorldKinematics(tree, q), spread_velocities(tree, tree.motion.qd)
    return [
        load for element in tree.forces.declared_elements for load in element.body_forces(world, v)
    ]


def generalized_body_forces(tree: KinematicTree, q: Array, loads: Iterable[BodyForce]) -> Array:
    """Return the generalized forces of wrenches on bodies along the model's velocities, at q."""
    loads = list(loads)
    if not loads:
        return gather_forces(tree, ca.SX.zeros(tree.tree_nv))
    return generalized_forces_in_world(WorldKinematics(tree, q), loads)


def generalized_forces_in_world(world: WorldKinematics, loads: Iterable[BodyForce]) -> Array:
    """Return the generalized forces of wrenches on bodies along the model's velocities, bodies
    placed as in `world`."""
    total = ca.SX.zeros(world.tree.tree_nv)
    for load in loads:
        for freedom in world.path_axes(load.link):
            power = dot(load.force, freedom.unit_point_velocity(load.point))
            total[freedom.velocity_index] += power + dot(load.moment, freedom.unit_angular_velocity)
    return gather_forces(world.tree, total)


def declared_joint_forces(tree: KinematicTree) -> Array:
    """Return the forces that the mechanism declares along degrees of freedom, for the model's
    velocities."""
    own = tree.motion
    total = _element_joint_forces(tree, tree.forces.declared_elements, own.q, own.qd)
    return gather_forces(tree, total)


def passive_joint_forces(tree: KinematicTree, q: Array, qd: Array) -> Array:
    """Return the forces of passive elements along degrees of freedom, for the tree's velocities:
    those along lengths that combine coordinates."""
    return _element_joint_forces(tree, tree.forces.passive_elements, q, qd)


def _element_joint_forces(
    tree: KinematicTree, elements: list[ForceElement], q: Array, qd: Array
) -> Array:
    """Return the forces of elements along degrees of freedom, for the tree's velocities."""
    total = ca.SX.zeros(tree.tree_nv)
    if elements:
        world, v = WorldKinematics(tree, q), spread_velocities(tree, qd)
        for element in elements:
            for index, force in element.joint_forces(world, v):
                total[index] += force
    return total
