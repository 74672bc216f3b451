"""How the bodies of a mechanism move: mass centres, their rates, and each body's energies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..expressions import to_float
from ..kinematics.build import build_tree
from ..mechanism import Mechanism
from ..model import Model
from ..types import Floats


@dataclass(frozen=True)
class Solid:
    """A moving body in its own axes: mass, mass centre, tensor about it."""

    name: str
    mass: float
    center: Floats
    inertia: Floats


def solids(mechanism: Mechanism) -> list[Solid]:
    """The bodies that move, in the order of the file."""
    tree = build_tree(mechanism)
    found = []
    for name, mass in tree.masses.items():
        place = tree.bodies[name]
        if mass.link < 0:
            continue
        R, p = np.asarray(place.R, dtype=float), np.asarray(place.p, dtype=float)
        center = R.T @ (np.asarray(mass.c, dtype=float) - p)
        tensor = R.T @ np.asarray(mass.I, dtype=float) @ R
        found.append(Solid(name, float(mass.m), center, tensor))
    return found


@dataclass(frozen=True)
class Motions:
    """Rows of times, then bodies: placements T, velocities V and accelerations A (ω first)."""

    solids: list[Solid]
    gravity: Floats
    T: Floats
    V: Floats
    A: Floats

    @classmethod
    def of(cls, model: Model, q: Floats, qd: Floats, qdd: Floats) -> Motions:
        bodies, values = solids(model.mechanism), model.mechanism.values
        gravity = np.array([to_float(g, values) for g in model.mechanism.gravity])
        T, V, A = (
            np.stack(found, axis=-3 if found[0].ndim > q.ndim else -2)
            for found in (
                [model.placement(b.name)(q) for b in bodies],
                [model.frame_velocity(b.name)(q, qd) for b in bodies],
                [model.frame_acceleration(b.name)(q, qd, qdd) for b in bodies],
            )
        )
        return cls(bodies, gravity, T, V, A)

    @property
    def names(self) -> list[str]:
        return [solid.name for solid in self.solids]

    @property
    def mass(self) -> Floats:
        return np.array([solid.mass for solid in self.solids])

    @cached_property
    def lever(self) -> Floats:
        """From each body's origin to its mass centre, world axes."""
        local = np.array([solid.center for solid in self.solids])
        return np.asarray(np.einsum("...bij,bj->...bi", self.T[..., :3, :3], local))

    @cached_property
    def inertia(self) -> Floats:
        """About the mass centres, world axes."""
        R, local = self.T[..., :3, :3], np.array([solid.inertia for solid in self.solids])
        return np.asarray(np.einsum("...bij,bjk,...blk->...bil", R, local, R))

    @cached_property
    def center(self) -> Floats:
        return self.T[..., :3, 3] + self.lever

    @cached_property
    def velocity(self) -> Floats:
        return self.V[..., 3:] + np.cross(self.V[..., :3], self.lever)

    @cached_property
    def acceleration(self) -> Floats:
        w, turned = self.V[..., :3], np.cross(self.V[..., :3], self.lever)
        return self.A[..., 3:] + np.cross(self.A[..., :3], self.lever) + np.cross(w, turned)

    @cached_property
    def kinetic(self) -> Floats:
        w = self.V[..., :3]
        turning = np.einsum("...bi,...bij,...bj->...b", w, self.inertia, w)
        return np.asarray(self.mass * (self.velocity**2).sum(axis=-1) + turning) / 2

    @cached_property
    def potential(self) -> Floats:
        return -self.mass * (self.center @ self.gravity)
