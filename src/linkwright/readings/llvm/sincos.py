"""sin and cos of a vector as LLVM IR: at most 2 ulp for |x| < 2²⁰, by libm beyond.

Reduction (Cody–Waite): k = round(x·2/π) by adding 1.5·2⁵², r = x − k·π/2 with π/2 as the sum of three doubles. x − k·P1
is exact: both are multiples of 2⁻⁵² and the difference is below 1. Without fma, P1 and P2 are split so that every
product is exact. All parts are positive, so that −0 stays −0. Polynomials: minimax in relative error on |r| ≤ π/4,
below 4e-18.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

from ...program.sine_cosine import (
    COS_COEFFICIENTS,
    EXACT_HALF_PI_PARTS,
    MAX_FAST_ARGUMENT,
    ROUNDING_CONSTANT,
    SIN_COEFFICIENTS,
    TWO_OVER_PI,
)
from .target import MachineTarget

_HALF_PI_PARTS = [float.fromhex(h) for h in (
    "0x1.921fb54442d18p+0", "0x1.1a62633145c06p-54", "0x1.c1cd129024e09p-107")]  # fmt: skip
"""Parts of π/2 for targets with fused operations."""


def llvm_hexadecimal(value: float) -> str:
    """A double as an LLVM literal, bit for bit."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"


def _prefix_names(line: str, prefix: str) -> str:
    """A line of IR in which all local names begin with a prefix."""
    return re.sub(r"%(?=[a-z])", f"%{prefix}", line)


def sincos_ir(target: MachineTarget, lanes: int, *, has_short_chains: bool = False) -> str:
    """The IR of `@sincos(x) -> {sin, cos}` on vectors of doubles, and of its slow path for huge arguments.

    With short chains, polynomials take more instructions, but fewer of them depend on each other: code that waits for
    one sine is faster, code that computes many sines is not.
    """
    writer = SincosIrWriter(target, lanes, has_short_chains=has_short_chains)
    return writer.write_slow_function() + writer.write_function()


class SincosIrWriter:
    """Writes the instructions for sin and cos of `%given`, inside a function or a loop."""

    def __init__(
        self, target: MachineTarget, lanes: int, *, has_short_chains: bool = False
    ) -> None:
        self.has_fma, self.has_short_chains = target.has_fma, has_short_chains
        self.v = f"<{lanes} x double>"
        self.i = f"<{lanes} x i64>"
        self.b = f"<{lanes} x i1>"
        self.lanes = lanes
        self.lines: list[str] = []

    def vector_constant(self, value: float) -> str:
        """The vector whose lanes are all the value."""
        return f"splat (double {llvm_hexadecimal(value)})"

    def write_instruction(self, name: str, instruction: str) -> str:
        """Writes an instruction and names its result."""
        self.lines.append(f"  %{name} = {instruction}")
        return f"%{name}"

    def write_multiply_add(self, name: str, a: str, b: str, c: str) -> str:
        """Writes a·b + c, fused if the target has fma."""
        if self.has_fma:
            v, suffix = self.v, f"v{self.lanes}f64"
            return self.write_instruction(
                name, f"call {v} @llvm.fma.{suffix}({v} {a}, {v} {b}, {v} {c})"
            )
        product = self.write_instruction(f"{name}.p", f"fmul {self.v} {a}, {b}")
        return self.write_instruction(name, f"fadd {self.v} {product}, {c}")

    def find_huge_lanes(self) -> None:
        """Writes %mask: huge, infinite and NaN lanes, which take the slow path.

        They are compared as integers, which raises no floating-point flag.
        """
        self.write_instruction("given.bits", f"bitcast {self.v} %given to {self.i}")
        self.write_instruction("size", f"and {self.i} %given.bits, splat (i64 {(1 << 63) - 1})")
        self.write_instruction(
            "mask",
            f"icmp uge {self.i} %size, splat (i64 {int(llvm_hexadecimal(MAX_FAST_ARGUMENT), 16)})",
        )

    def screen_huge_lanes(self) -> None:
        """Replaces huge lanes by 0."""
        self.find_huge_lanes()
        self.write_instruction(
            "x", f"select {self.b} %mask, {self.v} zeroinitializer, {self.v} %given"
        )

    def reduce_argument(self) -> str:
        """Writes the argument reduction; the remainder r in |r| ≤ π/4."""
        shifted = self.write_multiply_add(
            "shifted",
            "%x",
            self.vector_constant(TWO_OVER_PI),
            self.vector_constant(ROUNDING_CONSTANT),
        )
        k = self.write_instruction(
            "k", f"fsub {self.v} {shifted}, {self.vector_constant(ROUNDING_CONSTANT)}"
        )
        minus_k = self.write_instruction("minus.k", f"fneg {self.v} {k}")
        r = "%x"
        for n, part in enumerate(_HALF_PI_PARTS if self.has_fma else EXACT_HALF_PI_PARTS):
            r = self.write_multiply_add(f"r{n}", minus_k, self.vector_constant(part), r)
        return r

    def write_horner(self, name: str, coefficients: Sequence[float]) -> str:
        """Writes a polynomial in %z by Horner's scheme, or by Estrin's for short chains."""
        if self.has_short_chains:
            return self.write_estrin(name, [self.vector_constant(c) for c in coefficients])
        value = self.vector_constant(coefficients[-1])
        for n in range(len(coefficients) - 2, -1, -1):
            value = self.write_multiply_add(
                f"{name}{n}", value, "%z", self.vector_constant(coefficients[n])
            )
        return value

    def write_estrin(self, name: str, values: list[str]) -> str:
        """Writes a polynomial in %z by Estrin's scheme: as a polynomial in the square of %z, and so on."""
        power, level = "%z", 0
        while len(values) > 1:
            pairs = zip(values[::2], values[1::2], strict=False)
            rest = values[-1:] if len(values) % 2 else []
            values = [
                self.write_multiply_add(f"{name}{level}.{k}", high, power, low)
                for k, (low, high) in enumerate(pairs)
            ] + rest
            level += 1
            if len(values) > 1:
                power = self.write_instruction(
                    f"{name}.z{level}", f"fmul {self.v} {power}, {power}"
                )
        return values[0]

    def write_polynomials(self, r: str) -> tuple[str, str]:
        """Writes the polynomials of sin r and cos r."""
        self.write_instruction("z", f"fmul {self.v} {r}, {r}")
        cube = self.write_instruction("cube", f"fmul {self.v} {r}, %z")
        sine = self.write_multiply_add("sine", self.write_horner("s", SIN_COEFFICIENTS), cube, r)
        cosine = self.write_multiply_add(
            "cosine", self.write_horner("c", COS_COEFFICIENTS), "%z", self.vector_constant(1.0)
        )
        return self.keep_zero_sign(sine, r), cosine

    def keep_zero_sign(self, sine: str, r: str) -> str:
        """Gives sin r the sign of r, also if both are zero."""
        self.write_instruction("r.bits", f"bitcast {self.v} {r} to {self.i}")
        self.write_instruction("r.sign", f"and {self.i} %r.bits, splat (i64 {-(1 << 63)})")
        self.write_instruction("sine.bits", f"bitcast {self.v} {sine} to {self.i}")
        self.write_instruction("sine.signed", f"or {self.i} %sine.bits, %r.sign")
        return self.write_instruction("sine.z", f"bitcast {self.i} %sine.signed to {self.v}")

    def select_quadrant(self, sine: str, cosine: str) -> tuple[str, str]:
        """Selects sin and cos by the quadrant: odd k swaps both; a bit of k, or of k + 1, is the sign."""
        i, v = self.i, self.v
        self.write_instruction("bits", f"bitcast {v} %shifted to {i}")
        self.write_instruction("bit", f"and {i} %bits, splat (i64 1)")
        odd = self.write_instruction("odd", f"icmp ne {i} %bit, zeroinitializer")
        results = []
        self.write_instruction("next", f"add {i} %bits, splat (i64 1)")
        for name, (yes, no), source in (
            ("sin", (cosine, sine), "%bits"),
            ("cos", (sine, cosine), "%next"),
        ):
            self.write_instruction(f"{name}.s", f"select {self.b} {odd}, {v} {yes}, {v} {no}")
            self.write_instruction(f"{name}.i", f"bitcast {v} %{name}.s to {i}")
            self.write_instruction(f"{name}.h", f"shl {i} {source}, splat (i64 62)")
            self.write_instruction(f"{name}.m", f"and {i} %{name}.h, splat (i64 {-(1 << 63)})")
            self.write_instruction(f"{name}.x", f"xor {i} %{name}.i, %{name}.m")
            results.append(self.write_instruction(f"{name}.fast", f"bitcast {i} %{name}.x to {v}"))
        return results[0], results[1]

    def write_body(self) -> str:
        """The code from `%given` to `%sin.fast`, `%cos.fast`, and `%slow`: whether a lane is huge."""
        self.screen_huge_lanes()
        self.select_quadrant(*self.write_polynomials(self.reduce_argument()))
        self.write_instruction("any", f"bitcast {self.b} %mask to i{self.lanes}")
        self.write_instruction("slow", f"icmp ne i{self.lanes} %any, 0")
        return "\n".join(self.lines)

    def write_check(self, prefix: str) -> list[str]:
        """The instructions from `%given` to `%mask`, with names that begin with a prefix."""
        self.lines = []
        self.find_huge_lanes()
        return [_prefix_names(line, prefix) for line in self.lines]

    def write_unchecked_body(self, prefix: str) -> list[str]:
        """The instructions from `%x`, no lane of which is huge, to `%sin.fast` and `%cos.fast`, with
        names that begin with a prefix."""
        self.lines = []
        self.select_quadrant(*self.write_polynomials(self.reduce_argument()))
        return [_prefix_names(line, prefix) for line in self.lines]

    def write_slow_call(self, name: str) -> str:
        """The call of the slow path."""
        v = self.v
        given = f"{v} %given, {v} %sin.fast, {v} %cos.fast, {self.b} %mask"
        return f"  %{name} = call {{{v}, {v}}} @sincos.slow({given})"

    def write_slow_function(self) -> str:
        """The function of the slow path, which calls libm for huge lanes."""
        v, lanes = self.v, self.lanes
        pair = f"{{{v}, {v}}}"
        return f"""
declare double @sin(double)
declare double @cos(double)
declare {v} @llvm.fma.v{lanes}f64({v}, {v}, {v})

define {pair} @sincos.slow({v} %x, {v} %s0, {v} %c0, {self.b} %mask) cold noinline {{
entry:
  br label %loop
loop:
  %n = phi i32 [0, %entry], [%n1, %next]
  %s = phi {v} [%s0, %entry], [%s2, %next]
  %c = phi {v} [%c0, %entry], [%c2, %next]
  %huge = extractelement {self.b} %mask, i32 %n
  br i1 %huge, label %call, label %next
call:
  %a = extractelement {v} %x, i32 %n
  %sa = call double @sin(double %a)
  %ca = call double @cos(double %a)
  %s1 = insertelement {v} %s, double %sa, i32 %n
  %c1 = insertelement {v} %c, double %ca, i32 %n
  br label %next
next:
  %s2 = phi {v} [%s, %loop], [%s1, %call]
  %c2 = phi {v} [%c, %loop], [%c1, %call]
  %n1 = add i32 %n, 1
  %more = icmp ult i32 %n1, {lanes}
  br i1 %more, label %loop, label %done
done:
  %p0 = insertvalue {pair} poison, {v} %s2, 0
  %p1 = insertvalue {pair} %p0, {v} %c2, 1
  ret {pair} %p1
}}
"""

    def write_function(self) -> str:
        """The function `@sincos`."""
        v = self.v
        pair = f"{{{v}, {v}}}"
        return f"""
define {pair} @sincos({v} %given) {{
entry:
{self.write_body()}
  br i1 %slow, label %far, label %near, !prof !0
far:
{self.write_slow_call("r")}
  ret {pair} %r
near:
  %p0 = insertvalue {pair} poison, {v} %sin.fast, 0
  %p1 = insertvalue {pair} %p0, {v} %cos.fast, 1
  ret {pair} %p1
}}
!0 = !{{!"branch_weights", i32 1, i32 100000}}
"""
