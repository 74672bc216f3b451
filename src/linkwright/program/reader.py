"""From the source of a Python function to the syntax tree of a program.

Constants (sizes, tableaus, tapes, other programs) are filled in here: expressions of constants are
computed, branches on constants are decided, loops by `unroll` are written out. The same function
with other constants gives another program.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import operator
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NoReturn

import numpy as np

from . import language
from .syntax import (
    Argument,
    Array,
    Assign,
    Break,
    CallProgram,
    CallTape,
    Code,
    Constant,
    CopyRow,
    Declare,
    Element,
    Expression,
    If,
    Kind,
    Loop,
    Memory,
    Operation,
    Parameter,
    Program,
    Statement,
    Ticket,
    Variable,
    While,
)

_NUMBER_KINDS = {"float": Kind.FLOAT, "int": Kind.INT, "bool": Kind.BOOL, "Size": Kind.INT}
_BUFFER_KINDS = {"Buffer": Kind.FLOAT, "IntBuffer": Kind.INT}
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
_SCRATCH_MAKERS = (language.scratch, language.scratch_matrix)
_ARRAY_MAKERS = (language.vector, language.matrix, *_SCRATCH_MAKERS)
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
"""The length of a vector that was handed over without it."""

Known = Constant | Variable | Array | Memory | Code
"""What a name in a program may stand for, beside constants of Python."""


class ProgramSyntaxError(Exception):
    """A function is not in the subset of Python that programs are written in."""


def read_program(function: Callable[..., object], **given: object) -> Program:
    """The program of a function.

    Parameters
    ----------
    function : callable
        A function in the subset of Python that `language` describes.
    **given
        Values of its constants. Sizes and tapes that are not given are parameters of the program.

    Returns
    -------
    Program
        The syntax tree, which readings print.
    """
    assert isinstance(function, FunctionType)
    return _specialize(function, given, {})


def _specialize(
    function: FunctionType, constants: Mapping[str, object], shapes: Mapping[str, Shape]
) -> Program:
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    assert isinstance(tree, ast.FunctionDef)
    scope = _Scope(function, dict(constants))
    parameters: list[Parameter] = []
    for argument in [*tree.args.args, *tree.args.kwonlyargs]:
        known = _parameter(argument, constants, shapes)
        if known is not None:
            parameters.append(known)
            scope.names[argument.arg] = known
    *body, last = tree.body
    results: tuple[Expression, ...] = ()
    if isinstance(last, ast.Return):
        statements = scope.read_block(body)
        results = scope.read_results(last)
    else:
        statements = scope.read_block([*body, last])
    return Program(function.__name__, tuple(parameters), statements, results)


def _parameter(
    argument: ast.arg, constants: Mapping[str, object], shapes: Mapping[str, Shape]
) -> Parameter | None:
    """The parameter at run time; None for a constant."""
    name, annotation = argument.arg, ast.unparse(argument.annotation or ast.Name("?"))
    if name in constants:
        return None
    if annotation in _NUMBER_KINDS:
        return Variable(name, _NUMBER_KINDS[annotation], annotation == "Size")
    if annotation in _BUFFER_KINDS:
        return Memory(name, _BUFFER_KINDS[annotation])
    if annotation in ("Procedure", "Procedure | None"):
        return Code(name)
    if annotation == "Vector" and name in shapes:
        return Array(name, shapes[name])
    raise ProgramSyntaxError(f"the constant '{name}' is not given")


@dataclass
class _Scope:
    """The names of one function while its statements are read."""

    function: FunctionType
    constants: dict[str, object]
    names: dict[str, Known] = field(default_factory=dict)
    pending: list[Statement] = field(default_factory=list)

    def fail(self, node: ast.AST, why: str) -> NoReturn:
        text = ast.unparse(node).split("\n")[0]
        raise ProgramSyntaxError(f"{self.function.__name__}: {why}: {text}")

    # -- statements ------------------------------------------------------------------------------

    def read_block(self, nodes: list[ast.stmt]) -> tuple[Statement, ...]:
        """The statements of a block."""
        outer, self.pending = self.pending, []
        for node in nodes:
            self.read_statement(node)
        found, self.pending = tuple(self.pending), outer
        return found

    def read_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Expr(value=ast.Constant()):
                pass  # a docstring
            case ast.Expr(value=ast.Call() as call):
                self.read_call(call, ())
            case ast.Assign(targets=[target], value=value):
                self.read_assignment(target, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                if ast.unparse(node.annotation) == "Size":
                    self.names[name] = Variable(name, Kind.INT, True)
                self.read_assignment(node.target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                load = ast.parse(ast.unparse(target), mode="eval").body
                self.read_assignment(target, ast.BinOp(load, op, value))
            case ast.For(target=ast.Name(id=counter), iter=ast.Call() as counts, body=body):
                self.read_loop(counter, counts, body)
            case ast.While(test=test, body=body):
                self.pending.append(While(self.read_expression(test), self.read_block(body)))
            case ast.If(test=test, body=body, orelse=otherwise):
                self.read_branch(test, body, otherwise)
            case ast.Break():
                self.pending.append(Break())
            case ast.Pass() | ast.Assert():
                pass
            case _:
                self.fail(node, "this statement has no meaning in a program")

    def read_branch(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        condition = self.read_any(test)
        if isinstance(condition, Constant) or not isinstance(
            condition, Operation | Variable | Element
        ):
            value = condition.value if isinstance(condition, Constant) else condition
            for node in body if value else otherwise:
                self.read_statement(node)
            return
        if condition.kind is not Kind.BOOL:
            self.fail(test, "a condition must be true or false")
        self.pending.append(If(condition, self.read_block(body), self.read_block(otherwise)))

    def read_loop(self, counter: str, counts: ast.Call, body: list[ast.stmt]) -> None:
        called = self.python_value(counts.func)
        if called is language.unroll:
            self.unroll_loop(counter, counts.args[0], body)
            return
        if called is not range:
            self.fail(counts, "a loop needs range(…) or unroll(…)")
        bounds = [self.read_expression(argument) for argument in counts.args]
        start, stop = bounds if len(bounds) == 2 else (Constant(0, Kind.INT), bounds[0])
        variable = Variable(counter, Kind.INT, True)
        self.names[counter] = variable
        self.pending.append(Loop(variable, start, stop, self.read_block(body)))

    def unroll_loop(self, counter: str, counts: ast.expr, body: list[ast.stmt]) -> None:
        numbers = self.read_any(counts)
        assert not isinstance(numbers, Known | Operation | Element | Ticket)
        for number in numbers:
            self.constants[counter] = number
            for node in body:
                self.read_statement(node)
        self.constants.pop(counter, None)

    def read_assignment(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(value, ast.Call):
            called = self.python_value(value.func)
            if called in _ARRAY_MAKERS:
                self.declare_array(target, value, called in _SCRATCH_MAKERS)
                return
            if isinstance(called, FunctionType) and called is not language.take_ticket:
                targets = target.elts if isinstance(target, ast.Tuple) else [target]
                self.read_call(value, tuple(ast.unparse(one) for one in targets))
                return
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            self.fail(target, "assign one variable at a time")
        self.assign(target, self.read_expression(value))

    def declare_array(self, target: ast.expr, value: ast.Call, is_scratch: bool) -> None:
        assert isinstance(target, ast.Name)
        shape = tuple(self.read_size(argument) for argument in value.args)
        array = Array(target.id, shape)
        self.names[target.id] = array
        self.pending.append(Declare(array, is_scratch))

    def read_size(self, node: ast.expr) -> Expression:
        size = self.read_expression(node)
        if size.kind is not Kind.INT:
            self.fail(node, "a size must be an integer")
        return size

    def assign(self, target: ast.expr, value: Expression) -> None:
        if isinstance(target, ast.Name):
            known = self.names.get(target.id)
            if known is None:
                known = self.names[target.id] = Variable(target.id, value.kind)
            if not isinstance(known, Variable):
                self.fail(target, "this name is not a number")
            self.pending.append(Assign(known, self.convert(value, known.kind, target)))
            return
        element = self.read_expression(target)
        if not isinstance(element, Element):
            self.fail(target, "this cannot be assigned")
        self.pending.append(Assign(element, self.convert(value, element.kind, target)))

    def convert(self, value: Expression, kind: Kind, node: ast.AST) -> Expression:
        """An integer as a float where a float is needed; no other kind changes by itself."""
        if value.kind is kind:
            return value
        if (value.kind, kind) != (Kind.INT, Kind.FLOAT):
            self.fail(node, f"a value of kind {value.kind.value} is used as {kind.value}")
        if isinstance(value, Constant):
            return Constant(float(value.value), Kind.FLOAT)
        return Operation("float", (value,), Kind.FLOAT)

    # -- calls -----------------------------------------------------------------------------------

    def read_call(self, call: ast.Call, targets: tuple[str, ...]) -> None:
        """A call as a statement; its results go to the targets."""
        called = self.python_value(call.func)
        if called in (language.read_buffer_row, language.write_buffer_row):
            buffer, start, array = (self.read_any(argument) for argument in call.args)
            assert isinstance(buffer, Memory)
            assert isinstance(array, Array)
            if UNKNOWN_SIZE in array.shape:
                self.fail(call, "the length of this vector is not known here")
            writes = called is language.write_buffer_row
            self.pending.append(CopyRow(buffer, self.expression(start, call), array, writes))
        elif isinstance(called, Code):
            self.call_tape(called, call)
        elif isinstance(called, FunctionType):
            self.call_program(called, call, targets)
        else:
            self.fail(call, "programs can call only programs and tapes")

    def call_tape(self, code: Code, call: ast.Call) -> None:
        arguments: list[Expression | Array] = []
        for node in call.args:
            value = self.read_any(node)
            if isinstance(value, Array):
                arguments.append(value)
            else:
                arguments.append(self.convert(self.expression(value, node), Kind.FLOAT, node))
        self.pending.append(CallTape(code, tuple(arguments)))

    def call_program(
        self, function: FunctionType, call: ast.Call, targets: tuple[str, ...]
    ) -> None:
        names = list(inspect.signature(function).parameters)
        given = dict(zip(names, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        annotations = inspect.get_annotations(function)
        values = {name: self.read_any(given[name]) for name in names}
        constants: dict[str, object] = {}
        shapes: dict[str, Shape] = {}
        arguments: list[Argument] = []
        for name, value in values.items():
            annotation = annotations[name]
            if isinstance(value, Array):
                shapes[name] = self.shape_inside(value.shape, values, call)
                arguments.append(value)
            elif isinstance(value, Memory | Code):
                arguments.append(value)
            elif annotation == "Size" and not isinstance(value, Expression):
                constants[name] = value
            elif annotation in _NUMBER_KINDS:
                expression = self.expression(value, given[name])
                arguments.append(self.convert(expression, _NUMBER_KINDS[annotation], given[name]))
            else:
                constants[name] = value.value if isinstance(value, Constant) else value
        program = _specialize(function, constants, shapes)
        if len(targets) > len(program.results):
            self.fail(call, f"the program returns {len(program.results)} numbers")
        results = []
        for target, result in zip(targets, program.results, strict=False):
            known = self.names.setdefault(target, Variable(target, result.kind))
            assert isinstance(known, Variable)
            results.append(known)
        self.pending.append(CallProgram(program, tuple(arguments), tuple(results)))

    def shape_inside(self, shape: Shape, values: Mapping[str, object], call: ast.Call) -> Shape:
        """The shape of an array by the names of the program that it is handed to.

        The columns of a matrix must be known there; the length of a vector need not be.
        """
        names = {value: name for name, value in values.items() if isinstance(value, Variable)}
        found: list[Expression] = []
        for axis, size in enumerate(shape):
            if isinstance(size, Constant):
                found.append(size)
            elif isinstance(size, Variable) and size in names:
                found.append(Variable(names[size], Kind.INT, True))
            elif axis == 0:
                found.append(UNKNOWN_SIZE)
            else:
                self.fail(call, "hand over the number of columns too")
        return tuple(found)

    def read_results(self, node: ast.Return) -> tuple[Expression, ...]:
        """The expressions that a program returns."""
        if node.value is None:
            return ()
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        return tuple(self.read_expression(value) for value in values)

    # -- expressions -----------------------------------------------------------------------------

    def python_value(self, node: ast.expr) -> object:
        """The value of a name outside of the program: a constant, a function, a tape."""
        if isinstance(node, ast.Name):
            scopes: tuple[Mapping[str, object], ...] = (
                self.constants, self.names, self.function.__globals__, vars(builtins),
            )  # fmt: skip
            for names in scopes:
                if node.id in names:
                    return names[node.id]
            self.fail(node, "this name is not known")
        if isinstance(node, ast.Attribute):
            return getattr(self.python_value(node.value), node.attr)
        return self.fail(node, "this is not a constant")

    def read_expression(self, node: ast.expr) -> Expression:
        """A number."""
        return self.expression(self.read_any(node), node)

    def expression(self, value: object, node: ast.AST) -> Expression:
        """A value that was read, as a number."""
        if isinstance(value, Expression):
            return value
        if isinstance(value, bool | np.bool_):
            return Constant(bool(value), Kind.BOOL)
        if isinstance(value, int | np.integer):
            return Constant(int(value), Kind.INT)
        if isinstance(value, float | np.floating):
            return Constant(float(value), Kind.FLOAT)
        return self.fail(node, "this is not a number")

    def read_any(self, node: ast.expr) -> Any:
        """A number, an array, a buffer, or a constant of Python."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self.names and name not in self.constants:
                return self.names[name]
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
                return self.fail(node, "this expression has no meaning in a program")

    def read_subscript(self, node: ast.expr, source: ast.expr, index: ast.expr) -> Any:
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
        start = self.times(positions[0], array.shape[1])
        if len(positions) == 1:
            return Array(array.name, array.shape[1:], start)
        return Element(array, self.shift(start, positions[1]), Kind.FLOAT)

    def times(self, position: Expression, size: Expression) -> Expression:
        if isinstance(position, Constant) and isinstance(size, Constant):
            return Constant(int(position.value) * int(size.value), Kind.INT)
        return Operation("*", (position, size), Kind.INT)

    def shift(self, offset: Expression | None, position: Expression) -> Expression:
        if offset is None:
            return position
        if isinstance(offset, Constant) and isinstance(position, Constant):
            return Constant(int(offset.value) + int(position.value), Kind.INT)
        return Operation("+", (offset, position), Kind.INT)

    def read_arithmetic(
        self, node: ast.expr, op: type[ast.AST], left: ast.expr, right: ast.expr
    ) -> Any:
        name, compute = _ARITHMETIC[op]
        values = [self.read_any(left), self.read_any(right)]
        if not any(isinstance(value, Expression) for value in values):
            return compute(*values)
        a, b = (self.expression(value, node) for value in values)
        kind = Kind.FLOAT if name == "/" or Kind.FLOAT in (a.kind, b.kind) else Kind.INT
        return Operation(name, (self.convert(a, kind, node), self.convert(b, kind, node)), kind)

    def read_comparison(
        self, node: ast.expr, op: type[ast.AST], left: ast.expr, right: ast.expr
    ) -> Any:
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

    def read_logic(self, name: str, values: list[ast.expr]) -> Any:
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

    def read_choice(self, node: ast.expr, test: ast.expr, yes: ast.expr, no: ast.expr) -> Any:
        condition = self.read_any(test)
        if not isinstance(condition, Expression):
            return self.read_any(yes if condition else no)
        a, b = self.read_expression(yes), self.read_expression(no)
        kind = Kind.FLOAT if Kind.FLOAT in (a.kind, b.kind) else a.kind
        a, b = self.convert(a, kind, node), self.convert(b, kind, node)
        return Operation("choose", (condition, a, b), kind)

    def read_function(self, node: ast.Call) -> Any:
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
            self.fail(node, "this function has no meaning inside an expression")
        operands = tuple(self.expression(value, node) for value in arguments)
        if name in ("min", "max", "abs", "neg"):
            kind = Kind.FLOAT if any(x.kind is Kind.FLOAT for x in operands) else Kind.INT
            operands = tuple(self.convert(x, kind, node) for x in operands)
            return Operation(name, operands, kind)
        if name in ("sqrt", "isfinite"):
            operands = (self.convert(operands[0], Kind.FLOAT, node),)
            return Operation(name, operands, Kind.FLOAT if name == "sqrt" else Kind.BOOL)
        return Operation(name, operands, Kind.FLOAT if name == "float" else Kind.INT)
