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
from types import FunctionType, MethodType

from . import language
from .call_arguments import PassedArguments
from .expression_reader import (
    ARRAY_MAKERS,
    BUFFER_KINDS,
    NUMBER_KINDS,
    SCRATCH_MAKERS,
    UNKNOWN_SIZE,
    ExpressionReader,
    Known,
    ProgramSyntaxError,
    RecordValue,
    Shape,
)
from .language import is_record
from .syntax import (
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
    VariableReference,
    While,
)


def read_program(function: Callable[..., object], **given: object) -> Program:
    """Read a function as a program.

    Parameters
    ----------
    function : callable
        A function in the subset of Python that `language` describes.
    **given
        Values of its constants; for a record, a mapping of its known fields. Sizes and tapes that
        are not given become parameters.

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
    """Read a function with its constants and the shapes of its arrays, by parameter or field."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source).body[0]
    if not isinstance(tree, ast.FunctionDef) or tree.name != function.__name__:
        raise OSError(f"the source of '{function.__name__}' has changed since it was imported")
    scope = _StatementReader(function, {})
    parameters: list[Parameter] = []
    for argument in [*tree.args.args, *tree.args.kwonlyargs]:
        name, annotation = argument.arg, ast.unparse(argument.annotation or ast.Name("?"))
        group = function.__globals__.get(annotation)
        if name in constants and not is_record(group):
            scope.constants[name] = constants[name]
        elif is_record(group):
            given = constants.get(name, {})
            assert isinstance(group, type)
            assert isinstance(given, Mapping)
            fields, found = _record_parameters(name, group, given, shapes)
            scope.names[name] = RecordValue(fields)
            parameters += found
        else:
            known = _parameter(name, annotation, shapes)
            parameters.append(known)
            scope.names[name] = known
    *body, last = tree.body
    results: tuple[Expression, ...] = ()
    if isinstance(last, ast.Return):
        statements = scope.read_block(body)
        results = scope.read_results(last)
    else:
        statements = scope.read_block([*body, last])
    return Program(function.__name__, tuple(parameters), statements, results)


def _record_parameters(
    name: str, group: type, given: Mapping[str, object], shapes: Mapping[str, Shape]
) -> tuple[dict[str, object], list[Parameter]]:
    """Return the fields of a record that is a parameter, and the parameters that they need."""
    fields: dict[str, object] = {}
    parameters: list[Parameter] = []
    for field, annotation in inspect.get_annotations(group).items():
        if field in given:
            fields[field] = given[field]
            continue
        known = _parameter(f"{name}.{field}", annotation, shapes)
        fields[field] = known
        if isinstance(known, Variable) and not known.is_uniform:
            parameters.append(VariableReference(known))
        else:
            parameters.append(known)
    return fields, parameters


def _parameter(
    name: str, annotation: str, shapes: Mapping[str, Shape]
) -> Variable | Array | Memory | Code:
    """Return the parameter of a program for an argument, or for a field of a record."""
    if annotation in NUMBER_KINDS:
        return Variable(name, NUMBER_KINDS[annotation], annotation == "Size")
    if annotation in BUFFER_KINDS:
        return Memory(name, BUFFER_KINDS[annotation])
    if annotation in ("Procedure", "Procedure | None"):
        return Code(name)
    if annotation == "Vector" and name in shapes:
        return Array(name, shapes[name])
    raise ProgramSyntaxError(f"the value of the constant '{name}' is missing")


ProgramFunction = FunctionType | MethodType


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
                assert isinstance(target, ast.Name)
                array = self.declare_array(target.id, value, called in SCRATCH_MAKERS)
                self.names[target.id] = array
                return
            if is_record(called):
                assert isinstance(target, ast.Name)
                assert isinstance(called, type)
                self.make_record(target.id, called, value)
                return
            if isinstance(called, ProgramFunction) and called is not language.take_ticket:
                targets = target.elts if isinstance(target, ast.Tuple) else [target]
                self.read_call(value, tuple(targets))
                return
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            self.fail(target, "assign one variable at a time")
        self.assign(target, self.read_expression(value))

    def declare_array(self, name: str, value: ast.Call, is_scratch: bool) -> Array:
        """A new array of this lane."""
        shape = tuple(self.read_size(argument) for argument in value.args)
        array = Array(name, shape)
        self.pending.append(Declare(array, is_scratch))
        return array

    def make_record(self, name: str, group: type, call: ast.Call) -> None:
        """Make a new record; its vectors are new arrays or existing ones."""
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        annotations = inspect.get_annotations(group)
        if call.args or set(given) != set(annotations):
            self.fail(call, "give all fields of a record by name")
        fields: dict[str, object] = {}
        for field, annotation in annotations.items():
            node = given[field]
            maker = self.python_value(node.func) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call) and maker in ARRAY_MAKERS:
                fields[field] = self.declare_array(f"{name}.{field}", node, maker in SCRATCH_MAKERS)
            elif annotation in NUMBER_KINDS:
                kind = NUMBER_KINDS[annotation]
                variable = Variable(f"{name}.{field}", kind, annotation == "Size")
                value = self.convert(self.read_expression(node), kind, node)
                self.pending.append(Assign(variable, value))
                fields[field] = variable
            else:
                fields[field] = self.read_any(node)
        self.names[name] = RecordValue(fields)

    def read_size(self, node: ast.expr) -> Expression:
        """A size of an array."""
        size = self.read_expression(node)
        if size.kind is not Kind.INT:
            self.fail(node, "a size must be an integer")
        return size

    def assign(self, target: ast.expr, value: Expression) -> None:
        """Give a variable or an entry a new value."""
        if isinstance(target, ast.Name | ast.Attribute):
            known = self.target_variable(target, value.kind)
            self.pending.append(Assign(known, self.convert(value, known.kind, target)))
            return
        element = self.read_expression(target)
        if not isinstance(element, Element):
            self.fail(target, "this cannot be assigned")
        self.pending.append(Assign(element, self.convert(value, element.kind, target)))

    def target_variable(self, target: ast.expr, kind: Kind) -> Variable:
        """Return the variable of a target; a name that is not known yet becomes a variable."""
        if isinstance(target, ast.Name):
            known: object = self.names.setdefault(target.id, Variable(target.id, kind))
        else:
            known = self.python_value(target)
        if not isinstance(known, Variable):
            self.fail(target, "this name is not a number")
        return known

    # -- calls -----------------------------------------------------------------------------------

    def read_call(self, call: ast.Call, targets: tuple[ast.expr, ...]) -> None:
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
        elif isinstance(called, ProgramFunction):
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
        self, called: FunctionType | MethodType, call: ast.Call, targets: tuple[ast.expr, ...]
    ) -> None:
        """A call of another program, read with the constants of this call."""
        function = called.__func__ if isinstance(called, MethodType) else called
        assert isinstance(function, FunctionType)
        names = list(inspect.signature(function).parameters)
        constants: dict[str, object] = {}
        if isinstance(called, MethodType):
            constants[names.pop(0)] = called.__self__
        given = dict(zip(names, call.args, strict=False))
        given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        values = {name: self.read_any(given[name]) for name in names}
        passed = PassedArguments(self, call, values)
        for name in names:
            passed.add(name, values[name], inspect.get_annotations(function)[name])
        program = _specialize(function, constants | passed.constants, passed.shapes)
        if len(targets) > len(program.results):
            self.fail(call, f"the program returns {len(program.results)} numbers")
        results = tuple(
            self.target_variable(target, result.kind)
            for target, result in zip(targets, program.results, strict=False)
        )
        self.pending.append(CallProgram(program, tuple(passed.arguments), results))

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
