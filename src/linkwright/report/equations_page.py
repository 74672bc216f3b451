"""Pages with the equations of one formulation, or of several side by side."""

from __future__ import annotations

from dataclasses import replace

from markupsafe import Markup

from ..comparison.equation_comparison import EquationComparison
from ..forms.equation_set_typesetting import TypesetEquationSet
from .formula_markup import page_section_html, page_symbol_rows
from .page_figures import figure_html
from .rendering import render_template
from .report_page import page_html_document

MAX_OPEN_MARKUP = 40_000
"""Characters of a section's markup that is shown at once; a longer one unfolds."""


def equation_set_page(name: str, found: TypesetEquationSet) -> str:
    """Return the page with the equations of one formulation in its own form and symbols."""
    body = render_template(
        "derive.html", name=name, one=_equation_set_parts(found), longest=MAX_OPEN_MARKUP
    )
    return page_html_document(f"{name}, by {found.by}", body)


def equation_comparison_page(found: EquationComparison) -> str:
    """Return the page with the counts as a table and a figure, and the equations of each
    formulation; it needs no network and no other file."""
    table = found.table()
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
        columns=[_equation_set_parts(one) for one in found.forms],
        longest=MAX_OPEN_MARKUP,
    )
    return page_html_document(f"{found.mechanism}: equations", body)


def _equation_set_parts(one: TypesetEquationSet) -> dict[str, object]:
    """The parts of a set of equations for templates."""
    return {
        "by": one.by,
        "title": one.source.title,
        "counts": one.source.counts.text(),
        "sections": [(replace(s.source, note=s.note), page_section_html(s)) for s in one.sections],
        "symbols": page_symbol_rows(one),
    }
