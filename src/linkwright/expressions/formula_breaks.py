"""Long formulas as MathML in short pieces, between which a page or screen may break lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .printing import expression_text
from .tree import Call, Expression, Negation, Power, Product, Reciprocal, Sum
from .typeset import (
    _ATOM_LEVEL,
    _POWER_LEVEL,
    _PRODUCT_LEVEL,
    _SUM_LEVEL,
    ExpressionTypesetter,
    MathmlNotation,
    subtracted_term_expression,
)

MAX_PIECE_LENGTH = 30
"""Characters that stay together: what fits on a line of a phone."""
_MAX_LEADING_FACTORS_LENGTH = 10
"""Characters of factors that stay with the parenthesis after them."""


class ExpressionBreaker:
    """Typesets expressions as MathML in pieces; a line may end between any two of them."""

    def __init__(self, setter: ExpressionTypesetter) -> None:
        assert isinstance(setter.setter, MathmlNotation)
        self.setter = setter

    def formula_pieces(self, expression: Expression, level: int = _SUM_LEVEL) -> list[str]:
        """The pieces in order; `level` is the binding level of the surrounding expression."""
        if len(expression_text(expression)) <= MAX_PIECE_LENGTH:
            return [self.setter.typeset_at_level(expression, level)]
        match expression:
            case Sum(terms):
                return _parenthesize_expression_pieces(
                    self._sum_expression_pieces(terms), level > _SUM_LEVEL
                )
            case Negation(operand):
                return _parenthesize_expression_pieces(
                    _prefix_expression_sign("−", self.formula_pieces(operand, _PRODUCT_LEVEL)),
                    level > _SUM_LEVEL,
                )
            case Product(factors):
                return _parenthesize_expression_pieces(
                    self._product_expression_pieces(factors), level > _PRODUCT_LEVEL
                )
            case Power(base, exponent):
                *start, last = self.formula_pieces(base, _ATOM_LEVEL)
                power = self.setter.setter.power(
                    _expression_mathml_row(last), self.setter.typeset(exponent)
                )
                return _parenthesize_expression_pieces([*start, power], level > _POWER_LEVEL)
            case Call(function, (inner,)):
                first, *more = _parenthesize_expression_pieces(self.formula_pieces(inner), True)
                name = "<mo>√</mo>" if function == "sqrt" else f"<mi>{function}</mi>"
                return [_expression_mathml_row(name + first), *more]
            case _:
                return [self.setter.typeset_at_level(expression, level)]

    def _sum_expression_pieces(self, terms: Sequence[Expression]) -> list[str]:
        found: list[str] = []
        for place, term in enumerate(terms):
            negative = subtracted_term_expression(term)
            some = self.formula_pieces(term if negative is None else negative, _PRODUCT_LEVEL)
            sign = "−" if negative is not None else "+" if place else ""
            found += _prefix_expression_sign(sign, some, infix=place > 0)
        return found

    def _product_expression_pieces(self, factors: Sequence[Expression]) -> list[str]:
        top = [f for f in factors if not isinstance(f, Reciprocal)]
        bottom = [f.operand for f in factors if isinstance(f, Reciprocal)]
        above = self._factor_expression_pieces(top) if top else [self.setter.setter.number("1")]
        if not bottom:
            return above
        below = self._factor_expression_pieces(bottom)
        return [
            *above,
            *_prefix_expression_sign("/", _parenthesize_expression_pieces(below, len(bottom) > 1)),
        ]

    def _factor_expression_pieces(self, factors: Sequence[Expression]) -> list[str]:
        """The pieces of a product; short factors stay together."""
        found: list[str] = []
        size = 0
        for factor in factors:
            some, length = self.formula_pieces(factor, _POWER_LEVEL), len(expression_text(factor))
            fits = len(some) == 1 and size + length <= MAX_PIECE_LENGTH
            leads = (
                size <= _MAX_LEADING_FACTORS_LENGTH
                and size + _visible_expression_length(some[0])
                <= MAX_PIECE_LENGTH + _MAX_LEADING_FACTORS_LENGTH // 2
            )
            together = fits or leads
            if found and together:
                found[-1] = _expression_mathml_row(
                    found[-1] + self.setter.setter.operator("·") + some.pop(0)
                )
            found += some
            size = size + length if together else length
        return found


def _prefix_expression_sign(sign: str, pieces: list[str], infix: bool = False) -> list[str]:
    """The pieces with a sign before the first one."""
    if not sign:
        return pieces
    form = ' form="infix" lspace="0"' if infix else ""
    return [_expression_mathml_row(f"<mo{form}>{sign}</mo>{pieces[0]}"), *pieces[1:]]


def _parenthesize_expression_pieces(pieces: list[str], needed: bool) -> list[str]:
    """The pieces in parentheses, if `needed`."""
    if not needed:
        return pieces
    found = [_expression_mathml_row(f'<mo stretchy="false">(</mo>{pieces[0]}'), *pieces[1:]]
    return [*found[:-1], _expression_mathml_row(f'{found[-1]}<mo stretchy="false">)</mo>')]


def _visible_expression_length(piece: str) -> int:
    """The number of characters of a piece without its markup."""
    return len(re.sub(r"<[^>]*>|&[^;]*;", "", piece))


def _expression_mathml_row(inner: str) -> str:
    """The MathML in a row element."""
    return f"<mrow>{inner}</mrow>"
