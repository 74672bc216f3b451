"""Tables with one design in each row: .csv and .parquet files, and tables of pandas."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

from ..errors import FileError, MissingExtraError


class ColumnTable(Protocol):
    """A table with named columns, such as pandas.DataFrame."""

    @property
    def columns(self) -> Any:
        """The names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Return a column."""


DesignTable = Mapping[str, object] | ColumnTable | str | Path
"""What varies: factors by name, or a table with one design in each row."""


def read_design_table(given: object) -> dict[str, list[object]] | None:
    """Return the columns of a table; None for factors by name."""
    if isinstance(given, str | Path):
        path = Path(given)
        return _read_parquet(path) if path.suffix == ".parquet" else _read_csv(path)
    columns = getattr(given, "columns", None)
    if columns is None or isinstance(given, Mapping):
        return None
    table: Any = given
    names = [str(name) for name in columns]
    _check_names(names, "vary")
    return dict(zip(names, (list(table[name]) for name in columns), strict=True))


def _read_parquet(path: Path) -> dict[str, list[object]]:
    """Return the columns of a .parquet file."""
    try:
        from pyarrow.parquet import read_table
    except ImportError:
        raise MissingExtraError(
            f"{path} needs pyarrow, which is not installed",
            remedy="install pyarrow, or write the designs as .csv",
        ) from None
    try:
        table = read_table(path)
    except (OSError, ValueError) as error:  # pyarrow's errors are of these
        why = getattr(error, "strerror", None) or "it is not a table"
        raise FileError(f"cannot be read: {why}", where=str(path)) from None
    _check_names(table.column_names, str(path))
    return {name: table[name].to_pylist() for name in table.column_names}


def _read_csv(path: Path) -> dict[str, list[object]]:
    """Return the columns of a .csv file with one design in each row."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            text = file.read()
        names = text.partition("\n")[0]
        separator = next((one for one in (",", ";", "\t") if one in names), ",")
        lines = csv.reader(StringIO(text, newline=""), delimiter=separator)
        rows = [row for row in lines if any(cell.strip() for cell in row)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or "it is not a table"
        raise FileError(f"cannot be read: {why}", where=str(path)) from None
    if len(rows) < 2:
        raise FileError(
            "has no designs", where=str(path), remedy="write the factors at its top, then rows"
        )
    head = [cell.strip() for cell in rows[0]]
    _check_names(head, str(path))
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(head):
            raise FileError(
                f"row {number} has {len(row)} values, its head has {len(head)}", where=str(path)
            )
    return {name: [row[k].strip() for row in rows[1:]] for k, name in enumerate(head)}


def _check_names(names: list[str], where: str) -> None:
    """Raise for a column without a name, and for two with one."""
    for name in names:
        if not name:
            raise FileError(
                f"column {names.index(name) + 1} has no name",
                where=where,
                remedy="remove it (pandas writes its index unless index=False)",
            )
        if names.count(name) > 1:
            raise FileError(f"has two columns '{name}'", where=where, remedy="remove one")
