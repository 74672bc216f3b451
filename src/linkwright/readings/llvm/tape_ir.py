"""A tape as LLVM IR: functions on blocks of states.

A block of W states is stored in a context: one vector for every entry of the inputs, for sines and cosines of inputs,
for values between chunks, and for the outputs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...ports import Port
from ...tape import Op, Tape, share_tape_reciprocals
from .chunks import MachineCodeChunk, cut_into_machine_code_chunks
from .constant_outputs import emit_constant_outputs
from .context_addresses import ALIAS_SCOPES_IR, NEAR_VECTOR_BYTES, ContextAddressWriter
from .fused_multiply_add import MachineFusedMultiplyAdd, find_machine_fused_multiply_adds
from .input_angles import find_input_angles, find_loadable_values, split_input_angle
from .output_tiles import plan_output_lane_tiles
from .shared_ir import shared_ir_declarations
from .sincos import llvm_hexadecimal
from .target import MachineTarget

_BINARY_INSTRUCTIONS = {
    Op.ADD: "fadd contract",
    Op.SUB: "fsub contract",
    Op.MUL: "fmul contract",
    Op.DIV: "fdiv",
}
_COMPARISON_PREDICATES = {Op.LT: "olt", Op.LE: "ole", Op.EQ: "oeq", Op.NE: "une"}
_LOGIC_INSTRUCTIONS = {Op.AND: "and", Op.OR: "or"}
_UNARY_INTRINSICS = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.FLOOR: "floor"}
_BINARY_INTRINSICS = {Op.MIN: "minimum", Op.MAX: "maximum"}
_LIBM_FUNCTIONS = {
    Op.TAN: "tan", Op.ASIN: "asin", Op.ACOS: "acos", Op.ATAN2: "atan2", Op.EXP: "exp",
    Op.LOG: "log", Op.POW: "pow", Op.TANH: "tanh",
}  # fmt: skip


@dataclass(frozen=True)
class LlvmScalarType:
    """A scalar type: its LLVM name and its size in bytes."""

    scalar: str
    bytes: int

    def literal(self, value: float) -> str:
        """The value as an LLVM literal; a float is written as a double of the same value."""
        return llvm_hexadecimal(value if self.bytes == 8 else float(np.float32(value)))


DOUBLE_PRECISION = LlvmScalarType("double", 8)
SINGLE_PRECISION = LlvmScalarType("float", 4)


@dataclass(frozen=True)
class ContextLayout:
    """The first vectors of the parts of a context; operands fill whole tiles."""

    inputs: tuple[int, ...]
    trigonometry: int
    workspace: int
    outputs: int
    size: int


def _padded_lane_slots(ports: tuple[Port, ...], lanes: int, start: int) -> list[int]:
    """The first slots of ports padded to whole tiles, and the slot behind the last one."""
    ends = np.cumsum([start, *(math.ceil(port.size / lanes) * lanes for port in ports)])
    return [int(end) for end in ends]


class TapeIrEmitter:
    """Emits the LLVM module of one tape."""

    def __init__(self, tape: Tape, target: MachineTarget, precision: LlvmScalarType) -> None:
        tape = self.tape = share_tape_reciprocals(tape)
        self.target = target
        self.p = precision
        self.w = target.vector_lanes(precision.bytes)
        self.v = f"<{self.w} x {precision.scalar}>"
        self.b = f"<{self.w} x i1>"
        self.d = f"<{self.w} x double>"
        self.suffix = f"v{self.w}f{8 * precision.bytes}"
        self.lines: list[str] = []
        self.addresses = ContextAddressWriter(self.v, has_bases=False)
        self.declared: set[str] = set()
        self.angles = find_input_angles(tape)
        self.loadable_values = find_loadable_values(tape, self.angles)
        self.fused, self.fused_products = (
            find_machine_fused_multiply_adds(tape) if target.has_fma else ({}, set())
        )
        self.chunks, waiting = cut_into_machine_code_chunks(
            tape, self.loadable_values, self.fused, target.code_chunk_length
        )
        *inputs, trigonometry = _padded_lane_slots(tape.inputs, self.w, 0)
        workspace = trigonometry + 2 * len(self.angles)
        outputs = workspace + waiting
        self.plan = plan_output_lane_tiles(tape, self.w)
        size = outputs + self.plan.slots
        self.layout = ContextLayout(tuple(inputs), trigonometry, workspace, outputs, size)

    # -- what is where -------------------------------------------------------------------

    def context_slot(self, value: int) -> int:
        """The slot of an input, sine or cosine in the context."""
        if self.tape.ops[value] == Op.INPUT:
            port, entry = (int(a) for a in self.tape.args[value, :2])
            return self.layout.inputs[port] + entry
        part = 0 if self.tape.ops[value] == Op.SIN else 1
        return self.layout.trigonometry + 2 * self.angles[int(self.tape.args[value, 0])] + part

    def emit_functions(self) -> str:
        """The functions of a block of states: constants, trigonometry, and the chunks."""
        functions = [self.emit_chunk(n, chunk) for n, chunk in enumerate(self.chunks)]
        functions.append(self.emit_constants())
        fma = f"declare {self.v} @llvm.fma.{self.suffix}({self.v}, {self.v}, {self.v})"
        if self.p.bytes == 4:
            self.declared.add(fma)
        parts = [f'target triple = "{self.target.triple}"', *sorted(self.declared)]
        parts.append(shared_ir_declarations(self.w))
        if self.angles:
            parts.append(self.emit_trigonometry())
        if self.p.bytes == 8:
            parts.append(fma)
        return "\n".join([*parts, *functions, ALIAS_SCOPES_IR])

    def emit_constants(self) -> str:
        """The function that writes the outputs that are the same for all states into a context."""
        constants = [
            (self.layout.outputs + at, self.p.literal(float(self.tape.constants[value])))
            for value, at in self.plan.constant_slots.items()
        ]
        return emit_constant_outputs(constants, self.w, self.p.scalar)

    def emit_trigonometry(self) -> str:
        """The table of angles, and the function that stores their sines and cosines."""
        parts = [
            angle
            for value in self.angles
            if (angle := split_input_angle(self.tape, value)) is not None
        ]
        slots = ", ".join(f"i32 {self.context_slot(value)}" for value, _ in parts)
        offsets = ", ".join(f"double {llvm_hexadecimal(offset)}" for _, offset in parts)
        n = len(parts)
        return f"""
@angles = internal constant [{n} x i32] [{slots}]
@offsets = internal constant [{n} x double] [{offsets}]

define internal void @trigonometry(ptr %ctx) {{
  %trig = getelementptr {self.v}, ptr %ctx, i64 {self.layout.trigonometry}
  call void @sines.cosines(ptr %ctx, ptr %trig, ptr @angles, ptr @offsets, i64 {n})
  ret void
}}
"""

    # -- chunks --------------------------------------------------------------------------

    def emit_chunk(self, number: int, chunk: MachineCodeChunk) -> str:
        """The function of a chunk."""
        self.lines = []
        has_bases = len(self.chunks) > 1 and self.w * self.p.bytes == NEAR_VECTOR_BYTES
        self.addresses = ContextAddressWriter(self.v, has_bases=has_bases)
        self.loaded: set[int] = set()
        self.sincos_results: dict[int, str] = {}
        self.waiting = chunk.loads
        for k in range(chunk.start, chunk.stop):
            op = self.tape.operations[k]
            if op is Op.CONSTANT:
                continue
            if k in self.fused_products:
                continue
            if k not in self.loadable_values:
                self.emit_instruction(k, op)
                self.loaded.add(k)
            if k in self.plan.store_slots:
                self.store_value(k, self.layout.outputs + self.plan.store_slots[k])
            if k in chunk.saves:
                self.store_value(k, self.layout.workspace + chunk.saves[k])
        body = "\n".join([*self.addresses.write_bases(), *self.lines])
        head = f"define internal void @chunk{number}(ptr noalias %ctx) noinline alignstack({self.target.vector_bytes})"
        return f"\n{head} {{\n{body}\n  ret void\n}}\n"

    def store_value(self, value: int, at: int) -> None:
        """Stores a value at a slot of the context."""
        name = self.load_value(value)
        self.lines += [
            f"  %s{at} = {self.addresses.write_address(at)}",
            f"  store {self.v} {name}, ptr %s{at}{self.addresses.store_mark}",
        ]

    def load_value(self, k: int) -> str:
        """The name of a value, which is loaded first if needed."""
        if self.tape.operations[k] is Op.CONSTANT:
            constant = self.p.literal(float(self.tape.constants[k]))
            return f"splat ({self.p.scalar} {constant})"
        if k not in self.loaded:
            at = (
                self.context_slot(k)
                if k in self.loadable_values
                else self.layout.workspace + self.waiting[k]
            )
            self.lines += [
                f"  %a{k} = {self.addresses.write_address(at)}",
                f"  %v{k} = load {self.v}, ptr %a{k}{self.addresses.load_mark}",
            ]
            self.loaded.add(k)
        return f"%v{k}"

    def assign_value(self, k: int, instruction: str) -> None:
        """Assigns an instruction to value k."""
        self.lines.append(f"  %v{k} = {instruction}")

    def emit_instruction(self, k: int, op: Op) -> None:
        """Emits the code of instruction k."""
        v, args = self.v, self.tape.operands[k]
        if k in self.fused:
            self.emit_multiply_add(k, self.fused[k])
        elif op in _BINARY_INSTRUCTIONS:
            self.assign_value(
                k,
                f"{_BINARY_INSTRUCTIONS[op]} {v} {self.load_value(args[0])}, {self.load_value(args[1])}",
            )
        elif op is Op.NEG:
            self.assign_value(k, f"fneg {v} {self.load_value(args[0])}")
        elif op in (Op.SIN, Op.COS):
            self.emit_sine_or_cosine(k, op, args[0])
        elif op in _UNARY_INTRINSICS:
            self.emit_intrinsic(k, _UNARY_INTRINSICS[op], args[:1])
        elif op in _BINARY_INTRINSICS:
            self.emit_intrinsic(k, _BINARY_INTRINSICS[op], args[:2])
        elif op is Op.FMA:
            self.emit_intrinsic(k, "fma", args)
        elif op in _LIBM_FUNCTIONS:
            self.emit_libm_call(
                k, _LIBM_FUNCTIONS[op], args[: 2 if op in (Op.ATAN2, Op.POW) else 1]
            )
        elif op is Op.SIGN:
            self.emit_sign(k, args[0])
        else:
            self.emit_logic(k, op, args)

    def emit_multiply_add(self, k: int, fused: MachineFusedMultiplyAdd) -> None:
        """Emits ±(a·b) ± c; the negations become part of the instruction."""
        v, (a, b) = self.v, self.tape.operands[fused.product][:2]
        one, other, rest = self.load_value(a), self.load_value(b), self.load_value(fused.other)
        if fused.minus_product:
            self.lines.append(f"  %n{k} = fneg {v} {one}")
            one = f"%n{k}"
        if fused.minus_other:
            self.lines.append(f"  %r{k} = fneg {v} {rest}")
            rest = f"%r{k}"
        self.assign_value(
            k, f"call {v} @llvm.fma.{self.suffix}({v} {one}, {v} {other}, {v} {rest})"
        )

    def emit_intrinsic(self, k: int, name: str, args: list[int]) -> None:
        """Emits the call of an LLVM intrinsic."""
        given = ", ".join(f"{self.v} {self.load_value(a)}" for a in args)
        types = ", ".join([self.v] * len(args))
        if name != "fma":
            self.declared.add(f"declare {self.v} @llvm.{name}.{self.suffix}({types})")
        self.assign_value(k, f"call {self.v} @llvm.{name}.{self.suffix}({given})")

    def emit_sine_or_cosine(self, k: int, op: Op, argument: int) -> None:
        """Emits the sine or cosine of a value that is not an input; one call computes both."""
        d, part = self.d, 0 if op is Op.SIN else 1
        if argument not in self.sincos_results:
            self.sincos_results[argument] = self.call_sincos(k, self.load_value(argument))
        pair = self.sincos_results[argument]
        if self.p.bytes == 8:
            self.assign_value(k, f"extractvalue {{{d}, {d}}} {pair}, {part}")
            return
        self.lines.append(f"  %e{k} = extractvalue {{{d}, {d}}} {pair}, {part}")
        self.assign_value(k, f"fptrunc {d} %e{k} to {self.v}")

    def call_sincos(self, k: int, x: str) -> str:
        """Emits the call of `@sincos`, in double precision."""
        d = self.d
        if self.p.bytes == 4:
            self.lines.append(f"  %w{k} = fpext {self.v} {x} to {d}")
            x = f"%w{k}"
        self.lines.append(f"  %p{k} = call {{{d}, {d}}} @sincos({d} {x})")
        return f"%p{k}"

    def emit_libm_call(self, k: int, name: str, args: list[int]) -> None:
        """Emits calls of a libm function, lane after lane, in double precision."""
        t = self.p.scalar
        self.declared.add(f"declare double @{name}({', '.join(['double'] * len(args))})")
        result = "poison"
        vectors = [self.load_value(a) for a in args]
        for n in range(self.w):
            scalars = []
            for m, vector in enumerate(vectors):
                self.lines.append(f"  %x{k}.{n}.{m} = extractelement {self.v} {vector}, i32 {n}")
                scalars.append(self.widen_to_double(f"x{k}.{n}.{m}"))
            given = ", ".join(f"double {s}" for s in scalars)
            self.lines.append(f"  %y{k}.{n} = call double @{name}({given})")
            y = f"%y{k}.{n}"
            if self.p.bytes == 4:
                self.lines.append(f"  %z{k}.{n} = fptrunc double {y} to float")
                y = f"%z{k}.{n}"
            target = f"v{k}" if n == self.w - 1 else f"i{k}.{n}"
            self.lines.append(f"  %{target} = insertelement {self.v} {result}, {t} {y}, i32 {n}")
            result = f"%{target}"

    def widen_to_double(self, name: str) -> str:
        """The name of a scalar converted to double precision."""
        if self.p.bytes == 8:
            return f"%{name}"
        self.lines.append(f"  %{name}.d = fpext float %{name} to double")
        return f"%{name}.d"

    def emit_sign(self, k: int, a: int) -> None:
        """Emits the sign: 1, −1, or the value itself if it is zero or NaN."""
        v, x, t = self.v, self.load_value(a), self.p.scalar
        one, minus = self.p.literal(1.0), self.p.literal(-1.0)
        self.lines += [
            f"  %up{k} = fcmp ogt {v} {x}, zeroinitializer",
            f"  %down{k} = fcmp olt {v} {x}, zeroinitializer",
            f"  %pos{k} = select {self.b} %up{k}, {v} splat ({t} {one}), {v} {x}",
        ]
        self.assign_value(k, f"select {self.b} %down{k}, {v} splat ({t} {minus}), {v} %pos{k}")

    def emit_truth(self, k: int, name: str) -> str:
        """Emits whether each lane of a value is nonzero."""
        given = self.load_value(k)
        self.lines.append(f"  %{name} = fcmp une {self.v} {given}, zeroinitializer")
        return f"%{name}"

    def emit_logic(self, k: int, op: Op, args: list[int]) -> None:
        """Emits a comparison, a logical operation or a selection."""
        v, b = self.v, self.b
        if op is Op.SELECT:
            c = self.emit_truth(args[0], f"c{k}")
            self.assign_value(
                k, f"select {b} {c}, {v} {self.load_value(args[1])}, {v} {self.load_value(args[2])}"
            )
            return
        if op in _COMPARISON_PREDICATES:
            mask = f"fcmp {_COMPARISON_PREDICATES[op]} {v} {self.load_value(args[0])}, {self.load_value(args[1])}"
        elif op in _LOGIC_INSTRUCTIONS:
            one, other = self.emit_truth(args[0], f"ta{k}"), self.emit_truth(args[1], f"tb{k}")
            mask = f"{_LOGIC_INSTRUCTIONS[op]} {b} {one}, {other}"
        else:
            mask = f"fcmp oeq {v} {self.load_value(args[0])}, zeroinitializer"
        one = self.p.literal(1.0)
        self.lines.append(f"  %m{k} = {mask}")
        self.assign_value(
            k, f"select {b} %m{k}, {v} splat ({self.p.scalar} {one}), {v} zeroinitializer"
        )
