"""Output of commands: outcomes, tables, JSON, files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import FileError, LinkwrightError

if TYPE_CHECKING:
    from rich.console import Console

_MAX_PIPE_WIDTH = 1_000_000


class CheckFailedError(LinkwrightError):
    """The input was understood, but a result is not what it must be: exit status 1."""


@dataclass(frozen=True)
class CommandOutcome:
    """The result of a command, as JSON and as text, and whether it is a failure."""

    data: object
    """The data that `--json` prints."""
    show: Callable[[], object]
    """Prints the same as text."""
    failure: BaseException | None = None
    """Raised after printing."""
    warnings: Sequence[str] = ()
    """Lines for stderr."""
    indent: int | None = 2
    """The indentation of the JSON text; None: all on one line."""


def print_command_outcome(outcome: CommandOutcome, as_json: bool) -> None:
    """Print the result, then the warnings, and raise the failure."""
    if as_json:
        print_command_json(outcome.data, outcome.indent)
    else:
        outcome.show()
    for warning in outcome.warnings:
        print(f"linkwright: {warning}", file=sys.stderr)
    if outcome.failure is not None:
        raise outcome.failure


def open_console() -> Console:
    """A console with colours on a terminal; in a pipe, plain text with lines of any length."""
    from rich.console import Console

    here = Console(highlight=False, emoji=False)
    return (
        here if here.is_terminal else Console(highlight=False, emoji=False, width=_MAX_PIPE_WIDTH)
    )


@contextmanager
def show_command_progress(what: str) -> Iterator[Callable[[str], None]]:
    """Shows on a terminal what is being done; the function that it gives changes the text. Silent
    in a pipe."""
    from rich.console import Console

    there = Console(stderr=True, highlight=False, emoji=False)
    if not there.is_terminal:
        yield lambda what: None
        return
    with there.status(f"{escape_for_terminal(what)} …") as line:
        yield lambda what: line.update(f"{escape_for_terminal(what)} …")


@contextmanager
def show_stage_progress(what: str) -> Iterator[Callable[[str, float | None], None]]:
    """Shows on a terminal which stages are running, and keeps a line for each that has ended; it
    yields a function that stages call at both times, from any thread. Silent in a pipe."""
    from rich.console import Console

    there = Console(stderr=True, highlight=False, emoji=False)
    if not there.is_terminal:
        yield lambda stage, seconds: None
        return
    running: dict[str, str] = {}
    title = escape_for_terminal(what)
    with there.status(f"{title} …") as line:

        def report(stage: str, seconds: float | None) -> None:
            key = stage.partition(":")[0]
            if seconds is None:
                running[key] = stage
            elif running.pop(key, None) is not None:
                there.print(f"  [green]✓[/] {escape_for_terminal(stage)} [dim]{seconds:.1f} s[/]")
            shown = escape_for_terminal(", ".join([*running.values()]))
            line.update(f"{title}: {shown} …" if shown else f"{title} …")

        yield report


def escape_for_terminal(text: str) -> str:
    """A text on one line, with line breaks and control characters as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def console_number_text(value: float, unit: str = "") -> str:
    """A number with six digits and its unit, and 0 for rounding errors."""
    return f"{0.0 if abs(value) < 1e-12 else value:.6g} {unit}".strip()


def remove_console_rounding(values: Iterable[float]) -> list[float]:
    """The numbers, with 0 for those that are only rounding errors: no 1e-33, no −0."""
    return [0.0 if abs(x) < 1e-12 else float(x) for x in values]


def console_column_heads(names: Sequence[str], units: Sequence[str]) -> list[str]:
    """The heads of columns: names with their units, q1 (rad)."""
    return [f"{n} ({u})" if u != "1" else n for n, u in zip(names, units, strict=True)]


def print_console_table(
    head: Sequence[str], rows: Sequence[Sequence[object]], title: str = ""
) -> None:
    """Print a table with aligned columns."""
    from rich.table import Table
    from rich.text import Text

    table = Table(*head, title=title or None, title_justify="left", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(Text(escape_for_terminal(str(cell))) for cell in row))
    open_console().print(table)


def print_command_json(value: object, indent: int | None = 2) -> None:
    """Print a result as JSON; NaN and infinite numbers are a failure."""
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise CheckFailedError("a result is NaN or infinite", remedy="check the numbers") from None
    print(text)


def check_output_option(path: Path | None, *endings: str) -> Path | None:
    """Return the path of a file to write, if it has one of these endings and its folder exists."""
    if path is None:
        return None
    if path.suffix.lower() not in endings:
        *others, last = endings
        raise FileError(
            f"'{path.suffix}' cannot be written",
            where=str(path),
            remedy=f"use {' or '.join([', '.join(others), last] if others else [last])}",
        )
    return check_output_folder(path)


def check_output_folder(path: Path) -> Path:
    """Return the path of a file to write, if its folder exists."""
    if not path.parent.is_dir():
        raise FileError(
            "is not a folder", where=str(path.parent), remedy="create it, or name another"
        )
    return path


def check_run_output_option(path: Path | None) -> Path | None:
    """Return the path of a run to save, if the ending is one of those for runs."""
    if path is not None:
        from ..simulation.storage import check_format

        check_format(path)
        check_output_folder(path)
    return path


def write_command_output(path: Path, content: str | bytes) -> None:
    """Write a file whole or not at all."""
    from ..files.partial_files import partial_file_name

    if not path.name or os.path.isdir(path):
        raise FileError("is a folder", where=str(path), remedy="name a file")
    partial = partial_file_name(path)
    data = content.encode() if isinstance(content, str) else content
    try:
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise FileError(f"cannot be written: {error.strerror}", where=str(path)) from None
