"""Motions of bodies: centres of mass, their velocities and accelerations, and energies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..expressions import expression_to_float
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..model.model import Model
from ..types import Floats


@dataclass(frozen=True)
class MovingBody:
    """A moving body in its own axes: mass, centre of mass, inertia tensor about it."""

    name: str
    mass: float
    center_of_mass: Floats
    inertia: Floats


def moving_bodies(mechanism: Mechanism) -> list[MovingBody]:
    """The bodies that are not fixed to ground, in the order of the file."""
    tree = build_kinematic_tree(mechanism)
    found = []
    for name, mass in tree.masses.items():
        place = tree.bodies[name]
        if mass.link < 0:
            continue
        R, p = np.asarray(place.R, dtype=float), np.asarray(place.p, dtype=float)
        center = R.T @ (np.asarray(mass.c, dtype=float) - p)
        tensor = R.T @ np.asarray(mass.I, dtype=float) @ R
        found.append(MovingBody(name, float(mass.m), center, tensor))
    return found


@dataclass(frozen=True)
class BodyMotions:
    """Motions of bodies over times (…, bodies, …): placements, twists and their rates (ω first),
    world axes."""

    bodies: list[MovingBody]
    gravity: Floats
    placements: Floats
    twists: Floats
    twist_rates: Floats

    @classmethod
    def from_model(
        cls, model: Model, t: ArrayLike, q: Floats, qd: Floats, qdd: Floats
    ) -> BodyMotions:
        """The motions of all bodies at q, q̇ and q̈ (…, n) and the times t (…)."""
        now = model.names.position_time_arguments(t)
        bodies, values = moving_bodies(model.mechanism), model.mechanism.values
        gravity = np.array([expression_to_float(g, values) for g in model.mechanism.gravity])
        T, V, A = (
            np.stack(found, axis=-3 if found[0].ndim > q.ndim else -2)
            for found in (
                [model.placement(b.name)(q, *now) for b in bodies],
                [model.frame_velocity(b.name)(q, qd, *now) for b in bodies],
                [model.frame_acceleration(b.name)(q, qd, qdd, *now) for b in bodies],
            )
        )
        return cls(bodies, gravity, T, V, A)

    @property
    def body_names(self) -> list[str]:
        """The names of the bodies, in order."""
        return [solid.name for solid in self.bodies]

    @property
    def masses(self) -> Floats:
        """The masses of the bodies (bodies,), kg."""
        return np.array([solid.mass for solid in self.bodies])

    @cached_property
    def center_offset(self) -> Floats:
        """The vectors from each body's origin to its centre of mass, world axes."""
        local = np.array([solid.center_of_mass for solid in self.bodies])
        return np.asarray(np.einsum("...bij,bj->...bi", self.placements[..., :3, :3], local))

    @cached_property
    def world_inertia(self) -> Floats:
        """The inertia tensors about the centres of mass, world axes."""
        R, local = self.placements[..., :3, :3], np.array([solid.inertia for solid in self.bodies])
        return np.asarray(np.einsum("...bij,bjk,...blk->...bil", R, local, R))

    @cached_property
    def center_of_mass(self) -> Floats:
        """The centres of mass (…, bodies, 3), m, world axes."""
        return self.placements[..., :3, 3] + self.center_offset

    @cached_property
    def center_velocity(self) -> Floats:
        """The velocities of the centres of mass (…, bodies, 3), m/s, world axes."""
        return self.twists[..., 3:] + np.cross(self.twists[..., :3], self.center_offset)

    @cached_property
    def center_acceleration(self) -> Floats:
        """The accelerations of the centres of mass (…, bodies, 3), m/s², world axes."""
        w, turned = self.twists[..., :3], np.cross(self.twists[..., :3], self.center_offset)
        return (
            self.twist_rates[..., 3:]
            + np.cross(self.twist_rates[..., :3], self.center_offset)
            + np.cross(w, turned)
        )

    @cached_property
    def kinetic_energy(self) -> Floats:
        """The kinetic energy of each body (…, bodies), J."""
        w = self.twists[..., :3]
        turning = np.einsum("...bi,...bij,...bj->...b", w, self.world_inertia, w)
        return np.asarray(self.masses * (self.center_velocity**2).sum(axis=-1) + turning) / 2

    @cached_property
    def potential_energy(self) -> Floats:
        """The potential energy of each body in gravity (…, bodies), J."""
        return -self.masses * (self.center_of_mass @ self.gravity)
