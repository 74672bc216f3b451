"""Single misprints: trees that differ from a given one by a slip, and have a given value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations, combinations_with_replacement

from ..algebra.exact.modular import small_rational
from ..algebra.exact.residue_values import PRIME
from ..expressions import (
    ONE,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    decimal_text,
    negate,
    to_text,
)
from ..expressions.tokens import shorten
from ..expressions.tree import children
from ..tape import Op
from .goals import Goal, Valuation
from .places import Place, put
from .values import (
    AnyAlgebra,
    AnyValue,
    Key,
    Lookup,
    is_met,
    key_of,
    product_of_keys,
    quotient_of_keys,
    scalar_of,
)

TWO = Number(Fraction(2))
KINDS = (
    "sign", "factor", "coefficient", "dot", "exponent", "function", "index", "quotient",
    "missing factor", "extra factor", "extra term", "missing angle", "symbol", "missing factors",
    "missing term",
)  # fmt: skip
"""From the likeliest to the least."""
LARGEST_COEFFICIENT = 64
MOST_IN_PAIRS = 80
LARGEST_EXPONENT = 6


@dataclass(frozen=True)
class Candidate:
    """`new` in the place `path` (numbers of children from the root) corrects a slip."""

    kind: str
    what: str
    path: Place
    new: Expression
    is_whole: bool = False

    def applied(self, root: Expression) -> Expression:
        return put(root, self.path, self.new)


class Misprints(Valuation):
    """Single slips of trees that give them the value they must have at one point."""

    def __init__(self, algebra: AnyAlgebra, lookup: Lookup, pool: Sequence[Expression]) -> None:
        super().__init__(algebra, lookup)
        self.symbols_tried = pool
        self._tables: dict[int, dict[int, list[tuple[Expression, Key]]]] = {}
        self._pair_tables: dict[int, dict[int, list[tuple[Expression, Key]]]] = {}

    @cached_property
    def pool(self) -> list[tuple[Expression, AnyValue, tuple[int, ...]]]:
        """The symbols that a correction may bring, with their values; zero repairs everything.
        Many points have no value of the equation, and are left before this is asked for."""
        found = [(x, self.value_if_any(x)) for x in self.symbols_tried]
        known = [(x, v, key_of(v)) for x, v in found if v is not None]
        return [(x, v, k) for x, v, k in known if any(k)]

    def of(self, root: Expression, goal: Goal) -> Iterator[Candidate]:
        """All slips after whose correction the tree meets the goal; the whole is a term."""
        for one in self.of_term(root, goal, is_angle=False):
            yield replace(one, is_whole=isinstance(root, Sum))
        for path, node, own, is_angle in self.goals(root, goal):
            for one in self.at(node, own, is_angle):
                yield replace(one, path=(*path, *one.path))

    # -- slips of a node ----------------------------------------------------------------------

    def at(self, node: Expression, goal: Goal, is_angle: bool) -> Iterator[Candidate]:
        match node:
            case Sum(terms):
                for i, term in enumerate(terms):
                    own = self.goal_of(node, i, goal, is_angle)
                    if own is not None:
                        for one in self.of_term(term, own, is_angle):
                            yield replace(one, path=(i,))
                    yield from self.without_term(node, i, goal)
                    yield from self.other_signs(node, i, goal)
            case Product(factors):
                for i in range(len(factors)):
                    yield from self.without_factors(node, (i,), goal)
                    yield from self.inverted_factor(node, i, goal)
                for pair in combinations(range(len(factors)), 2):
                    yield from self.without_factors(node, pair, goal)
            case Power(base, Number(n)):
                yield from self.other_powers(node, base, n, goal)
            case Call("sin" | "cos" | "tan" as function, (angle,)):
                for other in ("sin", "cos", "tan"):
                    if other != function:
                        new = Call(other, (angle,))
                        yield from self.one_if_met(
                            "function", f"{to_text(node)} is {other}", new, goal
                        )
            case Name(name) if name != "pi":
                yield from self.other_names(name, goal, is_angle)
            case Number(value):
                yield from self.other_numbers(value, goal)
        if isinstance(node, Name | Call | Sum) and not is_angle:
            yield from self.raised(node, goal)

    def one_if_met(self, kind: str, what: str, new: Expression, goal: Goal) -> Iterator[Candidate]:
        parts = children(new)
        if goal.is_met_by(self.guard(lambda: self.combine(new, [self.value(x) for x in parts]))):
            yield Candidate(kind, what, (), new)

    def of_term(self, term: Expression, goal: Goal, is_angle: bool) -> Iterator[Candidate]:
        """A sign, a coefficient, a lost factor."""
        text = shorten(to_text(_unsigned(term)))
        if goal.key is None or is_angle:
            yield from self.multiples_that_pass(term, goal, text)
            return
        quotient = quotient_of_keys(goal.key, self.key(term))
        if quotient is None:
            return
        number = scalar_of(quotient)
        ratio = None if number is None else small_rational(number, LARGEST_COEFFICIENT, PRIME)
        if ratio == -1:
            yield Candidate("sign", f"the sign of the term {text} is changed", (), negate(term))
        elif ratio is not None and ratio not in (0, 1):
            yield _rescaled(term, ratio, text)
        for symbol in self.matching(quotient):
            what = f"the factor {to_text(symbol)} is added to the term {text}"
            yield Candidate("missing factor", what, (), times(term, symbol))
        for pair in self.matching_pairs(quotient):
            what = f"the factor {to_text(pair)} is added to the term {text}"
            kind = "missing factor" if isinstance(pair, Power) else "missing factors"
            yield Candidate(kind, what, (), times(term, pair))

    def multiples_that_pass(self, term: Expression, goal: Goal, text: str) -> Iterator[Candidate]:
        """A sign or a factor 2 inside an angle or a power."""
        own = self.value(term)
        if goal.is_met_by(self.apply(Op.NEG, [own])):
            yield Candidate("sign", f"the sign of the term {text} is changed", (), negate(term))
        for ratio in (Fraction(2), Fraction(1, 2)):
            factor = self.algebra.constant(ratio)
            if goal.is_met_by(self.guard(lambda: self.product([factor, own]))):  # noqa: B023
                yield _rescaled(term, ratio, text)

    def without_term(self, node: Sum, i: int, goal: Goal) -> Iterator[Candidate]:
        rest = (*node.terms[:i], *node.terms[i + 1 :])
        if rest:
            new = rest[0] if len(rest) == 1 else Sum(rest)
            text = shorten(to_text(_unsigned(node.terms[i])))
            what = f"the term {text} is left out"
            if goal.is_met_by(self.guard(lambda: self.sum([self.value(x) for x in rest]))):
                yield Candidate("extra term", what, (), new)

    def other_signs(self, node: Sum, i: int, goal: Goal) -> Iterator[Candidate]:
        """All signs but one."""
        if len(node.terms) < 3:
            return
        kept = self.value(node.terms[i])
        value = self.apply(Op.SUB, [self.sum([kept, kept]), self.value(node)])
        if goal.is_met_by(value):
            new = Sum(tuple(t if k == i else negate(t) for k, t in enumerate(node.terms)))
            text = shorten(to_text(_unsigned(node.terms[i])))
            yield Candidate("sign", f"the signs of all terms but {text} are changed", (), new)

    def without_factors(
        self, node: Product, which: tuple[int, ...], goal: Goal
    ) -> Iterator[Candidate]:
        rest = tuple(x for k, x in enumerate(node.factors) if k not in which)
        if not rest or (goal.key and not is_met(goal.key, self.key_without(node.factors, *which))):
            return
        new = rest[0] if len(rest) == 1 else Product(rest)
        gone = [node.factors[i] for i in which]
        kind = "factor" if all(x in (TWO, Reciprocal(TWO)) for x in gone) else "extra factor"
        text = to_text(
            Product((ONE, *gone))
            if which[0]
            else Product(tuple(gone))
            if len(gone) > 1
            else gone[0]
        )
        what = (
            f"the factor {text.removeprefix('1*')} is left out of the term {shorten(to_text(node))}"
        )
        kind = kind if len(which) == 1 else "missing factors"
        if goal.is_met_by(self.guard(lambda: self.product([self.value(x) for x in rest]))):
            yield Candidate(kind, what, (), new)

    def inverted_factor(self, node: Product, i: int, goal: Goal) -> Iterator[Candidate]:
        """Division for multiplication, and the other way."""
        factor = node.factors[i]
        if goal.key is None or isinstance(factor, Number):
            return
        other = factor.operand if isinstance(factor, Reciprocal) else Reciprocal(factor)
        value = self.value_if_any(other)
        own = quotient_of_keys(goal.key, self.key_without(node.factors, i))
        if value is None or own is None or not is_met(own, key_of(value)):
            return
        new = Product((*node.factors[:i], other, *node.factors[i + 1 :]))
        done, base = ("divided", factor) if isinstance(other, Reciprocal) else ("multiplied", other)
        text = shorten(to_text(node))
        yield Candidate("quotient", f"{text} is {done} by {to_text(base)}", (), new)

    def other_powers(
        self, node: Power, base: Expression, n: Fraction, goal: Goal
    ) -> Iterator[Candidate]:
        for other in (*(Fraction(k) for k in range(1, LARGEST_EXPONENT + 1)), n - 1, n + 1, -n):
            new = base if other == 1 else Power(base, Number(other))
            if other not in (0, n) and goal.is_met_by(self.value_if_any(new)):
                yield Candidate("exponent", f"{to_text(node)} is {to_text(new)}", (), new)

    def raised(self, node: Expression, goal: Goal) -> Iterator[Candidate]:
        for exponent, word in ((2, "squared"), (3, "cubed")):
            new = Power(node, Number(Fraction(exponent)))
            what = f"{shorten(to_text(node))} is {word}"
            yield from self.one_if_met("exponent", what, new, goal)

    def other_numbers(self, value: Fraction, goal: Goal) -> Iterator[Candidate]:
        """The number that it must be, if that is as simple as the old one."""
        number = None if goal.key is None else scalar_of(goal.key)
        if number is None:
            tried = {value * 2, value / 2, -value, value + 1, value - 1} - {value, Fraction(0)}
            found = [x for x in sorted(tried) if goal.is_met_by(self.algebra.constant(x))]
        else:
            bound = max(LARGEST_COEFFICIENT, abs(value.numerator), value.denominator)
            ratio = small_rational(number, bound, PRIME)
            found = [ratio] if ratio is not None and ratio not in (value, 0) else []
        for other in found:
            what = f"the coefficient {number_text(value)} is {number_text(other)}"
            yield Candidate("coefficient", what, (), Number(other))

    def other_names(self, name: str, goal: Goal, is_angle: bool) -> Iterator[Candidate]:
        own = stem(name)
        for symbol in self.symbols_for(goal):
            if isinstance(symbol, Name) and symbol.name != name:
                yield Candidate(relation(name, symbol.name), f"{name} is {symbol.name}", (), symbol)
        for symbol, value, _ in self.pool if is_angle else ():
            if isinstance(symbol, Name) and stem(symbol.name) == own:
                for other in (symbol, negate(symbol)):
                    new = Sum((Name(name), other))
                    signed = value if other is symbol else self.apply(Op.NEG, [value])
                    total = self.sum([self.value(Name(name)), signed])
                    if goal.is_met_by(total):
                        yield Candidate("missing angle", f"{name} is {to_text(new)}", (), new)

    # -- the pool, by value -------------------------------------------------------------------

    def symbols_for(self, goal: Goal) -> list[Expression]:
        if goal.key is not None:
            return self.matching(goal.key)
        return [x for x, value, _ in self.pool if goal.is_met_by(value)]

    def matching(self, goal: Key) -> list[Expression]:
        """Symbols of the pool with a required key."""
        return _found(self._tables, goal, [(x, k) for x, _, k in self.pool])

    def matching_pairs(self, goal: Key) -> list[Expression]:
        """Products of two symbols of the pool, and squares, with a required key."""
        return _found(self._pair_tables, goal, self._pairs)

    @cached_property
    def _pairs(self) -> list[tuple[Expression, Key]]:
        used = [(x, k) for x, _, k in self.pool][:MOST_IN_PAIRS]
        return [
            (Power(a, TWO) if a == b else Product((a, b)), product_of_keys(ka, kb))
            for (a, ka), (b, kb) in combinations_with_replacement(used, 2)
        ]


def _found(
    tables: dict[int, dict[int, list[tuple[Expression, Key]]]],
    goal: Key,
    known: Sequence[tuple[Expression, Key]],
) -> list[Expression]:
    """Those with the required key, by a table of the first component that is required."""
    at = next((i for i, x in enumerate(goal) if x is not None), None)
    if at is None:
        return []
    if at not in tables:
        tables[at] = {}
        for expression, key in known:
            tables[at].setdefault(key[at] or 0, []).append((expression, key))
    near = tables[at].get(goal[at] or 0, ())
    return [expression for expression, key in near if is_met(goal, key)]


def stem(name: str) -> str:
    """The name without its numbers."""
    return re.sub(r"[\d_]", "", name)


def relation(name: str, other: str) -> str:
    """What kind of slip takes one name for another."""
    longer, shorter = sorted((name, other), key=len, reverse=True)
    if longer in (f"d{shorter}", f"dd{shorter}"):
        return "dot"
    apart = [set(pair) for pair in zip(name, other, strict=False) if pair[0] != pair[1]]
    of_axis = len(name) == len(other) > 1 and len(apart) == 1 and apart[0] <= set("xyz")
    return "index" if of_axis or stem(other) == stem(name) else "symbol"


def number_text(value: Fraction) -> str:
    """1/12 and 1/4 as fractions, 9.81 and 0.1 as decimals."""
    decimal = decimal_text(value)
    is_plain = value.denominator == 1 or value.denominator % 10 == 0 or value.denominator > 16
    return decimal if decimal is not None and is_plain else str(value)


def _unsigned(term: Expression) -> Expression:
    if isinstance(term, Negation):
        return term.operand
    return Number(abs(term.value)) if isinstance(term, Number) else term


def _rescaled(term: Expression, ratio: Fraction, text: str) -> Candidate:
    """Another coefficient, by its name where the term has one."""
    old, bare = _coefficient(_unsigned(term))
    now = old * ratio
    new = bare if now == 1 else times(bare, Number(now))
    new = negate(new) if isinstance(term, Negation) else new
    words = {Fraction(2): "doubled", Fraction(1, 2): "halved"}
    if ratio in words and 1 in (old, now):
        return Candidate("factor", f"the term {text} is {words[ratio]}", (), new)
    if old == 1:
        what = f"the factor {number_text(ratio)} is added to the term {text}"
    else:
        what = f"the coefficient {number_text(old)} of the term {text} is {number_text(now)}"
    return Candidate("coefficient", what, (), new)


def _coefficient(term: Expression) -> tuple[Fraction, Expression]:
    """The number in a term, and the rest."""
    number, rest = Fraction(1), []
    for factor in term.factors if isinstance(term, Product) else (term,):
        match factor:
            case Number(value):
                number *= value
            case Reciprocal(Number(value)) if value:
                number /= value
            case _:
                rest.append(factor)
    return number, Product(tuple(rest)) if len(rest) > 1 else rest[0] if rest else ONE


def times(term: Expression, factor: Expression) -> Expression:
    """The product, with the sign outside and numbers first."""
    if isinstance(term, Negation):
        return negate(times(term.operand, factor))
    if term == ONE:
        return factor
    factors = term.factors if isinstance(term, Product) else (term,)
    if not isinstance(factor, Number):
        added = factor.factors if isinstance(factor, Product) else (factor,)
        return Product((*factors, *added))
    if isinstance(factors[0], Number):
        number = Number(factors[0].value * factor.value)
        rest = factors[1:]
        kept = rest if number == ONE and rest else (number, *rest)
        return kept[0] if len(kept) == 1 else Product(kept)
    return Product((factor, *factors))
