"""Readings of the syntax tree: numbers (exact as long as possible) and dimensions.

An interpretation defines the meaning of numbers, sums, products, powers and functions;
`fold_expression` walks the tree. The derivations add a further one, CasADi expressions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

from ..errors import ExpressionError
from .tree import (
    PI,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Reciprocal,
    Sum,
)
from .units import Unit, parse_unit

T = TypeVar("T")


class ExpressionInterpretation(Protocol[T]):
    """The meaning of the nodes of a syntax tree, below the layer that knows tapes.

    There are interpretations as floats, dimensions and CasADi expressions. Exact readings are
    algebras of operations (`algebra.exact`).
    """

    def number(self, value: Fraction) -> T:
        """The value of a literal number."""

    def pi(self) -> T:
        """The value of π."""

    def add(self, terms: Sequence[T]) -> T:
        """The sum of the terms."""

    def multiply(self, factors: Sequence[T]) -> T:
        """The product of the factors."""

    def negate(self, operand: T) -> T:
        """The negative of the operand."""

    def reciprocal(self, operand: T) -> T:
        """The reciprocal of the operand."""

    def power(self, base: T, exponent: T) -> T:
        """The base to the power of the exponent."""

    def call(self, function: str, arguments: Sequence[T]) -> T:
        """The value of a function, one of `FUNCTION_ARITIES`."""

    def measure(self, value: T, unit: Unit) -> T:
        """The value of a number with a unit."""


def fold_expression(
    expression: Expression, algebra: ExpressionInterpretation[T], lookup: Callable[[str], T]
) -> T:
    """The value of an expression in an interpretation; `lookup` returns the value of a name.

    A function inside that calls itself would be a reference cycle, in which all that `lookup` knows
    would wait for the garbage collector.
    """
    match expression:
        case Number(number):
            return algebra.number(number)
        case Name(name):
            return algebra.pi() if name == PI else lookup(name)
        case Negation(operand):
            return algebra.negate(fold_expression(operand, algebra, lookup))
        case Reciprocal(operand):
            return algebra.reciprocal(fold_expression(operand, algebra, lookup))
        case Sum(terms):
            return algebra.add([fold_expression(term, algebra, lookup) for term in terms])
        case Product(factors):
            return algebra.multiply([fold_expression(one, algebra, lookup) for one in factors])
        case Power(base, exponent):
            return algebra.power(
                fold_expression(base, algebra, lookup), fold_expression(exponent, algebra, lookup)
            )
        case Call(function, arguments):
            return algebra.call(
                function, [fold_expression(one, algebra, lookup) for one in arguments]
            )
        case NumberWithUnit(number, unit):
            return algebra.measure(fold_expression(number, algebra, lookup), parse_unit(unit))


@dataclass(frozen=True, slots=True)
class PiMultiple:
    """The exact number coefficient · π."""

    coefficient: Fraction

    def __float__(self) -> float:
        return float(self.coefficient) * math.pi


ExactNumber = Fraction | PiMultiple | float
"""A number as exact as it is known: rational, rational multiple of π, or a float."""

MAX_RATIONAL_BITS = 4096

_FLOAT_FUNCTIONS: dict[str, Callable[..., float]] = {
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "atan": math.atan,
    "atan2": math.atan2,
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
    "abs": abs,
    "sign": lambda x: float((x > 0) - (x < 0)),
    "min": min,
    "max": max,
    "floor": math.floor,
}


class _ExpressionNumbers:
    """Rationals and rational multiples of π stay exact; everything else is a float."""

    def number(self, value: Fraction) -> ExactNumber:
        """The rational itself."""
        return value

    def pi(self) -> ExactNumber:
        """π, exactly."""
        return PiMultiple(Fraction(1))

    def add(self, terms: Sequence[ExactNumber]) -> ExactNumber:
        """The sum: exact if all terms are rational or all are multiples of π."""
        rationals = [t for t in terms if isinstance(t, Fraction)]
        if len(rationals) == len(terms):
            return _check_expression_number_length(sum(rationals, Fraction(0)))
        if all(isinstance(t, PiMultiple) or t == 0 for t in terms):
            return _expression_pi_multiple(
                sum((t.coefficient for t in terms if isinstance(t, PiMultiple)), Fraction())
            )
        return math.fsum(float(t) for t in terms)

    def multiply(self, factors: Sequence[ExactNumber]) -> ExactNumber:
        """The product: exact if all factors are rational but at most one multiple of π."""
        angles = [f for f in factors if isinstance(f, PiMultiple)]
        rationals = [f for f in factors if isinstance(f, Fraction)]
        if len(angles) <= 1 and len(angles) + len(rationals) == len(factors):
            product = _check_expression_number_length(math.prod(rationals, start=Fraction(1)))
            return _expression_pi_multiple(product * angles[0].coefficient) if angles else product
        return math.prod(float(f) for f in factors)

    def negate(self, operand: ExactNumber) -> ExactNumber:
        """The negative, as exact as the operand."""
        return (
            _expression_pi_multiple(-operand.coefficient)
            if isinstance(operand, PiMultiple)
            else -operand
        )

    def reciprocal(self, operand: ExactNumber) -> ExactNumber:
        """The reciprocal, exact for rationals."""
        if isinstance(operand, Fraction):
            return 1 / operand
        return 1.0 / float(operand)

    def power(self, base: ExactNumber, exponent: ExactNumber) -> ExactNumber:
        """The power, exact for whole powers and for square roots of rational squares."""
        if isinstance(base, Fraction) and isinstance(exponent, Fraction):
            if exponent.denominator == 1:
                bits = max(base.numerator.bit_length(), base.denominator.bit_length())
                if bits * abs(exponent.numerator) > MAX_RATIONAL_BITS:
                    raise ExpressionError("a power is too large")
                return base**exponent.numerator
            if exponent == Fraction(1, 2):
                return self.call("sqrt", [base])
        result: float | complex = float(base) ** float(exponent)
        if isinstance(result, complex):
            raise ValueError
        return result

    def call(self, function: str, arguments: Sequence[ExactNumber]) -> ExactNumber:
        """The value of a function, exact where it is known to be rational."""
        exact = _expression_function_value(function, arguments)
        if exact is not None:
            return exact
        return float(_FLOAT_FUNCTIONS[function](*(float(a) for a in arguments)))

    def measure(self, value: ExactNumber, unit: Unit) -> ExactNumber:
        """The number converted from the unit to SI units."""
        scaled = self.multiply([value, unit.scale])
        if unit.pi_power == 1:
            return self.multiply([scaled, self.pi()])
        return scaled if unit.pi_power == 0 else float(scaled) * math.pi**unit.pi_power


def _expression_pi_multiple(coefficient: Fraction) -> ExactNumber:
    """The exact multiple of π; zero is the rational zero."""
    return PiMultiple(_check_expression_number_length(coefficient)) if coefficient else Fraction(0)


def _check_expression_number_length(value: Fraction) -> Fraction:
    """The value itself; raises if its numerator or denominator is too long."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_RATIONAL_BITS:
        raise ExpressionError("a number is too large")
    return value


# sin(kπ/6) where it is rational, k = 0 … 11
_EXACT_SINES = {
    0: (0, 1),
    1: (1, 2),
    3: (1, 1),
    5: (1, 2),
    6: (0, 1),
    7: (-1, 2),
    9: (-1, 1),
    11: (-1, 2),
}


def _expression_function_value(
    function: str, arguments: Sequence[ExactNumber]
) -> ExactNumber | None:
    """The rational value of a function where it is known to have one, else None."""
    first = arguments[0]
    if function in ("sin", "cos") and not isinstance(first, float):
        turns = first.coefficient * 6 if isinstance(first, PiMultiple) else first
        if isinstance(first, Fraction) and first != 0:
            return None
        sixths = turns + 3 if function == "cos" else turns
        if sixths.denominator == 1 and int(sixths) % 12 in _EXACT_SINES:
            return Fraction(*_EXACT_SINES[int(sixths) % 12])
    if function == "sqrt" and isinstance(first, Fraction) and first >= 0:
        n, d = math.isqrt(first.numerator), math.isqrt(first.denominator)
        return Fraction(n, d) if n * n == first.numerator and d * d == first.denominator else None
    if function in ("abs", "sign", "min", "max", "floor") and all(
        isinstance(a, Fraction) for a in arguments
    ):
        return Fraction(_FLOAT_FUNCTIONS[function](*arguments))
    return None


def evaluate_expression_exactly(
    expression: Expression, values: Mapping[str, ExactNumber] | None = None
) -> ExactNumber:
    """The value of an expression, as exact as possible, for given values of its names."""
    known = values or {}

    def value_of_expression_name(name: str) -> ExactNumber:
        if name not in known:
            raise ExpressionError(
                f"'{name}' has no value", remedy="give it under [parameters], or correct the name"
            )
        return known[name]

    try:
        value = fold_expression(expression, _ExpressionNumbers(), value_of_expression_name)
        if not math.isfinite(float(value)):  # beyond floats, exact numbers raise OverflowError
            raise OverflowError
        return value
    except (ZeroDivisionError, ValueError, OverflowError) as error:
        if isinstance(error, ExpressionError):
            raise
        from .printing import expression_text
        from .tokens import shorten_expression_text

        raise ExpressionError(
            f"'{shorten_expression_text(expression_text(expression))}' has no finite real value"
        ) from None


def expression_to_float(
    expression: Expression, values: Mapping[str, ExactNumber] | None = None
) -> float:
    """The value of an expression as a float; the only place that rounds a mechanism's numbers."""
    try:
        return float(evaluate_expression_exactly(expression, values))
    except OverflowError:
        raise ExpressionError("is too large for a float", remedy="stay below 1e308") from None


def expression_without_unit(expression: Expression) -> Expression:
    """The expression in SI units, `90 deg` as pi/2, so that it can be part of another."""
    if not isinstance(expression, NumberWithUnit):
        return expression
    value = evaluate_expression_exactly(expression)
    if isinstance(value, PiMultiple):
        return Product((Number(value.coefficient), Name(PI)))
    return Number(value if isinstance(value, Fraction) else Fraction(repr(value)))
