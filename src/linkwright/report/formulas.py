"""Equations that fit on any width: one entry a paragraph, whose lines end where there is room."""

from __future__ import annotations

from fractions import Fraction

from ..expressions import Expression
from ..expressions.broken import Breaker
from ..expressions.tree import Number
from ..expressions.typeset import MathmlSetter, Typesetter
from ..forms.sheet import Sheet
from .markup import Html, html, joined

_ZERO = Number(Fraction(0))
_NAMED = 4
"""Entries that are zero and still named one by one."""


def formulas(sheet: Sheet) -> Html:
    """All rows of a sheet; entries that are zero come last, together."""
    setter = Typesetter(MathmlSetter(), sheet.dotted)
    breaker = Breaker(setter)
    steps = [_equal(breaker, [setter.name(step)], value) for step, value in sheet.steps]
    found = [html('<div class="steps">{}</div>', joined(steps))] if steps else []
    rows = _merged(sheet)
    zero = rows.pop(_ZERO, [])
    for value, labels in rows.items():
        found.append(_equal(breaker, [setter.entry(label) for label in labels], value))
    if zero and not rows:
        found.append(html("<p>{}</p>", "It is 0." if len(zero) == 1 else "All entries are 0."))
    elif len(zero) > _NAMED:
        found.append(html("<p>All other entries are 0.</p>"))
    elif zero:
        found.append(_equal(breaker, [setter.entry(label) for label in zero], _ZERO))
    return html('<div class="equations">{}</div>', joined(found))


def is_zero(sheet: Sheet) -> bool:
    return all(value == _ZERO for _, value in sheet.rows)


def _merged(sheet: Sheet) -> dict[Expression, list[str]]:
    """Entries by what they are, in the order of the first of each."""
    found: dict[Expression, list[str]] = {}
    for labels, value in sheet.rows:
        found.setdefault(value, []).extend(labels)
    return found


def _equal(breaker: Breaker, names: list[str], value: Expression) -> Html:
    pieces = [f"<mrow>{name}<mo>=</mo></mrow>" for name in names] + breaker.pieces(value)
    return html("<p>{}</p>", joined(Html(f"<math>{piece}</math> ") for piece in pieces))
