"""Files that are written completely or not at all: first under a hidden name, then renamed."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

_MAX_LEFTOVER_AGE = 24 * 3600.0
"""Seconds after which a hidden file is taken for a leftover even if its process may live."""


def partial_file_name(target: Path) -> Path:
    """Return the hidden name for a target, and remove leftovers of writers that were killed."""
    _remove_leftover_files(target)
    return target.with_name(f".{target.name}.{os.getpid()}.part")


def _remove_leftover_files(target: Path) -> None:
    """Remove hidden files for the same target whose process has ended, or that are old."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d{{1,10}})\.part")
    with contextlib.suppress(OSError):
        for entry in os.scandir(target.parent):
            found = pattern.fullmatch(entry.name)
            if found is None or not entry.is_file(follow_symlinks=False):
                continue
            age = time.time() - entry.stat(follow_symlinks=False).st_mtime
            if age > _MAX_LEFTOVER_AGE or not _is_writing_process_alive(int(found[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _is_writing_process_alive(process: int) -> bool:
    """Return whether a process may still run; True where this cannot be known."""
    if os.name == "nt":  # os.kill would end it there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
