"""Numbers as fractions, ½ and ⅓, except where the user wrote decimals."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from ..equations import Equations
from ..expressions import Expression, Name, Number, names_in_expression
from ..expressions.tree import Ratio, child_expressions, rebuild_expression
from ..mechanism import Mechanism, part_numbers


@dataclass(frozen=True)
class FractionWriter:
    """Writes numbers as fractions; decimals stay where the user's own account for them.

    The formulations bring in halves and quarters only. A denominator with a factor 5 therefore
    comes from the user: from a decimal such as 0.03 if there is one, else from a fraction such as
    2/5. Likewise 0.5 stays a decimal where the user wrote 0.5 or 0.25.
    """

    has_tenths: bool
    has_binary_decimals: bool
    written: dict[int, Expression] = field(default_factory=dict)

    @classmethod
    def from_decimals(cls, decimals: Iterable[Fraction]) -> FractionWriter:
        """The writer for a text in which the user wrote these decimals."""
        below = [value.denominator for value in decimals if value.denominator > 1]
        tenths = any(n % 5 == 0 for n in below)
        return cls(tenths, any(n & (n - 1) == 0 for n in below))

    @classmethod
    def for_listing(cls, equations: Equations) -> FractionWriter:
        """The writer for steps of a computation; with numeric parameters decimals stay."""
        if equations.parameters:
            return cls.from_decimals(decimals_in_formulas(equations.mechanism))
        return cls(True, True)

    def write_fractions(self, expression: Expression) -> Expression:
        """The expression with fractions in place of decimals."""
        if isinstance(expression, Name):
            return expression
        if isinstance(expression, Number):
            if _is_float_product(expression.value):
                return Number(Fraction(f"{float(expression.value):.15g}"))
            return expression if self.is_decimal(expression.value) else Ratio(expression.value)
        key = id(expression)
        if key not in self.written:
            self.written[key] = rebuild_expression(expression, self.write_fractions)
        return self.written[key]

    def is_decimal(self, value: Fraction) -> bool:
        """Whether a number stays a decimal."""
        if value.denominator % 5 == 0:
            return self.has_tenths
        return value.denominator == 1 or self.has_binary_decimals


def _is_float_product(value: Fraction) -> bool:
    """Whether a number is a rounded product of decimals, which derivatives by time contain."""
    return value.denominator > 2**20 and value.denominator & (value.denominator - 1) == 0


def decimals_among_values(values: Iterable[Fraction]) -> frozenset[Fraction]:
    """The values of parameters that are printed as decimals. Beside values such as 1/3, halves and
    quarters are fractions, too: 1/2 and 1/3, not 0.5 and 1/3."""
    found = [value for value in values if value.denominator > 1]
    has_thirds = any(not _is_finite_decimal(value) for value in found)
    return frozenset(v for v in found if v.denominator % 5 == 0 or not has_thirds)


def _is_finite_decimal(value: Fraction) -> bool:
    """Whether a number has finitely many decimal places."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def decimals_in_formulas(mechanism: Mechanism) -> frozenset[Fraction]:
    """The decimals that the user wrote in formulas, such as 0.03 in l6 - 0.03."""
    found: set[Fraction] = set()
    for _, number, _ in part_numbers(mechanism):
        pending = [number] if names_in_expression(number) else []
        while pending:
            node = pending.pop()
            if isinstance(node, Number):
                found.add(node.value)
            pending += child_expressions(node)
    return frozenset(value for value in found if value.denominator > 1)
