"""The present mode of a run: its forces, and the motion that it holds."""

from __future__ import annotations

import numpy as np

from ...types import Floats
from .dynamics import Dynamics
from .holding import stopped, touching
from .modes import Forces, Mode, forces_of, solver_of


class PresentMode:
    """What holds between two events, in one run: which contacts carry, what sticks and slides."""

    def __init__(self, dynamics: Dynamics) -> None:
        self.dynamics, self.rows = dynamics, dynamics.rows
        self.mode = Mode(sliding=(1,) * len(self.rows.rubs))

    def change(self, mode: Mode) -> None:
        """Go over to another mode."""
        self.mode = mode

    @property
    def has_forces(self) -> bool:
        """Whether friction, stops or contacts may act."""
        return bool(self.rows.rubs) or any(
            barrier.restitution is not None for barrier in self.rows.barriers
        )

    def push(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Floats:
        """Return the generalized forces of friction, stops and rigid contacts."""
        if self.mode.plain and not self.rows.rubs:
            return np.zeros(len(qd))
        return solver_of(self.dynamics.at(t, q, qd, tau), self.mode).along()

    def forces(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Forces:
        """Return the forces of all elements."""
        return forces_of(self.dynamics.at(t, q, qd, tau), self.mode)

    def reactions(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Floats | None:
        """Return the reactions of joints and loops where rigid contacts press on bodies.

        Generalized forces do not determine them; without contacts they are None.
        """
        if not self.rows.contacts:
            return None
        instant = self.dynamics.at(t, q, qd, tau)
        found = forces_of(instant, self.mode)
        return instant.borne(found.held, found.pushes)

    @property
    def is_holding(self) -> bool:
        """Whether the mode holds gaps or velocities at zero."""
        return bool(self.mode.rows(self.rows))

    def hold(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """Return the nearest motion whose held gaps and velocities are zero."""
        held = self.mode.rows(self.rows)
        if not held:
            return q, qd
        q = touching(self.dynamics, t, q, qd, list(self.mode.resting))
        return q, stopped(self.dynamics, t, q, qd, held)

    def follow_slip(self, q: Floats, qd: Floats) -> None:
        """Update the directions in which contacts slide."""
        if self.mode.toward:
            _, V = self.rows.gaps_and_speeds(q, qd)
            self.mode = self.mode.turned(self.rows, V)
