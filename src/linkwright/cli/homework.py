"""`linkwright check FOLDER --mechanism FILE`: the marks of many texts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..checking import Homework, check_folder
from ..errors import FileError, LinkwrightError
from ..mechanism import Mechanism
from .show import CheckFailedError, emit_json, print_table, working, write_file

NAMED = 5
"""Texts that are named in the last line."""


def check_words(
    folder: str,
    equations: str | None,
    mechanism: str | None,
    options: Mapping[str, object],
) -> bool:
    """Whether a folder is to be checked; an error for a mixture of both forms."""
    if mechanism is not None:
        if equations is not None:
            raise LinkwrightError(
                f"--mechanism {mechanism} and the file {equations} are both given",
                remedy="write 'linkwright check FOLDER --mechanism FILE' for a folder of texts, "
                "'linkwright check FILE EQUATIONS' for one text",
            )
        if os.path.lexists(folder) and not os.path.isdir(folder):
            raise FileError(
                "is not a folder", where=folder,
                remedy=f"for one text write 'linkwright check {mechanism} {folder}'",
            )  # fmt: skip
        return True
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise LinkwrightError(
            f"{given[0]} is for a folder of texts", remedy="add --mechanism and name the folder"
        )
    if equations is None:
        if os.path.isdir(folder):
            raise LinkwrightError(
                "the mechanism is missing", where=folder, remedy="add --mechanism FILE"
            )
        raise LinkwrightError(
            "the equations are missing", where=folder,
            remedy="name a file with equations, or for a folder of texts add --mechanism FILE",
        )  # fmt: skip
    if os.path.isdir(equations):
        raise FileError(
            "is a folder", where=equations,
            remedy=f"write 'linkwright check {equations} --mechanism {folder}'",
        )  # fmt: skip
    return False


def check_targets(csv: Path | None, page: Path | None) -> None:
    """An error before the work, not after it, for files that cannot be written."""
    for path, ending in ((csv, ".csv"), (page, ".html")):
        if path is None:
            continue
        if path.suffix.lower() != ending:
            raise FileError(
                f"does not end in {ending}", where=str(path), remedy=f"name a {ending} file"
            )
        if not path.parent.is_dir():
            raise FileError("its folder does not exist", where=str(path), remedy="make it first")


def mark_folder(
    mechanism: Mechanism,
    folder: str,
    solution: str | None,
    names: Mapping[str, str],
    csv: Path | None,
    page: Path | None,
    as_json: bool,
) -> None:
    """Prints the marks and writes the files; status 1 where something is not right."""
    check_targets(csv, page)
    with working(f"checking {folder}") as progress:
        homework = check_folder(
            mechanism, folder, solution=solution, names=names,
            progress=lambda name: progress(f"checking {name}"),
        )  # fmt: skip
    if csv is not None:
        write_file(csv, homework.to_csv())
    if page is not None:
        write_file(page, homework.to_html())
    emit_json(homework.as_json()) if as_json else print_marks(homework)
    _finish(homework)


def _finish(homework: Homework) -> None:
    if all(text.report is None for text in homework):
        first = homework[0]
        raise FileError(
            f"none of its texts could be read; {first.name}: {first.problem}",
            where=homework.folder,
        )  # fmt: skip
    failed = [text.name for text in homework if not text.passed]
    if failed:
        listed = ", ".join(failed[:NAMED]) + (", …" if len(failed) > NAMED else "")
        raise CheckFailedError(f"not all right in {len(failed)} of {len(homework)} texts: {listed}")


def print_marks(homework: Homework) -> None:
    """The table of marks, and what was not checked."""
    keys = [
        "equations",
        "identical",
        "equivalent",
        "wrong",
        "with_repair",
        "undecided",
        "unreadable",
    ]
    keys += ["present", "missing"] if homework.solution else []
    words = {"identical": "right", "with_repair": "with repair"}
    head = ["text", "mark", *(words.get(key, key) for key in keys), "remark"]
    rows = []
    for text in homework:
        row = text.row()
        mark = f"{int(100 * text.mark + 1e-9)} %"
        rows.append((text.name, mark, *(row[key] for key in keys), row["remark"]))
    print_table(head, rows)
    if homework.skipped:
        print(f"not checked (not .txt, .tex or .md): {', '.join(homework.skipped)}")
