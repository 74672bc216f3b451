"""What happened during a run."""

from __future__ import annotations

from ..run import Happened


class EventLog:
    """The events of one run, in their order."""

    def __init__(self) -> None:
        self.happened: list[Happened] = []

    def note(self, t: float, name: str, what: str) -> None:
        """Add an event: its time, its name, and what it did."""
        self.happened.append(Happened(float(t), name, what))
