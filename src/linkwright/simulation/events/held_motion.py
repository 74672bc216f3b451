"""Projection of held gaps and velocities to zero, by the least change in the metric of the mass
matrix: the same as `PresentMode.hold`, as an expression in which the mode is data."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca

from ...types import SX
from .mode_forces import ModeForces
from .redundant_systems import RegularSystem, SemidefiniteSystem

CORRECTIONS = 2
"""Number of corrections of gaps and of speeds, all with the matrices of the first. A step leaves
errors about as large as its tolerance, and each correction gains as many digits again."""


class HeldMotion:
    """(q, q̇, t, mode) → q and q̇ that are held; constraints stay satisfied to first order."""

    def __init__(self, forces: ModeForces, moved: Callable[[SX, SX], SX]) -> None:
        self.forces, self.moved = forces, moved

    @cached_property
    def closed(self) -> SX:
        """1 for unknowns of which a stop or contact is active, 0 for others."""
        found = []
        for rows, _ in self.forces.groups.all:
            active = [self.forces.mode[row] for row in rows if row < self.forces.layout.unilaterals]
            found.append(ca.sum1(ca.vertcat(ca.SX(0, 1), *active)))
        return ca.vertcat(*found)

    def gaps(self, q: SX) -> SX:
        """Return the gaps of what is closed, along the unknowns."""
        of, every = self.forces, self.forces.rows.gap_expressions(q, self.forces.t)
        found = ca.SX.zeros(len(of.groups))
        for k, (rows, signs) in enumerate(of.groups.all):
            for row, sign in zip(rows, signs, strict=True):
                if row < of.layout.unilaterals:
                    found[k] += sign * of.mode[row] * every[row]
        return found

    def speeds(self, q: SX, qd: SX) -> SX:
        """Return the speeds of what is held, along the unknowns."""
        R = ca.substitute(self.forces.R, self.forces.q, q)
        return self.forces.held * (R @ qd)

    def system(self, held: SX) -> RegularSystem | SemidefiniteSystem:
        """Return the equations of impulses along the unknowns that are held."""
        A = (held @ held.T) * self.forces.A + ca.diag(1 - held)
        return SemidefiniteSystem(A) if self.forces.is_redundant else RegularSystem(A)

    @cached_property
    def result(self) -> tuple[SX, SX]:
        """q and q̇ by the symbols of the forces."""
        q, qd = self.forces.q, self.forces.qd
        touching = self.system(self.closed)
        for _ in range(CORRECTIONS):
            impulse = self.closed * touching.solve(self.gaps(q))
            q = self.moved(q, -self.forces.answer @ impulse)
        stopping = self.system(self.forces.held)
        for _ in range(CORRECTIONS):
            impulse = self.forces.held * stopping.solve(self.speeds(q, qd))
            qd = qd - self.forces.answer @ impulse
        return q, qd
