"""Tables of studies as text, Markdown and CSV; files by their endings."""

from __future__ import annotations

import csv
import io
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..displays import NotebookDisplayed, NotebookTable
from ..errors import FileError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance
    from matplotlib.figure import Figure

FIGURE_FORMATS = ("svg", "pdf", "png")


@dataclass(frozen=True)
class TextTable:
    """Cells as text, the first of each row its name; notes stand below."""

    title: str
    column_heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """Columns aligned for a terminal."""
        whole = [self.column_heads, *self.rows]
        widths = [max(len(row[k]) for row in whole) for k in range(len(self.column_heads))]
        lines = ["  ".join(_align_cells(row, widths)).rstrip() for row in whole]
        return "\n".join([self.title, *lines, *self.notes])

    def markdown(self) -> str:
        rule = ("---", *("---:" for _ in self.column_heads[1:]))
        rows = [_markdown_row(cells) for cells in (self.column_heads, rule, *self.rows)]
        notes = [f"- {_escape_cell(note)}" for note in self.notes]
        return "\n".join(
            [f"### {_escape_cell(self.title)}", "", *rows, *["", *notes][: 99 if notes else 0]]
        )


def _align_cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = row
    return [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escape_cell(cell) for cell in cells)} |"


def _escape_cell(text: str) -> str:
    """Text that cannot break out of a cell or a line."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


class SavableResult(NotebookDisplayed):
    """A study that can be printed and saved."""

    def tables(self) -> Sequence[TextTable]:
        return [self.table()]

    @abstractmethod
    def table(self) -> TextTable:
        """The figures that are shown."""

    @abstractmethod
    def records(self) -> Sequence[DataclassInstance]:
        """All figures, dataclasses of one kind: the rows of the CSV."""

    def __str__(self) -> str:
        return "\n\n".join(table.text() for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(
            NotebookTable(table.column_heads, table.rows, table.notes).to_html(table.title)
            for table in self.tables()
        )

    def markdown(self) -> str:
        return "\n\n".join(table.markdown() for table in self.tables()) + "\n"

    def csv(self) -> str:
        """Every figure with all its digits."""
        out = io.StringIO()
        rows = [asdict(record) for record in self.records()]
        writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def figure(self) -> Figure:
        """Cost as a picture."""
        from .cost_figures import draw_cost_figure

        return draw_cost_figure(self)

    def save(self, path: str | Path) -> None:
        """Save by the file's ending: .md and .csv tables; .svg, .pdf, .png the figure."""
        from ..show.figure_style import save, write_whole_file

        target = Path(path)
        kind = check_file_ending(target)
        if kind in FIGURE_FORMATS:
            save(self.figure(), target)
        else:
            write_whole_file(target, (self.markdown() if kind == "md" else self.csv()).encode())


def check_file_ending(path: Path) -> str:
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("md", "csv", *FIGURE_FORMATS):
        raise FileError(
            f"'{path.suffix}' is not a format for comparisons", where=str(path),
            remedy="use .md, .csv, .svg, .pdf or .png",
        )  # fmt: skip
    return kind
