"""Terms that an equation lacks: products of symbols that have the missing value at one point.

The value that a sum lacks is met in the middle: every product of up to three symbols, times every
such product from a table, times a small coefficient. It needs no closed form, so that terms are
found where constraints tie the motion, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product

from ..algebra.exact.modular import small_rational
from ..algebra.exact.residue_values import PRIME
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
    negate,
    to_text,
)
from ..expressions.tokens import shorten
from .duals import EPS
from .goals import Goal, Valuation
from .misprints import LARGEST_COEFFICIENT, Candidate
from .places import node_at
from .values import (
    Key,
    key_of,
    product_of_keys,
    quotient_of_keys,
    scalar_of,
    shifted,
)

MOST_SYMBOLS = 64
FEW_SYMBOLS = 28
"""Of products with more than four factors: products of three of these are some 4000."""
LARGEST_DEGREE, FEW_FACTORS = 6, 4
COEFFICIENTS = tuple(
    sign * Fraction(*x)
    for x in ((1, 1), (2, 1), (1, 2), (1, 3), (1, 4), (3, 1), (4, 1), (1, 6), (1, 12), (3, 2))
    for sign in (1, -1)
)
Factors = tuple[int, ...]


class MissingTerms:
    """Products of symbols, by their value at one point."""

    def __init__(
        self,
        valuation: Valuation,
        symbols: Sequence[Expression],
        parameters: Sequence[str],
    ) -> None:
        self.valuation = valuation
        self.parameters = list(parameters)
        known = [(x, valuation.value_if_any(x)) for x in symbols]
        keys = [(x, key_of(v)) for x, v in known if v is not None]
        scalars = [(x, n) for x, key in keys if (n := scalar_of(key))][:MOST_SYMBOLS]
        self.symbols = [x for x, _ in scalars]
        self.numbers = [n for _, n in scalars]
        rest = [(x, k) for x, k in keys if scalar_of(k) is None and x != Name(EPS)]
        self.vectors = [(x, k) for x, k in rest if isinstance(x, Name)]
        self.duals = [(x, k) for x, k in rest if isinstance(x, Call)]
        self._tables: dict[tuple[int, int], dict[int, Factors]] = {}
        self._inverses: dict[tuple[int, int], list[tuple[int, Factors]]] = {}

    def of(self, root: Expression, goal: Goal) -> Iterator[Candidate]:
        """Sums of the tree that meet their goals with one more term."""
        for path, node, own, is_angle in self.valuation.goals(root, goal):
            is_sum = isinstance(node, Sum) or not path
            is_factor = not is_sum and isinstance(node_at(root, path[:-1]), Product)
            if own.key is None or is_angle or not (is_sum or is_factor):
                continue
            lacking = shifted(own.key, self.valuation.key(node), (0,) * len(own.key))
            for term in self.terms(lacking, LARGEST_DEGREE if is_sum else 2):
                old = node.terms if isinstance(node, Sum) else () if node == ZERO else (node,)
                where = f" in {shorten(to_text(node))}" if path else ""
                what = f"the term {to_text(term)} is missing{where}"
                yield Candidate("missing term", what, path, Sum((*old, term)) if old else term)

    def terms(self, lacking: Key, degree: int) -> Iterator[Expression]:
        for prefix, key in self._prefixes(len(lacking)):
            quotient = lacking if prefix == ONE else quotient_of_keys(lacking, key)
            number = None if quotient is None else scalar_of(quotient)
            if number:
                for coefficient, factors in self.products(number, degree):
                    yield self._term(coefficient, factors, prefix)

    def _prefixes(self, size: int) -> Iterator[tuple[Expression, tuple[int, ...]]]:
        """What stands before a product of numbers: eps, vectors, eps times vectors."""
        yield ONE, ()
        if size == 1:
            return
        n = size // 2
        eps = (0,) * n + (1,) * n
        yield Name(EPS), eps
        others: list[tuple[Expression, tuple[int, ...]]] = [*self.vectors, *self.duals]
        for symbol, key in others:
            yield symbol, key
            yield Product((Name(EPS), symbol)), product_of_keys(eps, key)
        for (a, key), (b, other) in product(self.duals, self.vectors):
            yield Product((a, b)), product_of_keys(key, other)

    def products(self, number: int, largest: int) -> Iterator[tuple[Fraction, Factors]]:
        """The shortest products with a value."""
        plain = small_rational(number, LARGEST_COEFFICIENT, PRIME)
        if plain is not None:
            yield plain, ()
            return
        scaled = [(c, number * _residue(1 / c) % PRIME) for c in COEFFICIENTS]
        for degree in range(1, largest + 1):
            few, many = degree // 2, degree - degree // 2
            count = MOST_SYMBOLS if degree <= FEW_FACTORS else FEW_SYMBOLS
            other_half = self.table(many, count).get
            found = {
                (coefficient, tuple(sorted((*factors, *other))))
                for inverse, factors in self.inverses(few, count)
                for coefficient, target in scaled
                if (other := other_half(target * inverse % PRIME)) is not None
            }
            yield from sorted(found)
            if found:
                return

    def table(self, degree: int, count: int) -> dict[int, Factors]:
        key = degree, count
        if key not in self._tables:
            self._tables[key] = dict(_products_of(self.numbers[:count], degree))
        return self._tables[key]

    def inverses(self, degree: int, count: int) -> list[tuple[int, Factors]]:
        key = degree, count
        if key not in self._inverses:
            numbers = [pow(n, -1, PRIME) for n in self.numbers[:count]]
            self._inverses[key] = list(_products_of(numbers, degree))
        return self._inverses[key]

    def _term(self, coefficient: Fraction, factors: Factors, prefix: Expression) -> Expression:
        counted = {i: factors.count(i) for i in sorted(factors, key=self._order)}
        parts = [
            self.symbols[i] if n == 1 else Power(self.symbols[i], Number(Fraction(n)))
            for i, n in counted.items()
        ]
        size = Number(abs(coefficient))
        before = prefix.factors if isinstance(prefix, Product) else (prefix,)
        whole = [x for x in (size, *before, *parts) if x != ONE] or [ONE]
        term = whole[0] if len(whole) == 1 else Product(tuple(whole))
        return term if coefficient > 0 else negate(term)

    def _order(self, i: int) -> tuple[int, int, int]:
        """Parameters first, in the mechanism's order; functions last."""
        symbol = self.symbols[i]
        if isinstance(symbol, Name) and symbol.name in self.parameters:
            return 0, self.parameters.index(symbol.name), i
        return (1 if isinstance(symbol, Name) else 2), 0, i


def _residue(value: Fraction) -> int:
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


def _products_of(numbers: Sequence[int], degree: int) -> Iterator[tuple[int, Factors]]:
    for which in combinations_with_replacement(range(len(numbers)), degree):
        number = 1
        for i in which:
            number = number * numbers[i] % PRIME
        yield number, which
