"""Programs as LLVM IR for lanes: every number becomes a vector with one entry per lane.

Branches and `while` loops narrow a mask of active lanes; a block is skipped when no lane is active.
Loop counters and constants are the same in all lanes and remain scalars. Variables are stack slots,
which LLVM's passes turn into registers.
"""

from __future__ import annotations

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
    Variable,
    VariableReference,
    While,
)
from .lane_code import LaneCode
from .lane_instructions import LANE_SCALARS, lane_type
from .program_masks import (
    branch_blocks,
    find_arrays,
    find_private_names,
    is_uniform,
    may_break,
    names_in_expression,
)
from .target import MachineTarget


def emit_program_module(program: Program, target: MachineTarget, lanes: int) -> str:
    """Return the LLVM module of a program whose parameters are buffers and tapes.

    Its function `@loop` takes their addresses.
    """
    emitter = _ModuleEmitter(target, lanes)
    name = emitter.emit_program(program)
    return emitter.finish(program, name)


class _ModuleEmitter:
    """Emits the functions of a module: one for each program that is called."""

    def __init__(self, target: MachineTarget, lanes: int) -> None:
        self.target, self.lanes = target, lanes
        self.functions: list[str] = []
        self.declared: set[str] = set()

    def vector_type(self, kind: Kind) -> str:
        """The type of numbers of a kind, one for each lane."""
        return lane_type(self.lanes, kind)

    def emit_program(self, program: Program) -> str:
        """Emit the function of a program; return its name."""
        text = _FunctionEmitter(self, program).emit()
        name = f"{program.name}.{len(self.functions)}"
        self.functions.append(text.replace("@SELF", f"@{name}", 1))
        return name

    def result_type(self, program: Program) -> str:
        """The type of the results of a program."""
        kinds = [self.vector_type(result.kind) for result in program.results]
        return f"{{{', '.join(kinds)}}}" if kinds else "void"

    def finish(self, program: Program, name: str) -> str:
        """Return the module, with the function that is called from outside."""
        lines, arguments = [], []
        for k, parameter in enumerate(program.parameters):
            assert isinstance(parameter, Memory | Code), f"'{parameter.name}' is not a buffer"
            lines.append(f"  %p{k} = getelementptr ptr, ptr %buffers, i64 {k}")
            lines.append(f"  %b{k} = load ptr, ptr %p{k}")
            arguments.append(f"ptr %b{k}")
        mask = self.vector_type(Kind.BOOL)
        all_lanes = "true" if self.lanes == 1 else "splat (i1 true)"
        given = ", ".join([*arguments, f"{mask} {all_lanes}"])
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


class _FunctionEmitter(LaneCode):
    """Emits one program as one function (parameters …, mask)."""

    def __init__(self, module: _ModuleEmitter, program: Program) -> None:
        super().__init__(
            module.lanes, module.target.has_fma, module.declared, find_private_names(program)
        )
        self.module, self.program = module, program
        self.pending = find_arrays(program.body)
        self.live: list[str] = []
        """For each enclosing `while`, the stack slot of the mask of lanes still in it; for one lane,
        the label behind it."""

    # -- the function ----------------------------------------------------------------------------

    def emit(self) -> str:
        """The text of the function."""
        parameters = []
        for parameter in self.program.parameters:
            if isinstance(parameter, Variable):
                kind = "i64" if parameter.is_uniform else self.type_of(parameter.kind)
                parameters.append(f"{kind} %in.{parameter.name}")
                self.slot(parameter)
                self.lines.append(f"  store {kind} %in.{parameter.name}, ptr %{parameter.name}")
            else:
                parameters.append(f"ptr %{parameter.name}")
                if isinstance(parameter, VariableReference):
                    self.variables[parameter.name] = parameter.variable.kind
        parameters.append(f"{self.mask_type} %mask")
        self.emit_pending_arrays()
        self.emit_block(self.program.body)
        kind = self.module.result_type(self.program)
        self.emit_results(kind)
        body = "\n".join(["entry:", *self.slots, *self.lines])
        return f"\ndefine internal {kind} @SELF({', '.join(parameters)}) {{\n{body}\n}}\n"

    def emit_results(self, kind: str) -> None:
        """Write the return of all results."""
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

    # -- statements ------------------------------------------------------------------------------

    def emit_block(self, body: tuple[Statement, ...]) -> None:
        """Write the statements of a block; lanes that left a loop drop out of the mask."""
        for statement in body:
            self.emit_statement(statement)
            if self.w > 1 and self.live and may_break(statement):
                remaining = self.add(f"load {self.mask_type}, ptr {self.live[-1]}")
                self.mask = self.add(f"and {self.mask_type} {self.mask}, {remaining}", "mask")

    def emit_statement(self, statement: Statement) -> None:
        """Write a statement."""
        match statement:
            case Declare(array=array, is_scratch=is_scratch):
                self.declare(array, is_scratch)
            case Assign(target=Variable(is_uniform=True) as target, value=value):
                number = self.uniform(value)
                self.slot(target)
                self.lines.append(
                    f"  store {LANE_SCALARS[target.kind]} {number}, ptr %{target.name}"
                )
                self.emit_pending_arrays()
            case Assign(target=Variable() as target, value=value):
                self.assign(target, self.vector(self.emit_expression(value)))
            case Assign(target=Element() as target, value=value):
                self.store_element(target, self.emit_expression(value))
            case Loop():
                self.emit_loop(statement)
            case While():
                if self.w == 1:
                    self.emit_single_while(statement)
                else:
                    self.emit_while(statement)
            case If(condition=condition):
                if self.w == 1 or is_uniform(condition):
                    self.emit_uniform_branch(statement)
                else:
                    self.emit_branch(statement)
            case Break() if self.w == 1:
                self.jump(self.live[-1])
                self.label(self.fresh("unreached"))
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
        """Set an array to zero, unless it is scratch; its memory is reserved elsewhere."""
        if is_scratch:
            return
        size = self.array_size(array)
        self.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        bytes_ = self.add(f"mul i64 {size}, {8 * self.w}")
        self.lines.append(
            f"  call void @llvm.memset.p0.i64(ptr align {8 * self.w} %{array.name}, i8 0, i64 {bytes_}, i1 false)"
        )

    def emit_pending_arrays(self) -> None:
        """Reserve memory for the arrays whose sizes are now known."""
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
        """Return the number of entries of an array."""
        total = self.uniform(array.shape[0])
        for size in array.shape[1:]:
            total = self.add(f"mul i64 {total}, {self.uniform(size)}")
        return total

    def assign(self, target: Variable, value: str) -> None:
        """Store a value to a variable, in the lanes of the mask."""
        self.slot(target)
        kind = self.type_of(target.kind)
        if self.needs_mask(target.name):
            old = self.add(f"load {kind}, ptr %{target.name}")
            value = self.add(f"select {self.mask_type} {self.mask}, {kind} {value}, {kind} {old}")
        self.lines.append(f"  store {kind} {value}, ptr %{target.name}")

    def emit_loop(self, loop: Loop) -> None:
        """Write a loop whose counter is the same in all lanes."""
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

    def emit_single_while(self, loop: While) -> None:
        """Write a loop of one lane."""
        head, body, done = (self.fresh(name) for name in ("while", "turn", "left"))
        self.jump(head)
        self.label(head)
        self.branch(self.vector(self.emit_expression(loop.condition)), body, done)
        self.label(body)
        self.live.append(done)
        self.emit_block(loop.body)
        self.live.pop()
        self.jump(head)
        self.label(done)

    def emit_while(self, loop: While) -> None:
        """Write a loop that runs until all lanes have left it."""
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

    def emit_uniform_branch(self, statement: If) -> None:
        """Write a branch that all lanes take alike."""
        yes, no, after = (self.fresh(name) for name in ("yes", "no", "after"))
        mask = self.mask
        self.branch(self.emit_expression(statement.condition).text, yes, no)
        for label, body in ((yes, statement.body), (no, statement.otherwise)):
            self.label(label)
            self.mask = mask
            self.emit_block(body)
            self.jump(after)
        self.label(after)
        self.mask = mask

    def emit_branch(self, statement: If) -> None:
        """Write both sides of a branch, each for its lanes."""
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
        """Write the call of a tape."""
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
        """Write the call of another program."""
        name = self.module.emit_program(call.program)
        arguments = []
        for value, parameter in zip(call.arguments, call.program.parameters, strict=True):
            if isinstance(value, Array):
                arguments.append(f"ptr {self.address(value)}")
            elif isinstance(value, Memory | Code | VariableReference):
                if isinstance(value, VariableReference):
                    self.slot(value.variable)
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
        """Emit a loop that copies the numbers of a row."""
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
