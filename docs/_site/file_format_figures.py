"""Not written yet."""

from __future__ import annotations

from pathlib import Path


def write(folder: Path) -> None:
    """Nothing yet."""
    assert folder
