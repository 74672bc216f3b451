"""The files of a homework folder: which ones are texts, and the equations in each."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..errors import FileError
from .documents import extract_document_equations
from .statement_reader import MAX_TEXT_LENGTH

TEXT_ENDINGS = (".txt", ".tex", ".md")
MAX_HOMEWORK_TEXTS = 5_000


def find_homework_texts(root: Path, solution: Path | None) -> tuple[list[Path], list[str]]:
    """The texts of a folder in the order of their names, and the names of other files."""
    if not root.is_dir():
        what = "is not a folder" if os.path.lexists(root) else "no such folder"
        raise FileError(what, where=str(root), remedy="name a folder with texts")
    found, skipped = [], []
    for place, folders, files in os.walk(root, onerror=_raise_unreadable_homework):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in files:
            path = Path(place, name)
            if name.startswith(".") or (
                solution is not None and _is_model_solution_file(path, solution)
            ):
                continue
            if path.suffix.lower() in TEXT_ENDINGS:
                found.append(path)
            else:
                skipped.append(path.relative_to(root).as_posix())
    if not found:
        kinds = ", ".join(TEXT_ENDINGS)
        raise FileError("has no texts", where=str(root), remedy=f"texts end in {kinds}")
    if len(found) > MAX_HOMEWORK_TEXTS:
        raise FileError(
            f"has {len(found)} texts, more than {MAX_HOMEWORK_TEXTS}",
            where=str(root),
            remedy="check it in parts",
        )
    return sorted(found, key=lambda path: _homework_sort_key(path.as_posix())), sorted(skipped)


def _raise_unreadable_homework(error: OSError) -> None:
    raise FileError(f"cannot be read: {error.strerror}", where=str(error.filename))


def _is_model_solution_file(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _homework_sort_key(text: str) -> list[tuple[int, str]]:
    """The order of people: text2 before text10."""
    parts = re.split(r"(\d+)", text.casefold())
    return [(int(part[:18]), part) if part.isdecimal() else (0, part) for part in parts]


def read_homework_document(path: Path) -> str:
    """The equations of a file as text."""
    try:
        if not path.is_file():
            exists = os.path.lexists(path)
            what = "is not a regular file" if exists else "no such file"
            raise FileError(what, where=str(path))
        if path.stat().st_size > 4 * MAX_TEXT_LENGTH:
            raise FileError(f"has more than {4 * MAX_TEXT_LENGTH} bytes", where=str(path))
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if not data.strip():
        raise FileError("is empty", where=str(path))
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        raise FileError(
            "is not UTF-8 text", where=str(path), remedy="save it in this encoding"
        ) from None
    if "\0" in text:
        raise FileError("is a binary file, not text", where=str(path))
    found = extract_document_equations(text, path.suffix.lower())
    return f"{found}\n"  # so that a line without '=' is never taken for the name of a file
