"""Sums over all bodies: energies, centre of mass, momentum."""

from __future__ import annotations

import casadi as ca

from ..algebra.linear_algebra import ZERO3, Array, Scalar, cross, dot
from ..algebra.spatial import SpatialForce
from ..errors import UnsupportedError
from .body_forces import passive_joint_forces, point_spring_energy
from .kinematic_tree import KinematicTree
from .recursions import link_displacements, link_poses, link_twists
from .rotor_inertias import doubled_rotor_energy, rotor_inertia_forces
from .tree_coordinates import spread_coordinates, spread_velocities


def tree_kinetic_energy(tree: KinematicTree, q: Array, qd: Array) -> Scalar:
    """Return the kinetic energy of bodies and rotors, J."""
    v = spread_velocities(tree, qd)
    twists = link_twists(tree, link_displacements(tree, spread_coordinates(tree, q)), v)
    momenta = (link.inertia @ t for link, t in zip(tree.links, twists, strict=True))
    bodies = sum((h.power(t) for h, t in zip(momenta, twists, strict=True)), ca.SX(0))
    return (bodies + doubled_rotor_energy(tree, v)) / 2


def kinetic_energy_gradient(tree: KinematicTree, q: Array, qd: Array, by: Array) -> Array:
    """Return ∂T/∂`by` of T = ½ Σ v·I v, where `by` is q or q̇: Σ (∂v/∂by)ᵀ I v, as the inertias I
    are constant in the axes of the bodies."""
    v = spread_velocities(tree, qd)
    twists = link_twists(tree, link_displacements(tree, spread_coordinates(tree, q)), v)
    motions, momenta = [], []
    for link, twist in zip(tree.links, twists, strict=True):
        momentum = link.inertia @ twist
        motions += [twist.angular, twist.linear]
        momenta += [momentum.moment, momentum.force]
    motions.append(v)
    momenta.append(rotor_inertia_forces(tree, v))
    return ca.jtimes(ca.vertcat(*motions), by, ca.vertcat(*momenta), True)


def tree_potential_energy(tree: KinematicTree, q: Array) -> Scalar:
    """Return the potential energy of weight (zero at the height of the world's origin) and springs,
    J."""
    return tree_weight_energy(tree, q) + joint_spring_energy(tree, q) + point_spring_energy(tree, q)


def tree_weight_energy(tree: KinematicTree, q: Array) -> Scalar:
    """Return the potential energy of weight, J; zero at the height of the world's origin."""
    full = spread_coordinates(tree, q)
    weight = ca.SX(0)
    for link, pose in zip(
        tree.links, link_poses(tree, link_displacements(tree, full)), strict=True
    ):
        weight -= dot(tree.gravity, link.inertia.m * pose.p + pose.R @ link.inertia.h)
    return weight


def joint_spring_energy(tree: KinematicTree, q: Array) -> Scalar:
    """Return the potential energy of the joints' springs, J."""
    full = spread_coordinates(tree, q)
    springs = ca.SX(0)
    for link in tree.links:
        effect = tree.joint_effects[link.v]
        if link.kind.coordinate_count == 1:
            springs += effect.stiffness * (full[link.q] - effect.rest_position) ** 2
    return springs / 2


def tree_mass(tree: KinematicTree) -> Scalar:
    """Return the total mass of the links, kg."""
    return sum((link.inertia.m for link in tree.links), 0.0)


def tree_center_of_mass(tree: KinematicTree, q: Array) -> Array:
    """Return the centre of mass of all moving bodies in the world, m."""
    mass = tree_mass(tree)
    if isinstance(mass, float) and mass == 0.0:
        raise UnsupportedError(
            "has no mass, and so no centre of mass",
            where=tree.mechanism.name,
            remedy="give bodies mass",
        )
    first = ca.SX.zeros(3)
    placed = link_poses(tree, link_displacements(tree, spread_coordinates(tree, q)))
    for link, pose in zip(tree.links, placed, strict=True):
        first += link.inertia.m * pose.p + pose.R @ link.inertia.h
    return first / mass


def tree_momentum(tree: KinematicTree, q: Array, qd: Array) -> Array:
    """Return the angular momentum about the centre of mass, then the linear momentum, in world
    axes."""
    moved = link_displacements(tree, spread_coordinates(tree, q))
    total = SpatialForce(ZERO3, ZERO3)
    placed = link_poses(tree, moved)
    twists = link_twists(tree, moved, spread_velocities(tree, qd))
    for link, pose, twist in zip(tree.links, placed, twists, strict=True):
        own = link.inertia @ twist
        force = pose.R @ own.force
        total = total + SpatialForce(pose.R @ own.moment + cross(pose.p, force), force)
    angular = total.moment - cross(tree_center_of_mass(tree, q), total.force)
    return ca.vertcat(angular, total.force)


def joint_passive_forces(tree: KinematicTree, q: Array, qd: Array) -> Array:
    """Return the forces of the joints' dampers, friction and springs, and of elements that act on
    combinations of coordinates, along the tree's velocities."""
    full = spread_coordinates(tree, q)
    forces = joint_loss_forces(tree, qd) + passive_joint_forces(tree, q, qd)
    for link in tree.links:
        effect = tree.joint_effects[link.v]
        if link.kind.coordinate_count == 1:
            forces[link.v] -= effect.stiffness * (full[link.q] - effect.rest_position)
    return forces


def joint_loss_forces(tree: KinematicTree, qd: Array) -> Array:
    """Return the forces of the joints' dampers and friction, along the tree's velocities."""
    v = spread_velocities(tree, qd)
    return ca.vertcat(
        *(
            -effect.damping * v[k] + effect.friction.force(v[k])
            for k, effect in enumerate(tree.joint_effects)
        )
    )
