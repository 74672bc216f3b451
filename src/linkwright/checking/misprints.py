"""Single misprints: trees that differ from a given one by a slip, and have a given value somewhere.

What a part must be, so that the whole has its value, is reckoned from the root down; then each
slip is one comparison, and lost factors and wrong symbols are looked up by their value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import LinkwrightError
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
    negate,
    to_text,
)
from ..expressions.tokens import shorten
from ..expressions.tree import children
from ..readings.modular import UnluckyError
from ..readings.residues import PRIME, FieldAlgebra, FinerError, Value

TWO, HALF = Number(Fraction(2)), Number(Fraction(1, 2))
KINDS = (
    "sign", "factor 2", "dot", "square", "sin for cos", "index", "missing factor", "extra factor",
    "extra term", "symbol", "missing term",
)  # fmt: skip
"""From the likeliest to the least."""


@dataclass(frozen=True)
class Candidate:
    """`new` in the place `path` (numbers of children from the root) corrects a slip."""

    kind: str
    what: str
    path: tuple[int, ...]
    new: Expression
    is_whole: bool = False

    def applied(self, root: Expression) -> Expression:
        return put(root, self.path, self.new)


def put(root: Expression, path: Sequence[int], new: Expression) -> Expression:
    """The tree with another one in a place."""
    if not path:
        return new
    parts = list(children(root))
    parts[path[0]] = put(parts[path[0]], path[1:], new)
    match root:
        case Negation():
            return negate(parts[0])
        case Reciprocal():
            return Reciprocal(parts[0])
        case Sum():
            return Sum(tuple(parts))
        case Product():
            return Product(tuple(parts))
        case Power():
            return Power(parts[0], parts[1])
        case Call(function, _):
            return Call(function, tuple(parts))
        case _:
            return root


@dataclass(frozen=True)
class Goal:
    """The value that a part must have: a number, or one that passes a test."""

    number: int | None
    test: Callable[[Value], bool] | None = None

    def met(self, value: Value | None) -> bool:
        if value is None:
            return False
        return value.number == self.number if self.test is None else self.test(value)


class Misprints:
    """Single slips of trees that give them the value they must have at one point."""

    def __init__(
        self,
        algebra: FieldAlgebra,
        lookup: Callable[[str], Value | None],
        pool: Sequence[Expression],
    ) -> None:
        self.algebra = algebra
        self.finest = dict(algebra.field.finest)
        self.lookup = lookup
        found = [(x, self.tried(x)) for x in pool]
        self.pool = [(x, v) for x, v in found if v is not None and v.number]  # nothing repairs all
        self.by_number: dict[int, list[tuple[Expression, Value]]] = {}
        for symbol, value in self.pool:
            self.by_number.setdefault(value.number, []).append((symbol, value))
        self.values: dict[int, Value] = {}
        self.kept: list[Expression] = []

    def tried(self, expression: Expression) -> Value | None:
        return self.guarded(lambda: self.fresh(expression))

    def guarded(self, reckon: Callable[[], Value]) -> Value | None:
        """A value, or None where there is none; angles stay cut into the parts they were."""
        try:
            return reckon()
        except FinerError:
            self.algebra.field.finest = dict(self.finest)
        except (UnluckyError, LinkwrightError):
            pass
        return None

    def fresh(self, node: Expression) -> Value:
        return self.combined(node, [self.fresh(child) for child in children(node)])

    def value(self, node: Expression) -> Value:
        if id(node) not in self.values:
            self.kept.append(node)  # so that no other node gets its id
            self.values[id(node)] = self.combined(node, [self.value(x) for x in children(node)])
        return self.values[id(node)]

    def combined(self, node: Expression, parts: Sequence[Value]) -> Value:
        algebra = self.algebra
        match node:
            case Number(number):
                return algebra.number(number)
            case Name("pi"):
                return algebra.pi()
            case Name(name):
                found = self.lookup(name)
                if found is None:
                    raise UnluckyError(name)
                return found
            case Negation():
                return algebra.negate(parts[0])
            case Reciprocal():
                return algebra.reciprocal(parts[0])
            case Sum():
                return algebra.add(parts)
            case Product():
                return algebra.multiply(parts)
            case Power():
                return algebra.power(parts[0], parts[1])
            case Call(function, _):
                return algebra.call(function, parts)
            case _:
                raise UnluckyError("unit")

    # -- down the tree ------------------------------------------------------------------------

    def of(self, root: Expression, target: int) -> Iterator[Candidate]:
        """All slips after whose correction the tree has the target's value; the whole is a term."""
        for one in self.of_term(root, Goal(target), is_angle=False):
            yield Candidate(one.kind, one.what, one.path, one.new, isinstance(root, Sum))
        yield from self.below(root, Goal(target), is_angle=False, is_base=False)

    def below(
        self, node: Expression, goal: Goal, is_angle: bool, is_base: bool
    ) -> Iterator[Candidate]:
        yield from self.at(node, goal, is_angle, is_base)
        parts = children(node)[: 1 if isinstance(node, Power) else None]
        inner = is_angle or isinstance(node, Call)
        for i, part in enumerate(parts):
            own = self.goal_of(node, i, goal, inner)
            if own is not None:
                for one in self.below(part, own, inner, isinstance(node, Power)):
                    yield Candidate(one.kind, one.what, (i, *one.path), one.new)

    def goal_of(self, node: Expression, i: int, goal: Goal, is_angle: bool) -> Goal | None:
        """What the i-th part must be, the others staying as they are."""
        values = [self.value(part) for part in children(node)]
        if goal.number is not None and not is_angle:
            total, own = self.value(node).number, values[i].number
            match node:
                case Sum():
                    return Goal((goal.number - total + own) % PRIME)
                case Negation():
                    return Goal(-goal.number % PRIME)
                case Product() if total:
                    return Goal(goal.number * own * pow(total, -1, PRIME) % PRIME)
                case Reciprocal() if goal.number:
                    return Goal(pow(goal.number, -1, PRIME))
        changed = [*values]

        def test(value: Value) -> bool:
            changed[i] = value
            return goal.met(self.guarded(lambda: self.combined(node, changed)))

        return Goal(None, test)

    # -- slips of a node ----------------------------------------------------------------------

    def at(
        self, node: Expression, goal: Goal, is_angle: bool, is_base: bool
    ) -> Iterator[Candidate]:
        match node:
            case Sum(terms):
                for i, term in enumerate(terms):
                    own = self.goal_of(node, i, goal, is_angle)
                    if own is not None:
                        for one in self.of_term(term, own, is_angle):
                            yield Candidate(one.kind, one.what, (i,), one.new)
                    yield from self.without_term(node, i, goal)
                    yield from self.other_signs(node, i, goal)
            case Product(factors):
                for i in range(len(factors)):
                    yield from self.without_factor(node, i, goal)
            case Power(base, Number(n)):
                yield from self.other_powers(node, base, n, goal)
            case Call("sin" | "cos" as function, (angle,)):
                other = {"sin": "cos", "cos": "sin"}[function]
                what = f"{to_text(node)} is {other}"
                yield from self.one("sin for cos", what, Call(other, (angle,)), goal)
            case Name(name) if name != "pi":
                yield from self.other_names(name, goal, is_angle)
        if isinstance(node, Name | Call | Sum) and not is_base and not is_angle:
            yield from self.one(
                "square", f"{shorten(to_text(node))} is squared", Power(node, TWO), goal
            )

    def one(self, kind: str, what: str, new: Expression, goal: Goal) -> Iterator[Candidate]:
        if goal.met(self.tried_quickly(new)):
            yield Candidate(kind, what, (), new)

    def tried_quickly(self, new: Expression) -> Value | None:
        """The value of a new node whose parts are old."""
        return self.guarded(lambda: self.combined(new, [self.value(x) for x in children(new)]))

    def of_term(self, term: Expression, goal: Goal, is_angle: bool) -> Iterator[Candidate]:
        """A sign, a factor 2, a lost factor."""
        own, algebra = self.value(term), self.algebra
        text = shorten(to_text(_unsigned(term)))
        if goal.met(algebra.negate(own)):
            yield Candidate("sign", f"the sign of the term {text} is changed", (), negate(term))
        for factor, word in ((Fraction(2), "doubled"), (Fraction(1, 2), "halved")):
            if goal.met(algebra.multiply([own, algebra.number(factor)])):
                new = times(term, Number(factor))
                yield Candidate("factor 2", f"the term {text} is {word}", (), new)
        if is_angle or goal.number is None or not own.number:
            return
        quotient = goal.number * pow(own.number, -1, PRIME) % PRIME
        for symbol, _ in self.by_number.get(quotient, ()):
            what = f"the factor {to_text(symbol)} is added to the term {text}"
            yield Candidate("missing factor", what, (), times(term, symbol))

    def without_term(self, node: Sum, i: int, goal: Goal) -> Iterator[Candidate]:
        rest = (*node.terms[:i], *node.terms[i + 1 :])
        if rest:
            new = rest[0] if len(rest) == 1 else Sum(rest)
            text = shorten(to_text(_unsigned(node.terms[i])))
            yield from self.one("extra term", f"the term {text} is left out", new, goal)

    def other_signs(self, node: Sum, i: int, goal: Goal) -> Iterator[Candidate]:
        """All signs but one."""
        if len(node.terms) < 3:
            return
        algebra, kept = self.algebra, self.value(node.terms[i])
        value = algebra.add([kept, kept, algebra.negate(self.value(node))])
        if goal.met(value):
            new = Sum(tuple(t if k == i else negate(t) for k, t in enumerate(node.terms)))
            text = shorten(to_text(_unsigned(node.terms[i])))
            yield Candidate("sign", f"the signs of all terms but {text} are changed", (), new)

    def without_factor(self, node: Product, i: int, goal: Goal) -> Iterator[Candidate]:
        rest = (*node.factors[:i], *node.factors[i + 1 :])
        new = rest[0] if len(rest) == 1 else Product(rest)
        kind = "factor 2" if node.factors[i] in (TWO, HALF) else "extra factor"
        gone = to_text(Product((ONE, node.factors[i])) if i else node.factors[i]).removeprefix("1*")
        what = f"the factor {gone} is left out of {shorten(to_text(node))}"
        yield from self.one(kind, what, new, goal)

    def other_powers(
        self, node: Power, base: Expression, n: Fraction, goal: Goal
    ) -> Iterator[Candidate]:
        for other in (n - 1, n + 1):
            new = base if other == 1 else Power(base, Number(other))
            if other != 0 and goal.met(self.tried(new)):
                yield Candidate("square", f"{to_text(node)} is {to_text(new)}", (), new)

    def other_names(self, name: str, goal: Goal, is_angle: bool) -> Iterator[Candidate]:
        own, dots = stem(name), {f"d{name}", name[1:] if name.startswith("d") else ""}
        known = self.pool if goal.number is None else self.by_number.get(goal.number, ())
        for symbol, value in known:
            if isinstance(symbol, Name) and symbol.name != name and goal.met(value):
                other = symbol.name
                kind = "dot" if other in dots else "index" if stem(other) == own else "symbol"
                yield Candidate(kind, f"{name} is {other}", (), symbol)
        for symbol, value in self.pool if is_angle else ():
            if isinstance(symbol, Name) and stem(symbol.name) == own:
                new = Sum((Name(name), symbol))
                total = self.algebra.add([self.value(Name(name)), value])
                if goal.met(total):
                    yield Candidate("index", f"{name} is {to_text(new)}", (), new)


def stem(name: str) -> str:
    """The name without its numbers."""
    return re.sub(r"[\d_]", "", name)


def _unsigned(term: Expression) -> Expression:
    if isinstance(term, Negation):
        return term.operand
    return Number(abs(term.value)) if isinstance(term, Number) else term


def times(term: Expression, factor: Expression) -> Expression:
    """The product, with the sign outside and numbers first."""
    if isinstance(term, Negation):
        return negate(times(term.operand, factor))
    if term == ONE:
        return factor
    factors = term.factors if isinstance(term, Product) else (term,)
    if not isinstance(factor, Number):
        return Product((*factors, factor))
    if isinstance(factors[0], Number):
        number = Number(factors[0].value * factor.value)
        rest = factors[1:]
        kept = rest if number == ONE and rest else (number, *rest)
        return kept[0] if len(kept) == 1 else Product(kept)
    return Product((factor, *factors))
