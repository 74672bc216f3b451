"""The page that shows the equations of several formulations side by side."""

from __future__ import annotations

from markupsafe import Markup

from ..comparison.equation_comparison import EquationComparison
from .formula_markup import page_section_html
from .page_figures import figure_html
from .rendering import render_template
from .report_page import page_html_document

MAX_OPEN_MARKUP = 40_000
"""Characters of a section's markup that is shown at once; a longer one unfolds."""


def equation_comparison_page(found: EquationComparison) -> str:
    """Return the page with the counts as a table and a figure, and a column of equations for each
    formulation; it needs no network and no other file."""
    table = found.table()
    columns = []
    for one in found.forms:
        sections = [(s.source, page_section_html(s)) for s in one.sections]
        columns.append(
            {
                "by": one.by,
                "title": one.source.title,
                "counts": one.source.counts.text(),
                "sections": sections,
                "symbols": one.source.symbols,
            }
        )
    body = render_template(
        "equation_comparison.html",
        name=found.mechanism,
        head=table.column_heads,
        rows=table.rows,
        notes=table.notes,
        drawing=figure_html(
            found.figure(), "Sizes of the equations, and of the matrices that are solved.", "sizes"
        )
        if found.forms
        else Markup(),
        columns=columns,
        longest=MAX_OPEN_MARKUP,
    )
    return page_html_document(f"{found.mechanism}: equations", body)
