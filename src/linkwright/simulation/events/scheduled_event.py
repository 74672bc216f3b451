"""Events whose times are known before: steps end there, and the motion starts again."""

from __future__ import annotations

from typing import Protocol

from ..inputs import Drive
from .sampled_controller import SampledController
from .table_kinks import TableKinks


class ScheduledEvent(Protocol):
    """Something that happens at times that are known before."""

    def next_time(self, t: float, end: float) -> float:
        """Return the first of its times after t, or the end."""
        ...


def scheduled_event_of(drive: Drive) -> ScheduledEvent | None:
    """Return what inputs do at times that are known before; None if they do nothing."""
    if drive.is_sampled:
        return SampledController(drive)
    return TableKinks(drive.tables) if drive.tables else None
