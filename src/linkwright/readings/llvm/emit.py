"""A tape as LLVM IR: a kernel on blocks of states, and the loop that NumPy calls.

    loop:  for every block of W states   pack → trigonometry → kernel → unpack

Sines and cosines of inputs are computed in a loop of their own, before the kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...tape import Op, Port, Tape
from .rows import rows_ir
from .sincos import hexadecimal, sincos_ir
from .target import Target

STACK_LIMIT = 1 << 16
"""Blocks larger than this many bytes are allocated on the heap."""

_BINARY = {
    Op.ADD: "fadd contract",
    Op.SUB: "fsub contract",
    Op.MUL: "fmul contract",
    Op.DIV: "fdiv",
}
_COMPARISONS = {Op.LT: "olt", Op.LE: "ole", Op.EQ: "oeq", Op.NE: "une"}
_LOGIC = {Op.AND: "and", Op.OR: "or"}
_INTRINSICS = {Op.SQRT: "sqrt", Op.ABS: "fabs", Op.FLOOR: "floor"}
_TWO_SIDED = {Op.MIN: "minimum", Op.MAX: "maximum"}
_LIBM = {
    Op.TAN: "tan", Op.ASIN: "asin", Op.ACOS: "acos", Op.ATAN2: "atan2", Op.EXP: "exp",
    Op.LOG: "log", Op.POW: "pow", Op.TANH: "tanh",
}  # fmt: skip


@dataclass(frozen=True)
class Precision:
    """A scalar type: its LLVM name, and its size in bytes."""

    scalar: str
    bytes: int

    def constant(self, value: float) -> str:
        """A literal; floats are written as the doubles they round to."""
        return hexadecimal(value if self.bytes == 8 else float(np.float32(value)))


DOUBLE = Precision("double", 8)
SINGLE = Precision("float", 4)


def emit(tape: Tape, target: Target, precision: Precision = DOUBLE) -> str:
    """The LLVM module of a tape; it exports `@loop` with the signature of a ufunc's loop."""
    return _Emitter(tape, target, precision).module()


def _offsets(ports: tuple[Port, ...], lanes: int) -> list[int]:
    """First vector of each operand in a block; operands are padded to whole tiles."""
    ends = np.cumsum([math.ceil(port.size / lanes) * lanes for port in ports])
    return [0, *(int(end) for end in ends)]


class _Emitter:
    def __init__(self, tape: Tape, target: Target, precision: Precision) -> None:
        self.tape = tape
        self.target = target
        self.p = precision
        self.w = target.lanes(precision.bytes)
        self.v = f"<{self.w} x {precision.scalar}>"
        self.b = f"<{self.w} x i1>"
        self.d = f"<{self.w} x double>"
        self.suffix = f"v{self.w}f{8 * precision.bytes}"
        self.inputs = _offsets(tape.inputs, self.w)
        self.outputs = _offsets(tape.outputs, self.w)
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.angles = self.find_angles()

    def find_angles(self) -> dict[int, int]:
        """Values whose sine or cosine is taken and that are an input, or an input plus a
        constant; numbered."""
        tape, found = self.tape, dict[int, int]()
        for k in np.flatnonzero((tape.ops == Op.SIN) | (tape.ops == Op.COS)):
            argument = int(tape.args[k, 0])
            if self.angle(argument) is not None:
                found.setdefault(argument, len(found))
        return found

    def angle(self, value: int) -> tuple[int, float] | None:
        """The input and the offset that make up a value; −0.0 adds nothing at all."""
        tape = self.tape
        if tape.ops[value] == Op.INPUT:
            return value, -0.0
        if tape.ops[value] == Op.ADD:
            a, b = (int(x) for x in tape.args[value, :2])
            for one, other in ((a, b), (b, a)):
                if tape.ops[one] == Op.INPUT and tape.ops[other] == Op.CONSTANT:
                    return one, float(tape.constants[other])
        return None

    def module(self) -> str:
        kernel = self.kernel()
        parts = [f'target triple = "{self.target.triple}"', *sorted(self.declared)]
        parts.append(rows_ir(self.p.scalar, self.p.bytes, self.w))
        if "@sincos" in kernel or self.angles:
            parts.append(sincos_ir(self.target, self.w))
        if self.angles:
            parts.append(self.trigonometry())
        parts += [kernel, self.loop()]
        return "\n".join(parts)

    # -- trigonometry of inputs ----------------------------------------------------------

    def slot(self, value: int) -> int:
        port, entry = (int(a) for a in self.tape.args[value, :2])
        return self.inputs[port] + entry

    def trigonometry(self) -> str:
        n, v, d = len(self.angles), self.v, self.d
        parts = [angle for value in self.angles if (angle := self.angle(value)) is not None]
        slots = ", ".join(f"i32 {self.slot(value)}" for value, _ in parts)
        offsets = ", ".join(f"double {hexadecimal(offset)}" for _, offset in parts)
        widen, narrow = f"fpext {v} %x to {d}", f"fptrunc {d}"
        same = self.p.bytes == 8
        return f"""
@angles = internal constant [{n} x i32] [{slots}]
@offsets = internal constant [{n} x double] [{offsets}]

define internal void @trigonometry(ptr %in, ptr %trig) {{
entry:
  br label %loop
loop:
  %n = phi i64 [0, %entry], [%n1, %loop]
  %where = getelementptr i32, ptr @angles, i64 %n
  %slot = load i32, ptr %where
  %from = getelementptr {v}, ptr %in, i32 %slot
  %x = load {v}, ptr %from
  %bare = {f"select i1 true, {v} %x, {v} %x" if same else widen}
  %which = getelementptr double, ptr @offsets, i64 %n
  %offset = load double, ptr %which
  %first = insertelement {d} poison, double %offset, i32 0
  %all = shufflevector {d} %first, {d} poison, <{self.w} x i32> zeroinitializer
  %wide = fadd {d} %bare, %all
  %pair = call {{{d}, {d}}} @sincos({d} %wide)
  %s.wide = extractvalue {{{d}, {d}}} %pair, 0
  %c.wide = extractvalue {{{d}, {d}}} %pair, 1
  %s = {f"select i1 true, {d} %s.wide, {d} %s.wide" if same else f"{narrow} %s.wide to {v}"}
  %c = {f"select i1 true, {d} %c.wide, {d} %c.wide" if same else f"{narrow} %c.wide to {v}"}
  %n2 = mul i64 %n, 2
  %to.s = getelementptr {v}, ptr %trig, i64 %n2
  store {v} %s, ptr %to.s
  %n21 = add i64 %n2, 1
  %to.c = getelementptr {v}, ptr %trig, i64 %n21
  store {v} %c, ptr %to.c
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, {n}
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""

    # -- the kernel ----------------------------------------------------------------------

    def kernel(self) -> str:
        for k in range(len(self.tape)):
            self.instruction(k, Op(int(self.tape.ops[k])))
        for port, result in enumerate(self.tape.results):
            for entry, value in enumerate(result):
                at = self.outputs[port] + entry
                self.lines.append(
                    f"  %o{at} = getelementptr {self.v}, ptr %out, i64 {at}\n"
                    f"  store {self.v} {self.value(int(value))}, ptr %o{at}"
                )
        body = "\n".join(self.lines)
        head = "define internal void @kernel(ptr noalias %in, ptr noalias %trig, ptr noalias %out)"
        return f"\n{head} noinline {{\n{body}\n  ret void\n}}\n"

    def value(self, k: int) -> str:
        if self.tape.ops[k] == Op.CONSTANT:
            constant = self.p.constant(float(self.tape.constants[k]))
            return f"splat ({self.p.scalar} {constant})"
        return f"%v{k}"

    def put(self, k: int, instruction: str) -> None:
        self.lines.append(f"  %v{k} = {instruction}")

    def load(self, k: int, base: str, at: int) -> None:
        self.lines.append(f"  %a{k} = getelementptr {self.v}, ptr %{base}, i64 {at}")
        self.put(k, f"load {self.v}, ptr %a{k}")

    def instruction(self, k: int, op: Op) -> None:
        v, args = self.v, [int(a) for a in self.tape.args[k]]
        if op is Op.CONSTANT:
            return
        if op is Op.INPUT:
            self.load(k, "in", self.slot(k))
        elif op in _BINARY:
            self.put(k, f"{_BINARY[op]} {v} {self.value(args[0])}, {self.value(args[1])}")
        elif op is Op.NEG:
            self.put(k, f"fneg {v} {self.value(args[0])}")
        elif op in (Op.SIN, Op.COS):
            self.sine_or_cosine(k, op, args[0])
        elif op in _INTRINSICS:
            self.intrinsic(k, _INTRINSICS[op], args[:1])
        elif op in _TWO_SIDED:
            self.intrinsic(k, _TWO_SIDED[op], args[:2])
        elif op is Op.FMA:
            self.intrinsic(k, "fma", args)
        elif op in _LIBM:
            self.lanewise(k, _LIBM[op], args[: 2 if op in (Op.ATAN2, Op.POW) else 1])
        elif op is Op.SIGN:
            self.sign(k, args[0])
        else:
            self.logic(k, op, args)

    def intrinsic(self, k: int, name: str, args: list[int]) -> None:
        given = ", ".join(f"{self.v} {self.value(a)}" for a in args)
        types = ", ".join([self.v] * len(args))
        self.declared.add(f"declare {self.v} @llvm.{name}.{self.suffix}({types})")
        self.put(k, f"call {self.v} @llvm.{name}.{self.suffix}({given})")

    def sine_or_cosine(self, k: int, op: Op, argument: int) -> None:
        part = 0 if op is Op.SIN else 1
        if argument in self.angles:
            self.load(k, "trig", 2 * self.angles[argument] + part)
            return
        d, x = self.d, self.value(argument)
        if self.p.bytes == 4:
            self.lines.append(f"  %w{k} = fpext {self.v} {x} to {d}")
            x = f"%w{k}"
        self.lines.append(f"  %p{k} = call {{{d}, {d}}} @sincos({d} {x})")
        if self.p.bytes == 8:
            self.put(k, f"extractvalue {{{d}, {d}}} %p{k}, {part}")
            return
        self.lines.append(f"  %e{k} = extractvalue {{{d}, {d}}} %p{k}, {part}")
        self.put(k, f"fptrunc {d} %e{k} to {self.v}")

    def lanewise(self, k: int, name: str, args: list[int]) -> None:
        """A function of libm, called for one lane after the other, in double."""
        t = self.p.scalar
        self.declared.add(f"declare double @{name}({', '.join(['double'] * len(args))})")
        result = "poison"
        for n in range(self.w):
            scalars = []
            for m, a in enumerate(args):
                self.lines.append(
                    f"  %x{k}.{n}.{m} = extractelement {self.v} {self.value(a)}, i32 {n}"
                )
                scalars.append(self.widened(f"x{k}.{n}.{m}"))
            given = ", ".join(f"double {s}" for s in scalars)
            self.lines.append(f"  %y{k}.{n} = call double @{name}({given})")
            y = f"%y{k}.{n}"
            if self.p.bytes == 4:
                self.lines.append(f"  %z{k}.{n} = fptrunc double {y} to float")
                y = f"%z{k}.{n}"
            target = f"v{k}" if n == self.w - 1 else f"i{k}.{n}"
            self.lines.append(f"  %{target} = insertelement {self.v} {result}, {t} {y}, i32 {n}")
            result = f"%{target}"

    def widened(self, name: str) -> str:
        if self.p.bytes == 8:
            return f"%{name}"
        self.lines.append(f"  %{name}.d = fpext float %{name} to double")
        return f"%{name}.d"

    def sign(self, k: int, a: int) -> None:
        v, x, one = self.v, self.value(a), self.p.constant(1.0)
        minus = self.p.constant(-1.0)
        t = self.p.scalar
        self.lines += [
            f"  %up{k} = fcmp ogt {v} {x}, zeroinitializer",
            f"  %down{k} = fcmp olt {v} {x}, zeroinitializer",
            f"  %pos{k} = select {self.b} %up{k}, {v} splat ({t} {one}), {v} {x}",
        ]
        self.put(k, f"select {self.b} %down{k}, {v} splat ({t} {minus}), {v} %pos{k}")

    def truth(self, k: int, name: str) -> str:
        self.lines.append(f"  %{name} = fcmp une {self.v} {self.value(k)}, zeroinitializer")
        return f"%{name}"

    def logic(self, k: int, op: Op, args: list[int]) -> None:
        v, b = self.v, self.b
        if op is Op.SELECT:
            c = self.truth(args[0], f"c{k}")
            self.put(k, f"select {b} {c}, {v} {self.value(args[1])}, {v} {self.value(args[2])}")
            return
        if op in _COMPARISONS:
            mask = f"fcmp {_COMPARISONS[op]} {v} {self.value(args[0])}, {self.value(args[1])}"
        elif op in _LOGIC:
            one, other = self.truth(args[0], f"ta{k}"), self.truth(args[1], f"tb{k}")
            mask = f"{_LOGIC[op]} {b} {one}, {other}"
        else:
            mask = f"fcmp oeq {v} {self.value(args[0])}, zeroinitializer"
        one = self.p.constant(1.0)
        self.lines.append(f"  %m{k} = {mask}")
        self.put(k, f"select {b} %m{k}, {v} splat ({self.p.scalar} {one}), {v} zeroinitializer")

    # -- the loop over states ------------------------------------------------------------

    def loop(self) -> str:
        """`void loop(char **args, npy_intp *dimensions, npy_intp *steps, void *data)`."""
        return _Loop(self).text()


class _Loop:
    """Blocks of W states, operand by operand; a wrong number of strides cannot happen, since
    the ufunc's signature fixes all sizes."""

    def __init__(self, emitter: _Emitter) -> None:
        self.e = emitter
        tape = emitter.tape
        self.ports = [*tape.inputs, *tape.outputs]
        self.strides: list[tuple[int, ...]] = []
        position = len(self.ports)
        for port in self.ports:
            self.strides.append(tuple(range(position, position + len(port.shape))))
            position += len(port.shape)

    def memory(self) -> tuple[str, str]:
        """Space for the blocks: on the stack while it is small."""
        e = self.e
        sizes = {"in": e.inputs[-1], "trig": 2 * len(e.angles), "out": e.outputs[-1]}
        item = e.w * e.p.bytes
        if item * sum(sizes.values()) <= STACK_LIMIT:
            lines = [
                f"  %{name} = alloca [{max(1, n)} x {e.v}], align {item}"
                for name, n in sizes.items()
            ]
            return "\n".join(lines), ""
        e.declared |= {"declare ptr @malloc(i64)", "declare void @free(ptr)"}
        total = item * (1 + sum(sizes.values()))
        lines = [
            f"  %raw = call ptr @malloc(i64 {total})",
            "  %address = ptrtoint ptr %raw to i64",
            f"  %up = add i64 %address, {item - 1}",
            f"  %aligned = and i64 %up, {-item}",
            "  %in = inttoptr i64 %aligned to ptr",
            f"  %trig = getelementptr {e.v}, ptr %in, i64 {sizes['in']}",
            f"  %out = getelementptr {e.v}, ptr %trig, i64 {sizes['trig']}",
        ]
        return "\n".join(lines), "  call void @free(ptr %raw)"

    def prepare(self) -> str:
        lines = []
        for k in range(len(self.ports)):
            lines += [
                f"  %pa{k} = getelementptr ptr, ptr %args, i64 {k}",
                f"  %array{k} = load ptr, ptr %pa{k}",
                f"  %ps{k} = getelementptr i64, ptr %steps, i64 {k}",
                f"  %step{k} = load i64, ptr %ps{k}",
            ]
            for axis, position in enumerate(self.strides[k]):
                lines += [
                    f"  %pc{k}.{axis} = getelementptr i64, ptr %steps, i64 {position}",
                    f"  %core{k}.{axis} = load i64, ptr %pc{k}.{axis}",
                ]
        return "\n".join(lines)

    def move(self, name: str, k: int, block: str, offset: int) -> str:
        """Packs or unpacks operand k of the block that begins at state %n."""
        e, port = self.e, self.ports[k]
        match port.shape:
            case ():
                rows, cols, s0, s1 = 1, 1, "0", str(e.p.bytes)
            case (n,):
                rows, cols, s0, s1 = 1, n, "0", f"%core{k}.0"
            case (n, m):
                rows, cols, s0, s1 = n, m, f"%core{k}.0", f"%core{k}.1"
            case _:
                raise AssertionError(port.shape)
        return f"""  %shift{k} = mul i64 %n, %step{k}
  %here{k} = getelementptr i8, ptr %array{k}, i64 %shift{k}
  %block{k} = getelementptr {e.v}, ptr %{block}, i64 {offset}
  call void @{name}(ptr %here{k}, i64 %step{k}, i64 {rows}, i64 {cols}, i64 {s0}, i64 {s1}, i64 %count, ptr %block{k})"""

    def text(self) -> str:
        e = self.e
        n_in = len(e.tape.inputs)
        packs = [self.move("pack", k, "in", e.inputs[k]) for k in range(n_in)]
        unpacks = [
            self.move("unpack", n_in + k, "out", e.outputs[k]) for k in range(len(e.tape.outputs))
        ]
        allocate, free = self.memory()
        trigonometry = "  call void @trigonometry(ptr %in, ptr %trig)" if e.angles else ""
        declared = "\n".join(d for d in sorted(e.declared) if "@malloc" in d or "@free" in d)
        newline = "\n"
        return f"""
{declared}
define void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) {{
entry:
  %total = load i64, ptr %dimensions
{allocate}
{self.prepare()}
  %empty = icmp eq i64 %total, 0
  br i1 %empty, label %done, label %block
block:
  %n = phi i64 [0, %entry], [%next, %block]
  %left = sub i64 %total, %n
  %full = icmp uge i64 %left, {e.w}
  %count = select i1 %full, i64 {e.w}, i64 %left
{newline.join(packs)}
{trigonometry}
  call void @kernel(ptr %in, ptr %trig, ptr %out)
{newline.join(unpacks)}
  %next = add i64 %n, {e.w}
  %more = icmp ult i64 %next, %total
  br i1 %more, label %block, label %done
done:
{free}
  ret void
}}
"""
