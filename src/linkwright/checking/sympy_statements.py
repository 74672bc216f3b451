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
    expression_text,
)
from ..expressions.tokens import shorten_expression_text
from ..expressions.tree import FUNCTION_ARITIES
from .latex_parser import LatexStatementParser
from .statement_reader import Statement, UnreadableStatement
from .text_symbols import StatementSymbols

if TYPE_CHECKING:
    import sympy


_SYMPY_FUNCTIONS = {"Abs": "abs", **{name: name for name in FUNCTION_ARITIES}}
MAX_SYMPY_NODES = 100_000


def is_sympy_input(value: sympy.Basic) -> bool:
    """Whether it is of SymPy, or a list or mapping of such."""
    if isinstance(value, Mapping):
        return bool(value) and all(isinstance(key, str) or is_sympy_input(key) for key in value)
    if isinstance(value, list | tuple):
        return bool(value) and all(is_sympy_input(item) for item in value)
    return type(value).__module__.split(".")[0] == "sympy"


def read_sympy_statements(value: sympy.Basic) -> list[Statement | UnreadableStatement]:
    """Equations `Eq(left, right)`, expressions that are zero, or a mapping of left sides.

    Those that cannot be read come with the reason; where none can, the first reason is raised.
    """
    found: list[Statement | UnreadableStatement] = []
    for item in _flatten_sympy_equations(value):
        number = str(1 + len(found))
        try:
            pairs = list(_sympy_equation_sides(item))
        except ExpressionError as error:
            found.append(
                UnreadableStatement(number, shorten_expression_text(str(item), 200), error)
            )
            continue
        for left, right in pairs:
            text = f"{expression_text(left)} = {expression_text(right)}"
            found.append(Statement(str(1 + len(found)), left, right, text))
    failed = [line for line in found if isinstance(line, UnreadableStatement)]
    if failed and len(failed) == len(found):
        raise failed[0].error
    return found


def _flatten_sympy_equations(value: Any) -> Iterator[Any]:
    """The equations in nested lists and mappings, one by one."""
    if isinstance(value, Mapping):
        for left, right in value.items():
            yield {left: right}
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _flatten_sympy_equations(item)
    else:
        yield value


def _sympy_equation_sides(value: Any) -> Iterator[tuple[Expression, Expression]]:
    if isinstance(value, Mapping):
        for left, right in value.items():
            yield from _matrix_entry_sides(left, right)
    elif hasattr(value, "shape"):
        for entry in value:
            yield from _sympy_equation_sides(entry)
    elif type(value).__name__ == "Equality":
        yield from _matrix_entry_sides(value.lhs, value.rhs)
    else:
        yield convert_sympy_expression(value), ZERO


def _matrix_entry_sides(left: Any, right: Any) -> Iterator[tuple[Expression, Expression]]:
    """The entries of matrices on both sides, or on the right of a name."""
    if not hasattr(right, "shape"):
        yield (
            Name(_sympy_symbol_name(left))
            if isinstance(left, str)
            else convert_sympy_expression(left),
            convert_sympy_expression(right),
        )
        return
    rows, columns = right.shape
    for i in range(rows):
        for j in range(columns):
            index = str(max(i, j) + 1) if 1 in (rows, columns) else f"{i + 1}{j + 1}"
            if hasattr(left, "shape"):
                yield convert_sympy_expression(left[i, j]), convert_sympy_expression(right[i, j])
            else:
                yield (
                    Name(f"{_sympy_symbol_name(str(left))}{index}"),
                    convert_sympy_expression(right[i, j]),
                )


def convert_sympy_expression(value: sympy.Basic) -> Expression:
    """One SymPy expression as a tree."""
    if not hasattr(value, "is_Atom") and not isinstance(value, int | float | Fraction):
        raise ExpressionError(
            f"{shorten_expression_text(repr(value))} is not a SymPy expression",
            remedy="give text as one string, with one equation a line",
        )
    return _SympyStatementConverter()(value)


class _SympyStatementConverter:
    def __init__(self) -> None:
        self.node_count = 0

    def __call__(self, value: Any, depth: int = 0) -> Expression:
        self.node_count += 1
        if self.node_count > MAX_SYMPY_NODES or depth > 200:
            raise ExpressionError("the SymPy expression is too long or too deep")
        if isinstance(value, int | Fraction):
            return Number(Fraction(value))
        if isinstance(value, float):
            if not math.isfinite(value):
                raise ExpressionError(f"{value} is not a finite number")
            return Number(Fraction(repr(value)))
        return self.convert_node(value, [self(a, depth + 1) for a in self.child_arguments(value)])

    def child_arguments(self, value: sympy.Basic) -> Sequence[sympy.Basic]:
        """The arguments of a SymPy node that are converted before it."""
        kind = type(value).__name__
        is_leaf = value.is_Atom or kind == "Derivative" or self.is_function_of_time(value)
        return () if is_leaf else value.args

    def is_function_of_time(self, value: sympy.Basic) -> bool:
        """Whether a node is an unknown function of time, such as q1(t)."""
        return type(value).__name__ not in _SYMPY_FUNCTIONS and [str(a) for a in value.args] == [
            "t"
        ]

    def convert_node(self, value: sympy.Basic, parts: list[Expression]) -> Expression:
        """A SymPy node as an expression, its arguments being converted."""
        kind = type(value).__name__
        if value.is_Rational:
            return Number(Fraction(int(value.p), int(value.q)))
        if value.is_Float:
            return Number(Fraction(str(value)))
        if kind == "Pi":
            return Name("pi")
        if value.is_Symbol:
            return Name(_sympy_symbol_name(str(value.name)))
        if value.is_Add:
            return Sum(tuple(parts))
        if value.is_Mul:
            return Product(tuple(parts))
        if value.is_Pow:
            minus = parts[1] == Number(Fraction(-1))
            return Reciprocal(parts[0]) if minus else Power(parts[0], parts[1])
        if kind == "Derivative":
            return self.convert_derivative(value)
        if self.is_function_of_time(value):
            return Name(_sympy_symbol_name(str(value.func)))
        if kind in _SYMPY_FUNCTIONS and len(parts) == FUNCTION_ARITIES[_SYMPY_FUNCTIONS[kind]]:
            return Call(_SYMPY_FUNCTIONS[kind], tuple(parts))
        raise ExpressionError(f"SymPy's {kind} has no meaning here")

    def convert_derivative(self, value: sympy.Basic) -> Expression:
        """The name of a derivative by time: ddq1 for d²q1/dt²."""
        inner, *by = value.args
        dots = sum(int(count) for variable, count in by if str(variable) == "t")
        if dots not in (1, 2) or not self.is_function_of_time(inner):
            raise ExpressionError("only first and second derivatives by t are read")
        return Name("d" * dots + _sympy_symbol_name(str(inner.func)))


def _sympy_symbol_name(name: str) -> str:
    """A symbol's name; one that is written in LaTeX, as `\\theta_{1}`, as we read that."""
    if set(name) & set("@=") or not name:
        raise ExpressionError(f"'{shorten_expression_text(name)}' is not the name of a symbol")
    if not set(name) & set("\\{}"):
        return name
    parser = LatexStatementParser(name, StatementSymbols(), {})
    found = parser.parse_symbol()
    if parser.token:
        raise ExpressionError(f"the symbol '{shorten_expression_text(name)}' has no meaning here")
    return found
