"""Equations that fit on any width: one entry a paragraph, whose lines end where there is room."""

from __future__ import annotations

from fractions import Fraction

from markupsafe import Markup

from ..expressions import Expression
from ..expressions.broken import Breaker
from ..expressions.tree import Number
from ..expressions.typeset import MathmlSetter, Typesetter
from ..forms.sheet import Sheet
from .rendering import render

_ZERO = Number(Fraction(0))
_NAMED = 4
"""Entries that are zero and still named one by one."""


def formulas(sheet: Sheet) -> Markup:
    """Return all rows of a sheet; entries that are zero come last, together."""
    setter = Typesetter(MathmlSetter(), sheet.dotted)
    breaker = Breaker(setter)
    steps = [_equation(breaker, [setter.name(step)], value) for step, value in sheet.steps]
    entries = _merged(sheet)
    zero = entries.pop(_ZERO, [])
    note = ""
    if zero and not entries:
        note = "It is 0." if len(zero) == 1 else "All entries are 0."
    elif len(zero) > _NAMED:
        note = "All other entries are 0."
    elif zero:
        entries[_ZERO] = zero
    rows = [
        _equation(breaker, [setter.entry(label) for label in labels], value)
        for value, labels in entries.items()
    ]
    return render("formulas.html", steps=steps, rows=rows, note=note)


def is_zero(sheet: Sheet) -> bool:
    return all(value == _ZERO for _, value in sheet.rows)


def _merged(sheet: Sheet) -> dict[Expression, list[str]]:
    """Entries by what they are, in the order of the first of each."""
    found: dict[Expression, list[str]] = {}
    for labels, value in sheet.rows:
        found.setdefault(value, []).extend(labels)
    return found


def _equation(breaker: Breaker, names: list[str], value: Expression) -> list[Markup]:
    """Return the pieces of an equation, between which a line may end."""
    pieces = [f"<mrow>{name}<mo>=</mo></mrow>" for name in names] + breaker.pieces(value)
    return [Markup(piece) for piece in pieces]
