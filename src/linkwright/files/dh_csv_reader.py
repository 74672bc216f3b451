"""Denavit–Hartenberg tables as CSV: a header, a row for each joint; `# convention: …` at the
top."""

from __future__ import annotations

import csv
import re

from ..errors import FileError, suggest_remedy
from ..mechanism import Mechanism, replace_part_fields
from .dh_reader import DHLink, build_dh_mechanism

_NESTED_COLUMNS = {
    "cx": "center[0]", "cy": "center[1]", "cz": "center[2]",
    **{f"I{m}": f"inertia.{m}" for m in ("xx", "yy", "zz", "xy", "xz", "yz")},
    "Jm": "motor.inertia", "G": "motor.ratio",
}  # fmt: skip
"""Columns of numbers that TOML keeps in lists and tables."""

_PLAIN_COLUMNS = [
    key for key in DHLink.model_fields if key not in ("center", "inertia", "motor", "limits")
]
_KNOWN_COLUMNS = [*_PLAIN_COLUMNS, *_NESTED_COLUMNS]
_COMMENT_KEY = re.compile(r"#\s*(\w+)\s*:(.*)")


def read_dh_csv(text: str, convention: str | None = None) -> Mechanism:
    """Return the mechanism in the text of a `.dh.csv` file."""
    lines = text.splitlines()
    fields, others = _read_dh_csv_comments([line for line in lines if line.startswith("#")])
    rows = _read_dh_csv_rows([line for line in lines if line.strip() and not line.startswith("#")])
    mechanism = build_dh_mechanism(fields, rows, convention, _dh_csv_place)
    return replace_part_fields(mechanism, unused=tuple(others))


def _dh_csv_place(number: int, key: str) -> str:
    """Return the place of a link's key in the table, for error messages."""
    column = next((name for name, nested in _NESTED_COLUMNS.items() if nested == key), key)
    return f"row {number}, column {column}" if column else f"row {number}"


def _read_dh_csv_comments(lines: list[str]) -> tuple[dict[str, object], list[str]]:
    """Return the keys that comments set for the whole table, and similar comments without a
    meaning."""
    fields: dict[str, object] = {}
    others = []
    for line in lines:
        found = _COMMENT_KEY.match(line)
        if found is None:
            continue
        key, value = found[1], found[2].strip()
        if key not in ("convention", "name", "gravity"):
            others.append(f"the comment '{line[:80]}'")
            continue
        if key in fields:
            raise FileError("is given twice", where=f"# {key}", remedy="remove one of them")
        fields[key] = value.split(",") if key == "gravity" else value
    return fields, others


def _read_dh_csv_rows(lines: list[str]) -> list[dict[str, object]]:
    """Return the rows below the header as tables by key."""
    reader = csv.reader(lines, strict=True)
    found: list[dict[str, object]] = []
    try:
        header = [name.strip() for name in next(reader, [])]
        _check_dh_csv_header(header)
        for cells in reader:
            found.append(_read_dh_csv_row(header, [cell.strip() for cell in cells], len(found) + 1))
    except csv.Error as error:
        where = f"row {len(found) + 1}"
        raise FileError(f"is not valid CSV: {error}", where=where) from None
    return found


def _check_dh_csv_header(header: list[str]) -> None:
    """Raise where a column is unknown or given twice."""
    for number, name in enumerate(header):
        if name not in _KNOWN_COLUMNS:
            remedy = suggest_remedy(name, _KNOWN_COLUMNS)
            raise FileError(f"unknown column '{name[:40]}'", where="header", remedy=remedy)
        if name in header[:number]:
            remedy = "remove one of them"
            raise FileError(f"has the column '{name}' twice", where="header", remedy=remedy)


def _read_dh_csv_row(header: list[str], cells: list[str], number: int) -> dict[str, object]:
    """Return a row as the table that TOML would have; empty cells are left out."""
    if len(cells) != len(header):
        what = f"has {len(cells)} cells, and the header {len(header)}"
        raise FileError(what, where=f"row {number}", remedy="separate as many by commas")
    given = {name: cell for name, cell in zip(header, cells, strict=True) if cell}
    if not given:
        raise FileError("is empty", where=f"row {number}", remedy="remove it")
    link: dict[str, object] = {name: cell for name, cell in given.items() if name in _PLAIN_COLUMNS}
    center = {"cx", "cy", "cz"} & given.keys()
    if center:
        link["center"] = [given.get(name, "0") for name in ("cx", "cy", "cz")]
    tables: dict[str, dict[str, str]] = {}
    for name, nested in _NESTED_COLUMNS.items():
        table, dot, key = nested.partition(".")
        if dot and name in given:
            tables.setdefault(table, {})[key] = given[name]
    return {**link, **tables}
