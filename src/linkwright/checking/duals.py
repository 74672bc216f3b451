"""Dual numbers and vectors, a + eps b with eps² = 0: an equation of them is several of numbers.

V1x, H1x, F1x     components of the first body's dual velocity, momentum and inertia force, along
                  the body's axes at its mass centre: (ω, v), (m v, I ω), (m a, I α + ω × I ω)
V_link1, v2_link1 a body's dual velocity as a bound vector, and its part by the second speed
x_tool, y_tool    the bound unit vectors along the axes of a frame
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
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
)
from .reading import Line

EPS = "eps"
_SCALAR = re.compile(r"([VHF])(\d)([xyz])")
_VECTOR = re.compile(r"(V|v\d|[xyz])_(\w+)")
Dual = tuple[Expression, Expression]
Known = Callable[[str], Expression | str | None]


def split(line: Line, find: Known, owners: Sequence[str]) -> list[Line]:
    """The parts of an equation of dual numbers or vectors; the equation itself if it has none."""
    used = names(line.left) | names(line.right)
    meant = {name: find(name) for name in used}
    words = {own.name if isinstance(own, Name) else name for name, own in meant.items()}
    if not any(is_dual(name, owners) for name in words | _defined(used, find)):
        return [line]
    axes = "xyz" if any(is_vector(name, owners) for name in words) else ("",)
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


def is_dual(name: str, owners: Sequence[str]) -> bool:
    return name == EPS or _SCALAR.fullmatch(name) is not None or is_vector(name, owners)


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
        if _SCALAR.fullmatch(name):
            return Name(f"{name}@r"), Name(f"{name}@d")
        return Name(name), ZERO


def _sum(terms: list[Expression]) -> Expression:
    kept = [term for term in terms if term != ZERO]
    return Sum(tuple(kept)) if len(kept) > 1 else kept[0] if kept else ZERO


def _product(a: Expression, b: Expression) -> Expression:
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Product((a, b))


def _times(a: Dual, b: Dual) -> Dual:
    return _product(a[0], b[0]), _sum([_product(a[0], b[1]), _product(a[1], b[0])])
