"""Watching a file through its folder, so that it may be replaced, deleted and written again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from watchfiles import Change, awatch

_SETTLE_MILLISECONDS, _STEP_MILLISECONDS = 60, 20
"""Changes that follow each other within this time are one; how often it is looked."""
_RETRY_SECONDS = 1.0
"""How often a folder that is gone is looked for."""


async def watch_file(path: Path | None, read: Callable[[], None]) -> None:
    """Call `read` after each change of a file, also after it was deleted or replaced; never
    returns."""
    if path is None:
        return
    there = path.absolute()
    while True:
        try:
            async for _ in awatch(
                there.parent,
                watch_filter=lambda change, name: _is_about(change, name, there),
                debounce=_SETTLE_MILLISECONDS,
                step=_STEP_MILLISECONDS,
                recursive=False,
            ):
                read()
        except (FileNotFoundError, OSError, RuntimeError):  # the folder itself is gone
            pass
        await asyncio.sleep(_RETRY_SECONDS)
        read()


def _is_about(change: Change, name: str, path: Path) -> bool:
    """Whether a change in the folder is one of the file."""
    return Path(name).name == path.name
