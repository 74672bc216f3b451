"""Inertia that moves with coordinates, beside that of the bodies: rotors behind gears, and the
armature of lengths that combine coordinates. Both are constant along the tree's velocities."""

from __future__ import annotations

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar
from .kinematic_tree import KinematicTree


def rotor_inertia_matrix(tree: KinematicTree) -> Array:
    """Return the inertias of rotors and lengths along the tree's velocities; diagonal without
    armature of lengths."""
    total = ca.diag(ca.vertcat(*(ca.SX(effect.rotor_inertia) for effect in tree.joint_effects)))
    for length in tree.lengths.values():
        if length.has_armature:
            for one in length.shares:
                for other in length.shares:
                    total[one.velocity, other.velocity] += (
                        length.armature * one.factor * other.factor
                    )
    return total


def rotor_inertia_forces(tree: KinematicTree, rates: Array) -> Array:
    """Return the forces that accelerate rotors and lengths by the rates of the tree's
    velocities."""
    entries: list[Scalar] = [e.rotor_inertia * rates[k] for k, e in enumerate(tree.joint_effects)]
    for length in tree.lengths.values():
        if length.has_armature:
            total = sum((one.factor * rates[one.velocity] for one in length.shares), ca.SX(0))
            for one in length.shares:
                entries[one.velocity] = entries[one.velocity] + (
                    length.armature * one.factor * total
                )
    return ca.vertcat(*entries)


def doubled_rotor_energy(tree: KinematicTree, v: Array) -> Scalar:
    """Return twice the kinetic energy of rotors and lengths at the tree's velocities v, J."""
    forces = rotor_inertia_forces(tree, v)
    return sum((forces[k] * v[k] for k in range(tree.tree_nv)), ca.SX(0))


def couples_branches(tree: KinematicTree) -> bool:
    """Return whether the armature of a length couples velocities of several branches."""
    return any(length.has_armature for length in tree.lengths.values())
