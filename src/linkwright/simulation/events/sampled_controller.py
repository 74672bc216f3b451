"""Sampled controllers: they act at multiples of their period, and hold their forces in between."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...types import Floats
from ..inputs import ForceLaw


@dataclass(frozen=True)
class SampledController:
    """A controller with a period."""

    force_law: ForceLaw

    @property
    def period(self) -> float:
        """The time between two actions, s."""
        law = self.force_law.feedback
        assert law is not None
        assert law.period is not None
        return law.period

    def next_time(self, t: float, end: float) -> float:
        """Return the time of the first action after t, or the end."""
        return min(end, self.period * (math.floor(t / self.period + 1e-9) + 1))

    def act(self, t: float, q: Floats, qd: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Return the forces that it holds from t on, and its states after one step of Euler's
        method."""
        tau, rate = self.force_law.act(t, q, qd, z)
        return tau, z + self.period * rate
