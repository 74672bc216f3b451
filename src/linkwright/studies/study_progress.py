"""Progress of a study: designs made, rate, time to go, failures so far."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

from .study_store import BlockReport

if TYPE_CHECKING:
    from rich.progress import Progress


class StudyProgress:
    """Counts designs, and shows a bar on stderr, unless that is not a terminal.

    `before` has the numbers of designs that the store has already, as `StudyStore.summary`.
    """

    def __init__(self, name: str, before: Mapping[str, int], wanted: bool | None = None) -> None:
        self.name, self.count, self.before = name, before["count"], before["designs"]
        self.failed, self.stopped = before["failed"], before["stopped"]
        self.made = self.blocks = 0
        self.begin = time.monotonic()
        self.busy_seconds = 0.0
        """Seconds that workers spent in blocks."""
        self.bar: Progress | None = None
        if wanted is not False and _has_terminal():
            self._open_bar()

    def __enter__(self) -> StudyProgress:
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

    def add(self, report: BlockReport) -> None:
        """Count a block."""
        self.made += report.designs
        self.failed += report.failed
        self.stopped += report.stopped
        self.blocks += 1
        self.busy_seconds += report.seconds
        if self.bar is not None:
            self.bar.update(self.task, completed=self.before + self.made, words=self.text())

    @property
    def seconds(self) -> float:
        """Seconds since the begin."""
        return time.monotonic() - self.begin

    @property
    def rate(self) -> float:
        """Designs per second."""
        return self.made / max(self.seconds, 1e-9)

    def text(self) -> str:
        """Return the state in words."""
        done = self.before + self.made
        found = f"{done}/{self.count}, {rate_text(self.rate)}/s"
        if self.made and done < self.count:
            found += f", {duration_text((self.count - done) / self.rate)} to go"
        found += f", {self.failed} failed" if self.failed else ""
        return found + (f", {self.stopped} stopped" if self.stopped else "")

    def _open_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        console = Console(stderr=True, highlight=False, emoji=False)
        columns = (
            TextColumn("{task.description}"), BarColumn(20), TextColumn("{task.fields[words]}")
        )  # fmt: skip
        self.bar = Progress(*columns, console=console, transient=True)
        self.task = self.bar.add_task(
            self.name, total=self.count, completed=self.before, words="begins"
        )
        self.bar.start()


@contextmanager
def show_preparation(name: str, wanted: bool | None) -> Iterator[None]:
    """Show on a terminal that the program of a study is made, which takes some seconds."""
    if wanted is False or not _has_terminal():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=True, highlight=False, emoji=False)
    with console.status(f"{escape(name)}: compiling, and trying designs …"):
        yield


def _has_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def rate_text(rate: float) -> str:
    """Return a rate with three digits, not as a power of ten."""
    return f"{rate:.3g}" if rate < 100 else f"{float(f'{rate:.3g}'):.0f}"


def duration_text(seconds: float) -> str:
    """Return a duration in seconds, minutes, hours or days."""
    if seconds < 100:
        return f"{seconds:.3g} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    if seconds < 72 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86400:.0f} days"


def size_text(count: float) -> str:
    """Return a number of bytes with its unit."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"
