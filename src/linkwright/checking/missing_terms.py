"""Terms that an equation lacks: products of symbols that have the missing value at one point.

The value that a sum lacks is met in the middle: every product of up to three symbols, times every
such product from a table, times a small coefficient. It needs no closed form, so that terms are
found where constraints tie the motion, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from ..algebra.exact.modular_arithmetic import rational_from_residue
from ..algebra.exact.residues import FIELD_PRIME
from ..expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Sum,
    expression_text,
    negate_expression,
)
from ..expressions.tokens import shorten_expression_text
from .misprint_candidates import MisprintCandidate
from .misprints import MAX_REPAIR_COEFFICIENT
from .node_paths import statement_node_at_path
from .repair_goals import RepairGoal, StatementNodeValuation
from .residue_keys import (
    ResidueKey,
    divide_repair_keys,
    multiply_repair_keys,
    scalar_of_repair_key,
    shift_repair_key,
    statement_value_key,
)
from .symbol_table import DUAL_UNIT_NAME

MAX_TERM_SYMBOLS = 64
MAX_LONG_TERM_SYMBOLS = 28
"""The most symbols of products with more than four factors: products of three are some 4000."""
MAX_TERM_DEGREE, MAX_SHORT_TERM_DEGREE = 6, 4
TERM_COEFFICIENTS = tuple(
    Fraction(*x)
    for x in ((1, 1), (2, 1), (1, 2), (1, 3), (1, 4), (3, 1), (4, 1), (1, 6), (1, 12), (3, 2))
)
"""Coefficients of terms up to their sign: r and p − r are looked up for each product."""
FactorIndices = tuple[int, ...]


class MissingTermSearch:
    """The search for products of symbols by their value at one point."""

    def __init__(
        self,
        valuation: StatementNodeValuation,
        symbols: Sequence[Expression],
        parameters: Sequence[str],
    ) -> None:
        self.valuation = valuation
        self.parameter_names = list(parameters)
        known = [(x, valuation.value_or_none(x)) for x in symbols]
        keys = [(x, statement_value_key(v)) for x, v in known if v is not None]
        scalars = [(x, n) for x, key in keys if (n := scalar_of_repair_key(key))][:MAX_TERM_SYMBOLS]
        self.scalar_symbols = [x for x, _ in scalars]
        self.symbol_residues = [n for _, n in scalars]
        rest = [
            (x, k) for x, k in keys if scalar_of_repair_key(k) is None and x != Name(DUAL_UNIT_NAME)
        ]
        self.vector_symbols = [(x, k) for x, k in rest if isinstance(x, Name)]
        self.dual_calls = [(x, k) for x, k in rest if isinstance(x, Call)]
        self._product_tables: dict[tuple[int, int], dict[int, FactorIndices]] = {}
        self._inverse_tables: dict[tuple[int, int], list[tuple[int, FactorIndices]]] = {}

    def find_missing_terms(self, root: Expression, goal: RepairGoal) -> Iterator[MisprintCandidate]:
        """Candidates that add one term to a sum of the equation so that it meets its goal."""
        for path, node, own, is_angle in self.valuation.node_goals(root, goal):
            is_sum = isinstance(node, Sum) or not path
            is_factor = not is_sum and isinstance(statement_node_at_path(root, path[:-1]), Product)
            if own.key is None or is_angle or not (is_sum or is_factor):
                continue
            lacking = shift_repair_key(own.key, self.valuation.node_key(node), (0,) * len(own.key))
            for term in self.terms_with_key(lacking, MAX_TERM_DEGREE if is_sum else 2):
                old = node.terms if isinstance(node, Sum) else () if node == ZERO else (node,)
                where = f" in {shorten_expression_text(expression_text(node))}" if path else ""
                what = f"the term {expression_text(term)} is missing{where}"
                yield MisprintCandidate(
                    "missing term", what, path, Sum((*old, term)) if old else term
                )

    def terms_with_key(self, lacking: ResidueKey, degree: int) -> Iterator[Expression]:
        """Products of symbols, up to a degree, whose value is what an equation lacks."""
        for prefix, key in self._term_prefixes(len(lacking)):
            quotient = lacking if prefix == ONE else divide_repair_keys(lacking, key)
            number = None if quotient is None else scalar_of_repair_key(quotient)
            if number:
                for coefficient, factors in self.shortest_products(number, degree):
                    yield self._build_term(coefficient, factors, prefix)

    def _term_prefixes(self, size: int) -> Iterator[tuple[Expression, tuple[int, ...]]]:
        """The factors before a product of numbers: eps, vectors, eps times vectors."""
        yield ONE, ()
        if size == 1:
            return
        n = size // 2
        eps = (0,) * n + (1,) * n
        yield Name(DUAL_UNIT_NAME), eps
        others: list[tuple[Expression, tuple[int, ...]]] = [*self.vector_symbols, *self.dual_calls]
        for symbol, key in others:
            yield symbol, key
            yield Product((Name(DUAL_UNIT_NAME), symbol)), multiply_repair_keys(eps, key)
        for (a, key), (b, other) in product(self.dual_calls, self.vector_symbols):
            yield Product((a, b)), multiply_repair_keys(key, other)

    def shortest_products(
        self, number: int, largest: int
    ) -> Iterator[tuple[Fraction, FactorIndices]]:
        """The shortest products with a value."""
        plain = rational_from_residue(number, MAX_REPAIR_COEFFICIENT, FIELD_PRIME)
        if plain is not None:
            yield plain, ()
            return
        scaled = [
            (c, number * _residue_of_missing_coefficient(1 / c) % FIELD_PRIME)
            for c in TERM_COEFFICIENTS
        ]
        for degree in range(1, largest + 1):
            few, many = degree // 2, degree - degree // 2
            count = MAX_TERM_SYMBOLS if degree <= MAX_SHORT_TERM_DEGREE else MAX_LONG_TERM_SYMBOLS
            other_half = self.table_of_missing_products(many, count)
            met = (
                (coefficient, residue, factors)
                for inverse, factors in self.inverse_missing_products(few, count)
                for coefficient, target in scaled
                if (residue := target * inverse % FIELD_PRIME) in other_half
                or FIELD_PRIME - residue in other_half
            )
            found = {
                (signed, tuple(sorted((*factors, *other_half[key]))))
                for coefficient, residue, factors in met
                for signed, key in ((coefficient, residue), (-coefficient, FIELD_PRIME - residue))
                if key in other_half
            }
            yield from sorted(found)
            if found:
                return

    def table_of_missing_products(self, degree: int, count: int) -> dict[int, FactorIndices]:
        """Products of `degree` of the first `count` symbols, by their residues."""
        key = degree, count
        if key not in self._product_tables:
            self._product_tables[key] = dict(
                _residue_products_of_missing_factors(self.symbol_residues[:count], degree)
            )
        return self._product_tables[key]

    def inverse_missing_products(self, degree: int, count: int) -> list[tuple[int, FactorIndices]]:
        """Reciprocals of products of `degree` of the first `count` symbols."""
        key = degree, count
        if key not in self._inverse_tables:
            numbers = [pow(n, -1, FIELD_PRIME) for n in self.symbol_residues[:count]]
            self._inverse_tables[key] = list(_residue_products_of_missing_factors(numbers, degree))
        return self._inverse_tables[key]

    def _build_term(
        self, coefficient: Fraction, factors: FactorIndices, prefix: Expression
    ) -> Expression:
        counted = {i: factors.count(i) for i in sorted(factors, key=self._factor_order)}
        parts = [
            self.scalar_symbols[i] if n == 1 else Power(self.scalar_symbols[i], Number(Fraction(n)))
            for i, n in counted.items()
        ]
        size = Number(abs(coefficient))
        before = prefix.factors if isinstance(prefix, Product) else (prefix,)
        whole = [x for x in (size, *before, *parts) if x != ONE] or [ONE]
        term = whole[0] if len(whole) == 1 else Product(tuple(whole))
        return term if coefficient > 0 else negate_expression(term)

    def _factor_order(self, i: int) -> tuple[int, int, int]:
        """The sort key of factors: parameters first, in the mechanism's order; functions last."""
        symbol = self.scalar_symbols[i]
        if isinstance(symbol, Name) and symbol.name in self.parameter_names:
            return 0, self.parameter_names.index(symbol.name), i
        return (1 if isinstance(symbol, Name) else 2), 0, i


def _residue_of_missing_coefficient(value: Fraction) -> int:
    return value.numerator * pow(value.denominator, -1, FIELD_PRIME) % FIELD_PRIME


def _residue_products_of_missing_factors(
    numbers: Sequence[int], degree: int
) -> Iterator[tuple[int, FactorIndices]]:
    """Products of `degree` numbers with their indices, in the order of the indices."""
    if degree == 0:
        yield 1, ()
        return
    for begun, which in _residue_products_of_missing_factors(numbers, degree - 1):
        for i in range(which[-1] if which else 0, len(numbers)):
            yield begun * numbers[i] % FIELD_PRIME, (*which, i)
