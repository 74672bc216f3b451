"""Sums over all bodies: energies, mass centre, momentum."""

from __future__ import annotations

import casadi as ca

from ..algebra.linear import ZERO3, Array, Scalar, cross, dot
from ..algebra.spatial import Wrench
from ..errors import UnsupportedError
from .coordinates import spread_coordinates, spread_speeds
from .loads import spring_energy_of_points
from .recursions import displacements, poses, velocities
from .tree import Tree


def kinetic_energy(tree: Tree, q: Array, qd: Array) -> Scalar:
    """Of bodies and of rotors."""
    v = spread_speeds(tree, qd)
    twists = velocities(tree, displacements(tree, spread_coordinates(tree, q)), v)
    momenta = (link.inertia @ t for link, t in zip(tree.links, twists, strict=True))
    bodies = sum((h.power(t) for h, t in zip(momenta, twists, strict=True)), ca.SX(0))
    rotors = sum((e.rotor * v[k] * v[k] for k, e in enumerate(tree.effects)), ca.SX(0))
    return (bodies + rotors) / 2


def potential_energy(tree: Tree, q: Array) -> Scalar:
    """Of weight, zero at the height of the world's origin, and of joint springs."""
    return weight_energy(tree, q) + spring_energy(tree, q) + spring_energy_of_points(tree, q)


def weight_energy(tree: Tree, q: Array) -> Scalar:
    full = spread_coordinates(tree, q)
    weight = ca.SX(0)
    for link, pose in zip(tree.links, poses(tree, displacements(tree, full)), strict=True):
        weight -= dot(tree.gravity, link.inertia.m * pose.p + pose.R @ link.inertia.h)
    return weight


def spring_energy(tree: Tree, q: Array) -> Scalar:
    """Of the joints' springs."""
    full = spread_coordinates(tree, q)
    springs = ca.SX(0)
    for link in tree.links:
        effect = tree.effects[link.v]
        if link.kind.coordinates == 1:
            springs += effect.stiffness * (full[link.q] - effect.rest) ** 2
    return springs / 2


def total_mass(tree: Tree) -> Scalar:
    return sum((link.inertia.m for link in tree.links), 0.0)


def center_of_mass(tree: Tree, q: Array) -> Array:
    """Of everything that moves, in the world."""
    mass = total_mass(tree)
    if isinstance(mass, float) and mass == 0.0:
        raise UnsupportedError(
            "has no mass, and so no mass centre",
            where=tree.mechanism.name,
            remedy="give bodies mass",
        )
    first = ca.SX.zeros(3)
    placed = poses(tree, displacements(tree, spread_coordinates(tree, q)))
    for link, pose in zip(tree.links, placed, strict=True):
        first += link.inertia.m * pose.p + pose.R @ link.inertia.h
    return first / mass


def momentum(tree: Tree, q: Array, qd: Array) -> Array:
    """Angular momentum about the mass centre, then linear momentum, in world axes."""
    moved = displacements(tree, spread_coordinates(tree, q))
    total = Wrench(ZERO3, ZERO3)
    placed = poses(tree, moved)
    twists = velocities(tree, moved, spread_speeds(tree, qd))
    for link, pose, twist in zip(tree.links, placed, twists, strict=True):
        own = link.inertia @ twist
        force = pose.R @ own.force
        total = total + Wrench(pose.R @ own.moment + cross(pose.p, force), force)
    angular = total.moment - cross(center_of_mass(tree, q), total.force)
    return ca.vertcat(angular, total.force)


def passive_forces(tree: Tree, q: Array, qd: Array) -> Array:
    """Forces of the joints' own dampers, friction and springs, along the tree's speeds."""
    full = spread_coordinates(tree, q)
    forces = losses(tree, qd)
    for link in tree.links:
        effect = tree.effects[link.v]
        if link.kind.coordinates == 1:
            forces[link.v] -= effect.stiffness * (full[link.q] - effect.rest)
    return forces


def losses(tree: Tree, qd: Array) -> Array:
    """Forces of the joints' dampers and friction, along the tree's speeds."""
    v = spread_speeds(tree, qd)
    return ca.vertcat(
        *(
            -effect.damping * v[k] - effect.friction * _sign(v[k], effect.smoothing)
            for k, effect in enumerate(tree.effects)
        )
    )


def _sign(speed: Scalar, smoothing: Scalar) -> Scalar:
    """sign(0) = 0; tanh where the mechanism states a smoothing speed."""
    if isinstance(smoothing, float):
        return ca.sign(speed) if smoothing == 0.0 else ca.tanh(speed / smoothing)
    sharp = ca.eq(smoothing, 0)
    smooth = ca.tanh(speed / ca.if_else(sharp, 1, smoothing))
    return ca.if_else(sharp, ca.sign(speed), smooth)
