"""The present mode of a run: its forces, and the motion that it holds."""

from __future__ import annotations

import numpy as np

from ...types import Floats
from ..state_space import StateSpace
from .dynamics import Dynamics
from .holding import close_gaps, stop_rows
from .modes import ElementForces, Mode, mode_force_solver, solve_mode_forces


class PresentMode:
    """What holds between two events, in one run: which contacts carry, what sticks and slides."""

    def __init__(self, dynamics: Dynamics, space: StateSpace) -> None:
        self.dynamics, self.rows, self.space = dynamics, dynamics.rows, space
        self.mode = Mode(sliding=(1,) * len(self.rows.joint_frictions))
        self.touching = [False] * self.rows.compliant_count
        """Whether each compliant contact touches."""

    def change(self, mode: Mode) -> None:
        """Change to another mode."""
        self.mode = mode

    def set_touching(self, index: int, *, is_touching: bool) -> None:
        """Note that a compliant contact begins or ceases to touch."""
        self.touching[index] = is_touching

    def begin(self, t: float, q: Floats, qd: Floats) -> None:
        """Start without sliding elements, and find the compliant contacts that touch."""
        self.touching = [bool(gap < 0) for gap in self.rows.watched(q, qd, t)[2]]
        self.mode = Mode(sliding=(0,) * len(self.rows.joint_frictions))

    @property
    def has_forces(self) -> bool:
        """Whether friction, stops or contacts may act."""
        return bool(self.rows.joint_frictions) or any(
            unilateral.restitution is not None for unilateral in self.rows.unilaterals
        )

    def push(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Floats:
        """Return the generalized forces of friction, stops and rigid contacts."""
        if self.mode.plain and not self.rows.joint_frictions:
            return np.zeros(len(qd))
        return mode_force_solver(self.dynamics.at(t, q, qd, tau), self.mode).generalized_forces()

    def forces(self, t: float, q: Floats, qd: Floats, tau: Floats) -> ElementForces:
        """Return the forces of all elements."""
        return solve_mode_forces(self.dynamics.at(t, q, qd, tau), self.mode)

    def reactions(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Floats | None:
        """Return the reactions of joints and loops where rigid contacts press on bodies.

        Generalized forces do not determine them; without contacts they are None.
        """
        if not self.rows.contacts:
            return None
        instant = self.dynamics.at(t, q, qd, tau)
        found = solve_mode_forces(instant, self.mode)
        return instant.reactions(found.held, found.pushes)

    @property
    def is_holding(self) -> bool:
        """Whether the mode holds gaps or velocities at zero."""
        return bool(self.mode.rows(self.rows))

    def hold(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """Return the nearest motion whose held gaps and velocities are zero."""
        held = self.mode.rows(self.rows)
        if not held:
            return q, qd
        q = close_gaps(self.dynamics, t, q, qd, list(self.mode.resting))
        return q, stop_rows(self.dynamics, t, q, qd, held)

    def follow_slip(self, q: Floats, qd: Floats) -> None:
        """Update the directions in which contacts slide."""
        if self.mode.toward:
            _, V = self.rows.gaps_and_speeds(q, qd)
            self.mode = self.mode.turned(self.rows, V)

    def jump_to(self, t: float, y: Floats, q: Floats, qd: Floats) -> Floats:
        """Return y with another motion; the change of its energy counts as work."""
        model, now = self.dynamics.model, self.dynamics.model.names.position_time_arguments(t)
        old_q, old_qd = self.space.motion(y)
        gain = model.kinetic_energy(q, qd, *now) - model.kinetic_energy(old_q, old_qd, *now)
        gain += model.potential_energy(q, *now) - model.potential_energy(old_q, *now)
        found = self.space.with_motion(y, q, qd)
        found[-1] += gain
        return found
