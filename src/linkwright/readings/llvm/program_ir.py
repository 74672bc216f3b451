"""A program as LLVM IR on lanes: every number of a lane is a vector, one entry a lane.

Branches and `while` loops narrow a mask of the lanes that take part; a block is skipped when no lane
does. Counters of loops and constants are the same in all lanes and stay scalars. Variables live in
stack slots, which LLVM's passes turn into registers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...program.syntax import (
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
    Program,
    Statement,
    Ticket,
    Variable,
    While,
)
from .program_masks import (
    Block,
    branch_blocks,
    find_private_names,
    is_uniform,
    names_in_expression,
)
from .sincos import llvm_hexadecimal
from .target import MachineTarget

_SCALARS = {Kind.FLOAT: "double", Kind.INT: "i64", Kind.BOOL: "i1"}
_FLOAT_OPERATIONS = {"+": "fadd contract", "-": "fsub contract", "*": "fmul contract", "/": "fdiv"}
_INT_OPERATIONS = {"+": "add", "-": "sub", "*": "mul", "//": "sdiv", "%": "srem"}
_FLOAT_PREDICATES = {"<": "olt", "<=": "ole", "==": "oeq", "!=": "une"}
_INT_PREDICATES = {"<": "slt", "<=": "sle", "==": "eq", "!=": "ne"}


@dataclass(frozen=True)
class LaneValue:
    """A value in the code: a scalar if it is the same in all lanes, else a vector."""

    text: str
    kind: Kind
    is_uniform: bool


def emit_program_module(program: Program, target: MachineTarget) -> str:
    """The LLVM module of a program whose parameters are buffers and tapes; `@loop` takes their addresses."""
    emitter = _ModuleEmitter(target)
    name = emitter.emit_program(program)
    return emitter.finish(program, name)


class _ModuleEmitter:
    """The functions of a module: one for each program that is called."""

    def __init__(self, target: MachineTarget) -> None:
        self.target = target
        self.lanes = target.vector_lanes(8)
        self.functions: list[str] = []
        self.declared: set[str] = set()

    def vector_type(self, kind: Kind) -> str:
        return f"<{self.lanes} x {_SCALARS[kind]}>"

    def emit_program(self, program: Program) -> str:
        """The name of the function of a program."""
        text = _FunctionEmitter(self, program).emit()
        name = f"{program.name}.{len(self.functions)}"
        self.functions.append(text.replace("@SELF", f"@{name}", 1))
        return name

    def result_type(self, program: Program) -> str:
        kinds = [self.vector_type(result.kind) for result in program.results]
        return f"{{{', '.join(kinds)}}}" if kinds else "void"

    def finish(self, program: Program, name: str) -> str:
        """The module, with the function that is called from outside."""
        lines, arguments = [], []
        for k, parameter in enumerate(program.parameters):
            assert isinstance(parameter, Memory | Code), f"'{parameter.name}' is not a buffer"
            lines.append(f"  %p{k} = getelementptr ptr, ptr %buffers, i64 {k}")
            lines.append(f"  %b{k} = load ptr, ptr %p{k}")
            arguments.append(f"ptr %b{k}")
        mask = self.vector_type(Kind.BOOL)
        given = ", ".join([*arguments, f"{mask} splat (i1 true)"])
        body = "\n".join(lines)
        entry = f"""
define void @loop(ptr %buffers) {{
{body}
  call void @{name}({given})
  ret void
}}
"""
        head = f'target triple = "{self.target.triple}"'
        return "\n".join([head, *sorted(self.declared), *self.functions, entry])


class _FunctionEmitter:
    """One program as one function (parameters …, mask)."""

    def __init__(self, module: _ModuleEmitter, program: Program) -> None:
        self.module, self.program, self.w = module, program, module.lanes
        self.slots: list[str] = []
        self.lines: list[str] = []
        self.count = 0
        self.variables: dict[str, Kind] = {}
        self.private = find_private_names(program)
        self.block: Block = ()
        self.mask = "%mask"
        self.pending = find_arrays(program.body)
        self.live: list[str] = []
        """The slots of the lanes that are still in each `while` around."""

    # -- names -----------------------------------------------------------------------------------

    def fresh(self, hint: str = "v") -> str:
        self.count += 1
        return f"%{hint}.{self.count}"

    def type_of(self, kind: Kind) -> str:
        return self.module.vector_type(kind)

    @property
    def mask_type(self) -> str:
        return self.type_of(Kind.BOOL)

    def add(self, instruction: str, hint: str = "v") -> str:
        """Write an instruction that has a result."""
        name = self.fresh(hint)
        self.lines.append(f"  {name} = {instruction}")
        return name

    def label(self, name: str) -> None:
        self.lines.append(f"{name[1:]}:")

    def jump(self, target: str) -> None:
        self.lines.append(f"  br label {target}")

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.lines.append(f"  br i1 {condition}, label {yes}, label {no}")

    # -- the function ----------------------------------------------------------------------------

    def emit(self) -> str:
        parameters = []
        for parameter in self.program.parameters:
            if isinstance(parameter, Variable):
                kind = "i64" if parameter.is_uniform else self.type_of(parameter.kind)
                parameters.append(f"{kind} %in.{parameter.name}")
                self.slot(parameter)
                self.lines.append(f"  store {kind} %in.{parameter.name}, ptr %{parameter.name}")
            else:
                parameters.append(f"ptr %{parameter.name}")
        parameters.append(f"{self.mask_type} %mask")
        self.emit_pending_arrays()
        self.emit_block(self.program.body)
        kind = self.module.result_type(self.program)
        self.emit_results(kind)
        body = "\n".join(["entry:", *self.slots, *self.lines])
        return f"\ndefine internal {kind} @SELF({', '.join(parameters)}) {{\n{body}\n}}\n"

    def emit_results(self, kind: str) -> None:
        if not self.program.results:
            self.lines.append("  ret void")
            return
        total = "poison"
        for k, result in enumerate(self.program.results):
            value = self.vector(self.emit_expression(result))
            total = self.add(
                f"insertvalue {kind} {total}, {self.type_of(result.kind)} {value}, {k}"
            )
        self.lines.append(f"  ret {kind} {total}")

    def slot(self, variable: Variable) -> None:
        """A stack slot for a variable."""
        if variable.name not in self.variables:
            self.variables[variable.name] = variable.kind
            kind = self.slot_type(variable)
            self.slots.append(f"  %{variable.name} = alloca {kind}")
            self.slots.append(f"  store {kind} zeroinitializer, ptr %{variable.name}")

    def slot_type(self, variable: Variable) -> str:
        scalar = _SCALARS[variable.kind]
        return scalar if variable.is_uniform else self.type_of(variable.kind)

    # -- statements ------------------------------------------------------------------------------

    def emit_block(self, body: tuple[Statement, ...]) -> None:
        for statement in body:
            self.emit_statement(statement)
            if self.live and _may_break(statement):
                remaining = self.add(f"load {self.mask_type}, ptr {self.live[-1]}")
                self.mask = self.add(f"and {self.mask_type} {self.mask}, {remaining}", "mask")

    def emit_statement(self, statement: Statement) -> None:
        match statement:
            case Declare(array=array, is_scratch=is_scratch):
                self.declare(array, is_scratch)
            case Assign(target=Variable(is_uniform=True) as target, value=value):
                number = self.uniform(value)
                self.slot(target)
                self.lines.append(f"  store {_SCALARS[target.kind]} {number}, ptr %{target.name}")
                self.emit_pending_arrays()
            case Assign(target=Variable() as target, value=value):
                self.assign(target, self.vector(self.emit_expression(value)))
            case Assign(target=Element() as target, value=value):
                self.store_element(target, self.emit_expression(value))
            case Loop():
                self.emit_loop(statement)
            case While():
                self.emit_while(statement)
            case If(condition=condition):
                if is_uniform(condition):
                    self.emit_uniform_branch(statement)
                else:
                    self.emit_branch(statement)
            case Break():
                mask, live = self.mask_type, self.live[-1]
                before = self.add(f"load {mask}, ptr {live}")
                gone = self.add(f"xor {mask} {self.mask}, splat (i1 true)")
                left = self.add(f"and {mask} {before}, {gone}")
                self.lines.append(f"  store {mask} {left}, ptr {live}")
            case CallTape():
                self.call_tape(statement)
            case CallProgram():
                self.call_program(statement)
            case CopyRow():
                self.copy_row(statement)

    def declare(self, array: Array, is_scratch: bool) -> None:
        """Arrays have their place from the beginning; here numbers are set to zero."""
        if is_scratch:
            return
        size = self.array_size(array)
        self.module.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        bytes_ = self.add(f"mul i64 {size}, {8 * self.w}")
        self.lines.append(
            f"  call void @llvm.memset.p0.i64(ptr align {8 * self.w} %{array.name}, i8 0, i64 {bytes_}, i1 false)"
        )

    def emit_pending_arrays(self) -> None:
        """Reserve the arrays whose sizes are known by now."""
        for array in [*self.pending]:
            sizes = {name for size in array.shape for name in names_in_expression(size)}
            if sizes <= set(self.variables):
                self.pending.remove(array)
                size = self.array_size(array)
                kind = self.type_of(Kind.FLOAT)
                self.lines.append(
                    f"  %{array.name} = alloca {kind}, i64 {size}, align {8 * self.w}"
                )

    def array_size(self, array: Array) -> str:
        """The number of entries of an array."""
        total = self.uniform(array.shape[0])
        for size in array.shape[1:]:
            total = self.add(f"mul i64 {total}, {self.uniform(size)}")
        return total

    def assign(self, target: Variable, value: str) -> None:
        self.slot(target)
        kind = self.type_of(target.kind)
        if self.private.get(target.name) != self.block:
            old = self.add(f"load {kind}, ptr %{target.name}")
            value = self.add(f"select {self.mask_type} {self.mask}, {kind} {value}, {kind} {old}")
        self.lines.append(f"  store {kind} {value}, ptr %{target.name}")

    def emit_loop(self, loop: Loop) -> None:
        counter = loop.counter
        start, stop = self.uniform(loop.start), self.uniform(loop.stop)
        self.slot(counter)
        slot = f"%{counter.name}"
        head, body, done = (self.fresh(name) for name in ("head", "body", "done"))
        self.lines.append(f"  store i64 {start}, ptr {slot}")
        self.jump(head)
        self.label(head)
        now = self.add(f"load i64, ptr {slot}")
        more = self.add(f"icmp slt i64 {now}, {stop}")
        self.branch(more, body, done)
        self.label(body)
        self.emit_block(loop.body)
        last = self.add(f"load i64, ptr {slot}")
        after = self.add(f"add i64 {last}, 1")
        self.lines.append(f"  store i64 {after}, ptr {slot}")
        self.jump(head)
        self.label(done)

    def emit_while(self, loop: While) -> None:
        live, kind = self.fresh("live"), self.mask_type
        self.slots.append(f"  {live} = alloca {kind}")
        self.lines.append(f"  store {kind} {self.mask}, ptr {live}")
        head, body, done = (self.fresh(name) for name in ("while", "turn", "left"))
        outer_mask, outer_block = self.mask, self.block
        self.jump(head)
        self.label(head)
        self.block = (*outer_block, id(loop))
        self.mask = self.add(f"load {kind}, ptr {live}", "mask")
        condition = self.vector(self.emit_expression(loop.condition))
        self.mask = self.add(f"and {kind} {self.mask}, {condition}", "mask")
        self.lines.append(f"  store {kind} {self.mask}, ptr {live}")
        self.branch(self.any_lane(self.mask), body, done)
        self.label(body)
        self.live.append(live)
        self.emit_block(loop.body)
        self.live.pop()
        self.jump(head)
        self.label(done)
        self.mask, self.block = outer_mask, outer_block

    def any_lane(self, mask: str) -> str:
        bits = self.add(f"bitcast {self.mask_type} {mask} to i{self.w}")
        return self.add(f"icmp ne i{self.w} {bits}, 0")

    def emit_uniform_branch(self, statement: If) -> None:
        yes, no, after = (self.fresh(name) for name in ("yes", "no", "after"))
        mask = self.mask
        self.branch(self.uniform(statement.condition), yes, no)
        for label, body in ((yes, statement.body), (no, statement.otherwise)):
            self.label(label)
            self.mask = mask
            self.emit_block(body)
            self.jump(after)
        self.label(after)
        self.mask = mask

    def emit_branch(self, statement: If) -> None:
        condition = self.vector(self.emit_expression(statement.condition))
        mask, block, kind = self.mask, self.block, self.mask_type
        sides = branch_blocks(statement, block, False)
        otherwise = self.add(f"xor {kind} {condition}, splat (i1 true)")
        for chosen, body, own in (
            (condition, statement.body, sides[0]),
            (otherwise, statement.otherwise, sides[1]),
        ):
            if not body:
                continue
            taken, after = self.fresh("taken"), self.fresh("after")
            self.mask = self.add(f"and {kind} {mask}, {chosen}", "mask")
            self.branch(self.any_lane(self.mask), taken, after)
            self.label(taken)
            self.block = own
            self.emit_block(body)
            self.jump(after)
            self.label(after)
        self.mask, self.block = mask, block

    # -- calls -----------------------------------------------------------------------------------

    def call_tape(self, call: CallTape) -> None:
        arguments = []
        for value in call.arguments:
            if isinstance(value, Array):
                arguments.append(self.address(value))
            else:
                slot = self.fresh("given")
                self.slots.append(f"  {slot} = alloca {self.type_of(Kind.FLOAT)}")
                number = self.vector(self.emit_expression(value))
                self.lines.append(f"  store {self.type_of(Kind.FLOAT)} {number}, ptr {slot}")
                arguments.append(slot)
        given = ", ".join([*(f"ptr {a}" for a in arguments), f"{self.mask_type} {self.mask}"])
        self.lines.append(f"  call void %{call.code.name}({given})")

    def call_program(self, call: CallProgram) -> None:
        name = self.module.emit_program(call.program)
        arguments = []
        for value, parameter in zip(call.arguments, call.program.parameters, strict=True):
            if isinstance(value, Array):
                arguments.append(f"ptr {self.address(value)}")
            elif isinstance(value, Memory | Code):
                arguments.append(f"ptr %{value.name}")
            elif isinstance(parameter, Variable) and parameter.is_uniform:
                arguments.append(f"i64 {self.uniform(value)}")
            else:
                number = self.vector(self.emit_expression(value))
                arguments.append(f"{self.type_of(value.kind)} {number}")
        kind = self.module.result_type(call.program)
        given = ", ".join([*arguments, f"{self.mask_type} {self.mask}"])
        if not call.program.results:
            self.lines.append(f"  call void @{name}({given})")
            return
        total = self.add(f"call {kind} @{name}({given})")
        for k, target in enumerate(call.results):
            self.assign(target, self.add(f"extractvalue {kind} {total}, {k}"))

    def copy_row(self, copy: CopyRow) -> None:
        """A loop over the numbers of the row."""
        start = Variable(f"start.{self.count}", Kind.INT)
        entry = Variable(f"entry.{self.count}", Kind.INT, True)
        self.assign(start, self.vector(self.emit_expression(copy.start)))
        offset = copy.array.offset
        place: Expression = entry if offset is None else Operation("+", (offset, entry), Kind.INT)
        inside = Element(copy.array, place, Kind.FLOAT)
        outside = Element(copy.buffer, Operation("+", (start, entry), Kind.INT), Kind.FLOAT)
        target, value = (outside, inside) if copy.writes else (inside, outside)
        size = copy.array.shape[0]
        for factor in copy.array.shape[1:]:
            size = Operation("*", (size, factor), Kind.INT)
        self.emit_loop(Loop(entry, Constant(0, Kind.INT), size, (Assign(target, value),)))

    # -- memory ----------------------------------------------------------------------------------

    def address(self, array: Array) -> str:
        """The address of an array, or of a row of it."""
        if array.offset is None:
            return f"%{array.name}"
        offset = self.uniform(array.offset)
        return self.add(
            f"getelementptr {self.type_of(Kind.FLOAT)}, ptr %{array.name}, i64 {offset}"
        )

    def element_addresses(self, element: Element, index: LaneValue) -> str:
        """The addresses of an element, one for each lane."""
        position = self.vector(index)
        if isinstance(element.source, Array):
            lanes = ", ".join(f"i64 {k}" for k in range(self.w))
            kind = self.type_of(Kind.INT)
            row = self.add(f"mul {kind} {position}, splat (i64 {self.w})")
            position = self.add(f"add {kind} {row}, <{lanes}>")
        scalar = _SCALARS[element.kind]
        return self.add(
            f"getelementptr {scalar}, ptr %{element.source.name}, {self.type_of(Kind.INT)} {position}"
        )

    def load_element(self, element: Element) -> LaneValue:
        index = self.emit_expression(element.index)
        kind, scalar = self.type_of(element.kind), _SCALARS[element.kind]
        if index.is_uniform:
            unit = kind if isinstance(element.source, Array) else scalar
            place = self.add(f"getelementptr {unit}, ptr %{element.source.name}, i64 {index.text}")
            value = self.add(f"load {unit}, ptr {place}")
            return LaneValue(value, element.kind, isinstance(element.source, Memory))
        places = self.element_addresses(element, index)
        suffix = f"v{self.w}{'f64' if element.kind is Kind.FLOAT else 'i64'}.v{self.w}p0"
        pointers = f"<{self.w} x ptr>"
        self.module.declared.add(
            f"declare {kind} @llvm.masked.gather.{suffix}({pointers}, {self.mask_type}, {kind})"
        )
        value = self.add(
            f"call {kind} @llvm.masked.gather.{suffix}({pointers} align 8 {places}, "
            f"{self.mask_type} {self.mask}, {kind} zeroinitializer)"
        )
        return LaneValue(value, element.kind, False)

    def store_element(self, element: Element, value: LaneValue) -> None:
        index = self.emit_expression(element.index)
        kind, name = self.type_of(element.kind), element.source.name
        number = self.vector(value)
        if index.is_uniform and isinstance(element.source, Array):
            place = self.add(f"getelementptr {kind}, ptr %{name}, i64 {index.text}")
            if self.private.get(name) != self.block:
                old = self.add(f"load {kind}, ptr {place}")
                number = self.add(
                    f"select {self.mask_type} {self.mask}, {kind} {number}, {kind} {old}"
                )
            self.lines.append(f"  store {kind} {number}, ptr {place}")
            return
        places = self.element_addresses(element, index)
        suffix = f"v{self.w}{'f64' if element.kind is Kind.FLOAT else 'i64'}.v{self.w}p0"
        pointers = f"<{self.w} x ptr>"
        self.module.declared.add(
            f"declare void @llvm.masked.scatter.{suffix}({kind}, {pointers}, {self.mask_type})"
        )
        self.lines.append(
            f"  call void @llvm.masked.scatter.{suffix}({kind} {number}, "
            f"{pointers} align 8 {places}, {self.mask_type} {self.mask})"
        )

    # -- expressions -----------------------------------------------------------------------------

    def uniform(self, expression: Expression) -> str:
        """A number that is the same in all lanes."""
        value = self.emit_expression(expression)
        assert value.is_uniform, f"{self.program.name}: this number may differ between lanes"
        return value.text

    def vector(self, value: LaneValue) -> str:
        """A value as a vector."""
        if not value.is_uniform:
            return value.text
        scalar, kind = _SCALARS[value.kind], self.type_of(value.kind)
        if not value.text.startswith("%"):
            return f"splat ({scalar} {value.text})"
        first = self.add(f"insertelement {kind} poison, {scalar} {value.text}, i32 0")
        return self.add(
            f"shufflevector {kind} {first}, {kind} poison, <{self.w} x i32> zeroinitializer"
        )

    def emit_expression(self, expression: Expression) -> LaneValue:
        match expression:
            case Constant(value=value, kind=kind):
                text = llvm_hexadecimal(float(value)) if kind is Kind.FLOAT else str(int(value))
                if kind is Kind.BOOL:
                    text = "true" if value else "false"
                return LaneValue(text, kind, True)
            case Variable(name=name, kind=kind, is_uniform=same):
                self.slot(expression)
                loaded = self.add(f"load {self.slot_type(expression)}, ptr %{name}")
                return LaneValue(loaded, kind, same)
            case Element():
                return self.load_element(expression)
            case Ticket():
                return self.take_ticket(expression)
            case Operation():
                return self.emit_operation(expression)

    def take_ticket(self, ticket: Ticket) -> LaneValue:
        """Reserve as many numbers as lanes take part, and hand them out in the order of the lanes."""
        kind = self.type_of(Kind.INT)
        ones = self.add(f"zext {self.mask_type} {self.mask} to {kind}")
        before, numbers = "0", "poison"
        for lane in range(self.w):
            numbers = self.add(f"insertelement {kind} {numbers}, i64 {before}, i32 {lane}")
            one = self.add(f"extractelement {kind} {ones}, i32 {lane}")
            before = self.add(f"add i64 {before}, {one}")
        first = self.add(f"atomicrmw add ptr %{ticket.counter.name}, i64 {before} monotonic")
        base = self.vector(LaneValue(first, Kind.INT, True))
        return LaneValue(self.add(f"add {kind} {numbers}, {base}"), Kind.INT, False)

    def emit_operation(self, operation: Operation) -> LaneValue:
        values = [self.emit_expression(operand) for operand in operation.operands]
        same = all(value.is_uniform for value in values)
        texts = [value.text if same else self.vector(value) for value in values]
        given = values[-1].kind
        kind = _SCALARS[given] if same else self.type_of(given)
        text = self.add(self.instruction(operation.name, texts, given, kind, same))
        return LaneValue(text, operation.kind, same)

    def instruction(self, name: str, texts: list[str], kind: Kind, type_: str, same: bool) -> str:
        """The instruction of an operation on operands of one type."""
        number = kind is Kind.FLOAT
        truth = "i1" if same else self.mask_type
        compare = f"{'fcmp' if number else 'icmp'}"
        predicates = _FLOAT_PREDICATES if number else _INT_PREDICATES
        if name in predicates:
            return f"{compare} {predicates[name]} {type_} {texts[0]}, {texts[1]}"
        table = _FLOAT_OPERATIONS if number else _INT_OPERATIONS
        if name in table:
            return f"{table[name]} {type_} {texts[0]}, {texts[1]}"
        match name:
            case "and" | "or":
                return f"{name} {type_} {texts[0]}, {texts[1]}"
            case "not":
                return f"xor {type_} {texts[0]}, {'true' if same else 'splat (i1 true)'}"
            case "neg":
                return (
                    f"fneg {type_} {texts[0]}"
                    if number
                    else f"sub {type_} zeroinitializer, {texts[0]}"
                )
            case "choose":
                return f"select {truth} {texts[0]}, {type_} {texts[1]}, {type_} {texts[2]}"
            case "min" | "max":
                less = (texts[1], texts[0]) if name == "min" else (texts[0], texts[1])
                test = f"{compare} {predicates['<']} {type_} {less[0]}, {less[1]}"
                condition = self.add(test)
                return f"select {truth} {condition}, {type_} {texts[1]}, {type_} {texts[0]}"
            case "sqrt" | "abs":
                return self.intrinsic({"sqrt": "sqrt", "abs": "fabs"}[name], texts[0], type_, same)
            case "isfinite":
                size = self.add(self.intrinsic("fabs", texts[0], type_, same))
                infinite = llvm_hexadecimal(math.inf)
                bound = infinite if same else f"splat (double {infinite})"
                return f"fcmp olt {type_} {size}, {bound}"
            case "float":
                return (
                    f"sitofp {type_} {texts[0]} to {'double' if same else self.type_of(Kind.FLOAT)}"
                )
            case "int":
                return f"fptosi {type_} {texts[0]} to {'i64' if same else self.type_of(Kind.INT)}"
            case _:
                raise AssertionError(name)

    def intrinsic(self, name: str, text: str, type_: str, same: bool) -> str:
        suffix = "f64" if same else f"v{self.w}f64"
        self.module.declared.add(f"declare {type_} @llvm.{name}.{suffix}({type_})")
        return f"call {type_} @llvm.{name}.{suffix}({type_} {text})"


def find_arrays(body: tuple[Statement, ...]) -> list[Array]:
    """The arrays that a program declares."""
    found: list[Array] = []
    for statement in body:
        match statement:
            case Declare(array=array):
                found.append(array)
            case Loop(body=inner) | While(body=inner):
                found += find_arrays(inner)
            case If(body=inner, otherwise=otherwise):
                found += find_arrays((*inner, *otherwise))
            case _:
                continue
    return found


def _may_break(statement: Statement) -> bool:
    """Whether lanes may leave the `while` around a statement in it."""
    match statement:
        case Break():
            return True
        case If(body=body, otherwise=otherwise):
            return any(map(_may_break, (*body, *otherwise)))
        case Loop(body=body):
            return any(map(_may_break, body))
        case _:
            return False
