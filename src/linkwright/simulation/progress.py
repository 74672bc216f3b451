"""Progress of a long run on a terminal: simulated time, step size, estimated end."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any

_PATIENCE = 0.5
_PAUSE = 0.1


class Watch:
    """Told of every step; shows a bar on stderr once the run takes long, none in a pipe."""

    def __init__(self, name: str, end: float, wanted: bool | None = None) -> None:
        self.name, self.end = name, end
        self.begin = self.last = time.monotonic()
        self.t, self.steps = 0.0, 0
        self.seen = 0.0, 0
        self.bar: Any = None
        self.console = _terminal() if wanted is not False else None

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self.bar is not None:
            self.bar.stop()

    def step(self, t: float) -> None:
        """The run has come to t."""
        self.t, self.steps = t, self.steps + 1
        if self.console is None:
            return
        now = time.monotonic()
        if now - self.last < _PAUSE or now - self.begin < _PATIENCE:
            return
        self.last = now
        if self.bar is None:
            self._open()
        self.bar.update(self.task, completed=self.t, words=self.words(now))

    def words(self, now: float) -> str:
        """Simulated time, the mean step since the last look, the seconds that are left."""
        before, count = self.seen
        self.seen = self.t, self.steps
        step = (self.t - before) / max(1, self.steps - count)
        found = f"t = {self.t:.4g} of {self.end:g} s, steps of {step:.1e} s"
        if self.t <= 0:
            return found
        left = (now - self.begin) * (self.end - self.t) / self.t
        return f"{found}, about {_duration(left)} to go"

    def _open(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}")
        self.bar = Progress(*columns, console=self.console, transient=True)
        self.task = self.bar.add_task(self.name, total=self.end, words="")
        self.bar.start()


def _terminal() -> Any:
    """The console of stderr if that is a terminal."""
    import sys

    if sys.stderr is None or not sys.stderr.isatty():
        return None
    from rich.console import Console

    return Console(stderr=True, highlight=False, emoji=False)


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
