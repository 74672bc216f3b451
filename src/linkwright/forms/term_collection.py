"""Sums of terms as a book would print them: collected by mass or by geometry.

By mass: m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2.
By geometry: (m1*lc1 + m2*l1)*g*cos(q1) + m2*g*lc2*cos(q1 + q2).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any

from ..expressions import (
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Sum,
    expression_text,
    names_in_expression,
    negate_expression,
)
from .trig_sums import TrigFactor
from .trig_terms import (
    TermAtom,
    TermMonomial,
    TermReader,
    TermSum,
    natural_sort_key,
    term_product,
    term_total,
)

COLLECTION_WAYS = ("auto", "mass", "geometry", "none")
MASS_KIND, INERTIA_KIND, CONSTANT_KIND, COORDINATE_KIND, CIRCULAR_KIND, CALL_KIND, RATE_KIND = (
    range(7)
)
_MIN_TIGHT_SHRINKING = 0.9
"""The share to which a form must shrink before factors are taken out that a book leaves inside."""
_MAX_TERMS_TRIED = 300
"""Sums of more terms are not tried in all ways."""

_MAX_TERMS_FOR_SQUARES = 64
MAX_ORDERED_POWER = 16
"""Higher powers are ordered as this one."""
_MAX_COMMON_NUMBER = 24
"""Numbers up to which halves, thirds, … are taken out of a sum; l - 0.03 stays as it is."""

KindFilter = Callable[[int], bool]  # which kinds of symbols belong to the key


@dataclass(frozen=True)
class SymbolRoles:
    """The roles of symbols, which decide how terms are collected and ordered."""

    masses: frozenset[str]
    inertias: frozenset[str]
    constants: frozenset[str]
    coordinates: tuple[str, ...]

    def atom_kind(self, atom: TermAtom) -> int:
        """The kind of a symbol or function: mass, inertia, constant, coordinate, …"""
        if isinstance(atom, TrigFactor):
            return CIRCULAR_KIND
        if not isinstance(atom, str):
            return CONSTANT_KIND if names_in_expression(atom) <= self.constants else CALL_KIND
        if atom in self.masses:
            return MASS_KIND
        if atom in self.inertias:
            return INERTIA_KIND
        if atom in self.constants:
            return CONSTANT_KIND
        return COORDINATE_KIND if atom in self.coordinates else RATE_KIND


def _is_inertial_kind(kind: int) -> bool:
    return kind in (MASS_KIND, INERTIA_KIND)


def _is_function_kind(kind: int) -> bool:
    return kind in (CIRCULAR_KIND, CALL_KIND)


def _is_rate_kind(kind: int) -> bool:
    return kind == RATE_KIND


def _is_length_kind(kind: int) -> bool:
    return kind in (CONSTANT_KIND, COORDINATE_KIND)


def _is_varying_kind(kind: int) -> bool:
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
class TermCollector:
    """Collects the terms of one reader's values."""

    reader: TermReader
    roles: SymbolRoles
    atom_sort_keys: dict[TermAtom, tuple[Any, ...]] = field(default_factory=dict)
    atom_kinds: dict[TermAtom, int] = field(default_factory=dict)
    term_sort_keys: dict[TermMonomial, list[Any]] = field(default_factory=dict)

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
                (self.collect_one_way(terms, way) for way in _TIGHT_WAYS[by]), key=_text_length
            )
            if _text_length(least) < _MIN_TIGHT_SHRINKING * size:
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
            chosen = [keys[0](self.atom_kind(atom)) for atom, _ in monomial]
            key = tuple(x for x, inside in zip(monomial, chosen, strict=True) if inside)
            rest = tuple(x for x, inside in zip(monomial, chosen, strict=True) if not inside)
            groups.setdefault(key, {})[rest] = c
        alone = {key: group[()] for key, group in groups.items() if group.keys() == {()}}
        squares, alone = self.find_squares(alone)
        pieces: list[tuple[Any, Expression]] = [*squares]
        pieces += [
            (self.monomial_sort_key(key), self.ordered_product(c, key, []))
            for key, c in alone.items()
        ]
        shared = {key: group for key, group in groups.items() if group.keys() != {()}}
        for heads, group in self.merge_groups(shared, keys[0] is _is_length_kind):
            first = min(self.monomial_sort_key((*h, *m)) for h in heads for m in group)
            pieces.append((first, self.group_expression(heads, group, keys[1:], factors)))
        pieces.sort(key=lambda piece: piece[0])
        return term_total([expression for _, expression in pieces])

    def merge_groups(
        self, groups: dict[TermMonomial, TermSum], numbers: bool
    ) -> Iterable[tuple[dict[TermMonomial, Fraction], TermSum]]:
        """Groups with the same cofactor (up to a number) under the sum of their keys; with
        `numbers`, one key may be a number."""
        found: dict[Any, tuple[dict[TermMonomial, Fraction], TermSum]] = {}
        for key, group in groups.items():
            lead = group[min(group, key=self.monomial_sort_key)]
            kept = key or numbers
            same: Any = frozenset((m, c / lead) for m, c in group.items()) if kept else key
            if same in found:
                heads, first = found[same]
                heads[key] = lead / first[min(first, key=self.monomial_sort_key)]
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
        factors: list[tuple[Any, Expression]] = []
        for atom, power in common:
            factors.append((self.factor_sort_key(atom), self.reader.atom_power(atom, power)))
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
                factors.append((self.sum_factor_sort_key(expression), expression))
        factors.sort(key=lambda factor: factor[0])
        return term_product(number, [expression for _, expression in factors])

    def factor_sort_key(self, atom: TermAtom) -> tuple[Any, ...]:
        """The key by which a symbol or function is ordered among factors."""
        return self.atom_kind(atom), 0, self.atom_sort_key(atom)

    def sum_factor_sort_key(self, expression: Expression) -> tuple[Any, ...]:
        """The sort key of a factor that is a sum, or a symbol or function out of one."""
        base = expression.base if isinstance(expression, Power) else expression
        if base in self.reader.atoms_by_expression:
            return self.factor_sort_key(self.reader.atoms_by_expression[base])
        first = expression.terms[0] if isinstance(expression, Sum) else expression
        return self.least_atom_kind(expression), 1, (natural_sort_key(expression_text(first)),)

    def least_atom_kind(self, expression: Expression) -> int:
        """The first kind, in the order of factors, of the symbols in an expression."""
        kinds = [self.atom_kind(name) for name in names_in_expression(expression)]
        inside = [kind for kind in kinds if kind != COORDINATE_KIND]
        return min(inside, default=CIRCULAR_KIND)

    # -- flat sums ---------------------------------------------------------------------------

    def flat_sum(self, terms: TermSum) -> Expression:
        """The sum of terms without groups; perfect squares are recognized."""
        squares, rest = self.find_squares(terms)
        parts = [
            (self.monomial_sort_key(m), self.ordered_product(c, m, [])) for m, c in rest.items()
        ]
        parts = [*squares, *parts]
        return term_total([expression for _, expression in sorted(parts, key=lambda part: part[0])])

    def find_squares(self, terms: TermSum) -> tuple[list[tuple[list[Any], Expression]], TermSum]:
        """The squares (x ± y)² for x² ± 2xy + y², with their sort keys, and the remaining terms; y
        may be a number."""
        rest = dict(terms)
        found: list[tuple[list[Any], Expression]] = []
        if len(terms) > _MAX_TERMS_FOR_SQUARES:
            return found, rest
        spelt = {frozenset(m): m for m in terms}
        roots = {m: tuple((a, p // 2) for a, p in m) for m in terms if _is_square_monomial(m)}
        roots |= {(): ()} if () in terms else {}
        ordered = sorted(roots, key=self.monomial_sort_key)
        for one in ordered:
            for other in ordered:
                cross = spelt.get(_multiply_monomials(roots[one], roots[other]))
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
                found.append((self.monomial_sort_key(one), term_product(c, [power])))
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
        negative = (balance or terms[min(terms, key=self.monomial_sort_key)]) < 0
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

    # -- order -------------------------------------------------------------------------------

    def atom_kind(self, atom: TermAtom) -> int:
        """The kind of a symbol or function, also of a named one."""
        if atom not in self.atom_kinds:
            kind = self.roles.atom_kind(atom)
            if isinstance(atom, Name) and atom.name in self.reader.definitions:
                inside = self.reader.definitions[atom.name][1]
                kind = CONSTANT_KIND if inside <= self.roles.constants else CALL_KIND
            self.atom_kinds[atom] = kind
        return self.atom_kinds[atom]

    def monomial_sort_key(self, monomial: TermMonomial) -> list[Any]:
        """The sort key of a term, kept for the next call."""
        if monomial not in self.term_sort_keys:
            self.term_sort_keys[monomial] = self.term_sort_key(monomial)
        return self.term_sort_keys[monomial]

    def term_sort_key(self, monomial: TermMonomial) -> list[Any]:
        """The sort key of a term: by rates (terms without rates last), then cosines and sines,
        fewest first, then masses, constants and numbers."""
        parts: dict[int, list[Any]] = {k: [] for k in range(7)}
        size = 0
        for atom, power in monomial:
            kind = self.atom_kind(atom)
            parts[kind] += [self.atom_sort_key(atom)] * min(power, MAX_ORDERED_POWER)
            size += power if kind in (CIRCULAR_KIND, CALL_KIND, COORDINATE_KIND) else 0
        ordered = [sorted(parts[k]) for k in (RATE_KIND, COORDINATE_KIND, CALL_KIND, CIRCULAR_KIND)]
        weight = [sorted(parts[k]) for k in (MASS_KIND, INERTIA_KIND, CONSTANT_KIND)]
        bare = [not weight[0], not any(weight)]
        return [not ordered[0], ordered[0], size, *ordered[1:], bare, *weight]

    def atom_sort_key(self, atom: TermAtom) -> tuple[Any, ...]:
        """The key by which a symbol or function is ordered among those of its kind."""
        if atom not in self.atom_sort_keys:
            if isinstance(atom, TrigFactor):
                form = self.reader.angle_form(atom.angle)
                rank = self.reader.symbol_ranks
                places = tuple(rank.get(m[0][0], len(rank)) if m else -1 for m, _ in form)
                text = natural_sort_key(expression_text(self.reader.angle_expression(atom.angle)))
                self.atom_sort_keys[atom] = (places, text, atom.function == "cos")
            elif isinstance(atom, str) and self.atom_kind(atom) in (COORDINATE_KIND, RATE_KIND):
                rank = self.reader.symbol_ranks
                self.atom_sort_keys[atom] = (rank.get(atom, len(rank)), natural_sort_key(atom))
            elif isinstance(atom, str):
                self.atom_sort_keys[atom] = (natural_sort_key(atom),)
            else:
                self.atom_sort_keys[atom] = (natural_sort_key(expression_text(atom)),)
        return self.atom_sort_keys[atom]


def _text_length(expression: Expression) -> int:
    """The number of characters of an expression."""
    return len(expression_text(expression))


def _is_square_monomial(monomial: TermMonomial) -> bool:
    """Whether all powers of the monomial are even."""
    return bool(monomial) and all(p % 2 == 0 for _, p in monomial)


def _multiply_monomials(one: TermMonomial, other: TermMonomial) -> frozenset[tuple[TermAtom, int]]:
    """The product of two monomials, as a set of powers."""
    powers = dict(one)
    for atom, power in other:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset(powers.items())
