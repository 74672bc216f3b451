"""Tables and files, as all commands write them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ..errors import FileError


def console() -> Console:
    """Plain text in a pipe, colours on a terminal; lines as long as they need to be."""
    here = Console(highlight=False, soft_wrap=False)
    return here if here.is_terminal else Console(highlight=False, width=200)


def print_table(head: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
    table = Table(*head, title=title or None, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    console().print(table)


def write_file(path: Path, content: str | bytes) -> None:
    """Writes a file whole or not at all."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    data = content.encode() if isinstance(content, str) else content
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
