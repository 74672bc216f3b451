"""Events of stops and contacts: rigid ones close and open, compliant ones begin and cease to
touch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...types import Floats
from .event_function import Effect, EventFunction, Releases, StepStates
from .present_mode import PresentMode
from .row_elements import UnilateralConstraint


@dataclass(frozen=True)
class GapClosing(EventFunction):
    """The gap of an open stop or rigid contact; an impact happens where it closes."""

    index: int
    unilateral: UnilateralConstraint
    begins_at_zero = True
    changes_mode = True

    @property
    def name(self) -> str:
        """The name of the stop or contact."""
        return self.unilateral.name

    def values(self, states: StepStates) -> Floats:
        """Return the gap."""
        found: Floats = states.gaps[:, self.index]
        return found


@dataclass(frozen=True)
class ContactRelease(EventFunction):
    """The normal force of a closed stop or contact, which opens where the force would pull."""

    index: int
    unilateral: UnilateralConstraint
    changes_mode = True

    @property
    def name(self) -> str:
        """The name of the stop or contact."""
        return self.unilateral.name

    def values(self, states: StepStates) -> Floats:
        """Return the normal force."""
        return np.array([forces.normal[self.index] for forces in states.forces])

    def release(self, releases: Releases, states: StepStates) -> None:
        """Open it."""
        releases.opening.add(self.index)


@dataclass(frozen=True)
class CompliantContactEvent(EventFunction):
    """The gap of a compliant contact; its force is in the equations, so the event is only noted."""

    index: int
    contact: str
    sign: int = -1
    """1 while the contact touches: it ends where the gap rises to zero."""
    begins_at_zero = True
    is_smooth = True  # its force begins at zero

    @property
    def name(self) -> str:
        """The name of the contact."""
        return self.contact

    def values(self, states: StepStates) -> Floats:
        """Return the gap."""
        found: Floats = states.compliant_gaps[:, self.index]
        return found

    def act(self, t: float, y: Floats, present: PresentMode) -> Effect | None:
        """Note that the contact begins or ceases to touch."""
        is_touching = self.sign < 0
        present.set_touching(self.index, is_touching=is_touching)
        return Effect("touches" if is_touching else "leaves")
