"""Energies and positions of each part: bodies, rotors, springs, frames."""

from __future__ import annotations

from ..algebra.linear_algebra import Array, Scalar, dot
from .frame_kinematics import frame_placement
from .kinematic_tree import KinematicTree
from .tree_coordinates import spread_coordinates, spread_velocities
from .world_kinematics import WorldKinematics


def _is_zero_joint_effect(number: Scalar) -> bool:
    """Return whether a number is the float 0; symbols are not."""
    return isinstance(number, float) and number == 0.0


class TreePartKinematics:
    """Expressions of q and q̇, one entry for every part that has a name.

    Their sums are in `tree_totals`: the kinetic energy is that of bodies and rotors, the potential
    energy that of weight and springs.
    """

    def __init__(self, tree: KinematicTree) -> None:
        self.tree, self.q = tree, tree.motion.q
        self.world = WorldKinematics(tree, self.q)
        self.v = spread_velocities(tree, tree.motion.qd)
        self.bodies = [body.name for body in self.world.bodies]

    def kinetic_energies(self) -> list[Array]:
        """Return the kinetic energy of each moving body, J."""
        found = []
        for body in self.world.bodies:
            J_v, J_w = self.world.point_jacobians(body.link, body.r)
            v, w = J_v @ self.v, J_w @ self.v
            found.append((body.m * dot(v, v) + dot(w, body.I @ w)) / 2)
        return found

    def weight_energies(self) -> list[Array]:
        """Return the potential energy of each body's weight, J; zero at the height of the world's
        origin."""
        return [-body.m * dot(self.tree.gravity, body.r) for body in self.world.bodies]

    def rotor_energies(self) -> dict[str, Array]:
        """Return the kinetic energies of rotors by joint, and of lengths by name, J."""
        found: dict[str, Array] = {}
        for name, length in self.tree.lengths.items():
            if length.has_armature:
                found[name] = length.armature * length.rate(self.world, self.v) ** 2 / 2
        for span in self.tree.joints:
            for link in (self.tree.links[k] for k in span.links):
                for v in range(link.v, link.v + link.kind.velocity_count):
                    rotor = self.tree.joint_effects[v].rotor_inertia
                    if not _is_zero_joint_effect(rotor):
                        found[span.name] = found.get(span.name, 0) + rotor * self.v[v] ** 2 / 2
        return found

    def spring_energies(self) -> dict[str, Array]:
        """Return the energies of springs at joints and between points, J, by joint and by force."""
        full = spread_coordinates(self.tree, self.q)
        found: dict[str, Array] = {}
        for span in self.tree.joints:
            for link in (self.tree.links[k] for k in span.links):
                effect = self.tree.joint_effects[link.v]
                if link.kind.coordinate_count == 1 and not _is_zero_joint_effect(effect.stiffness):
                    energy = effect.stiffness * (full[link.q] - effect.rest_position) ** 2 / 2
                    found[span.name] = found.get(span.name, 0) + energy
        for element in self.tree.forces.force_elements:
            energy = element.potential_energy(self.world)
            if energy is not None:
                found[element.name] = found.get(element.name, 0) + energy
        return found

    def centers_of_mass(self) -> list[Array]:
        """Return the centres of mass of the moving bodies in the world, m."""
        return [body.r for body in self.world.bodies]

    def frame_origins(self) -> dict[str, Array]:
        """Return the origins of the mechanism's frames in the world, m."""
        names = self.tree.mechanism.frames
        return {
            n: frame_placement(self.tree, self.q, self.tree.find_frame(n))[:3, 3] for n in names
        }
