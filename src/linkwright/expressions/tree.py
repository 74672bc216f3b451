"""The syntax tree of numbers: exact rationals, names, operations, functions, units.

One tree serves parameters, forces, constraints, coordinates and the equation checker.
Sums and products are n-ary, so that long ones are not deep; `a - b` is a sum with a
negation, `a / b` a product with a reciprocal.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

FUNCTIONS = {
    "sin": 1,
    "cos": 1,
    "tan": 1,
    "asin": 1,
    "acos": 1,
    "atan": 1,
    "atan2": 2,
    "sqrt": 1,
    "exp": 1,
    "log": 1,
    "tanh": 1,
    "abs": 1,
    "sign": 1,
    "min": 2,
    "max": 2,
    "floor": 1,
}
"""Functions that expressions may call, with their numbers of arguments."""

PI = "pi"


@dataclass(frozen=True, slots=True)
class Number:
    """An exact rational."""

    value: Fraction


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter, a coordinate, or the constant pi."""

    name: str


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Expression


@dataclass(frozen=True, slots=True)
class Reciprocal:
    operand: Expression


@dataclass(frozen=True, slots=True)
class Sum:
    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Product:
    factors: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Power:
    base: Expression
    exponent: Expression


@dataclass(frozen=True, slots=True)
class Call:
    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """A number with a unit behind it, as written: `30 deg`, `25 g*cm^2`."""

    value: Expression
    unit: str


Expression = Number | Name | Negation | Reciprocal | Sum | Product | Power | Call | Measured

ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))


def children(expression: Expression) -> tuple[Expression, ...]:
    match expression:
        case Negation(operand) | Reciprocal(operand):
            return (operand,)
        case Sum(parts) | Product(parts) | Call(_, parts):
            return parts
        case Power(base, exponent):
            return (base, exponent)
        case Measured(value, _):
            return (value,)
        case _:
            return ()


def names(expression: Expression) -> frozenset[str]:
    """All names in the expression but pi."""
    if isinstance(expression, Name):
        return frozenset() if expression.name == PI else frozenset({expression.name})
    return frozenset().union(*(names(child) for child in children(expression)))


def negate(expression: Expression) -> Expression:
    """−expression, with literals negated in place and double negations dropped."""
    match expression:
        case Number(value):
            return Number(-value)
        case Negation(operand):
            return operand
        case Measured(value, unit):
            return Measured(negate(value), unit)
        case _:
            return Negation(expression)


def depth(expression: Expression) -> int:
    return 1 + max((depth(child) for child in children(expression)), default=0)
