"""Projection of states: constraints, the held motion of the mode, joints of free bodies,
quaternions."""

from __future__ import annotations

from ..types import Floats
from .diagnosis import LOST_CLOSURE, largest_gap
from .events.hybrid import Hybrid
from .run_context import RunContext


class StateProjector:
    """Projects states of one run onto the constraints, and onto what its present mode holds."""

    def __init__(self, context: RunContext, events: Hybrid | None = None) -> None:
        self.context, self.events = context, events

    @property
    def is_needed(self) -> bool:
        """Whether states may have to be projected."""
        space = self.context.space
        is_holding = self.events is not None and self.events.present.is_holding
        return space.projection is not None or space.can_leave_joints or is_holding

    @property
    def has_failed(self) -> bool:
        """Whether the last state could not be projected onto the constraints."""
        error = self.context.closure_error
        return not error <= LOST_CLOSURE and not error <= largest_gap(self.context.rhs)

    def __call__(self, t: float, y: Floats) -> Floats:
        """Return the projected state."""
        return self.hold(t, self.context.project(t, y))

    def hold(self, t: float, y: Floats) -> Floats:
        """Return the state with what the present mode holds."""
        if self.events is None or not self.events.present.is_holding:
            return y
        space = self.context.space
        return space.with_motion(y, *self.events.present.hold(t, *space.motion(y)))
