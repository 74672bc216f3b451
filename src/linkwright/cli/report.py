"""`linkwright report`: the page of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import FileError
from ..mechanism import Mechanism
from ..report import page
from .inputs import assignments, numbers
from .show import emit_json, working, write_file


def run(
    mechanism: Mechanism,
    file: str,
    output: Path,
    duration: float | None,
    start: list[str],
    speeds: list[str],
    drives: list[str],
    budget: float,
    by: Sequence[str] | None,
    base: str | None,
    closure: float | None,
    as_json: bool,
) -> None:
    if output.suffix.lower() not in (".html", ".htm"):
        raise FileError("is no .html file", where=str(output), remedy="name one")
    q0, qd0 = numbers(mechanism, start), numbers(mechanism, speeds, "qd0")
    with working(f"making the page of {mechanism.name}"):
        given = assignments(drives)
        text = page(mechanism, file, duration, q0, budget, by, base, qd0, given, closure)
    write_file(output, text)
    size = len(text.encode())
    if as_json:
        emit_json({"file": str(output), "bytes": size, "digest": mechanism.digest})
    else:
        print(f"{output} ({size / 1000:.0f} kB)")
