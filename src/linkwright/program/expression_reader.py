"""Reading of expressions in programs: constants are computed, all other expressions get a kind."""

from __future__ import annotations

import ast
import builtins
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from . import language
from .syntax import (
    Array,
    Code,
    Constant,
    Element,
    Expression,
    Kind,
    Memory,
    Operation,
    Statement,
    Ticket,
    Variable,
)

NUMBER_KINDS = {"float": Kind.FLOAT, "int": Kind.INT, "bool": Kind.BOOL, "Size": Kind.INT}
BUFFER_KINDS = {"Buffer": Kind.FLOAT, "IntBuffer": Kind.INT}
_ARITHMETIC: dict[type[ast.AST], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
}
_COMPARISONS: dict[type[ast.AST], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
}
SCRATCH_MAKERS = (language.scratch, language.scratch_matrix)
ARRAY_MAKERS = (language.vector, language.matrix, *SCRATCH_MAKERS)
_FUNCTIONS: dict[object, str] = {
    math.sqrt: "sqrt",
    math.isfinite: "isfinite",
    abs: "abs",
    min: "min",
    max: "max",
    float: "float",
    int: "int",
}

Shape = tuple[Expression, ...]

UNKNOWN_SIZE = Variable("unknown size", Kind.INT, True)
"""The length of a vector that was passed to a program without its length."""

ReadValue = Any
"""What an expression stands for: a number, an array, a buffer, a tape, or a constant of Python."""

Known = Constant | Variable | Array | Memory | Code
"""What a name in a program can stand for, apart from Python constants."""


@dataclass(frozen=True)
class RecordValue:
    """What a record stands for: its fields by name. Numbers that may change are variables."""

    fields: dict[str, Any]


class ProgramSyntaxError(Exception):
    """A function uses Python that programs do not support."""


@dataclass
class ExpressionReader:
    """Reads the expressions of one function, whose names it knows."""

    function: FunctionType
    constants: dict[str, object]
    names: dict[str, Known | RecordValue] = field(default_factory=dict)
    pending: list[Statement] = field(default_factory=list)

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        """Raise an error that names the function and shows the text."""
        text = ast.unparse(node).split("\n")[0]
        raise ProgramSyntaxError(f"{self.function.__name__}: {why}: {text}")

    def convert(self, value: Expression, kind: Kind, node: ast.AST) -> Expression:
        """Return the value as this kind; only an integer is converted, to a float."""
        if value.kind is kind:
            return value
        if (value.kind, kind) != (Kind.INT, Kind.FLOAT):
            self.fail(node, f"a value of kind {value.kind.value} is used as {kind.value}")
        if isinstance(value, Constant):
            return Constant(float(value.value), Kind.FLOAT)
        return Operation("float", (value,), Kind.FLOAT)

    # -- expressions -----------------------------------------------------------------------------

    def python_value(self, node: ast.expr) -> object:
        """Return the Python value of a name: a constant, a function or a tape."""
        if isinstance(node, ast.Name):
            scopes: tuple[Mapping[str, object], ...] = (
                self.constants, self.names, self.function.__globals__, vars(builtins),
            )  # fmt: skip
            for names in scopes:
                if node.id in names:
                    return names[node.id]
            self.fail(node, "this name is not known")
        if isinstance(node, ast.Attribute):
            base = self.python_value(node.value)
            if isinstance(base, RecordValue):
                if node.attr not in base.fields:
                    self.fail(node, "the record has no such field")
                return base.fields[node.attr]
            return getattr(base, node.attr)
        return self.fail(node, "this is not a constant")

    def read_expression(self, node: ast.expr) -> Expression:
        """Read an expression that is a number."""
        return self.expression(self.read_any(node), node)

    def expression(self, value: object, node: ast.AST) -> Expression:
        """Return a value that was read as an expression that is a number."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool | np.bool_):
            return Constant(bool(value), Kind.BOOL)
        if isinstance(value, int | np.integer):
            return Constant(int(value), Kind.INT)
        if isinstance(value, float | np.floating):
            return Constant(float(value), Kind.FLOAT)
        return self.fail(node, "this is not a number")

    def read_any(self, node: ast.expr) -> ReadValue:
        """Read an expression: a number, an array, a buffer or a Python constant."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                return self.python_value(node)
            case ast.Subscript(value=source, slice=index):
                return self.read_subscript(node, source, index)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                return self.read_arithmetic(node, type(op), left, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.read_any(operand)
                if not isinstance(value, Expression):
                    return -value
                return Operation("neg", (value,), value.kind)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = self.read_any(operand)
                return (
                    Operation("not", (value,), Kind.BOOL)
                    if isinstance(value, Expression)
                    else not value
                )
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self.read_comparison(node, type(op), left, right)
            case ast.BoolOp(op=op, values=values):
                return self.read_logic("and" if isinstance(op, ast.And) else "or", values)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return self.read_choice(node, test, yes, no)
            case ast.Call():
                return self.read_function(node)
            case _:
                return self.fail(node, "programs do not support this expression")

    def read_subscript(self, node: ast.expr, source: ast.expr, index: ast.expr) -> ReadValue:
        """An entry of an array, a buffer or a constant table, or a row of a matrix."""
        array = self.read_any(source)
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        numbers = [self.read_any(part) for part in parts]
        if isinstance(array, Memory):
            return Element(array, self.expression(numbers[0], node), array.kind)
        if not isinstance(array, Array):
            return array[tuple(numbers) if len(numbers) > 1 else numbers[0]]
        positions = [self.expression(number, node) for number in numbers]
        if len(array.shape) == 1 and len(positions) == 1:
            return Element(array, self.shift(array.offset, positions[0]), Kind.FLOAT)
        if array.shape[1] is UNKNOWN_SIZE:
            self.fail(node, "pass the number of columns of this matrix as well")
        start = self.times(positions[0], array.shape[1])
        if len(positions) == 1:
            return Array(array.name, array.shape[1:], start)
        return Element(array, self.shift(start, positions[1]), Kind.FLOAT)

    def times(self, position: Expression, size: Expression) -> Expression:
        """The index of the first entry of a row."""
        if isinstance(position, Constant) and isinstance(size, Constant):
            return Constant(int(position.value) * int(size.value), Kind.INT)
        return Operation("*", (position, size), Kind.INT)

    def shift(self, offset: Expression | None, position: Expression) -> Expression:
        """An index, counted from an offset."""
        if offset is None:
            return position
        if isinstance(offset, Constant) and isinstance(position, Constant):
            return Constant(int(offset.value) + int(position.value), Kind.INT)
        return Operation("+", (offset, position), Kind.INT)

    def read_arithmetic(
        self, node: ast.expr, op: type[ast.AST], left: ast.expr, right: ast.expr
    ) -> ReadValue:
        """A sum, difference, product or quotient."""
        name, compute = _ARITHMETIC[op]
        values = [self.read_any(left), self.read_any(right)]
        if not any(isinstance(value, Expression) for value in values):
            return compute(*values)
        a, b = (self.expression(value, node) for value in values)
        kind = Kind.FLOAT if name == "/" or Kind.FLOAT in (a.kind, b.kind) else Kind.INT
        return Operation(name, (self.convert(a, kind, node), self.convert(b, kind, node)), kind)

    def read_comparison(
        self, node: ast.expr, op: type[ast.AST], left: ast.expr, right: ast.expr
    ) -> ReadValue:
        """A comparison of two numbers; `is` compares constants."""
        if op in (ast.Is, ast.IsNot):
            same = self.read_any(left) is self.read_any(right)
            return same if op is ast.Is else not same
        name, compute = _COMPARISONS[op]
        values = [self.read_any(left), self.read_any(right)]
        if not any(isinstance(value, Expression) for value in values):
            return compute(*values)
        a, b = (self.expression(value, node) for value in values)
        kind = Kind.FLOAT if Kind.FLOAT in (a.kind, b.kind) else a.kind
        a, b = self.convert(a, kind, node), self.convert(b, kind, node)
        if name in (">", ">="):
            return Operation({">": "<", ">=": "<="}[name], (b, a), Kind.BOOL)
        return Operation(name, (a, b), Kind.BOOL)

    def read_logic(self, name: str, values: list[ast.expr]) -> ReadValue:
        """`and` or `or`; constant operands are decided here."""
        found: list[Expression] = []
        for value in map(self.read_any, values):
            if isinstance(value, Expression):
                found.append(value)
            elif bool(value) is (name == "or"):
                return bool(value)
        if not found:
            return name == "and"
        total = found[0]
        for value in found[1:]:
            total = Operation(name, (total, value), Kind.BOOL)
        return total

    def read_choice(self, node: ast.expr, test: ast.expr, yes: ast.expr, no: ast.expr) -> ReadValue:
        """`yes if condition else no`."""
        condition = self.read_any(test)
        if not isinstance(condition, Expression):
            return self.read_any(yes if condition else no)
        a, b = self.read_expression(yes), self.read_expression(no)
        kind = Kind.FLOAT if Kind.FLOAT in (a.kind, b.kind) else a.kind
        a, b = self.convert(a, kind, node), self.convert(b, kind, node)
        return Operation("choose", (condition, a, b), kind)

    def read_function(self, node: ast.Call) -> ReadValue:
        """A call inside an expression."""
        called = self.python_value(node.func)
        if called is language.take_ticket:
            counter = self.read_any(node.args[0])
            assert isinstance(counter, Memory)
            return Ticket(counter)
        arguments = [self.read_any(argument) for argument in node.args]
        if not any(isinstance(value, Known | Operation | Element) for value in arguments):
            assert callable(called)
            return called(*arguments)
        name = _FUNCTIONS.get(called)
        if name is None:
            self.fail(node, "programs do not support this function in an expression")
        operands = tuple(self.expression(value, node) for value in arguments)
        if name in ("min", "max") and len(operands) != 2:
            self.fail(node, "min and max compare two numbers")
        if name in ("min", "max", "abs", "neg"):
            kind = Kind.FLOAT if any(x.kind is Kind.FLOAT for x in operands) else Kind.INT
            operands = tuple(self.convert(x, kind, node) for x in operands)
            return Operation(name, operands, kind)
        if name in ("sqrt", "isfinite"):
            operands = (self.convert(operands[0], Kind.FLOAT, node),)
            return Operation(name, operands, Kind.FLOAT if name == "sqrt" else Kind.BOOL)
        return Operation(name, operands, Kind.FLOAT if name == "float" else Kind.INT)
