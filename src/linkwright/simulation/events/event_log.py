"""What happened during a run."""

from __future__ import annotations

from ..run import Happened


class EventLog:
    """The events of one run, in their order."""

    def __init__(self) -> None:
        self.happened: list[Happened] = []
        self.first_jump: Happened | None = None
        """The first event at which the state or a force jumped."""

    def note(self, t: float, name: str, what: str, *, is_smooth: bool = False) -> None:
        """Add an event: its time, its name, and what it did; at a smooth one nothing jumps."""
        self.happened.append(Happened(float(t), name, what))
        if self.first_jump is None and not is_smooth:
            self.first_jump = self.happened[-1]
