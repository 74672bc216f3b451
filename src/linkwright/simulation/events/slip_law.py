"""The speed at which compiled code changes the friction law of a slide in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...types import Floats
from .event_function import EventFunction, StepStates
from .mode_layout import SLOW, SlipNumbers
from .modes import Mode
from .row_elements import UnilateralConstraint


@dataclass(frozen=True)
class SlipLawChange(EventFunction):
    """How far a contact that slides in space is from the speed at which its law changes.

    Only compiled code watches it. Nothing happens there: the program only continues with other
    numbers.
    """

    index: int
    unilateral: UnilateralConstraint
    counts_at_once = False
    is_only_noted = True

    @property
    def name(self) -> str:
        """The name of the contact."""
        return self.unilateral.name

    def values(self, states: StepStates) -> Floats:
        """Return how far the speed is above the one below which slides are slow."""
        speeds = np.linalg.norm(states.velocities[:, list(self.unilateral.slip)], axis=1)
        found: Floats = speeds - SLOW
        return found


def slip_law_changes(
    mode: Mode, unilaterals: list[UnilateralConstraint], slips: list[SlipNumbers]
) -> list[EventFunction]:
    """Return the functions of contacts that slide in space in a mode."""
    sliding = set(mode.resting) - mode.grip
    return [
        SlipLawChange(slip.contact, unilaterals[slip.contact])
        for slip in slips
        if slip.is_spatial and slip.contact in sliding
    ]
