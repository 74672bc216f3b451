"""Events whose times are known in advance: steps end there, and the integration restarts."""

from __future__ import annotations

from typing import Protocol

from ..inputs import ForceLaw
from .sampled_controller import SampledController
from .table_kinks import TableKinks


class ScheduledEvent(Protocol):
    """Something that happens at times that are known in advance."""

    def next_time(self, t: float, end: float) -> float:
        """Return the first of its times after t, or the end."""
        ...


def scheduled_event_of(force_law: ForceLaw) -> ScheduledEvent | None:
    """Return the scheduled events of the inputs; None if there are none."""
    if force_law.is_sampled:
        return SampledController(force_law)
    return TableKinks(force_law.tables) if force_law.tables else None
