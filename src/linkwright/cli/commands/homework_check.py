"""`linkwright check FOLDER --mechanism FILE`: the marks of many texts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import FileError, LinkwrightError
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    print_console_table,
    show_command_progress,
    write_command_output,
)

if TYPE_CHECKING:
    from ...checking import Homework
    from ...mechanism import Mechanism

MAX_NAMED_TEXTS = 5
"""Number of texts that the last line names."""


def check_command_form(
    folder: str, equations: str | None, mechanism: str | None, options: Mapping[str, object]
) -> None:
    """Refuse a mixture of the two forms of the command: one text, and a folder of texts."""
    if mechanism is not None:
        _check_folder_form(folder, equations, mechanism)
        return
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise LinkwrightError(
            f"{given[0]} is for a folder of texts", remedy="add --mechanism and name the folder"
        )
    if equations is None:
        what, remedy = "the mechanism is missing", "add --mechanism FILE"
        if not os.path.isdir(folder):
            what = "the equations are missing"
            remedy = f"name a file with equations, or for a folder of texts {remedy}"
        raise LinkwrightError(what, where=folder, remedy=remedy)
    if os.path.isdir(equations):
        raise FileError(
            "is a folder",
            where=equations,
            remedy=f"write 'linkwright check {equations} --mechanism {folder}'",
        )


def _check_folder_form(folder: str, equations: str | None, mechanism: str) -> None:
    """Refuses a single text where a folder of texts is expected."""
    if equations is not None:
        raise LinkwrightError(
            f"--mechanism {mechanism} and the file {equations} are both given",
            remedy="write 'linkwright check FOLDER --mechanism FILE' for a folder of texts, "
            "'linkwright check FILE EQUATIONS' for one text",
        )
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise FileError(
            "is not a folder",
            where=folder,
            remedy=f"for one text write 'linkwright check {mechanism} {folder}'",
        )


def mark_folder_command(
    mechanism: Mechanism,
    folder: str,
    solution: str | None,
    names: Mapping[str, str],
    csv: Path | None,
    page: Path | None,
) -> CommandOutcome:
    """Check the texts of a folder and write the files; status 1 if something is wrong."""
    from ...checking import check_folder

    with show_command_progress(f"checking {folder}") as progress:
        homework = check_folder(
            mechanism,
            folder,
            solution=solution,
            names=names,
            progress=lambda name: progress(f"checking {name}"),
        )
    if csv is not None:
        write_command_output(csv, homework.to_csv())
    if page is not None:
        write_command_output(page, homework.to_html())
    return CommandOutcome(
        homework.as_json(),
        lambda: _print_mark_table(homework),
        failure=_folder_command_failure(homework),
    )


def _folder_command_failure(homework: Homework) -> LinkwrightError | None:
    """Returns the error if no text could be read or some text is not right."""
    if all(text.report is None for text in homework):
        first = homework[0]
        return FileError(
            f"none of its texts could be read; {first.name}: {first.problem}", where=homework.folder
        )
    failed = [text.name for text in homework if not text.passed]
    if not failed:
        return None
    listed = ", ".join(failed[:MAX_NAMED_TEXTS]) + (", …" if len(failed) > MAX_NAMED_TEXTS else "")
    return CheckFailedError(f"not all right in {len(failed)} of {len(homework)} texts: {listed}")


def _print_mark_table(homework: Homework) -> None:
    """Print the table of marks, and what was not checked."""
    keys = ["equations", "identical", "equivalent", "wrong", "with_repair", "undecided"]
    keys += ["unreadable", *(["present", "missing"] if homework.solution else [])]
    heads = {"identical": "right", "with_repair": "with repair"}
    rows = []
    for text in homework:
        row, mark = text.row(), f"{int(100 * text.mark + 1e-9)} %"
        rows.append((text.name, mark, *(row[key] for key in keys), row["remark"]))
    print_console_table(["text", "mark", *(heads.get(key, key) for key in keys), "remark"], rows)
    if homework.skipped:
        print(f"not checked (not .txt, .tex or .md): {', '.join(homework.skipped)}")
