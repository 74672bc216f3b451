"""Dimensions of expressions, as far as units say: a check, not a type system.

A name or number without a unit fits anywhere; what carries units must add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import ExpressionError
from .evaluate import fold
from .tree import Expression
from .units import Dimension, Unit, describe

_Exponents = tuple[Fraction, ...]
_NONE: _Exponents = (Fraction(0),) * 3


@dataclass(frozen=True, slots=True)
class Dimensioned:
    """What is known of a value: its dimension, if units tell, and its number, if literal."""

    dimension: _Exponents | None = None
    number: Fraction | None = None


UNKNOWN = Dimensioned()


class _DimensionAlgebra:
    def number(self, value: Fraction) -> Dimensioned:
        return Dimensioned(number=value)

    def pi(self) -> Dimensioned:
        return Dimensioned(number=Fraction(355, 113))

    def add(self, terms: Sequence[Dimensioned]) -> Dimensioned:
        known = [t for t in terms if t.dimension is not None]
        for other in known[1:]:
            if other != known[0]:
                raise ExpressionError(f"adds {_describe(known[0])} to {_describe(other)}")
        if known:
            return known[0]
        return UNKNOWN if any(t.number is None for t in terms) else terms[0]

    def multiply(self, factors: Sequence[Dimensioned]) -> Dimensioned:
        sized = [f for f in factors if f.number is None]
        if not sized:
            return factors[0]
        total = _NONE
        for factor in sized:
            if factor.dimension is None:
                return UNKNOWN
            total = tuple(a + b for a, b in zip(total, factor.dimension, strict=True))
        return Dimensioned(total)

    def negate(self, operand: Dimensioned) -> Dimensioned:
        return operand

    def reciprocal(self, operand: Dimensioned) -> Dimensioned:
        return self.power(operand, Dimensioned(number=Fraction(-1)))

    def power(self, base: Dimensioned, exponent: Dimensioned) -> Dimensioned:
        if base.dimension is None or exponent.number is None:
            return base if base.number is not None else UNKNOWN
        return Dimensioned(tuple(exponent.number * d for d in base.dimension))

    def call(self, function: str, arguments: Sequence[Dimensioned]) -> Dimensioned:
        if function in ("abs", "min", "max"):
            return self.add(arguments)
        if function == "sqrt":
            return self.power(arguments[0], Dimensioned(number=Fraction(1, 2)))
        if function == "atan2":
            self.add(arguments)
        elif function != "sign" and arguments[0].dimension not in (None, _NONE):
            raise ExpressionError(f"takes {function} of {_describe(arguments[0])}")
        return Dimensioned(_NONE)

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
        raise ExpressionError(f"is in {_describe(found)}", remedy=f"give it in {_describe(wanted)}")
