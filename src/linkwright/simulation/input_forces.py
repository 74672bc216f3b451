"""The inputs of one run: their forces, those that a sampled controller holds, and faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..types import Floats
from .events.sampled_controller import SampledController
from .events.table_kinks import TableKinks
from .right_hand_side import RightHandSide
from .state_space import WORK_COUNT


@dataclass(frozen=True)
class InputFault:
    """A force of a Python function that is not finite: when, along which velocity, its value."""

    t: float
    velocity: str
    value: float


class InputForces:
    """τ and w of one run.

    `crosses_kinks`: steps may go across kinks of tables, as steps of fixed length do.
    """

    def __init__(self, rhs: RightHandSide, *, crosses_kinks: bool = False) -> None:
        self.space, self.force_law, self.names = rhs.space, rhs.force_law, rhs.names
        self.fault: InputFault | None = None
        """The last force of a Python function that was not finite."""
        scheduled = rhs.scheduled
        self._scheduled = None if crosses_kinks and isinstance(scheduled, TableKinks) else scheduled
        self._held: list[tuple[float, Floats]] = []

    @property
    def held(self) -> Floats:
        """The forces that a sampled controller holds now."""
        return self._held[-1][1]

    def hold(self, t: float, forces: Floats) -> None:
        """Hold forces from t on."""
        self._held.append((t, forces))

    def take_held_forces(self, other: InputForces) -> None:
        """Hold what the inputs of the same run have held so far."""
        self._held = list(other._held)

    def act(self, t: float, y: Floats) -> Floats:
        """Let a sampled controller act; return y with its new states."""
        if not isinstance(self._scheduled, SampledController):
            return y
        forces, z = self._scheduled.act(t, *self.space.motion(y), self.space.controller_states(y))
        self.hold(t, forces)
        after = y.copy()
        after[self.space.size : len(y) - WORK_COUNT] = z
        return after

    def next_stop(self, t: float, end: float) -> float:
        """Return the time at which steps must end next."""
        return end if self._scheduled is None else self._scheduled.next_time(t, end)

    def forces(self, t: float, y: Floats) -> Floats:
        """Return τ at a state."""
        if self.force_law.is_sampled:
            return self.held
        return self.force_law(t, *self.space.motion(y), self.space.controller_states(y))

    def numeric_inputs(self, t: float, y: Floats) -> Floats:
        """Return w at a state, for the compiled rates."""
        if self.force_law.is_sampled:
            return self.held
        if self.force_law.function is None:
            return self.force_law.outer(t, y, y)
        found = self.force_law.outer(t, *self.space.motion(y))
        bad = ~np.isfinite(found)
        if bad.any():
            velocity = self.names.qd[int(np.argmax(bad))]
            self.fault = InputFault(t, velocity, float(found[bad][0]))
        return found

    def histories(self, times: Floats, y: Floats, known: Sequence[Floats] = ()) -> Floats:
        """Return τ at times, one row each; `known` is what a Python function returned."""
        if self.force_law.is_sampled:
            begins = np.array([t for t, _ in self._held])
            last = np.searchsorted(begins, times + 1e-12 * max(1.0, times[-1]), side="right") - 1
            return np.array([self._held[k][1] for k in last])
        if self.force_law.function is not None and not self.force_law.demands:
            return np.array(known)
        space = self.space
        states = (*space.motion(y), space.controller_states(y).T)
        return self.force_law.histories(times, *states, known)[0]

    def clipped_demands(
        self, times: Floats, y: Floats, known: Sequence[Floats] = ()
    ) -> tuple[str, ...]:
        """Return what was clipped to declared limits, in words."""
        space = self.space
        states = (*space.motion(y), space.controller_states(y).T)
        return self.force_law.clipped_demands(times, *states, known)
