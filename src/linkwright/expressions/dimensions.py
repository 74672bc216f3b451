"""Dimensions of expressions, inferred from units: a check, not a type system.

A name or number without a unit is in SI units and has any dimension; terms with units must match. A
product of plain numbers, functions and angles is a plain number again: `0.2*sin(tilt)` may be a
length. Beside factors with a dimension, a plain number is a coefficient: `2*l` has the dimension of
`l`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import ExpressionError
from .evaluation import fold_expression
from .tree import Expression, Number, Product, child_expressions
from .units import Dimension, Unit, dimension_text

_Exponents = tuple[Fraction, ...]
_NO_EXPONENTS: _Exponents = (Fraction(0),) * 3


@dataclass(frozen=True, slots=True)
class InferredDimension:
    """What is known of a value: its dimension, if units determine it, or that it is a plain number.

    `number` is the value of a literal; exponents need it.
    """

    dimension: _Exponents | None = None
    is_plain: bool = False
    number: Fraction | None = None


UNKNOWN_DIMENSION = InferredDimension()
PLAIN_NUMBER = InferredDimension(is_plain=True)


class _ExpressionDimensions:
    """The dimension of each node of a syntax tree."""

    def number(self, value: Fraction) -> InferredDimension:
        """A plain number, whose value is kept for exponents."""
        return InferredDimension(is_plain=True, number=value)

    def pi(self) -> InferredDimension:
        """A plain number."""
        return PLAIN_NUMBER

    def add(self, terms: Sequence[InferredDimension]) -> InferredDimension:
        """The common dimension of the terms; raises if two of them differ."""
        known = [t for t in terms if t.dimension is not None]
        for other in known[1:]:
            if other != known[0]:
                raise ExpressionError(
                    f"adds {_expression_dimension_in_words(known[0])} "
                    f"to {_expression_dimension_in_words(other)}"
                )
        if known:
            return known[0]
        return PLAIN_NUMBER if all(t.is_plain for t in terms) else UNKNOWN_DIMENSION

    def multiply(self, factors: Sequence[InferredDimension]) -> InferredDimension:
        """The product of the dimensions; unknown if a factor is unknown."""
        total = _NO_EXPONENTS
        for factor in factors:
            if factor.dimension is not None:
                total = tuple(a + b for a, b in zip(total, factor.dimension, strict=True))
            elif not factor.is_plain:
                return UNKNOWN_DIMENSION
        has_plain = any(f.is_plain for f in factors)
        return PLAIN_NUMBER if has_plain and total == _NO_EXPONENTS else InferredDimension(total)

    def negate(self, operand: InferredDimension) -> InferredDimension:
        """The dimension of the operand, with the sign of a literal changed."""
        number = operand.number
        return operand if number is None else InferredDimension(is_plain=True, number=-number)

    def reciprocal(self, operand: InferredDimension) -> InferredDimension:
        """The inverse of the dimension."""
        return self.power(operand, InferredDimension(is_plain=True, number=Fraction(-1)))

    def power(self, base: InferredDimension, exponent: InferredDimension) -> InferredDimension:
        """The dimension to the power of a literal exponent; else unknown."""
        if base.is_plain:
            return PLAIN_NUMBER
        if base.dimension is None or exponent.number is None:
            return UNKNOWN_DIMENSION
        return InferredDimension(tuple(exponent.number * d for d in base.dimension))

    def call(self, function: str, arguments: Sequence[InferredDimension]) -> InferredDimension:
        """The dimension of a function; raises if it does not accept those of its arguments."""
        if function in ("abs", "min", "max"):
            return self.add(arguments)
        if function == "sqrt":
            return self.power(arguments[0], InferredDimension(is_plain=True, number=Fraction(1, 2)))
        if function == "atan2":
            self.add(arguments)
        elif function != "sign" and arguments[0].dimension not in (None, _NO_EXPONENTS):
            raise ExpressionError(
                f"takes {function} of {_expression_dimension_in_words(arguments[0])}"
            )
        return PLAIN_NUMBER

    def measure(self, value: InferredDimension, unit: Unit) -> InferredDimension:
        """The dimension of the unit."""
        return InferredDimension(tuple(Fraction(d) for d in unit.dimension))


def _expression_dimension_in_words(value: InferredDimension) -> str:
    """The dimension as a phrase for messages."""
    exponents = value.dimension or _NO_EXPONENTS
    if any(d.denominator != 1 for d in exponents):
        return "a root of a unit"
    kg, m, s = (int(d) for d in exponents)
    return dimension_text((kg, m, s)) if any(exponents) else "radians or plain numbers"


def infer_expression_dimension(
    expression: Expression, parameters: Mapping[str, InferredDimension]
) -> InferredDimension:
    """The dimension of an expression, inferred from units and from those of the parameters."""
    return fold_expression(
        expression, _ExpressionDimensions(), lambda name: parameters.get(name, UNKNOWN_DIMENSION)
    )


def check_expression_dimension(
    expression: Expression, expected: Dimension, parameters: Mapping[str, InferredDimension]
) -> None:
    """Raises if units give the expression a dimension other than the expected one."""
    found = infer_expression_dimension(expression, parameters)
    wanted = InferredDimension(tuple(Fraction(d) for d in expected))
    if found.dimension is not None and found != wanted:
        remedy = f"give it in {_expression_dimension_in_words(wanted)}"
        if _has_coefficient(expression):
            remedy += ", or make the constant a parameter with its unit"
        raise ExpressionError(f"is in {_expression_dimension_in_words(found)}", remedy=remedy)


def _has_coefficient(expression: Expression) -> bool:
    """Whether a literal number multiplies another factor."""
    parts = child_expressions(expression)
    if isinstance(expression, Product) and any(isinstance(part, Number) for part in parts):
        return True
    return any(_has_coefficient(part) for part in parts)
