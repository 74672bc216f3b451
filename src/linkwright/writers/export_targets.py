"""The table of targets of `export`: a row for each, file formats first.

A target that writes code imports its printer when it is used. A new target is a new row.
"""

from __future__ import annotations

from .export_target import ExportedFiles, ExportRequest, ExportTarget
from .mechanism_files import FORMAT_WRITERS, write_mechanism_text


def _make_format_target(name: str) -> ExportTarget:
    """Make the target of a file format of mechanisms."""

    def write_format(request: ExportRequest) -> ExportedFiles:
        text, lost = write_mechanism_text(request.mechanism, name)
        return ExportedFiles(name, {f"{request.file_stem}.{name}": text}, tuple(lost))

    return ExportTarget(name, f"the mechanism as a {name.upper()} file", write_format)


_CODE_TARGETS: tuple[ExportTarget, ...] = ()
"""Targets that write functions as source code or binary code."""

EXPORT_TARGETS: dict[str, ExportTarget] = {
    target.name: target for target in (*map(_make_format_target, FORMAT_WRITERS), *_CODE_TARGETS)
}
"""All targets by the names that users write after `to=` and `--to`."""
