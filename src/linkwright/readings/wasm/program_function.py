"""Programs as WebAssembly functions, for one trajectory: statements, calls, the whole module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...program import read_program
from ...program.sine_cosine import MAX_FAST_ARGUMENT, sine_and_cosine
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
    If,
    Kind,
    Loop,
    Memory,
    Program,
    Statement,
    Variable,
    VariableReference,
    While,
)
from ...tape import OPERATION_ARITY, Op, Tape, share_tape_reciprocals
from ..program_frames import constant_array_size
from .module_bytes import (
    BLOCK,
    DROP,
    ELSE,
    END,
    F64,
    I32,
    IF,
    LOOP,
    RETURN,
    WasmModule,
    branch,
    branch_if,
    call_function,
    float_constant,
    get_global,
    get_local,
    int_constant,
    set_global,
    set_local,
)
from .program_expressions import (
    INT_ADD,
    INT_GREATER_EQUAL,
    INT_IS_ZERO,
    ProgramExpressions,
)
from .tape_function import MATH_FUNCTIONS, TapeFunction

STACK = 0
"""The number of the global with the address of the stack's end."""

_FILL, _COPY = b"\xfc\x0b\x00", b"\xfc\x0a\x00\x00"
_ABS, _LESS = b"\x99", b"\x63"


class WasmWriter:
    """Writes tapes and programs into one module; the tapes must all be given first."""

    def __init__(self, tapes: Sequence[Tape]) -> None:
        operations = {op for tape in tapes for op in tape.operations}
        imports = {
            MATH_FUNCTIONS[op]: OPERATION_ARITY[op]
            for op in sorted(operations)
            if op in MATH_FUNCTIONS
        }
        self.stack_bytes: dict[int, int] = {}
        """The memory that the function of a program needs on the stack, by its number."""
        has_angles = bool(operations & {Op.SIN, Op.COS})
        self.module = WasmModule(imports | ({"sin": 1, "cos": 1} if has_angles else {}))
        self.sine_cosine = self._add_sine_cosine() if has_angles else None

    def _add_sine_cosine(self) -> int:
        """Add the function x → (sin x, cos x); JavaScript computes those of huge arguments."""
        x = get_local(0)
        by_library = b"".join(
            x + call_function(self.module.import_index(name)) for name in ("sin", "cos")
        )
        is_small = x + _ABS + float_constant(MAX_FAST_ARGUMENT) + _LESS
        start = is_small + INT_IS_ZERO + IF + by_library + RETURN + END
        return self.add_program(read_program(sine_and_cosine), {}, start)

    def add_tape(self, tape: Tape) -> int:
        """Add the function of a tape; return its number."""
        return TapeFunction(self.module, share_tape_reciprocals(tape), self.sine_cosine).write()

    def add_program(
        self, program: Program, procedures: Mapping[str, int], start: bytes = b""
    ) -> int:
        """Add the function of a program; return its number.

        `procedures` are the numbers of the functions of its tapes, by parameter. The code `start`
        is put before that of the program.
        """
        return _ProgramFunction(self, program, procedures).write(start)


class _ProgramFunction(ProgramExpressions):
    """Writes one program as one function."""

    def __init__(self, writer: WasmWriter, program: Program, procedures: Mapping[str, int]) -> None:
        super().__init__(program)
        self.writer, self.procedures = writer, procedures
        self.depth = 0
        self.deepest_call = 0
        self.ends: list[int] = []
        """For each enclosing `while`, how many blocks were open around it."""

    def write(self, start: bytes) -> int:
        """Add the function to the module; return its number."""
        count = self.place_parameters()
        size = self.place_variables()
        frame = get_local(self.frame_address)
        code = self.block(self.program.body)
        code += b"".join(map(self.expression, self.program.results))
        if size:
            enter = get_global(STACK) + set_local(self.frame_address)
            enter += frame + int_constant(size) + INT_ADD + set_global(STACK)
            code = enter + code + frame + set_global(STACK)
        results = [F64 if x.kind is Kind.FLOAT else I32 for x in self.program.results]
        own = [(1, kind) for kind in self.kinds[count:]]
        index = self.writer.module.add_function(self.kinds[:count], results, own, start + code)
        self.writer.stack_bytes[index] = size + self.deepest_call
        return index

    # -- statements ------------------------------------------------------------------------------

    def block(self, body: tuple[Statement, ...], opened: int = 0) -> bytes:
        """The statements of a block, inside as many opened blocks."""
        self.depth += opened
        code = b"".join(map(self.statement, body))
        self.depth -= opened
        return code

    def statement(self, statement: Statement) -> bytes:
        """The code of a statement."""
        match statement:
            case Declare(array=array, is_scratch=is_scratch):
                if is_scratch:
                    return b""
                size = int_constant(8 * constant_array_size(array))
                return self.array_address(array) + int_constant(0) + size + _FILL
            case Assign(target=target, value=value):
                return self.assign(target, self.expression(value))
            case Loop():
                return self.loop(statement)
            case While():
                return self.while_loop(statement)
            case If(condition=condition, body=body, otherwise=otherwise):
                code = self.expression(condition) + IF + self.block(body, 1)
                return code + (ELSE + self.block(otherwise, 1) if otherwise else b"") + END
            case Break():
                return branch(self.depth - self.ends[-1] - 1)
            case CallTape():
                return self.call_tape(statement)
            case CallProgram():
                return self.call_program(statement)
            case CopyRow():
                return self.copy_row(statement)

    def assign(self, target: Variable | Element, value: bytes) -> bytes:
        """Assign a value, whose code is given, to a variable or an entry."""
        if isinstance(target, Element):
            return self.element_address(target) + value + self.store(target.kind)
        if target.name in self.references or target.name in self.offsets:
            return self.variable_address(target.name) + value + self.store(target.kind)
        return value + set_local(self.locals[target.name])

    def loop(self, loop: Loop) -> bytes:
        """A loop over integers; its end is computed once."""
        counter = loop.counter
        stop, code = self.expression(loop.stop), b""
        if not isinstance(loop.stop, Constant):
            local = self.new_local(Kind.INT)
            code, stop = stop + set_local(local), get_local(local)
        now = self.expression(counter)
        code += self.assign(counter, self.expression(loop.start)) + BLOCK + LOOP
        code += now + stop + INT_GREATER_EQUAL + branch_if(1) + self.block(loop.body, 2)
        return code + self.assign(counter, now + int_constant(1) + INT_ADD) + branch(0) + END + END

    def while_loop(self, loop: While) -> bytes:
        """A loop with a condition, which `break` may leave."""
        self.ends.append(self.depth)
        code = BLOCK + LOOP + self.expression(loop.condition) + INT_IS_ZERO + branch_if(1)
        code += self.block(loop.body, 2)
        self.ends.pop()
        return code + branch(0) + END + END

    def copy_row(self, copy: CopyRow) -> bytes:
        """Copy a row of a buffer into an array, or an array into a row."""
        row = self.element_address(Element(copy.buffer, copy.start, copy.buffer.kind))
        array = self.array_address(copy.array)
        size = int_constant(8 * constant_array_size(copy.array))
        return (row + array if copy.writes else array + row) + size + _COPY

    # -- calls -----------------------------------------------------------------------------------

    def call_tape(self, call: CallTape) -> bytes:
        """Call a tape; single numbers are passed in the first places of the frame."""
        before, given, slot = b"", b"", 0
        for value in call.arguments:
            if isinstance(value, Array):
                given += self.array_address(value)
            else:
                place = self._frame_place(8 * slot)
                before += place + self.expression(value) + self.store(Kind.FLOAT)
                given += place
                slot += 1
        return before + given + call_function(self.procedures[call.code.name])

    def call_program(self, call: CallProgram) -> bytes:
        """Call another program, and assign its results, of which the last is on top."""
        code, procedures = b"", dict[str, int]()
        for value, parameter in zip(call.arguments, call.program.parameters, strict=True):
            match value:
                case Array():
                    code += self.array_address(value)
                case VariableReference(name=name):
                    code += self.variable_address(name)
                case Memory(name=name):
                    code += get_local(self.locals[name])
                case Code(name=name):
                    procedures[parameter.name] = self.procedures[name]
                case _:
                    code += self.expression(value)
        index = self.writer.add_program(call.program, procedures)
        self.deepest_call = max(self.deepest_call, self.writer.stack_bytes[index])
        code += call_function(index)
        results = call.program.results
        code += DROP * (len(results) - len(call.results))
        for target in reversed(call.results):
            local = self.new_local(target.kind)
            code += set_local(local) + self.assign(target, get_local(local))
        return code
