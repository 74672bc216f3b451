"""Sums of terms as in a textbook: collected by mass or by geometry.

By mass: m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2.
By geometry: (m1*lc1 + m2*l1)*g*cos(q1) + m2*g*lc2*cos(q1 + q2).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

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
from .trig_sums import Rational, exact_ratio, split_common_rational
from .trig_terms import (
    FormTermReader,
    TermAtom,
    TermMonomial,
    TermSum,
    form_term_product,
    form_term_sum,
)

COLLECTION_WAYS = ("auto", "mass", "geometry", "none")
_MIN_TIGHT_SHRINKING = 0.85
"""Factors that textbooks leave inside are taken out only if the form shrinks to this share."""
_MAX_TERMS_TRIED = 100
"""The most terms that are collected in all ways, to find the shortest one."""

_MAX_TERMS_FOR_SQUARES = 64
_MAX_COMMON_NUMBER = 24
"""The largest number that is taken out of a sum (halves, thirds, …); l - 0.03 stays unchanged."""

TermKinds = frozenset[FormTermKind]  # the kinds of symbols that belong to the key of a group
TermFactor = tuple[TermAtom, int]  # a symbol or function and its power
OrderedTerm = tuple[TermSortKey, Expression]  # an expression with its place in a sum

_INERTIAL_KINDS = frozenset({FormTermKind.MASS, FormTermKind.INERTIA})
_FUNCTION_KINDS = frozenset({FormTermKind.CIRCULAR, FormTermKind.CALL})
_RATE_KINDS = frozenset({FormTermKind.RATE})
_LENGTH_KINDS = frozenset({FormTermKind.CONSTANT, FormTermKind.COORDINATE})
_VARYING_KINDS = _FUNCTION_KINDS | _RATE_KINDS


@dataclass(frozen=True)
class _CollectionWay:
    """The keys of nested groups from the outside in, and whether common symbols are taken out of a
    group."""

    group_keys: tuple[TermKinds, ...]
    takes_out_factors: bool
    factors_whole_sum: bool = False  # common factors of the whole sum first


_BY_GEOMETRY = _CollectionWay((_RATE_KINDS, _FUNCTION_KINDS, _LENGTH_KINDS), True)
_BY_MASS = _CollectionWay((_RATE_KINDS, _INERTIAL_KINDS, _FUNCTION_KINDS), False)
_BOOK_WAYS = {"geometry": [_BY_GEOMETRY], "mass": [_BY_MASS], "auto": [_BY_GEOMETRY, _BY_MASS]}
_TIGHT_WAYS = {
    "geometry": [
        _CollectionWay((_VARYING_KINDS, _LENGTH_KINDS), True),
        _CollectionWay((_RATE_KINDS, _FUNCTION_KINDS, _LENGTH_KINDS), True, True),
        _CollectionWay((_FUNCTION_KINDS, _RATE_KINDS, _LENGTH_KINDS), True, True),
    ],
    "mass": [
        _CollectionWay((_INERTIAL_KINDS, _VARYING_KINDS), False),
        _CollectionWay((_RATE_KINDS, _INERTIAL_KINDS, _FUNCTION_KINDS), True, True),
        _CollectionWay((_INERTIAL_KINDS, _RATE_KINDS, _FUNCTION_KINDS), True, True),
    ],
}
_TIGHT_WAYS["auto"] = [*_TIGHT_WAYS["geometry"], *_TIGHT_WAYS["mass"]]


@dataclass
class FormTermCollector:
    """Collects the terms of one reader's values."""

    reader: FormTermReader
    order: FormTermOrder

    group_expressions: dict[object, Expression] = field(default_factory=dict)
    """The groups that were collected, which other entries repeat."""
    way_of_rates: _CollectionWay | None = None
    """The way in which all terms with rates or forces of the quantity are collected; None: terms
    stay one by one."""
    way_of_rest: _CollectionWay | None = None
    """The way for terms without rates and forces, like those of the weight beside M q̈."""

    def choose_ways(self, sums: Iterable[TermSum], by: str = "auto") -> None:
        """Choose the ways for terms with rates and without, each one for all sums of a quantity, so
        that its entries look alike."""
        parts = [self.split_rates(terms) for terms in sums]
        of_rates = self.shortest_way([moving for moving, _ in parts], by)
        of_rest = self.shortest_way([rest for _, rest in parts], by)
        self.way_of_rates, self.way_of_rest = of_rates or of_rest, of_rest or of_rates

    def split_rates(self, terms: TermSum) -> tuple[TermSum, TermSum]:
        """The terms with rates or forces, and those without."""
        kinds, rate = self.order.atom_kinds, FormTermKind.RATE
        moving = {m: c for m, c in terms.items() if any(kinds[a] == rate for a, _ in m)}
        return moving, {m: c for m, c in terms.items() if m not in moving}

    def shortest_way(self, sums: Iterable[TermSum], by: str) -> _CollectionWay | None:
        """The shortest of the ways that `by` allows; of long quantities the sums of middle length
        decide."""
        proper = sorted((terms for terms in sums if len(terms) > 1), key=len)
        middle = len(proper[len(proper) // 2]) if proper else 0
        tried: list[TermSum] = []
        for terms in sorted(proper, key=lambda terms: abs(len(terms) - middle)):
            if tried and sum(map(len, tried)) + len(terms) > _MAX_TERMS_TRIED:
                break
            tried.append(terms)
        if by == "none" or not proper or time.monotonic() > self.reader.deadline:
            return None

        def printed_length(way: _CollectionWay) -> int:
            return sum(len(expression_text(self.collect_one_way(terms, way))) for terms in tried)

        lengths = {way: printed_length(way) for way in (*_BOOK_WAYS[by], *_TIGHT_WAYS[by])}
        book, tight = (min(ways[by], key=lengths.__getitem__) for ways in (_BOOK_WAYS, _TIGHT_WAYS))
        return tight if lengths[tight] < _MIN_TIGHT_SHRINKING * lengths[book] else book

    def collect_terms(self, terms: TermSum) -> Expression:
        """The sum as an expression, collected in the chosen ways."""
        ways = self.way_of_rates, self.way_of_rest
        if ways == (None, None) or len(terms) < 2 or time.monotonic() > self.reader.deadline:
            return self.flat_sum(terms)
        found: list[Expression] = []
        for part, way in zip(self.split_rates(terms), ways, strict=True):
            if part:
                made = self.flat_sum(part) if way is None else self.collect_one_way(part, way)
                found += made.terms if isinstance(made, Sum) else [made]
        return form_term_sum(found)

    def collect_one_way(self, terms: TermSum, way: _CollectionWay) -> Expression:
        """The sum collected in one way."""
        if not way.factors_whole_sum:
            return self.nest_groups(terms, way.group_keys, way.takes_out_factors)
        common, number, rest = self.common_factor(terms)
        if not common and (number == -1 or number.denominator != 1):
            return self.nest_groups(terms, way.group_keys, way.takes_out_factors)
        inside = self.nest_groups(rest, way.group_keys, way.takes_out_factors)
        return self.ordered_product(number, common, [inside])

    # -- nesting ---------------------------------------------------------------------------

    def nest_groups(self, terms: TermSum, keys: Sequence[TermKinds], factors: bool) -> Expression:
        """The sum with its terms grouped by the first key, and inside each group by the next
        ones."""
        if not keys or len(terms) == 1:
            return self.flat_sum(terms)
        groups: dict[TermMonomial, TermSum] = {}
        kinds, key_kinds = self.order.atom_kinds, keys[0]
        for monomial, c in terms.items():
            key, rest = list[TermFactor](), list[TermFactor]()
            for factor in monomial:
                (key if kinds[factor[0]] in key_kinds else rest).append(factor)
            groups.setdefault(tuple(key), {})[tuple(rest)] = c
        alone = {key: group[()] for key, group in groups.items() if group.keys() == {()}}
        alone_keys = alone.keys()
        squares, alone = self.find_squares(alone)
        pieces: list[tuple[TermSortKey, Expression]] = [*squares]
        pieces += [
            (self.order.monomial_sort_key(key), self.ordered_product(c, key, []))
            for key, c in alone.items()
        ]
        shared = {key: group for key, group in groups.items() if key not in alone_keys}
        for heads, group in self.merge_groups(shared, keys[0] is _LENGTH_KINDS):
            first = min(self.order.monomial_sort_key((*h, *m)) for h in heads for m in group)
            known = frozenset(heads.items()), frozenset(group.items()), keys[1:], factors
            if known not in self.group_expressions:
                made = self.group_expression(heads, group, keys[1:], factors)
                self.group_expressions[known] = made
            pieces.append((first, self.group_expressions[known]))
        pieces.sort(key=lambda piece: piece[0])
        return form_term_sum([expression for _, expression in pieces])

    def merge_groups(
        self, groups: dict[TermMonomial, TermSum], numbers: bool
    ) -> Iterable[tuple[TermSum, TermSum]]:
        """Groups with the same cofactor (up to a number) under the sum of their keys; with
        `numbers`, one key may be a number."""
        found: dict[object, tuple[TermSum, TermSum, Rational]] = {}
        for key, group in groups.items():
            number, whole = split_common_rational(list(group.values()))
            if group[min(group, key=self.order.monomial_sort_key)] < 0:
                number, whole = -number, [-n for n in whole]
            terms = frozenset(zip(group, whole, strict=True))
            same: object = terms if key or numbers else key
            if same in found:
                heads, _, first = found[same]
                heads[key] = exact_ratio(number, first)
            else:
                found[same] = {key: 1}, group, number
        return [(heads, group) for heads, group, _ in found.values()]

    def group_expression(
        self,
        heads: TermSum,
        group: TermSum,
        keys: Sequence[TermKinds],
        factors: bool,
    ) -> Expression:
        """The product of the sum of keys and the collected terms of a group."""
        if heads == {(): 1}:
            return self.nest_groups(group, keys, factors)
        take_out = self.common_factor if factors else self.common_constants
        common, number, rest = take_out(group)
        inside: list[Expression] = []
        if rest != {(): 1}:
            inside.append(self.nest_groups(rest, keys, factors))
        if len(heads) > 1:
            if number.denominator <= _MAX_COMMON_NUMBER:  # 0.0016 stays outside of (l + 0.16)
                heads, number = {key: number * c for key, c in heads.items()}, 1
            shared, times, whole = self.common_constants(heads)
            inside.append(self.flat_sum(whole))
            return self.ordered_product(number * times, (*common, *shared), inside)
        (key,) = heads
        if len(rest) == 1:
            ((monomial, c),) = rest.items()
            return self.ordered_product(number * c, (*key, *common, *monomial), [])
        return self.ordered_product(number, (*key, *common), inside)

    def ordered_product(
        self, number: Rational, common: TermMonomial, inside: Sequence[Expression]
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
        if not 3 <= len(terms) <= _MAX_TERMS_FOR_SQUARES:
            return found, rest
        roots = {m: tuple((a, p // 2) for a, p in m) for m in terms if _is_square_form_term(m)}
        roots |= {(): ()} if () in terms else {}
        if len(roots) < 2:
            return found, rest
        spelt = {frozenset(m): m for m in terms}
        ordered = sorted(roots, key=self.order.monomial_sort_key)
        for one in ordered:
            for other in ordered:
                cross = spelt.get(_multiply_form_terms(roots[one], roots[other]))
                if not one or cross is None or not {one, other, cross} <= rest.keys():
                    continue
                c = rest[one]
                share = exact_ratio(rest[cross], 2 * c)
                size = -share if share < 0 else share
                if one == other or rest[other] != c * size**2 or (other and size != 1):
                    continue
                parts = {roots[one]: Fraction(1), roots[other]: Fraction(share)}
                for used in (one, other, cross):
                    del rest[used]
                for third in ordered:
                    self.extend_square(parts, third, c, rest, spelt)
                root = Sum(tuple(self.signed_product(x, part) for part, x in parts.items()))
                power = Power(root, Number(Fraction(2)))
                found.append((self.order.monomial_sort_key(one), form_term_product(c, [power])))
        return found, rest

    def extend_square(
        self,
        parts: dict[TermMonomial, Fraction],
        square: TermMonomial,
        c: Rational,
        rest: TermSum,
        spelt: Mapping[frozenset[TermFactor], TermMonomial],
    ) -> None:
        """Add the root of `square` to the parts of c·(x ± y)² if the rest has, and loses, all."""
        if rest.get(square) != c:
            return
        root = tuple((a, p // 2) for a, p in square)
        crosses = [spelt.get(_multiply_form_terms(root, part), ()) for part in parts]
        for sign in (1, -1):
            wanted = [2 * c * sign * x for x in parts.values()]
            if () not in crosses and [rest.get(cross) for cross in crosses] == wanted:
                parts[root] = Fraction(sign)
                for used in (square, *crosses):
                    del rest[used]
                return

    def signed_product(self, number: Rational, monomial: TermMonomial) -> Expression:
        """The product of symbols and a number; a negative one is a difference in a sum."""
        if number < 0:
            return negate_expression(self.ordered_product(-number, monomial, []))
        return self.ordered_product(number, monomial, [])

    # -- what terms have in common -------------------------------------------------------------

    def common_number(self, terms: TermSum) -> tuple[TermMonomial, Rational, TermSum]:
        """(no symbols, the number that all coefficients share, the rest). Most of the rest is
        positive, or half of it and the first term; a number that comes first is positive, as in
        1 - 2*x^2 - 2*y^2. A denominator is taken out if most have it and no fraction is left:
        1/2*(m1 + 3*m2), but 1/2*m1 + m2, and 1/4*l^2 + 1/2*l*r."""
        values = list(terms.values())
        shared, whole = split_common_rational(values)
        balance = sum(1 if n > 0 else -1 for n in whole)
        first = min(terms, key=self.order.monomial_sort_key)
        negative = ((balance if first else 0) or terms[first]) < 0
        sign = -1 if negative else 1
        is_odd = shared.denominator > _MAX_COMMON_NUMBER
        if is_odd and max(map(abs, whole)) > _MAX_COMMON_NUMBER:
            return (), sign, {m: sign * c for m, c in terms.items()}
        if shared.denominator == 1:
            return (), sign * shared, {m: sign * n for m, n in zip(terms, whole, strict=True)}
        below = Counter(d for c in values for d in _divisors(c.denominator))
        most = max(d for d, times in below.items() if 2 * times > len(values))
        common = exact_ratio(sign * shared.numerator, most)
        rest = {m: exact_ratio(c, common) for m, c in terms.items()}
        if any(c.denominator != 1 for c in rest.values()):
            return (), sign, {m: sign * c for m, c in terms.items()}
        return (), common, rest

    def common_constants(self, terms: TermSum) -> tuple[TermMonomial, Rational, TermSum]:
        """(constants that all terms have to the same power, number, rest): g out of
        g*x*y + g*z^2, but nothing out of lc2^2 + l1*lc2*cos(q2)."""
        first, *others = map(frozenset, terms)
        alike = first.intersection(*others)
        constant = FormTermKind.CONSTANT
        common = tuple(
            f for f in next(iter(terms)) if f in alike and self.order.atom_kinds[f[0]] == constant
        )
        left = {tuple(f for f in m if f not in common): c for m, c in terms.items()}
        _, number, rest = self.common_number(left)
        return common, number, rest

    def common_factor(self, terms: TermSum) -> tuple[TermMonomial, Rational, TermSum]:
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


@lru_cache(maxsize=256)
def _divisors(number: int) -> tuple[int, ...]:
    """The number itself, and its other divisors up to `_MAX_COMMON_NUMBER`."""
    return *(d for d in range(1, min(_MAX_COMMON_NUMBER + 1, number)) if number % d == 0), number


def _is_square_form_term(monomial: TermMonomial) -> bool:
    """Whether all powers of the monomial are even."""
    return bool(monomial) and all(p % 2 == 0 for _, p in monomial)


def _multiply_form_terms(one: TermMonomial, other: TermMonomial) -> frozenset[tuple[TermAtom, int]]:
    """The product of two monomials, as a set of powers."""
    powers = dict(one)
    for atom, power in other:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset(powers.items())
