"""Terms that an equation lacks: products of symbols that have the missing value at one point.

The value that a sum lacks is met in the middle: every product of up to three symbols, times every
such product from a table, times a small coefficient. It needs no closed form, so that terms are
found where constraints tie the motion, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement

from ..expressions import (
    ONE,
    ZERO,
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
from ..readings.residues import PRIME
from .duals import EPS
from .goals import Goal, Valuation
from .misprints import LARGEST_COEFFICIENT, Candidate
from .values import Key, key_of, quotient_of_keys, scalar_of, shifted, small_rational

MOST_SYMBOLS = 34
"""Products of three of these are some 7000."""
LARGEST_DEGREE = 6
COEFFICIENTS = tuple(
    sign * Fraction(*x)
    for x in ((1, 1), (2, 1), (1, 2), (1, 3), (1, 4), (3, 1), (4, 1), (1, 6), (1, 12), (3, 2))
    for sign in (1, -1)
)
Product_ = tuple[int, ...]


class MissingTerms:
    """Products of symbols, by their value at one point."""

    def __init__(self, valuation: Valuation, symbols: Sequence[Expression]) -> None:
        self.valuation = valuation
        known = [(x, valuation.value_if_any(x)) for x in symbols]
        keys = [(x, key_of(v)) for x, v in known if v is not None]
        scalars = [(x, n) for x, key in keys if (n := scalar_of(key))][:MOST_SYMBOLS]
        self.symbols = [x for x, _ in scalars]
        self.numbers = [n for _, n in scalars]
        self.vectors = [(x, k) for x, k in keys if scalar_of(k) is None and x != Name(EPS)]
        self._products: dict[int, dict[int, Product_]] = {}

    def of(self, root: Expression, goal: Goal) -> Iterator[Candidate]:
        """Sums of the tree that meet their goals with one more term."""
        for path, node, own, is_angle in self.valuation.goals(root, goal):
            if own.key is None or is_angle or not (isinstance(node, Sum) or not path):
                continue
            lacking = shifted(own.key, self.valuation.key(node), (0,) * len(own.key))
            for term in self.terms(lacking):
                old = node.terms if isinstance(node, Sum) else () if node == ZERO else (node,)
                where = f" in {shorten(to_text(node))}" if path else ""
                what = f"the term {to_text(term)} is missing{where}"
                yield Candidate("missing term", what, path, Sum((*old, term)) if old else term)

    def terms(self, lacking: Key) -> Iterator[Expression]:
        for prefix, key in self._prefixes(len(lacking)):
            quotient = lacking if prefix == ONE else quotient_of_keys(lacking, key)
            number = None if quotient is None else scalar_of(quotient)
            if number:
                for coefficient, factors in self.products(number):
                    yield self._term(coefficient, factors, prefix)

    def _prefixes(self, size: int) -> Iterator[tuple[Expression, tuple[int, ...]]]:
        """What stands before a product of numbers: eps, vectors, eps times vectors."""
        yield ONE, ()
        if size == 1:
            return
        n = size // 2
        yield Name(EPS), (0,) * n + (1,) * n
        for vector, key in self.vectors:
            yield vector, key
            yield Product((Name(EPS), vector)), (0,) * n + key[:n]

    def products(self, number: int) -> Iterator[tuple[Fraction, Product_]]:
        """The shortest products with a value."""
        plain = small_rational(number, LARGEST_COEFFICIENT)
        if plain is not None:
            yield plain, ()
            return
        scaled = [(c, number * _residue(1 / c) % PRIME) for c in COEFFICIENTS]
        for degree in range(1, LARGEST_DEGREE + 1):
            found: set[tuple[Fraction, Product_]] = set()
            few, many = degree // 2, degree - degree // 2
            table = self.table(many)
            for inverse, factors in self.inverses(few):
                for coefficient, target in scaled:
                    other = table.get(target * inverse % PRIME)
                    if other is not None:
                        found.add((coefficient, tuple(sorted((*factors, *other)))))
            yield from sorted(found)
            if found:
                return

    def table(self, degree: int) -> dict[int, Product_]:
        if degree not in self._products:
            self._products[degree] = dict(_products_of(self.numbers, degree))
        return self._products[degree]

    def inverses(self, degree: int) -> list[tuple[int, Product_]]:
        numbers = [pow(n, -1, PRIME) for n in self.numbers]
        return list(_products_of(numbers, degree))

    def _term(self, coefficient: Fraction, factors: Product_, prefix: Expression) -> Expression:
        counted = {i: factors.count(i) for i in factors}
        parts = [
            self.symbols[i] if n == 1 else Power(self.symbols[i], Number(Fraction(n)))
            for i, n in counted.items()
        ]
        size = Number(abs(coefficient))
        before = prefix.factors if isinstance(prefix, Product) else (prefix,)
        whole = [x for x in (size, *before, *parts) if x != ONE] or [ONE]
        term = whole[0] if len(whole) == 1 else Product(tuple(whole))
        return term if coefficient > 0 else negate(term)


def _residue(value: Fraction) -> int:
    return value.numerator * pow(value.denominator, -1, PRIME) % PRIME


def _products_of(numbers: Sequence[int], degree: int) -> Iterator[tuple[int, Product_]]:
    for which in combinations_with_replacement(range(len(numbers)), degree):
        product = 1
        for i in which:
            product = product * numbers[i] % PRIME
        yield product, which
