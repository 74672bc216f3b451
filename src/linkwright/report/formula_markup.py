"""Equations as HTML that fit any width: a paragraph for each entry, with line breaks between
terms."""

from __future__ import annotations

from fractions import Fraction

from markupsafe import Markup

from ..expressions import Expression
from ..expressions.formula_breaks import ExpressionBreaker
from ..expressions.tree import Number
from ..expressions.typeset import ExpressionTypesetter, MathmlNotation
from ..forms.quantity_typesetting import TypesetQuantity
from .rendering import render_template

_ZERO_NUMBER = Number(Fraction(0))
_MAX_NAMED_ZEROS = 4
"""Entries that are zero and still named one by one."""


def page_formula_html(sheet: TypesetQuantity) -> Markup:
    """Returns all rows of a typeset quantity as HTML; entries that are zero come last, together."""
    setter = ExpressionTypesetter(MathmlNotation(), sheet.dotted_symbols)
    breaker = ExpressionBreaker(setter)
    steps = [
        _equation_markup_pieces(breaker, [setter.name(step)], value) for step, value in sheet.steps
    ]
    entries = _page_labels_by_value(sheet)
    zero = entries.pop(_ZERO_NUMBER, [])
    note = ""
    if zero and not entries:
        note = "It is 0." if len(zero) == 1 else "All entries are 0."
    elif len(zero) > _MAX_NAMED_ZEROS:
        note = "All other entries are 0."
    elif zero:
        entries[_ZERO_NUMBER] = zero
    rows = [
        _equation_markup_pieces(breaker, [setter.entry(label) for label in labels], value)
        for value, labels in entries.items()
    ]
    return render_template("formulas.html", steps=steps, rows=rows, note=note)


def is_zero_page_formula(sheet: TypesetQuantity) -> bool:
    """Whether all entries of a typeset quantity are zero."""
    return all(value == _ZERO_NUMBER for _, value in sheet.rows)


def _page_labels_by_value(sheet: TypesetQuantity) -> dict[Expression, list[str]]:
    """The labels of entries by their value, in the order of the first label of each."""
    found: dict[Expression, list[str]] = {}
    for labels, value in sheet.rows:
        found.setdefault(value, []).extend(labels)
    return found


def _equation_markup_pieces(
    breaker: ExpressionBreaker, names: list[str], value: Expression
) -> list[Markup]:
    """Returns the pieces of an equation, between which a line may end."""
    pieces = [f"<mrow>{name}<mo>=</mo></mrow>" for name in names] + breaker.formula_pieces(value)
    return [Markup(piece) for piece in pieces]
