"""Sums of terms as in a textbook: collected by mass or by geometry.

By mass: m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2.
By geometry: (m1*lc1 + m2*l1)*g*cos(q1) + m2*g*lc2*cos(q1 + q2).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

from ..expressions import (
    Expression,
    Negation,
    Number,
    Power,
    Product,
    Sum,
    expression_text,
    negate_expression,
)
from .term_order import FactorSortKey, FormTermKind, FormTermOrder, TermSortKey
from .trig_terms import (
    FormTermReader,
    TermAtom,
    TermMonomial,
    TermSum,
    form_term_product,
    form_term_sum,
)

COLLECTION_WAYS = ("auto", "mass", "geometry", "none")
_MIN_TIGHT_SHRINKING = 0.9
"""Factors that textbooks leave inside are taken out only if the form shrinks to this share."""
_MAX_TERMS_TRIED = 300
"""The most terms of a sum that is collected in all ways."""

_MAX_TERMS_FOR_SQUARES = 64
_MAX_COMMON_NUMBER = 24
"""The largest number that is taken out of a sum (halves, thirds, …); l - 0.03 stays unchanged."""

KindFilter = Callable[[FormTermKind], bool]  # which kinds of symbols belong to the key
OrderedTerm = tuple[TermSortKey, Expression]  # an expression with its place in a sum


def _is_inertial_kind(kind: FormTermKind) -> bool:
    return kind in (FormTermKind.MASS, FormTermKind.INERTIA)


def _is_function_kind(kind: FormTermKind) -> bool:
    return kind in (FormTermKind.CIRCULAR, FormTermKind.CALL)


def _is_rate_kind(kind: FormTermKind) -> bool:
    return kind == FormTermKind.RATE


def _is_length_kind(kind: FormTermKind) -> bool:
    return kind in (FormTermKind.CONSTANT, FormTermKind.COORDINATE)


def _is_varying_kind(kind: FormTermKind) -> bool:
    return _is_function_kind(kind) or _is_rate_kind(kind)


@dataclass(frozen=True)
class _CollectionWay:
    """The keys of nested groups from the outside in, and whether common symbols are taken out of a
    group."""

    group_keys: tuple[KindFilter, ...]
    takes_out_factors: bool
    factors_whole_sum: bool = False  # common factors of the whole sum first


_BY_GEOMETRY = _CollectionWay((_is_rate_kind, _is_function_kind, _is_length_kind), True)
_BY_MASS = _CollectionWay((_is_rate_kind, _is_inertial_kind, _is_function_kind), False)
_BOOK_WAYS = {"geometry": [_BY_GEOMETRY], "mass": [_BY_MASS], "auto": [_BY_GEOMETRY, _BY_MASS]}
_TIGHT_WAYS = {
    "geometry": [
        _CollectionWay((_is_varying_kind, _is_length_kind), True),
        _CollectionWay((_is_rate_kind, _is_function_kind, _is_length_kind), True, True),
        _CollectionWay((_is_function_kind, _is_rate_kind, _is_length_kind), True, True),
    ],
    "mass": [
        _CollectionWay((_is_inertial_kind, _is_varying_kind), False),
        _CollectionWay((_is_rate_kind, _is_inertial_kind, _is_function_kind), True, True),
        _CollectionWay((_is_inertial_kind, _is_rate_kind, _is_function_kind), True, True),
    ],
}
_TIGHT_WAYS["auto"] = [*_TIGHT_WAYS["geometry"], *_TIGHT_WAYS["mass"]]


@dataclass
class FormTermCollector:
    """Collects the terms of one reader's values."""

    reader: FormTermReader
    order: FormTermOrder

    def collect_terms(self, terms: TermSum, by: str = "auto") -> Expression:
        """The sum as an expression, in the shortest of the ways that `by` allows."""
        late = time.monotonic() > self.reader.deadline
        if by == "none" or len(terms) < 2 or late:
            return self.flat_sum(terms)
        best, size = None, 0
        for way in _BOOK_WAYS[by]:
            made = self.collect_one_way(terms, way)
            if best is None or len(expression_text(made)) < size:
                best, size = made, len(expression_text(made))
        if len(terms) <= _MAX_TERMS_TRIED:
            least = min(
                (self.collect_one_way(terms, way) for way in _TIGHT_WAYS[by]), key=_form_term_length
            )
            if _form_term_length(least) < _MIN_TIGHT_SHRINKING * size:
                best = least
        assert best is not None
        return best

    def collect_one_way(self, terms: TermSum, way: _CollectionWay) -> Expression:
        """The sum collected in one way."""
        if not way.factors_whole_sum:
            return self.nest_groups(terms, way.group_keys, way.takes_out_factors)
        common, number, rest = self.common_factor(terms)
        if not common and number == -1:
            return self.nest_groups(terms, way.group_keys, way.takes_out_factors)
        inside = self.nest_groups(rest, way.group_keys, way.takes_out_factors)
        return self.ordered_product(number, common, [inside])

    # -- nesting ---------------------------------------------------------------------------

    def nest_groups(self, terms: TermSum, keys: Sequence[KindFilter], factors: bool) -> Expression:
        """The sum with its terms grouped by the first key, and inside each group by the next
        ones."""
        if not keys or len(terms) == 1:
            return self.flat_sum(terms)
        groups: dict[TermMonomial, TermSum] = {}
        for monomial, c in terms.items():
            chosen = [keys[0](self.order.atom_kind(atom)) for atom, _ in monomial]
            key = tuple(x for x, inside in zip(monomial, chosen, strict=True) if inside)
            rest = tuple(x for x, inside in zip(monomial, chosen, strict=True) if not inside)
            groups.setdefault(key, {})[rest] = c
        alone = {key: group[()] for key, group in groups.items() if group.keys() == {()}}
        squares, alone = self.find_squares(alone)
        pieces: list[tuple[TermSortKey, Expression]] = [*squares]
        pieces += [
            (self.order.monomial_sort_key(key), self.ordered_product(c, key, []))
            for key, c in alone.items()
        ]
        shared = {key: group for key, group in groups.items() if group.keys() != {()}}
        for heads, group in self.merge_groups(shared, keys[0] is _is_length_kind):
            first = min(self.order.monomial_sort_key((*h, *m)) for h in heads for m in group)
            pieces.append((first, self.group_expression(heads, group, keys[1:], factors)))
        pieces.sort(key=lambda piece: piece[0])
        return form_term_sum([expression for _, expression in pieces])

    def merge_groups(
        self, groups: dict[TermMonomial, TermSum], numbers: bool
    ) -> Iterable[tuple[dict[TermMonomial, Fraction], TermSum]]:
        """Groups with the same cofactor (up to a number) under the sum of their keys; with
        `numbers`, one key may be a number."""
        found: dict[object, tuple[dict[TermMonomial, Fraction], TermSum]] = {}
        for key, group in groups.items():
            lead = group[min(group, key=self.order.monomial_sort_key)]
            kept = key or numbers
            same: object = frozenset((m, c / lead) for m, c in group.items()) if kept else key
            if same in found:
                heads, first = found[same]
                heads[key] = lead / first[min(first, key=self.order.monomial_sort_key)]
            else:
                found[same] = {key: Fraction(1)}, group
        return found.values()

    def group_expression(
        self,
        heads: dict[TermMonomial, Fraction],
        group: TermSum,
        keys: Sequence[KindFilter],
        factors: bool,
    ) -> Expression:
        """The product of the sum of keys and the collected terms of a group."""
        if heads == {(): 1}:
            return self.nest_groups(group, keys, factors)
        common, number, rest = self.common_factor(group) if factors else self.common_number(group)
        inside: list[Expression] = []
        if rest != {(): 1}:
            inside.append(self.nest_groups(rest, keys, factors))
        if len(heads) > 1:
            _, times, whole = self.common_number(heads)
            inside.append(self.flat_sum(whole))
            return self.ordered_product(number * times, common, inside)
        (key,) = heads
        if len(rest) == 1:
            ((monomial, c),) = rest.items()
            return self.ordered_product(number * c, (*key, *common, *monomial), [])
        return self.ordered_product(number, (*key, *common), inside)

    def ordered_product(
        self, number: Fraction, common: TermMonomial, inside: Sequence[Expression]
    ) -> Expression:
        """The product of a number, symbols and sums; a sum stands where its symbols would."""
        factors: list[tuple[FactorSortKey, Expression]] = []
        for atom, power in common:
            factors.append((self.order.factor_sort_key(atom), self.reader.atom_power(atom, power)))
        pending = list(inside)
        while pending:
            expression = pending.pop()
            if isinstance(expression, Number):
                number *= expression.value
            elif isinstance(expression, Negation):
                number, pending = -number, [*pending, expression.operand]
            elif isinstance(expression, Product):
                pending += expression.factors
            else:
                factors.append((self.order.sum_factor_sort_key(expression), expression))
        factors.sort(key=lambda factor: factor[0])
        return form_term_product(number, [expression for _, expression in factors])

    # -- flat sums ---------------------------------------------------------------------------

    def flat_sum(self, terms: TermSum) -> Expression:
        """The sum of terms without groups; perfect squares are recognized."""
        squares, rest = self.find_squares(terms)
        parts = [
            (self.order.monomial_sort_key(m), self.ordered_product(c, m, []))
            for m, c in rest.items()
        ]
        parts = [*squares, *parts]
        return form_term_sum(
            [expression for _, expression in sorted(parts, key=lambda part: part[0])]
        )

    def find_squares(self, terms: TermSum) -> tuple[list[OrderedTerm], TermSum]:
        """The squares (x ± y)² for x² ± 2xy + y², with their sort keys, and the remaining terms; y
        may be a number."""
        rest = dict(terms)
        found: list[OrderedTerm] = []
        if len(terms) > _MAX_TERMS_FOR_SQUARES:
            return found, rest
        spelt = {frozenset(m): m for m in terms}
        roots = {m: tuple((a, p // 2) for a, p in m) for m in terms if _is_square_form_term(m)}
        roots |= {(): ()} if () in terms else {}
        ordered = sorted(roots, key=self.order.monomial_sort_key)
        for one in ordered:
            for other in ordered:
                cross = spelt.get(_multiply_form_terms(roots[one], roots[other]))
                if not one or cross is None or not {one, other, cross} <= rest.keys():
                    continue
                c = rest[one]
                size = abs(rest[cross] / c) / 2
                if one == other or rest[other] != c * size**2 or (other and size != 1):
                    continue
                second = self.ordered_product(size, roots[other], [])
                if rest[cross] * c < 0:
                    second = negate_expression(second)
                root = Sum((self.ordered_product(Fraction(1), roots[one], []), second))
                power = Power(root, Number(Fraction(2)))
                found.append((self.order.monomial_sort_key(one), form_term_product(c, [power])))
                for used in (one, other, cross):
                    del rest[used]
        return found, rest

    # -- what terms have in common -------------------------------------------------------------

    def common_number(self, terms: TermSum) -> tuple[TermMonomial, Fraction, TermSum]:
        """(no symbols, the number that all coefficients share, the rest). Most of the rest is
        positive, or half of it and the first term."""
        values = terms.values()
        top = reduce(gcd, (abs(c.numerator) for c in values))
        bottom = reduce(lcm, (c.denominator for c in values))
        if (
            bottom > _MAX_COMMON_NUMBER
            and max(abs(c) for c in values) * bottom > _MAX_COMMON_NUMBER * top
        ):
            top = bottom = 1
        balance = sum(1 if c > 0 else -1 for c in values)
        negative = (balance or terms[min(terms, key=self.order.monomial_sort_key)]) < 0
        shared = Fraction(-top if negative else top, bottom)
        return (), shared, {m: c / shared for m, c in terms.items()}

    def common_factor(self, terms: TermSum) -> tuple[TermMonomial, Fraction, TermSum]:
        """(symbols, number, rest) with terms = symbols · number · rest."""
        powers = dict(next(iter(terms)))
        for monomial in terms:
            other = dict(monomial)
            powers = {a: min(p, other[a]) for a, p in powers.items() if a in other}
        left = {
            tuple((a, p - powers.get(a, 0)) for a, p in m if p > powers.get(a, 0)): c
            for m, c in terms.items()
        }
        _, number, rest = self.common_number(left)
        return tuple(powers.items()), number, rest


def _form_term_length(expression: Expression) -> int:
    """The number of characters of an expression."""
    return len(expression_text(expression))


def _is_square_form_term(monomial: TermMonomial) -> bool:
    """Whether all powers of the monomial are even."""
    return bool(monomial) and all(p % 2 == 0 for _, p in monomial)


def _multiply_form_terms(one: TermMonomial, other: TermMonomial) -> frozenset[tuple[TermAtom, int]]:
    """The product of two monomials, as a set of powers."""
    powers = dict(one)
    for atom, power in other:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset(powers.items())
