"""The syntax tree of numbers: exact rationals, names, operations, functions, units.

One tree serves parameters, forces, constraints, coordinates and the equation checker.
Sums and products are n-ary, so that long ones are not deep; `a - b` is a sum with a
negation, `a / b` a product with a reciprocal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

FUNCTION_ARITIES = {
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


class Ratio(Number):
    """A number that is printed as a fraction of integers, 1/2, where others are decimals."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter, a coordinate, or the constant pi."""

    name: str


@dataclass(frozen=True, slots=True)
class Negation:
    """The negative of an expression."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """The reciprocal of an expression."""

    operand: Expression


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of two or more terms."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of two or more factors."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Power:
    """A base to the power of an exponent."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True, slots=True)
class Call:
    """The call of one of the functions in `FUNCTION_ARITIES`."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class NumberWithUnit:
    """A number with a unit behind it, as written: `30 deg`, `25 g*cm^2`."""

    value: Expression
    unit: str


Expression = Number | Name | Negation | Reciprocal | Sum | Product | Power | Call | NumberWithUnit

ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))


def child_expressions(expression: Expression) -> tuple[Expression, ...]:
    """The operands of a node, from left to right."""
    match expression:
        case Negation(operand) | Reciprocal(operand):
            return (operand,)
        case Sum(parts) | Product(parts) | Call(_, parts):
            return parts
        case Power(base, exponent):
            return (base, exponent)
        case NumberWithUnit(value, _):
            return (value,)
        case _:
            return ()


def names_in_expression(expression: Expression) -> frozenset[str]:
    """All names in the expression except pi."""
    found: set[str] = set()
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Name):
            found.add(node.name)
        else:
            pending += child_expressions(node)
    return frozenset(found - {PI})


def negate_expression(expression: Expression) -> Expression:
    """The negative of an expression: literals change their sign, and double negations cancel."""
    match expression:
        case Number(value):
            return type(expression)(-value)
        case Negation(operand):
            return operand
        case NumberWithUnit(value, unit):
            return NumberWithUnit(negate_expression(value), unit)
        case _:
            return Negation(expression)


def rebuild_expression(
    expression: Expression, change: Callable[[Expression], Expression]
) -> Expression:
    """The expression with `change` applied to its operands."""
    match expression:
        case NumberWithUnit() | Number() | Name():
            return expression
        case Product(factors):
            return Product(tuple([change(f) for f in factors]))
        case Power(base, exponent):
            return Power(change(base), change(exponent))
        case Call(function, arguments):
            return Call(function, tuple([change(a) for a in arguments]))
        case Sum(terms):
            return Sum(tuple([change(t) for t in terms]))
        case Negation(operand):
            return Negation(change(operand))
        case Reciprocal(operand):
            return Reciprocal(change(operand))


def expression_tree_depth(expression: Expression) -> int:
    """The number of levels of the syntax tree."""
    return 1 + max(
        (expression_tree_depth(child) for child in child_expressions(expression)), default=0
    )
