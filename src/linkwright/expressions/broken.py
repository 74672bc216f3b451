"""Long formulas in pieces that fit anywhere: where lines end is for the reader's paper or screen to
decide."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .printing import to_text
from .tree import Call, Expression, Negation, Power, Product, Reciprocal, Sum
from .typeset import _ATOM, _POWER, _PRODUCT, _SUM, MathmlSetter, Typesetter, minus

PIECE = 30
"""Characters that stay together: what fits on a line of a phone."""
_LEADING = 10
"""Characters of factors that stay with the parenthesis after them."""


class Breaker:
    """Sets expressions as MathML in pieces; lines may end between any two."""

    def __init__(self, setter: Typesetter) -> None:
        assert isinstance(setter.setter, MathmlSetter)
        self.setter = setter

    def pieces(self, expression: Expression, level: int = _SUM) -> list[str]:
        """In their order; `level` is how tightly what stands around binds."""
        if len(to_text(expression)) <= PIECE:
            return [self.setter.within(expression, level)]
        match expression:
            case Sum(terms):
                return _enclosed(self._sum(terms), level > _SUM)
            case Negation(operand):
                return _enclosed(_led("−", self.pieces(operand, _PRODUCT)), level > _SUM)
            case Product(factors):
                return _enclosed(self._product(factors), level > _PRODUCT)
            case Power(base, exponent):
                *start, last = self.pieces(base, _ATOM)
                power = self.setter.setter.power(_row(last), self.setter.set(exponent))
                return _enclosed([*start, power], level > _POWER)
            case Call(function, (inner,)):
                first, *more = _enclosed(self.pieces(inner), True)
                name = "<mo>√</mo>" if function == "sqrt" else f"<mi>{function}</mi>"
                return [_row(name + first), *more]
            case _:
                return [self.setter.within(expression, level)]

    def _sum(self, terms: Sequence[Expression]) -> list[str]:
        found: list[str] = []
        for place, term in enumerate(terms):
            negative = minus(term)
            some = self.pieces(term if negative is None else negative, _PRODUCT)
            sign = "−" if negative is not None else "+" if place else ""
            found += _led(sign, some, infix=place > 0)
        return found

    def _product(self, factors: Sequence[Expression]) -> list[str]:
        top = [f for f in factors if not isinstance(f, Reciprocal)]
        bottom = [f.operand for f in factors if isinstance(f, Reciprocal)]
        above = self._row(top) if top else [self.setter.setter.number("1")]
        if not bottom:
            return above
        below = self._row(bottom)
        return [*above, *_led("/", _enclosed(below, len(bottom) > 1))]

    def _row(self, factors: Sequence[Expression]) -> list[str]:
        """Factors that fit beside each other stay so."""
        found: list[str] = []
        size = 0
        for factor in factors:
            some, length = self.pieces(factor, _POWER), len(to_text(factor))
            fits = len(some) == 1 and size + length <= PIECE
            leads = size <= _LEADING and size + _shown(some[0]) <= PIECE + _LEADING // 2
            together = fits or leads
            if found and together:
                found[-1] = _row(found[-1] + self.setter.setter.operator("·") + some.pop(0))
            found += some
            size = size + length if together else length
        return found


def _led(sign: str, pieces: list[str], infix: bool = False) -> list[str]:
    """With a sign before the first."""
    if not sign:
        return pieces
    form = ' form="infix" lspace="0"' if infix else ""
    return [_row(f"<mo{form}>{sign}</mo>{pieces[0]}"), *pieces[1:]]


def _enclosed(pieces: list[str], needed: bool) -> list[str]:
    """In parentheses."""
    if not needed:
        return pieces
    found = [_row(f'<mo stretchy="false">(</mo>{pieces[0]}'), *pieces[1:]]
    return [*found[:-1], _row(f'{found[-1]}<mo stretchy="false">)</mo>')]


def _shown(piece: str) -> int:
    """Characters of a piece, without its markup."""
    return len(re.sub(r"<[^>]*>|&[^;]*;", "", piece))


def _row(inner: str) -> str:
    return f"<mrow>{inner}</mrow>"
