"""Progress of a long run on a terminal: simulated time, step size, estimated end."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_PATIENCE = 0.5
"""Seconds before a bar appears: most runs are faster and need none."""

_PAUSE = 0.1
"""Seconds between updates of the bar: as fast as the eye reads, and cheap."""


class RunProgress:
    """Counts the steps of a run; shows a bar on stderr once the run takes long, unless stderr is
    not a terminal."""

    def __init__(self, name: str, end: float, wanted: bool | None = None) -> None:
        self.name, self.end = name, end
        self.begin = self.last = time.monotonic()
        self.t, self.steps = 0.0, 0
        self._shown = 0.0, 0
        self.bar: Progress | None = None
        self.console = _stderr_console() if wanted is not False else None

    def __enter__(self) -> RunProgress:
        """Return the progress itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        if self.bar is not None:
            self.bar.stop()

    def step(self, t: float) -> None:
        """Count a step to the time t, and update the bar."""
        self.t, self.steps = t, self.steps + 1
        if self.console is None:
            return
        now = time.monotonic()
        if now - self.last < _PAUSE or now - self.begin < _PATIENCE:
            return
        self.last = now
        if self.bar is None:
            self._open_bar()
        assert self.bar is not None
        self.bar.update(self.task, completed=self.t, words=self.status_text(now))

    def status_text(self, now: float) -> str:
        """Return the simulated time, the mean step since the last call, and the remaining time."""
        before, count = self._shown
        self._shown = self.t, self.steps
        step = (self.t - before) / max(1, self.steps - count)
        text = f"t = {self.t:.4g} of {self.end:g} s, steps of {step:.1e} s"
        if self.t <= 0:
            return text
        left = (now - self.begin) * (self.end - self.t) / self.t
        return f"{text}, about {_duration_text(left)} to go"

    def _open_bar(self) -> None:
        """Show the bar."""
        from rich.progress import BarColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}")
        self.bar = Progress(*columns, console=self.console, transient=True)
        self.task = self.bar.add_task(self.name, total=self.end, words="")
        self.bar.start()


def _stderr_console() -> Console | None:
    """Return the console of stderr if that is a terminal."""
    import sys

    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def _duration_text(seconds: float) -> str:
    """Return a duration in seconds, minutes or hours."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
