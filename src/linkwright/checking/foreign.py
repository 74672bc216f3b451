"""SymPy expressions to the one syntax tree, node by node; nothing is evaluated as text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import ExpressionError
from ..expressions import (
    ZERO,
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    to_text,
)
from ..expressions.tokens import shorten
from ..expressions.tree import FUNCTIONS
from .latex_parser import LatexParser
from .reading import Line, Unreadable
from .symbols import Symbols

if TYPE_CHECKING:
    import sympy


_CALLS = {"Abs": "abs", **{name: name for name in FUNCTIONS}}
MAX_NODES = 100_000


def is_foreign(value: sympy.Basic) -> bool:
    """Whether it is of SymPy, or a list or mapping of such."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(key, str) or is_foreign(key) for key in value)
    if isinstance(value, list | tuple):
        return bool(value) and all(is_foreign(item) for item in value)
    return type(value).__module__.split(".")[0] == "sympy"


def from_sympy(value: sympy.Basic) -> list[Line | Unreadable]:
    """Equations `Eq(left, right)`, expressions that are zero, or a mapping of left sides.

    Those that cannot be read come with the reason; where none can, the first reason is raised.
    """
    found: list[Line | Unreadable] = []
    for item in _items(value):
        number = str(1 + len(found))
        try:
            pairs = list(_pairs(item))
        except ExpressionError as error:
            found.append(Unreadable(number, shorten(str(item), 200), error))
            continue
        for left, right in pairs:
            text = f"{to_text(left)} = {to_text(right)}"
            found.append(Line(str(1 + len(found)), left, right, text))
    failed = [line for line in found if isinstance(line, Unreadable)]
    if failed and len(failed) == len(found):
        raise failed[0].error
    return found


def _items(value: Any) -> Iterator[Any]:
    """Equations one by one."""
    if isinstance(value, Mapping):
        for left, right in value.items():
            yield {left: right}
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _items(item)
    else:
        yield value


def _pairs(value: Any) -> Iterator[tuple[Expression, Expression]]:
    if isinstance(value, Mapping):
        for left, right in value.items():
            yield from _entries(left, right)
    elif hasattr(value, "shape"):
        for entry in value:
            yield from _pairs(entry)
    elif type(value).__name__ == "Equality":
        yield from _entries(value.lhs, value.rhs)
    else:
        yield converted(value), ZERO


def _entries(left: Any, right: Any) -> Iterator[tuple[Expression, Expression]]:
    """The entries of matrices on both sides, or on the right of a name."""
    if not hasattr(right, "shape"):
        yield (
            Name(_plain_name(left)) if isinstance(left, str) else converted(left),
            converted(right),
        )
        return
    rows, columns = right.shape
    for i in range(rows):
        for j in range(columns):
            index = str(max(i, j) + 1) if 1 in (rows, columns) else f"{i + 1}{j + 1}"
            if hasattr(left, "shape"):
                yield converted(left[i, j]), converted(right[i, j])
            else:
                yield Name(f"{_plain_name(str(left))}{index}"), converted(right[i, j])


def converted(value: sympy.Basic) -> Expression:
    """One SymPy expression as a tree."""
    if not hasattr(value, "is_Atom") and not isinstance(value, int | float | Fraction):
        raise ExpressionError(
            f"{shorten(repr(value))} is no SymPy expression",
            remedy="give text as one string, with one equation a line",
        )
    return _Conversion()(value)


class _Conversion:
    def __init__(self) -> None:
        self.nodes = 0

    def __call__(self, value: Any, depth: int = 0) -> Expression:
        self.nodes += 1
        if self.nodes > MAX_NODES or depth > 200:
            raise ExpressionError("the SymPy expression is too long or too deep")
        if isinstance(value, int | Fraction):
            return Number(Fraction(value))
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ExpressionError(f"{value} is no finite number")
            return Number(Fraction(repr(value)))
        return self.node(value, [self(a, depth + 1) for a in self.arguments(value)])

    def arguments(self, value: sympy.Basic) -> Sequence[sympy.Basic]:
        kind = type(value).__name__
        is_leaf = value.is_Atom or kind == "Derivative" or self.is_motion(value)
        return () if is_leaf else value.args

    def is_motion(self, value: sympy.Basic) -> bool:
        """q1(t), an unknown function of time."""
        return type(value).__name__ not in _CALLS and [str(a) for a in value.args] == ["t"]

    def node(self, value: sympy.Basic, parts: list[Expression]) -> Expression:
        kind = type(value).__name__
        if value.is_Rational:
            return Number(Fraction(int(value.p), int(value.q)))
        if value.is_Float:
            return Number(Fraction(str(value)))
        if kind == "Pi":
            return Name("pi")
        if value.is_Symbol:
            return Name(_plain_name(str(value.name)))
        if value.is_Add:
            return Sum(tuple(parts))
        if value.is_Mul:
            return Product(tuple(parts))
        if value.is_Pow:
            minus = parts[1] == Number(Fraction(-1))
            return Reciprocal(parts[0]) if minus else Power(parts[0], parts[1])
        if kind == "Derivative":
            return self.derivative(value)
        if self.is_motion(value):
            return Name(_plain_name(str(value.func)))
        if kind in _CALLS and len(parts) == FUNCTIONS[_CALLS[kind]]:
            return Call(_CALLS[kind], tuple(parts))
        raise ExpressionError(f"SymPy's {kind} has no meaning here")

    def derivative(self, value: sympy.Basic) -> Expression:
        """d²q1/dt² is ddq1."""
        inner, *by = value.args
        dots = sum(int(count) for variable, count in by if str(variable) == "t")
        if dots not in (1, 2) or not self.is_motion(inner):
            raise ExpressionError("only first and second derivatives by t are read")
        return Name("d" * dots + _plain_name(str(inner.func)))


def _plain_name(name: str) -> str:
    """A symbol's name; one that is written in LaTeX, as `\\theta_{1}`, as we read that."""
    if set(name) & set("@=") or not name:
        raise ExpressionError(f"'{shorten(name)}' is no name of a symbol")
    if not set(name) & set("\\{}"):
        return name
    parser = LatexParser(name, Symbols(), {})
    found = parser.symbol()
    if parser.token:
        raise ExpressionError(f"the symbol '{shorten(name)}' has no meaning here")
    return found
