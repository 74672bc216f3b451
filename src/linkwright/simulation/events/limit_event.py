"""Limits of joints without a restitution: the run ends there."""

from __future__ import annotations

from dataclasses import dataclass

from ...types import Floats
from .event_function import Effect, EventFunction, StepStates
from .present_mode import PresentMode
from .row_elements import UnilateralConstraint


@dataclass(frozen=True)
class LimitReached(EventFunction):
    """The distance of a coordinate from its limit."""

    index: int
    unilateral: UnilateralConstraint
    begins_at_zero = True
    ends_run = True
    is_smooth = True

    @property
    def name(self) -> str:
        """The name of the limit."""
        return self.unilateral.name

    def values(self, states: StepStates) -> Floats:
        """Return the distance."""
        found: Floats = states.gaps[:, self.index]
        return found

    def act(self, t: float, y: Floats, present: PresentMode) -> Effect | None:
        """End the run."""
        remedy = 'give limits a restitution, or use stops="impact" or "ignore"'
        status = f"stopped at t = {t:.12g} s: the limit '{self.name}' is reached; {remedy}"
        return Effect("limit reached", status=status)
