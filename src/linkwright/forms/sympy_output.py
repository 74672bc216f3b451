"""Conversion of expressions to SymPy: exact numbers, symbols and functions by name."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from ..errors import MissingExtraError
from ..expressions import Expression, Unit, fold_expression

if TYPE_CHECKING:
    import sympy

SympyForm: TypeAlias = "sympy.Basic | dict[str, sympy.Basic]"
"""A closed form in SymPy: an expression, matrix or array, or several of these by name."""


def form_expression_to_sympy(expression: Expression) -> sympy.Expr:
    """The expression in SymPy, with real symbols."""
    try:
        import sympy
    except ImportError:
        raise MissingExtraError("SymPy is not installed", remedy="pip install sympy") from None
    return fold_expression(
        expression, _SympyFormAlgebra(), lambda name: sympy.Symbol(name, real=True)
    )


class _SympyFormAlgebra:
    """SymPy's arithmetic for `fold_expression`."""

    def number(self, value: Fraction) -> sympy.Expr:
        """An exact rational number."""
        import sympy

        return sympy.Rational(value.numerator, value.denominator)

    def pi(self) -> sympy.Expr:
        """π."""
        import sympy

        return sympy.pi

    def add(self, terms: Sequence[sympy.Expr]) -> sympy.Expr:
        """The sum of the terms."""
        import sympy

        return sympy.Add(*terms)

    def multiply(self, factors: Sequence[sympy.Expr]) -> sympy.Expr:
        """The product of the factors."""
        import sympy

        return sympy.Mul(*factors)

    def negate(self, operand: sympy.Expr) -> sympy.Expr:
        """−operand."""
        return -operand

    def reciprocal(self, operand: sympy.Expr) -> sympy.Expr:
        """1/operand."""
        return 1 / operand

    def power(self, base: sympy.Expr, exponent: sympy.Expr) -> sympy.Expr:
        """base to the power of exponent."""
        return base**exponent

    def call(self, function: str, arguments: Sequence[sympy.Expr]) -> sympy.Expr:
        """A function of SymPy by its name in our expressions."""
        import sympy

        others = {"abs": "Abs", "min": "Min", "max": "Max"}
        return getattr(sympy, others.get(function, function))(*arguments)

    def measure(self, value: sympy.Expr, unit: Unit) -> sympy.Expr:
        """A number with a unit, in SI units."""
        import sympy

        scale = sympy.Rational(unit.scale.numerator, unit.scale.denominator)
        return value * scale * sympy.pi**unit.pi_power
