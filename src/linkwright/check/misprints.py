"""Single misprints: every tree that differs from a given one by a slip, with its value at a point.

Values of changed trees follow from those of the unchanged parts, so that a thousand candidates take
some ten milliseconds.
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
from ..expressions.tree import children
from ..readings.field import FinerError, UnluckyError, Value
from ..tape import Op
from .points import FieldAlgebra

TWO = Number(Fraction(2))
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
    value: Value

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


class Misprints:
    """All single slips of trees, at one point."""

    def __init__(
        self, algebra: FieldAlgebra, lookup: Callable[[str], Value | None], pool: Sequence[Expression]
    ) -> None:
        self.algebra = algebra
        self.lookup = lookup
        self.pool = [(x, v) for x in pool if (v := self.tried(x)) is not None]
        self.values: dict[int, Value] = {}
        self.kept: list[Expression] = []

    def tried(self, expression: Expression) -> Value | None:
        try:
            return self.fresh(expression)
        except (UnluckyError, FinerError, LinkwrightError):
            return None

    def fresh(self, node: Expression) -> Value:
        parts = [self.fresh(child) for child in children(node)]
        return self.combined(node, parts)

    def value(self, node: Expression) -> Value:
        if id(node) not in self.values:
            self.kept.append(node)
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

    # -- slips --------------------------------------------------------------------------------

    def of(self, root: Expression) -> Iterator[Candidate]:
        """All slips of the tree; a whole that is no sum is a sum of one term."""
        if not isinstance(root, Sum):
            yield from self.of_term(root)
        yield from self.below(root, is_angle=False, is_base=False)

    def below(self, node: Expression, is_angle: bool, is_base: bool) -> Iterator[Candidate]:
        yield from self.at(node, is_angle, is_base)
        parts = children(node)
        if not parts or isinstance(node, Power):
            parts = parts[:1]
        values = [self.value(part) for part in children(node)]
        for i, part in enumerate(parts):
            inner = is_angle or isinstance(node, Call)
            for one in self.below(part, inner, isinstance(node, Power)):
                try:
                    value = self.changed(node, values, i, one.value)
                except (UnluckyError, FinerError):
                    continue
                yield Candidate(one.kind, one.what, (i, *one.path), one.new, value)

    def changed(self, node: Expression, values: list[Value], i: int, new: Value) -> Value:
        if isinstance(node, Sum) and len(values) > 3:
            field = self.algebra.field
            rest = field.apply(Op.SUB, (self.value(node), values[i]))
            return field.apply(Op.ADD, (rest, new))
        return self.combined(node, [*values[:i], new, *values[i + 1 :]])

    def at(self, node: Expression, is_angle: bool, is_base: bool) -> Iterator[Candidate]:
        """Slips of the node itself."""
        match node:
            case Sum(terms):
                for i, term in enumerate(terms):
                    values = [self.value(x) for x in terms]
                    for one in self.of_term(term, is_angle):
                        value = self.changed(node, values, i, one.value)
                        yield Candidate(one.kind, one.what, (i,), one.new, value)
                    yield from self.without_term(node, i)
            case Product(factors):
                for i in range(len(factors)):
                    yield from self.without_factor(node, i)
            case Power(base, Number(n)):
                yield from self.other_powers(node, base, n)
            case Call("sin" | "cos" as function, (angle,)):
                other = {"sin": "cos", "cos": "sin"}[function]
                yield from self.one(
                    "sin for cos", f"{to_text(node)} is {other}", Call(other, (angle,))
                )
            case Name(name) if name != "pi":
                yield from self.other_names(name, is_angle)
        is_factor = isinstance(node, Name | Call) or (isinstance(node, Sum) and not is_angle)
        if is_factor and not is_base and not is_angle:
            yield from self.one("square", f"{to_text(node)} is squared", Power(node, TWO))

    def one(self, kind: str, what: str, new: Expression) -> Iterator[Candidate]:
        value = self.tried(new)
        if value is not None:
            yield Candidate(kind, what, (), new, value)

    def of_term(self, term: Expression, is_angle: bool = False) -> Iterator[Candidate]:
        """A sign, a factor 2, a lost factor."""
        own, field, text = self.value(term), self.algebra.field, to_text(_unsigned(term))
        yield Candidate(
            "sign", f"the sign of the term {text} is changed", (), negate(term),
            self.algebra.negate(own),
        )  # fmt: skip
        for factor, word in ((Fraction(2), "doubled"), (Fraction(1, 2), "halved")):
            value = field.apply(Op.MUL, (own, field.constant(factor)))
            what = f"the term {text} is {word}"
            yield Candidate("factor 2", what, (), times(term, Number(factor)), value)
        if is_angle:
            return
        for symbol, value in self.pool:
            what = f"the factor {to_text(symbol)} is added to the term {text}"
            product = field.apply(Op.MUL, (own, value))
            yield Candidate("missing factor", what, (), times(term, symbol), product)

    def without_term(self, node: Sum, i: int) -> Iterator[Candidate]:
        rest = (*node.terms[:i], *node.terms[i + 1 :])
        if rest:
            new = rest[0] if len(rest) == 1 else Sum(rest)
            text = to_text(_unsigned(node.terms[i]))
            yield from self.one("extra term", f"the term {text} is left out", new)

    def without_factor(self, node: Product, i: int) -> Iterator[Candidate]:
        rest = (*node.factors[:i], *node.factors[i + 1 :])
        new = rest[0] if len(rest) == 1 else Product(rest)
        kind = "factor 2" if node.factors[i] in (TWO, Number(Fraction(1, 2))) else "extra factor"
        divisor = node.factors[i]
        gone = f"1/{to_text(divisor.operand)}" if isinstance(divisor, Reciprocal) else to_text(divisor)
        yield from self.one(kind, f"the factor {gone} is left out of {to_text(node)}", new)

    def other_powers(self, node: Power, base: Expression, n: Fraction) -> Iterator[Candidate]:
        for other in (n - 1, n + 1):
            new = base if other == 1 else Power(base, Number(other))
            if other != 0:
                yield from self.one("square", f"{to_text(node)} is {to_text(new)}", new)

    def other_names(self, name: str, is_angle: bool) -> Iterator[Candidate]:
        stem = re.sub(r"\d", "", name)
        dots = {f"d{name}", name[1:] if name.startswith("d") else ""}
        for symbol, value in self.pool:
            if not isinstance(symbol, Name) or symbol.name == name:
                continue
            other = symbol.name
            kind = "index" if re.sub(r"\d", "", other) == stem else "symbol"
            kind = "dot" if other in dots else kind
            yield Candidate(kind, f"{name} is {other}", (), symbol, value)
        if is_angle:
            for symbol, value in self.pool:
                if isinstance(symbol, Name) and re.sub(r"\d", "", symbol.name) == stem:
                    total = self.algebra.add([self.value_of(name), value])
                    new = Sum((Name(name), symbol))
                    yield Candidate("index", f"{name} is {to_text(new)}", (), new, total)

    def value_of(self, name: str) -> Value:
        found = self.lookup(name)
        assert found is not None
        return found


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
