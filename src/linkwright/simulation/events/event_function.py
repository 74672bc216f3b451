"""Event functions: numbers that stay on one side of zero until something happens.

Each kind has a file: `limit_event`, `contact_events`, `stick_slip`, `breakage` and `user_event`.
(Events at known times are in `table_kinks` and `sampled_controller`.) A kind says its value along a
step, in which direction it counts, and what it does: to the state, to the mode, to the run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ...types import Floats
from ..run_context import RunContext
from .modes import ElementForces
from .present_mode import PresentMode
from .zeno import IMPACT_ADVICE, ZenoAdvice


class StepStates:
    """States at some times of a step; what event functions need of them is computed once."""

    def __init__(
        self, context: RunContext, present: PresentMode, times: Floats, states: Sequence[Floats]
    ) -> None:
        self.context, self.present = context, present
        self.times, self.states = times, states
        self.motions = [context.space.motion(y) for y in states]

    @cached_property
    def _watched(self) -> list[Floats]:
        """Gaps, velocities and compliant gaps, one row a time."""
        q, qd = (np.array(part) for part in zip(*self.motions, strict=True))
        return self.present.rows.watched(q, qd)

    @property
    def gaps(self) -> Floats:
        """Gaps of stops and rigid contacts, (times, gaps)."""
        return self._watched[0]

    @property
    def velocities(self) -> Floats:
        """Velocities along the rows of stops, contacts and friction, (times, rows)."""
        return self._watched[1]

    @property
    def compliant_gaps(self) -> Floats:
        """Gaps of compliant contacts, (times, contacts)."""
        return self._watched[2]

    @cached_property
    def forces(self) -> list[ElementForces]:
        """Forces of the present mode, one entry a time."""
        inputs = self.context.inputs
        return [
            self.present.forces(t, *motion, inputs.forces(t, y))
            for t, motion, y in zip(self.times.tolist(), self.motions, self.states, strict=True)
        ]


@dataclass
class Releases:
    """What events let go, whatever the forces at that instant say."""

    opening: set[int] = field(default_factory=set)
    """Stops and contacts that open."""
    slipping: dict[int, int] = field(default_factory=dict)
    """Sticking friction that begins to slide, with the sign of its velocity."""
    leaving: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Sticking contacts that begin to slide, with the direction."""
    turning: set[int] = field(default_factory=set)
    """Rows whose velocity passes zero, whatever rounding has left of it."""


@dataclass(frozen=True)
class Effect:
    """What an event does by itself: a note, another state, or the end of the run."""

    note: str
    y: Floats | None = None
    status: str | None = None
    """Why the run ends, if it does."""
    broken: str | None = None
    """The member that broke, if one did."""


class EventFunction(ABC):
    """One number that is watched along a step."""

    sign: int = -1
    """−1: an event where the value falls through zero; 1: where it rises."""
    begins_at_zero: bool = False
    """Whether it is zero but for rounding where it begins: a gap that opens, a slide."""
    counts_at_once: bool = True
    """Whether it counts from the start of a step where it is beyond zero and goes on so."""
    is_overload: bool = False
    """Whether it counts wherever a step begins beyond zero: a load that is too large."""
    must_be_finite: bool = False
    """Whether the run ends where its value is not finite."""
    ends_run: bool = False
    """Whether it ends the run before anything else happens."""
    changes_mode: bool = False
    """Whether the mode must be found again after it."""
    interrupts: bool = True
    """Whether the integration starts again after it, even from the same state."""
    is_only_noted: bool = False
    """Whether it changes nothing."""
    zeno_advice: ZenoAdvice = IMPACT_ADVICE
    """What to say if such events have no end."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of what it belongs to."""

    @abstractmethod
    def values(self, states: StepStates) -> Floats:
        """Return its values, one a time."""

    def act(self, t: float, y: Floats, present: PresentMode) -> Effect | None:
        """Return what it does by itself; None if it only changes the mode."""
        return None

    def release(self, releases: Releases, states: StepStates) -> None:
        """Add what it lets go at the instant of the event."""
        return
