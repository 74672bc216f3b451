"""`linkwright report`: the page of a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import FileError
from ..expressions import parse, to_float
from ..mechanism import Mechanism
from ..report import page
from .inputs import assignments
from .show import emit_json, working, write_file


def run(
    mechanism: Mechanism,
    file: str,
    output: Path,
    duration: float,
    start: list[str],
    budget: float,
    by: Sequence[str] | None,
    base: str | None,
    as_json: bool,
) -> None:
    if output.suffix.lower() not in (".html", ".htm"):
        raise FileError("is no .html file", where=str(output), remedy="name one")
    q0 = {name: to_float(parse(text)) for name, text in assignments(start).items()}
    with working(f"making the page of {mechanism.name}"):
        text = page(mechanism, file, duration, q0, budget, by, base)
    write_file(output, text)
    size = len(text.encode())
    if as_json:
        emit_json({"file": str(output), "bytes": size, "digest": mechanism.digest})
    else:
        print(f"{output} ({size / 1000:.0f} kB)")
