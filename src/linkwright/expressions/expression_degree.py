"""The degree of an expression in some of its names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from .evaluation import fold_expression
from .tree import Expression
from .units import Unit


def expression_degree(expression: Expression, degree_of_name: Callable[[str], int]) -> int:
    """Return the degree of an expression, given that of each name; at least 2 if not linear."""
    return fold_expression(expression, _DegreeInterpretation(), degree_of_name)


class _DegreeInterpretation:
    """The degree of each operation: a nonlinear function has at least degree 2."""

    def number(self, value: Fraction) -> int:
        """Return the degree 0 of a number."""
        return 0

    def pi(self) -> int:
        """Return the degree 0 of π."""
        return 0

    def add(self, terms: Sequence[int]) -> int:
        """Return the largest degree of the terms."""
        return max(terms)

    def multiply(self, factors: Sequence[int]) -> int:
        """Return the sum of the factors' degrees."""
        return sum(factors)

    def negate(self, operand: int) -> int:
        """Return the degree of the operand."""
        return operand

    def reciprocal(self, operand: int) -> int:
        """Return 0 for a constant operand, else at least 2."""
        return 2 * operand

    def power(self, base: int, exponent: int) -> int:
        """Return 0 where base and exponent are constant, else at least 2."""
        return 2 * (base + exponent)

    def call(self, function: str, arguments: Sequence[int]) -> int:
        """Return 0 where all arguments are constant, else at least 2."""
        return 2 * sum(arguments)

    def measure(self, value: int, unit: Unit) -> int:
        """Return the degree of the value, which a unit does not change."""
        return value
