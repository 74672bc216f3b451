"""Equations as HTML that fit any width: a paragraph for each entry, with line breaks between
terms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from markupsafe import Markup, escape

from ..expressions import Expression
from ..expressions.formula_breaks import ExpressionBreaker
from ..expressions.tree import Number
from ..expressions.typeset import ExpressionTypesetter, MathmlNotation
from ..forms.equation_set_typesetting import TypesetEquationSet, TypesetLine, TypesetSection
from ..forms.equation_symbols import grouped_symbols
from ..forms.quantity_typesetting import TypesetQuantity
from ..written_equations import EquationTable
from .rendering import render_template, typeset_page_law

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


def page_section_html(section: TypesetSection) -> Markup:
    """Returns the lines and quantities of a section of equations as HTML."""
    setter = ExpressionTypesetter(MathmlNotation(), section.rates)
    breaker = ExpressionBreaker(setter)
    steps, rows = (
        [_line_markup_pieces(breaker, line) for line in lines]
        for lines in (section.steps, section.lines)
    )
    if section.source.table is not None:
        own = render_template("formulas.html", steps=steps, rows=[], note="") if steps else Markup()
        own += _table_html(breaker, section.source.table, section.cells)
    elif rows:
        own = render_template("formulas.html", steps=steps, rows=rows, note="")
    else:
        own = Markup()
    return own + Markup().join(
        _zero_quantity_html(one) if is_zero_page_formula(one) else page_formula_html(one)
        for one in section.quantities
    )


def page_symbol_rows(found: TypesetEquationSet) -> list[tuple[Markup, Markup]]:
    """Returns the symbols of a set of equations, typeset, with their meanings."""
    setter = ExpressionTypesetter(MathmlNotation(), found.rates)
    return [
        (
            Markup(", ").join(Markup(f"<math>{setter.entry(name)}</math>") for name in names),
            typeset_page_law(meaning),
        )
        for names, meaning in grouped_symbols(found.source.symbols)
    ]


def _table_html(
    breaker: ExpressionBreaker, table: EquationTable, cells: Sequence[Expression]
) -> Markup:
    """Returns a table of expressions, with as few columns as possible."""
    n, set_ = len(table.columns), breaker.setter
    names = [
        [Markup(f"<math>{set_.name(x)}</math>") for x in row] for row in (table.columns, table.rows)
    ]
    body = [
        [[Markup(piece) for piece in breaker.formula_pieces(cell)] for cell in cells[n * i :][:n]]
        for i in range(len(table.rows))
    ]
    if len(table.rows) < n:
        names, body = names[::-1], [list(column) for column in zip(*body, strict=True)]
    return render_template("cells.html", corner=table.corner, names=names, rows=body)


def _line_markup_pieces(breaker: ExpressionBreaker, line: TypesetLine) -> list[Markup]:
    """Returns the pieces of a line, whose left side may end lines, too, and its number."""
    if isinstance(line.left, str):
        left, names = list[Markup](), [line.typeset_left(breaker.setter)]
    else:
        *before, last = breaker.formula_pieces(line.left)
        left, names = [Markup(piece) for piece in before], [last]
    pieces = left + _equation_markup_pieces(breaker, names, line.right)
    number = f'<span class="number">({escape(line.number)})</span>'
    return pieces + ([Markup(number)] if line.number else [])


def _zero_quantity_html(sheet: TypesetQuantity) -> Markup:
    """Returns the equation f = 0 of a quantity whose entries are all zero."""
    setter = ExpressionTypesetter(MathmlNotation(), sheet.dotted_symbols)
    symbol = sheet.rows[0][0][0].partition("[")[0]
    breaker = ExpressionBreaker(setter)
    row = _equation_markup_pieces(breaker, [setter.name(symbol)], _ZERO_NUMBER)
    return render_template("formulas.html", steps=[], rows=[row], note="")


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
