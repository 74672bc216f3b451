"""Tables of comparisons as text, Markdown and CSV, saved by the file's ending."""

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
class ComparisonTable:
    """A table of text; the first cell of a row is its name, and notes follow below."""

    title: str
    column_heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def text(self) -> str:
        """The table with aligned columns, for a terminal."""
        whole = [self.column_heads, *self.rows]
        widths = [max(len(row[k]) for row in whole) for k in range(len(self.column_heads))]
        lines = ["  ".join(_align_comparison_cells(row, widths)).rstrip() for row in whole]
        return "\n".join([self.title, *lines, *self.notes])

    def markdown(self) -> str:
        """The table in Markdown: a title, aligned columns, and the notes as a list."""
        rule = ("---", *("---:" for _ in self.column_heads[1:]))
        rows = [_comparison_markdown_row(cells) for cells in (self.column_heads, rule, *self.rows)]
        notes = [f"- {_escape_comparison_cell(note)}" for note in self.notes]
        return "\n".join(
            [
                f"### {_escape_comparison_cell(self.title)}",
                "",
                *rows,
                *["", *notes][: 99 if notes else 0],
            ]
        )


def _align_comparison_cells(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = row
    return [first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(others, widths[1:], strict=True))]


def _comparison_markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(_escape_comparison_cell(cell) for cell in cells)} |"


def _escape_comparison_cell(text: str) -> str:
    """Text that stays within one cell and one line of Markdown."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


class SavableComparison(NotebookDisplayed):
    """A comparison that can be printed and saved."""

    def tables(self) -> Sequence[ComparisonTable]:
        """Return all tables of the comparison, in the order in which they are printed."""
        return [self.table()]

    @abstractmethod
    def table(self) -> ComparisonTable:
        """Return the table that is printed first."""

    @abstractmethod
    def records(self) -> Sequence[DataclassInstance]:
        """Return all figures as dataclasses of one kind: the rows of the CSV file."""

    def __str__(self) -> str:
        return "\n\n".join(table.text() for table in self.tables())

    def _repr_html_(self) -> str:
        return "".join(
            NotebookTable(table.column_heads, table.rows, table.notes).to_html(table.title)
            for table in self.tables()
        )

    def markdown(self) -> str:
        """Return all tables in Markdown."""
        return "\n\n".join(table.markdown() for table in self.tables()) + "\n"

    def csv(self) -> str:
        """Return all figures with all digits, as the text of a CSV file."""
        out = io.StringIO()
        rows = [asdict(record) for record in self.records()]
        writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def figure(self) -> Figure:
        """Return a figure of the costs."""
        from .cost_figures import draw_formulation_costs

        return draw_formulation_costs(self)

    def save(self, path: str | Path) -> None:
        """Save in the format that the ending of the file `path` names.

        .md and .csv are tables; .svg, .pdf and .png are figures.
        """
        from ..show.figure_style import save, write_figure_file

        target = Path(path)
        kind = comparison_file_format(target)
        if kind in FIGURE_FORMATS:
            save(self.figure(), target)
        else:
            write_figure_file(target, (self.markdown() if kind == "md" else self.csv()).encode())


def comparison_file_format(path: Path) -> str:
    """The format that a file's ending names: md, csv or a figure format; else an error."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("md", "csv", *FIGURE_FORMATS):
        raise FileError(
            f"'{path.suffix}' is not a format for comparisons",
            where=str(path),
            remedy="use .md, .csv, .svg, .pdf or .png",
        )
    return kind
