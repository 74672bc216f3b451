"""Event functions: numbers that stay on one side of zero until something happens.

Each kind has a file: `limit_event`, `contact_events`, `stick_slip`, `breakage` and `user_event`.
(Events at known times are in `table_kinks` and `sampled_controller`.) Each kind defines its value
along a step, the direction in which a crossing counts, and its effect on the state, the mode and
the run.
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
    """States at some times of a step; the quantities that event functions need are computed
    once."""

    def __init__(
        self, context: RunContext, present: PresentMode, times: Floats, states: Sequence[Floats]
    ) -> None:
        self.context, self.present = context, present
        self.times, self.states = times, states
        self.motions = [context.space.motion(y) for y in states]

    @cached_property
    def _watched(self) -> list[Floats]:
        """Gaps, velocities and compliant gaps, one row for each time."""
        q, qd = (np.array(part) for part in zip(*self.motions, strict=True))
        return self.present.rows.watched(q, qd, np.asarray(self.times))

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
        """Forces of the present mode, one entry for each time."""
        inputs = self.context.inputs
        return [
            self.present.forces(t, *motion, inputs.forces(t, y))
            for t, motion, y in zip(self.times.tolist(), self.motions, self.states, strict=True)
        ]


@dataclass
class Releases:
    """What events release, whatever the forces at that instant are."""

    opening: set[int] = field(default_factory=set)
    """Stops and contacts that open."""
    slipping: set[int] = field(default_factory=set)
    """Sticking friction of joints that has reached its limit."""
    leaving: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Sticking contacts that begin to slide, with the direction."""
    turning: set[int] = field(default_factory=set)
    """Rows whose velocity passes through zero; a remainder from rounding is ignored."""


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
    """Whether its value is zero, up to rounding, when it is first watched: a gap that opens, a
    slide."""
    counts_at_once: bool = True
    """Whether a value beyond zero at the start of a step counts as an event if it moves further
    away."""
    is_overload: bool = False
    """Whether any value beyond zero at the start of a step counts as an event: a load that is too
    large."""
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
    is_smooth: bool = False
    """Whether neither the state nor a force jumps at it, so that derivatives go on."""
    zeno_advice: ZenoAdvice = IMPACT_ADVICE
    """The reason and the remedy for the status of a run in which such events never end."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the element that it belongs to."""

    @abstractmethod
    def values(self, states: StepStates) -> Floats:
        """Return its values, one for each time."""

    def act(self, t: float, y: Floats, present: PresentMode) -> Effect | None:
        """Return what the event does by itself; None if it only changes the mode."""
        return None

    def release(self, releases: Releases, states: StepStates) -> None:
        """Add what the event releases at its instant."""
        return
