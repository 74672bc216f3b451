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
from ..expressions.tree import children
from .misprints import put
from .reading import Line

EPS = "eps"
_SCALAR = re.compile(r"[VHF](\w+)[xyz]")
_VECTOR = re.compile(r"(V|v\d|[xyz])_(\w+)")
Place = tuple[int, ...]
Dual = tuple[Expression, Expression]
Known = Callable[[str], Expression | str | None]


def split(line: Line, find: Known, owners: Sequence[str]) -> list[Line]:
    """The parts of an equation of dual numbers or vectors; the equation itself if it has none."""
    used = names(line.left) | names(line.right)
    meant = {name: find(name) for name in used}
    words = {own.name if isinstance(own, Name) else name for name, own in meant.items()}
    known = words | _defined(used, find)
    if not any(is_dual(name, owners) for name in known):
        return [line]
    axes = "xyz" if any(is_vector(name, owners) for name in known) else ("",)
    parts = []
    for axis in axes:
        sides = [_Split(find, owners, axis)(side) for side in (line.left, line.right)]
        parts += [replace(line, left=sides[0][k], right=sides[1][k]) for k in (0, 1)]
    return parts


def _defined(used: frozenset[str], find: Known) -> set[str]:
    """Names inside definitions, so far as they matter."""
    inner = (find(name) for name in used)
    return set().union(*(names(x) for x in inner if x is not None and not isinstance(x, str)))


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
                return reduce(_times, (self(factor) for factor in factors))
            case Reciprocal(operand):
                real, dual = self(operand)
                square = Product((Reciprocal(real), Reciprocal(real)))
                return Reciprocal(real), negate(_product(dual, square))
            case Power(base, Number(n)) if n.denominator == 1 and 0 < n <= 16:
                return reduce(_times, [self(base)] * int(n))
            case Call("sin" | "cos" as function, (angle,)):
                real, dual = self(angle)
                slope = Call("cos", (real,)) if function == "sin" else negate(Call("sin", (real,)))
                return Call(function, (real,)), _product(dual, slope)
            case _:
                raise ExpressionError("something has no dual part", remedy="write it without eps")

    def of_name(self, name: str) -> Dual:
        if name == EPS:
            return ZERO, ONE
        own = self.find(name)
        if isinstance(own, Name):
            name = own.name
        elif own is not None and not isinstance(own, str):
            inner = names(own)
            return self(own) if any(is_dual(x, self.owners) for x in inner) else (Name(name), ZERO)
        if is_vector(name, self.owners):
            return Name(f"{name}@{self.axis}r"), Name(f"{name}@{self.axis}d")
        if is_scalar(name, self.owners):
            return Name(f"{name}@r"), Name(f"{name}@d")
        return Name(name), ZERO


def without_eps(root: Expression) -> Iterator[tuple[str, Expression]]:
    """The tree without an eps that may be one too many; then without those inside of another."""
    for place, term in _with_eps(root):
        what = f"the factor eps is left out of the term {to_text(term)}"
        yield what, put(root, place, _less(term))
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
