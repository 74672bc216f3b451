"""Drives and motions as words: `q1=2*sin(t)`, or `q1=path.csv`, a table over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..errors import FileError
from .inputs import assignments
from .states import read_csv


def courses(words: Sequence[str]) -> dict[str, Any]:
    """Expressions by name, and (times, values) where a .csv file is named."""
    given = assignments(words)
    return {
        name: _table(name, Path(text)) if text.endswith(".csv") else text
        for name, text in given.items()
    }


def _table(name: str, path: Path) -> tuple[Any, Any]:
    """The columns t and `name`; or the only one beside t."""
    columns = read_csv(path)
    others = [key for key in columns if key != "t"]
    if "t" not in columns or not (name in columns or len(others) == 1):
        raise FileError(
            f"has no columns t and {name}", where=str(path),
            remedy=f"write t,{name} at its top, and a row for every time",
        )  # fmt: skip
    return columns["t"], columns[name if name in columns else others[0]]
