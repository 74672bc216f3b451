"""Dimensions of expressions, as far as units say: a check, not a type system.

A name or number without a unit is SI and fits anywhere; what carries units must add up. A product
of plain numbers, functions and angles is a plain number again: `0.2*sin(tilt)` may be a length.
Beside factors with a dimension a plain number is a coefficient: `2*l` has the dimension of `l`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import ExpressionError
from .evaluate import fold
from .tree import Expression, Number, Product, children
from .units import Dimension, Unit, describe

_Exponents = tuple[Fraction, ...]
_NONE: _Exponents = (Fraction(0),) * 3


@dataclass(frozen=True, slots=True)
class Dimensioned:
    """What is known of a value: its dimension, if units tell; whether it is a plain number.

    `number` is the value of a literal, which exponents need.
    """

    dimension: _Exponents | None = None
    is_plain: bool = False
    number: Fraction | None = None


UNKNOWN = Dimensioned()
PLAIN = Dimensioned(is_plain=True)


class _DimensionAlgebra:
    def number(self, value: Fraction) -> Dimensioned:
        return Dimensioned(is_plain=True, number=value)

    def pi(self) -> Dimensioned:
        return PLAIN

    def add(self, terms: Sequence[Dimensioned]) -> Dimensioned:
        known = [t for t in terms if t.dimension is not None]
        for other in known[1:]:
            if other != known[0]:
                raise ExpressionError(f"adds {_describe(known[0])} to {_describe(other)}")
        if known:
            return known[0]
        return PLAIN if all(t.is_plain for t in terms) else UNKNOWN

    def multiply(self, factors: Sequence[Dimensioned]) -> Dimensioned:
        total = _NONE
        for factor in factors:
            if factor.dimension is not None:
                total = tuple(a + b for a, b in zip(total, factor.dimension, strict=True))
            elif not factor.is_plain:
                return UNKNOWN
        has_plain = any(f.is_plain for f in factors)
        return PLAIN if has_plain and total == _NONE else Dimensioned(total)

    def negate(self, operand: Dimensioned) -> Dimensioned:
        number = operand.number
        return operand if number is None else Dimensioned(is_plain=True, number=-number)

    def reciprocal(self, operand: Dimensioned) -> Dimensioned:
        return self.power(operand, Dimensioned(is_plain=True, number=Fraction(-1)))

    def power(self, base: Dimensioned, exponent: Dimensioned) -> Dimensioned:
        if base.is_plain:
            return PLAIN
        if base.dimension is None or exponent.number is None:
            return UNKNOWN
        return Dimensioned(tuple(exponent.number * d for d in base.dimension))

    def call(self, function: str, arguments: Sequence[Dimensioned]) -> Dimensioned:
        if function in ("abs", "min", "max"):
            return self.add(arguments)
        if function == "sqrt":
            return self.power(arguments[0], Dimensioned(is_plain=True, number=Fraction(1, 2)))
        if function == "atan2":
            self.add(arguments)
        elif function != "sign" and arguments[0].dimension not in (None, _NONE):
            raise ExpressionError(f"takes {function} of {_describe(arguments[0])}")
        return PLAIN

    def measure(self, value: Dimensioned, unit: Unit) -> Dimensioned:
        return Dimensioned(tuple(Fraction(d) for d in unit.dimension))


def _describe(value: Dimensioned) -> str:
    exponents = value.dimension or _NONE
    if any(d.denominator != 1 for d in exponents):
        return "a root of a unit"
    kg, m, s = (int(d) for d in exponents)
    return describe((kg, m, s)) if any(exponents) else "radians or plain numbers"


def dimension_of(expression: Expression, parameters: Mapping[str, Dimensioned]) -> Dimensioned:
    """What units tell of the expression, given what they tell of the parameters."""
    return fold(expression, _DimensionAlgebra(), lambda name: parameters.get(name, UNKNOWN))


def check_dimension(
    expression: Expression, expected: Dimension, parameters: Mapping[str, Dimensioned]
) -> None:
    """Raises unless the expression has the expected dimension, or none that units tell."""
    found = dimension_of(expression, parameters)
    wanted = Dimensioned(tuple(Fraction(d) for d in expected))
    if found.dimension is not None and found != wanted:
        remedy = f"give it in {_describe(wanted)}"
        if _has_coefficient(expression):
            remedy += ", or make the constant a parameter with its unit"
        raise ExpressionError(f"is in {_describe(found)}", remedy=remedy)


def _has_coefficient(expression: Expression) -> bool:
    """Whether a literal number multiplies something."""
    parts = children(expression)
    if isinstance(expression, Product) and any(isinstance(part, Number) for part in parts):
        return True
    return any(_has_coefficient(part) for part in parts)
