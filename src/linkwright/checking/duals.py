"""Dual numbers and vectors, a + eps b with eps² = 0: an equation of them is several of numbers.

V1x, H1x, F1x     components of the first body's dual velocity, momentum and inertia force, along
                  the body's axes at its mass centre: (ω, v), (m v, I ω), (m a, I α + ω × I ω)
VPx, HPx, FPx     the same of a frame P, along its axes at its origin, and of the particle there
V_link1, v2_link1 a body's dual velocity as a bound vector, and its part by the second speed: of
                  u1, u2, … where the text defines such, else of the coordinates' rates
x_tool, y_tool    the bound unit vectors along the axes of a frame
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from ..errors import ExpressionError
from ..expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    names,
    negate,
    to_text,
)
from ..expressions.tokens import shorten
from ..expressions.tree import children
from .places import Place, put
from .reading import Line

EPS = "eps"
MOST_NODES = 20_000
"""Of definitions written out in one side of an equation."""
_SCALAR = re.compile(r"[VHF](\w+)[xyz]")
_VECTOR = re.compile(r"(V|v\d|[xyz])_(\w+)")
Dual = tuple[Expression, Expression]
Known = Callable[[str], Expression | str | None]


def split(line: Line, find: Known, owners: Sequence[str]) -> list[Line]:
    """The parts of an equation of dual numbers or vectors; the equation itself if it has none."""
    known = _known((line.left, line.right), find)
    if not any(is_dual(name, owners) for name in known):
        return [line]
    pairs = split_pair((line.left, line.right), find, owners)
    return [replace(line, left=left, right=right) for left, right in pairs]


def split_pair(
    pair: tuple[Expression, Expression], find: Known, owners: Sequence[str]
) -> list[tuple[Expression, Expression]]:
    """The sides' real and dual parts, along each axis where there are vectors."""
    used = _known(pair, find)
    axes = "xyz" if any(is_vector(name, owners) for name in used) else ("",)
    parts = []
    for axis in axes:
        left, right = (_Split(find, owners, axis)(side) for side in pair)
        parts += [(left[k], right[k]) for k in (0, 1)]
    return parts


def _known(pair: tuple[Expression, Expression], find: Known) -> set[str]:
    """All names that an equation leads to, as ours where they are aliases."""
    return {name for side in pair for name in names_reached(side, find)}


def names_reached(expression: Expression, find: Known) -> Iterator[str]:
    """The names in an expression and in the definitions that it uses, each once."""
    front, seen = list(names(expression)), set[str]()
    while front:
        name = front.pop()
        if name in seen:
            continue
        seen.add(name)
        meaning = find(name)
        if isinstance(meaning, Name) or meaning is None or isinstance(meaning, str):
            yield meaning.name.lstrip("=") if isinstance(meaning, Name) else name
        else:
            yield name
            front += names(meaning)


def is_vector(name: str, owners: Sequence[str]) -> bool:
    match = _VECTOR.fullmatch(name)
    return match is not None and match[2] in owners


def is_scalar(name: str, owners: Sequence[str]) -> bool:
    """Whether it is one component of a dual vector: of a body by its number, or of a frame."""
    match = _SCALAR.fullmatch(name)
    return match is not None and (match[1] in owners or (match[1].isdigit() and len(match[1]) == 1))


def is_dual(name: str, owners: Sequence[str]) -> bool:
    return name == EPS or is_scalar(name, owners) or is_vector(name, owners)


class _Split:
    """Real and dual part of a tree, one component of vectors."""

    def __init__(self, find: Known, owners: Sequence[str], axis: str) -> None:
        self.find, self.owners, self.axis = find, owners, axis
        self.known: dict[str, tuple[Dual, int]] = {}
        self.length = 0  # nodes that definitions have brought so far

    def __call__(self, node: Expression) -> Dual:
        match node:
            case Number():
                return node, ZERO
            case Name(name):
                return self.of_name(name)
            case Negation(operand):
                real, dual = self(operand)
                return negate(real), negate(dual)
            case Sum(terms):
                parts = [self(term) for term in terms]
                return _sum([p[0] for p in parts]), _sum([p[1] for p in parts])
            case Product(factors):
                self.refuse_products(factors)
                return reduce(_times, (self(factor) for factor in factors))
            case Reciprocal(operand):
                real, dual = self(operand)
                square = Product((Reciprocal(real), Reciprocal(real)))
                return Reciprocal(real), negate(_product(dual, square))
            case Power(base, Number(n)) if n.denominator == 1 and 0 < n <= 16:
                self.refuse_products([base] * int(n))
                return reduce(_times, [self(base)] * int(n))
            case Call("sin" | "cos" as function, (angle,)):
                real, dual = self(angle)
                slope = Call("cos", (real,)) if function == "sin" else negate(Call("sin", (real,)))
                return Call(function, (real,)), _product(dual, slope)
            case _:
                raise ExpressionError("something has no dual part", remedy="write it without eps")

    def refuse_products(self, factors: Sequence[Expression]) -> None:
        """Components are multiplied one by one, which is no product of vectors."""
        vectors = [x for x in factors if self.has_vector(x)] if self.axis else []
        if len(vectors) > 1:
            text = to_text(Product(tuple(vectors)))
            raise ExpressionError(
                f"'{shorten(text)}' is a product of vectors", remedy="write its components"
            )

    def has_vector(self, node: Expression) -> bool:
        return any(is_vector(x, self.owners) for x in names_reached(node, self.find))

    def of_name(self, name: str) -> Dual:
        if name not in self.known:
            start = self.length
            parts = self._of_name(name)
            self.known[name] = parts, max(1, self.length - start)
        parts, length = self.known[name]
        self.length += length
        if self.length > MOST_NODES:
            raise ExpressionError(
                f"the definitions that '{name}' uses become too long when they are written out",
                remedy="use fewer definitions with eps inside one another",
            )
        return parts

    def _of_name(self, name: str) -> Dual:
        if name == EPS:
            return ZERO, ONE
        own = self.find(name)
        if isinstance(own, Name):
            name = own.name.lstrip("=")
        elif own is not None and not isinstance(own, str):
            inner = names_reached(own, self.find)
            is_plain = not any(is_dual(x, self.owners) for x in inner)
            return (Name(name), ZERO) if is_plain else self(own)
        if is_vector(name, self.owners):
            return Name(f"{name}@{self.axis}r"), Name(f"{name}@{self.axis}d")
        if is_scalar(name, self.owners):
            return Name(f"{name}@r"), Name(f"{name}@d")
        return Name(name), ZERO


def without_eps(root: Expression) -> Iterator[tuple[str, Expression]]:
    """The tree without any eps inside of a term that has one: eps² = 0."""
    for place, term in _with_eps(root):
        inner = tuple(x if x == Name(EPS) else _cleared(x) for x in term.factors)
        yield "the factors eps inside of another are left out", put(root, place, Product(inner))


def _with_eps(node: Expression, place: Place = ()) -> Iterator[tuple[Place, Product]]:
    """Products with a factor eps, the outer ones first."""
    if isinstance(node, Product) and Name(EPS) in node.factors:
        yield place, node
    for i, child in enumerate(children(node)):
        yield from _with_eps(child, (*place, i))


def _less(term: Product) -> Expression:
    kept = tuple(factor for factor in term.factors if factor != Name(EPS))
    return Product(kept) if len(kept) > 1 else kept[0] if kept else ONE


def _cleared(node: Expression) -> Expression:
    """Without any eps."""
    while found := list(_with_eps(node)):
        place, term = found[-1]
        node = put(node, place, _less(term))
    return node


def _sum(terms: list[Expression]) -> Expression:
    kept = [term for term in terms if term != ZERO]
    return Sum(tuple(kept)) if len(kept) > 1 else kept[0] if kept else ZERO


def _product(a: Expression, b: Expression) -> Expression:
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Product((a, b))


def _times(a: Dual, b: Dual) -> Dual:
    return _product(a[0], b[0]), _sum([_product(a[0], b[1]), _product(a[1], b[0])])
