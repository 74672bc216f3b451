"""Displays of results: one line for `repr`, text for `print`, HTML in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


class SummarizedResult(ABC):
    """A result with a short `repr`; `str` has more to tell where a class defines it."""

    @abstractmethod
    def summary(self) -> str:
        """A description in one line."""

    def __repr__(self) -> str:
        return f"<{self.summary()}>"

    def __str__(self) -> str:
        return self.summary()


@dataclass(frozen=True)
class NotebookTable:
    """A small table: the heads of its columns, rows of cells, and sentences below it."""

    heads: Sequence[str]
    rows: Iterable[Sequence[object]]
    notes: Sequence[str] = ()

    def to_html(self, caption: str) -> str:
        """Return the table as HTML; text is escaped, numbers have six digits and stand right."""
        head = "".join(f"<th>{escape(text)}</th>" for text in self.heads)
        body = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in self.rows)
        title = f'<caption style="text-align:left">{escape(caption)}</caption>'
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _html_cell(value: object) -> str:
    """Return a cell of an HTML table."""
    is_number = isinstance(value, float | int) and not isinstance(value, bool)
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f'<td style="text-align:{"right" if is_number else "left"}">{escape(text)}</td>'


class NotebookDisplayed(SummarizedResult):
    """A result that notebooks display as a small table, or as its text in a fixed-width font."""

    def notebook_table(self) -> NotebookTable | None:
        """Return the table that a notebook displays; None: the text of the result."""
        return None

    def _repr_html_(self) -> str:
        table = self.notebook_table()
        return f"<pre>{escape(str(self))}</pre>" if table is None else table.to_html(self.summary())
