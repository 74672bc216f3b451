"""Reading of programs: the source of a Python function becomes a syntax tree.

Constants (sizes, tableaus, tapes, other programs) are filled in here: expressions of constants are
computed, branches on constants are decided, and loops over `unroll(…)` are unrolled. The same
function with other constants gives another program.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping
from types import FunctionType

from . import language
from .expression_reader import (
    ARRAY_MAKERS,
    BUFFER_KINDS,
    NUMBER_KINDS,
    SCRATCH_MAKERS,
    UNKNOWN_SIZE,
    ExpressionReader,
    Known,
    ProgramSyntaxError,
    Shape,
)
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


def read_program(function: Callable[..., object], **given: object) -> Program:
    """Read a function as a program.

    Parameters
    ----------
    function : callable
        A function in the subset of Python that `language` describes.
    **given
        Values of its constants. Sizes and tapes that are not given become parameters.

    Returns
    -------
    Program
        The syntax tree, from which readings print code.
    """
    assert isinstance(function, FunctionType)
    return _specialize(function, given, {})


def _specialize(
    function: FunctionType, constants: Mapping[str, object], shapes: Mapping[str, Shape]
) -> Program:
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    if not isinstance(tree, ast.FunctionDef) or tree.name != function.__name__:
        raise OSError(f"the source of '{function.__name__}' has changed since it was imported")
    scope = _StatementReader(function, dict(constants))
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
    """Return the parameter of the program for an argument; None if it is a constant."""
    name, annotation = argument.arg, ast.unparse(argument.annotation or ast.Name("?"))
    if name in constants:
        return None
    if annotation in NUMBER_KINDS:
        return Variable(name, NUMBER_KINDS[annotation], annotation == "Size")
    if annotation in BUFFER_KINDS:
        return Memory(name, BUFFER_KINDS[annotation])
    if annotation in ("Procedure", "Procedure | None"):
        return Code(name)
    if annotation == "Vector" and name in shapes:
        return Array(name, shapes[name])
    raise ProgramSyntaxError(f"the value of the constant '{name}' is missing")


class _StatementReader(ExpressionReader):
    """Reads the statements of one function."""

    # -- statements ------------------------------------------------------------------------------

    def read_block(self, nodes: list[ast.stmt]) -> tuple[Statement, ...]:
        """Read the statements of a block."""
        outer, self.pending = self.pending, []
        for node in nodes:
            self.read_statement(node)
        found, self.pending = tuple(self.pending), outer
        return found

    def read_statement(self, node: ast.stmt) -> None:
        """Add the statement to the block."""
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
            case ast.For(orelse=[_, *_]) | ast.While(orelse=[_, *_]):
                self.fail(node, "loops have no else")
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
                self.fail(node, "programs do not support this statement")

    def read_branch(self, test: ast.expr, body: list[ast.stmt], otherwise: list[ast.stmt]) -> None:
        """An `if`; a branch on a constant is decided here."""
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
        """A `for` loop over `range` or `unroll`."""
        called = self.python_value(counts.func)
        if called is language.unroll:
            self.unroll_loop(counter, counts.args[0], body)
            return
        if called is not range or len(counts.args) > 2:
            self.fail(counts, "a loop needs range(stop), range(start, stop) or unroll(…)")
        if any(map(_breaks_out, body)):
            self.fail(counts, "only `while` loops may have a break")
        bounds = [self.read_expression(argument) for argument in counts.args]
        start, stop = bounds if len(bounds) == 2 else (Constant(0, Kind.INT), bounds[0])
        variable = Variable(counter, Kind.INT, True)
        self.names[counter] = variable
        self.pending.append(Loop(variable, start, stop, self.read_block(body)))

    def unroll_loop(self, counter: str, counts: ast.expr, body: list[ast.stmt]) -> None:
        """Repeat the body for each of the numbers."""
        numbers = self.read_any(counts)
        assert not isinstance(numbers, Known | Operation | Element | Ticket)
        for number in numbers:
            self.constants[counter] = number
            for node in body:
                self.read_statement(node)
        self.constants.pop(counter, None)

    def read_assignment(self, target: ast.expr, value: ast.expr) -> None:
        """An assignment of a number, an array, or the results of a program."""
        if isinstance(value, ast.Call):
            called = self.python_value(value.func)
            if called in ARRAY_MAKERS:
                self.declare_array(target, value, called in SCRATCH_MAKERS)
                return
            if isinstance(called, FunctionType) and called is not language.take_ticket:
                targets = target.elts if isinstance(target, ast.Tuple) else [target]
                self.read_call(value, tuple(ast.unparse(one) for one in targets))
                return
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            self.fail(target, "assign one variable at a time")
        self.assign(target, self.read_expression(value))

    def declare_array(self, target: ast.expr, value: ast.Call, is_scratch: bool) -> None:
        """A new array of this lane."""
        assert isinstance(target, ast.Name)
        shape = tuple(self.read_size(argument) for argument in value.args)
        array = Array(target.id, shape)
        self.names[target.id] = array
        self.pending.append(Declare(array, is_scratch))

    def read_size(self, node: ast.expr) -> Expression:
        """A size of an array."""
        size = self.read_expression(node)
        if size.kind is not Kind.INT:
            self.fail(node, "a size must be an integer")
        return size

    def assign(self, target: ast.expr, value: Expression) -> None:
        """Give a variable or an entry a new value."""
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

    # -- calls -----------------------------------------------------------------------------------

    def read_call(self, call: ast.Call, targets: tuple[str, ...]) -> None:
        """Read a call as a statement; its results are assigned to the targets."""
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
        """A call of a tape."""
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
        """A call of another program, read with the constants of this call."""
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
            elif annotation in NUMBER_KINDS:
                expression = self.expression(value, given[name])
                arguments.append(self.convert(expression, NUMBER_KINDS[annotation], given[name]))
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
        """Return the shape of an array in the names of the program that it is passed to.

        That program must know the number of columns of a matrix, but not the length of a vector.
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
                self.fail(call, "pass the number of columns as well")
        return tuple(found)

    def read_results(self, node: ast.Return) -> tuple[Expression, ...]:
        """Read the expressions that a program returns."""
        if node.value is None:
            return ()
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        return tuple(self.read_expression(value) for value in values)


def _breaks_out(node: ast.stmt) -> bool:
    """Whether a statement has a break that ends the loop around it."""
    if isinstance(node, ast.Break):
        return True
    if isinstance(node, ast.For | ast.While):
        return False
    inner = [*getattr(node, "body", []), *getattr(node, "orelse", [])]
    return any(map(_breaks_out, inner))
