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
    names,
    negate,
    to_text,
)
from .terms import Atom, Circular, Monomial, Reader, Terms, natural, product, total

WAYS = ("auto", "mass", "geometry", "none")
MASS, INERTIA, CONSTANT, COORDINATE, CIRCULAR, CALL, RATE = range(7)
_TIGHTER = 0.9
"""What a form must shrink to before factors are taken out that a book leaves inside."""
_MANY = 300
"""Sums of more terms are not tried in all ways."""

_MOST_FOR_SQUARES = 64
MOST_REPEATED = 16
"""Higher powers are ordered as this one."""
_LARGEST = 24
"""Numbers up to which halves, thirds, … are taken out of a sum; l - 0.03 stays as it is."""

Key = Callable[[int], bool]  # which kinds of symbols belong to the key


@dataclass(frozen=True)
class Roles:
    """What the symbols are, which decides how terms are collected and in which order."""

    masses: frozenset[str]
    inertias: frozenset[str]
    constants: frozenset[str]
    coordinates: tuple[str, ...]

    def kind(self, atom: Atom) -> int:
        if isinstance(atom, Circular):
            return CIRCULAR
        if not isinstance(atom, str):
            return CONSTANT if names(atom) <= self.constants else CALL
        if atom in self.masses:
            return MASS
        if atom in self.inertias:
            return INERTIA
        if atom in self.constants:
            return CONSTANT
        return COORDINATE if atom in self.coordinates else RATE


def _weights(kind: int) -> bool:
    return kind in (MASS, INERTIA)


def _turning(kind: int) -> bool:
    return kind in (CIRCULAR, CALL)


def _rates(kind: int) -> bool:
    return kind == RATE


def _lengths(kind: int) -> bool:
    return kind in (CONSTANT, COORDINATE)


def _varying(kind: int) -> bool:
    return _turning(kind) or _rates(kind)


@dataclass(frozen=True)
class _Way:
    """Keys from the outside in; `factors`: whether common symbols come out of a group."""

    keys: tuple[Key, ...]
    factors: bool
    whole: bool = False  # common factors of the whole sum first


_GEOMETRY = _Way((_rates, _turning, _lengths), True)
_MASS = _Way((_rates, _weights, _turning), False)
_LOOSE = {"geometry": [_GEOMETRY], "mass": [_MASS], "auto": [_GEOMETRY, _MASS]}
_TIGHT = {
    "geometry": [
        _Way((_varying, _lengths), True),
        _Way((_rates, _turning, _lengths), True, True),
        _Way((_turning, _rates, _lengths), True, True),
    ],
    "mass": [
        _Way((_weights, _varying), False),
        _Way((_rates, _weights, _turning), True, True),
        _Way((_weights, _rates, _turning), True, True),
    ],
}
_TIGHT["auto"] = [*_TIGHT["geometry"], *_TIGHT["mass"]]


@dataclass
class Collector:
    """Collects the terms of one reader's values."""

    reader: Reader
    roles: Roles
    orders: dict[Atom, tuple[Any, ...]] = field(default_factory=dict)
    kinds: dict[Atom, int] = field(default_factory=dict)
    places: dict[Monomial, list[Any]] = field(default_factory=dict)

    def collected(self, terms: Terms, by: str = "auto") -> Expression:
        """The sum as an expression, in the shortest of the ways that `by` allows."""
        late = time.monotonic() > self.reader.deadline
        if by == "none" or len(terms) < 2 or late:
            return self.flat(terms)
        best, size = None, 0
        for way in _LOOSE[by]:
            made = self.tried(terms, way)
            if best is None or len(to_text(made)) < size:
                best, size = made, len(to_text(made))
        if len(terms) <= _MANY:
            least = min((self.tried(terms, way) for way in _TIGHT[by]), key=_length)
            if _length(least) < _TIGHTER * size:
                best = least
        assert best is not None
        return best

    def tried(self, terms: Terms, way: _Way) -> Expression:
        if not way.whole:
            return self.nested(terms, way.keys, way.factors)
        common, number, rest = self.common(terms)
        if not common and number == -1:
            return self.nested(terms, way.keys, way.factors)
        inside = self.nested(rest, way.keys, way.factors)
        return self.joined(number, common, [inside])

    # -- nesting ---------------------------------------------------------------------------

    def nested(self, terms: Terms, keys: Sequence[Key], factors: bool) -> Expression:
        if not keys or len(terms) == 1:
            return self.flat(terms)
        groups: dict[Monomial, Terms] = {}
        for monomial, c in terms.items():
            chosen = [keys[0](self.kind(atom)) for atom, _ in monomial]
            key = tuple(x for x, inside in zip(monomial, chosen, strict=True) if inside)
            rest = tuple(x for x, inside in zip(monomial, chosen, strict=True) if not inside)
            groups.setdefault(key, {})[rest] = c
        alone = {key: group[()] for key, group in groups.items() if group.keys() == {()}}
        squares, alone = self.squares(alone)
        pieces: list[tuple[Any, Expression]] = [*squares]
        pieces += [(self.order(key), self.joined(c, key, [])) for key, c in alone.items()]
        shared = {key: group for key, group in groups.items() if group.keys() != {()}}
        for heads, group in self.merged(shared, keys[0] is _lengths):
            first = min(self.order((*h, *m)) for h in heads for m in group)
            pieces.append((first, self.piece(heads, group, keys[1:], factors)))
        pieces.sort(key=lambda piece: piece[0])
        return total([expression for _, expression in pieces])

    def merged(
        self, groups: dict[Monomial, Terms], numbers: bool
    ) -> Iterable[tuple[dict[Monomial, Fraction], Terms]]:
        """Groups with one cofactor (up to a number) under the sum of their keys, of which one may
        be a number where `numbers` is true."""
        found: dict[Any, tuple[dict[Monomial, Fraction], Terms]] = {}
        for key, group in groups.items():
            lead = group[min(group, key=self.order)]
            kept = key or numbers
            same: Any = frozenset((m, c / lead) for m, c in group.items()) if kept else key
            if same in found:
                heads, first = found[same]
                heads[key] = lead / first[min(first, key=self.order)]
            else:
                found[same] = {key: Fraction(1)}, group
        return found.values()

    def piece(
        self, heads: dict[Monomial, Fraction], group: Terms, keys: Sequence[Key], factors: bool
    ) -> Expression:
        if heads == {(): 1}:
            return self.nested(group, keys, factors)
        common, number, rest = self.common(group) if factors else self.number(group)
        inside: list[Expression] = []
        if rest != {(): 1}:
            inside.append(self.nested(rest, keys, factors))
        if len(heads) > 1:
            _, times, whole = self.number(heads)
            inside.append(self.flat(whole))
            return self.joined(number * times, common, inside)
        (key,) = heads
        if len(rest) == 1:
            ((monomial, c),) = rest.items()
            return self.joined(number * c, (*key, *common, *monomial), [])
        return self.joined(number, (*key, *common), inside)

    def joined(
        self, number: Fraction, common: Monomial, inside: Sequence[Expression]
    ) -> Expression:
        """Number, symbols and sums as one product; a sum stands where its symbols would."""
        factors: list[tuple[Any, Expression]] = []
        for atom, power in common:
            factors.append((self.factor_order(atom), self.reader.power(atom, power)))
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
                factors.append((self.sum_order(expression), expression))
        factors.sort(key=lambda factor: factor[0])
        return product(number, [expression for _, expression in factors])

    def factor_order(self, atom: Atom) -> tuple[Any, ...]:
        return self.kind(atom), 0, self.atom_order(atom)

    def sum_order(self, expression: Expression) -> tuple[Any, ...]:
        """Where a factor stands that is a sum, or a symbol or function out of one."""
        base = expression.base if isinstance(expression, Power) else expression
        if base in self.reader.spelt:
            return self.factor_order(self.reader.spelt[base])
        first = expression.terms[0] if isinstance(expression, Sum) else expression
        return self.least_kind(expression), 1, (natural(to_text(first)),)

    def least_kind(self, expression: Expression) -> int:
        kinds = [self.kind(name) for name in names(expression)]
        inside = [kind for kind in kinds if kind != COORDINATE]
        return min(inside, default=CIRCULAR)

    # -- flat sums ---------------------------------------------------------------------------

    def flat(self, terms: Terms) -> Expression:
        squares, rest = self.squares(terms)
        parts = [(self.order(m), self.joined(c, m, [])) for m, c in rest.items()]
        parts = [*squares, *parts]
        return total([expression for _, expression in sorted(parts, key=lambda part: part[0])])

    def squares(self, terms: Terms) -> tuple[list[tuple[list[Any], Expression]], Terms]:
        """x² ± 2xy + y² as (x ± y)²; y may be a number."""
        rest = dict(terms)
        found: list[tuple[list[Any], Expression]] = []
        if len(terms) > _MOST_FOR_SQUARES:
            return found, rest
        spelt = {frozenset(m): m for m in terms}
        roots = {m: tuple((a, p // 2) for a, p in m) for m in terms if _is_square(m)}
        roots |= {(): ()} if () in terms else {}
        ordered = sorted(roots, key=self.order)
        for one in ordered:
            for other in ordered:
                cross = spelt.get(_times(roots[one], roots[other]))
                if not one or cross is None or not {one, other, cross} <= rest.keys():
                    continue
                c = rest[one]
                size = abs(rest[cross] / c) / 2
                if one == other or rest[other] != c * size**2 or (other and size != 1):
                    continue
                second = self.joined(size, roots[other], [])
                if rest[cross] * c < 0:
                    second = negate(second)
                root = Sum((self.joined(Fraction(1), roots[one], []), second))
                power = Power(root, Number(Fraction(2)))
                found.append((self.order(one), product(c, [power])))
                for used in (one, other, cross):
                    del rest[used]
        return found, rest

    # -- what terms have in common -------------------------------------------------------------

    def number(self, terms: Terms) -> tuple[Monomial, Fraction, Terms]:
        """(1, the number that all coefficients share, the rest): most of the rest is positive, or
        half of it and the first term."""
        values = terms.values()
        top = reduce(gcd, (abs(c.numerator) for c in values))
        bottom = reduce(lcm, (c.denominator for c in values))
        if bottom > _LARGEST and max(abs(c) for c in values) * bottom > _LARGEST * top:
            top = bottom = 1
        balance = sum(1 if c > 0 else -1 for c in values)
        negative = (balance or terms[min(terms, key=self.order)]) < 0
        shared = Fraction(-top if negative else top, bottom)
        return (), shared, {m: c / shared for m, c in terms.items()}

    def common(self, terms: Terms) -> tuple[Monomial, Fraction, Terms]:
        """(symbols, number, rest) with terms = symbols · number · rest."""
        powers = dict(next(iter(terms)))
        for monomial in terms:
            other = dict(monomial)
            powers = {a: min(p, other[a]) for a, p in powers.items() if a in other}
        left = {
            tuple((a, p - powers.get(a, 0)) for a, p in m if p > powers.get(a, 0)): c
            for m, c in terms.items()
        }
        _, number, rest = self.number(left)
        return tuple(powers.items()), number, rest

    # -- order -------------------------------------------------------------------------------

    def kind(self, atom: Atom) -> int:
        if atom not in self.kinds:
            kind = self.roles.kind(atom)
            if isinstance(atom, Name) and atom.name in self.reader.definitions:
                inside = self.reader.definitions[atom.name][1]
                kind = CONSTANT if inside <= self.roles.constants else CALL
            self.kinds[atom] = kind
        return self.kinds[atom]

    def order(self, monomial: Monomial) -> list[Any]:
        if monomial not in self.places:
            self.places[monomial] = self.place(monomial)
        return self.places[monomial]

    def place(self, monomial: Monomial) -> list[Any]:
        """By rates (what has none is last), cosines and sines, fewest first, weights, constants,
        numbers."""
        parts: dict[int, list[Any]] = {k: [] for k in range(7)}
        size = 0
        for atom, power in monomial:
            kind = self.kind(atom)
            parts[kind] += [self.atom_order(atom)] * min(power, MOST_REPEATED)
            size += power if kind in (CIRCULAR, CALL, COORDINATE) else 0
        ordered = [sorted(parts[k]) for k in (RATE, COORDINATE, CALL, CIRCULAR)]
        weight = [sorted(parts[k]) for k in (MASS, INERTIA, CONSTANT)]
        bare = [not weight[0], not any(weight)]
        return [not ordered[0], ordered[0], size, *ordered[1:], bare, *weight]

    def atom_order(self, atom: Atom) -> tuple[Any, ...]:
        if atom not in self.orders:
            if isinstance(atom, Circular):
                form = self.reader.form(atom.angle)
                rank = self.reader.rank
                places = tuple(rank.get(m[0][0], len(rank)) if m else -1 for m, _ in form)
                text = natural(to_text(self.reader.angle(atom.angle)))
                self.orders[atom] = (places, text, atom.function == "cos")
            elif isinstance(atom, str) and self.kind(atom) in (COORDINATE, RATE):
                rank = self.reader.rank
                self.orders[atom] = (rank.get(atom, len(rank)), natural(atom))
            elif isinstance(atom, str):
                self.orders[atom] = (natural(atom),)
            else:
                self.orders[atom] = (natural(to_text(atom)),)
        return self.orders[atom]


def _length(expression: Expression) -> int:
    return len(to_text(expression))


def _is_square(monomial: Monomial) -> bool:
    return bool(monomial) and all(p % 2 == 0 for _, p in monomial)


def _times(one: Monomial, other: Monomial) -> frozenset[tuple[Atom, int]]:
    powers = dict(one)
    for atom, power in other:
        powers[atom] = powers.get(atom, 0) + power
    return frozenset(powers.items())
