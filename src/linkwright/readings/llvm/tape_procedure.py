"""Tapes as procedures that programs call, in LLVM IR."""

from __future__ import annotations

import re
from dataclasses import replace

from ...tape import Tape
from .context_addresses import ALIAS_SCOPES_IR
from .input_angles import split_input_angle
from .sincos import llvm_hexadecimal, sincos_ir
from .tape_ir import DOUBLE_PRECISION, TapeIrEmitter
from .target import MachineTarget


def emit_tape_procedure(tape: Tape, target: MachineTarget, lanes: int) -> tuple[str, bool]:
    """Return the LLVM module of a tape that programs call; it exports `@loop`.

    The second result says whether the tape is small: it is then one function, for which LLVM's passes are worthwhile.
    LLVM must not fuse products by itself, so that the results do not depend on the number of lanes.
    """
    emitter = ProcedureIrEmitter(tape, replace(target, vector_bytes=8 * lanes), DOUBLE_PRECISION)
    text = ProcedureIrWriter(emitter).write_procedure().replace(" contract ", " ")
    return (write_single_lane(text) if lanes == 1 else text), emitter.is_small


def write_single_lane(text: str) -> str:
    """Return a module on vectors of one number as a module on scalars."""
    text = re.sub(r"<1 x (double|i64|i1)>", r"\1", text)
    text = re.sub(r"splat \(\w+ ([^)]*)\)", r"\1", text).replace(".v1f64", ".f64")
    same = r"= select i1 true, \1 \2, \1 \2"
    text = re.sub(r"= extractelement (\w+) (\S+), i32 \S+", same, text)
    text = re.sub(r"= shufflevector (\w+) (\S+), .*", same, text)
    return re.sub(r"= insertelement \w+ \S+, (\w+) (\S+), i32 \S+", same, text)


class ProcedureIrEmitter(TapeIrEmitter):
    """Emits the functions of a tape that programs call, with its own sines and cosines."""

    @property
    def is_small(self) -> bool:
        """Whether the tape is one chunk, so that all its functions become one."""
        return len(self.chunks) == 1

    def emit_functions(self) -> str:
        """The functions of a block of states: constants, trigonometry, and the chunks."""
        functions = [self.emit_chunk(n, chunk) for n, chunk in enumerate(self.chunks)]
        functions += [self.emit_constants(), self.emit_trigonometry()]
        if self.is_small:
            functions = [text.replace("noinline", "alwaysinline") for text in functions]
        support = sincos_ir(self.target, self.w, has_short_chains=True)
        support = support.replace("\ndefine ", "\ndefine internal ")
        head = [f'target triple = "{self.target.triple}"', *sorted(self.declared), support]
        return "\n".join([*head, *functions, ALIAS_SCOPES_IR])

    def emit_trigonometry(self) -> str:
        """The function that stores the sines and cosines of angles that are inputs."""
        v, lines = self.v, list[str]()
        for n, value in enumerate(self.angles):
            angle = split_input_angle(self.tape, value)
            assert angle is not None
            entry, offset = angle
            lines += [
                f"  %from{n} = getelementptr {v}, ptr %ctx, i64 {self.context_slot(entry)}",
                f"  %bare{n} = load {v}, ptr %from{n}",
                f"  %given{n} = fadd {v} %bare{n}, splat (double {llvm_hexadecimal(offset)})",
                f"  %pair{n} = call {{{v}, {v}}} @sincos({v} %given{n})",
            ]
            for part, name in enumerate(("s", "c")):
                at = self.layout.trigonometry + 2 * n + part
                lines += [
                    f"  %{name}{n} = extractvalue {{{v}, {v}}} %pair{n}, {part}",
                    f"  %{name}to{n} = getelementptr {v}, ptr %ctx, i64 {at}",
                    f"  store {v} %{name}{n}, ptr %{name}to{n}",
                ]
        body = "\n".join(lines)
        return (
            f"\ndefine internal void @trigonometry(ptr %ctx) noinline {{\n{body}\n  ret void\n}}\n"
        )


class ProcedureIrWriter:
    """Writes the function of a tape that programs call; it calls the functions of the blocks."""

    def __init__(self, emitter: ProcedureIrEmitter) -> None:
        self.emitter, self.tape, self.layout = emitter, emitter.tape, emitter.layout
        self.v, self.b, self.w = emitter.v, emitter.b, emitter.w
        self.lines: list[str] = []

    def write_procedure(self) -> str:
        """Return a function (inputs …, outputs …, mask); inactive lanes keep their outputs."""
        ports = [f"ptr %in{k}" for k in range(len(self.tape.inputs))]
        ports += [f"ptr %out{k}" for k in range(len(self.tape.outputs))]
        for k, port in enumerate(self.tape.inputs):
            for n in range(port.size):
                self.copy_vector(f"%in{k}", n, "%ctx", self.layout.inputs[k] + n, f"i{k}.{n}")
        self.lines.append("  call void @constants(ptr %ctx)")
        if self.emitter.angles:
            self.lines.append("  call void @trigonometry(ptr %ctx)")
        self.lines += [f"  call void @chunk{n}(ptr %ctx)" for n in range(len(self.emitter.chunks))]
        mask = "%mask" if self.w > 1 else None
        for k, slots in enumerate(self.emitter.plan.entry_slots):
            for n, slot in enumerate(slots):
                at = self.layout.outputs + slot
                self.copy_vector("%ctx", at, f"%out{k}", n, f"o{k}.{n}", mask=mask)
        align = self.w * self.emitter.p.bytes
        body = "\n".join(self.lines)
        return f"""{self.emitter.emit_functions()}
define void @loop({", ".join(ports)}, {self.b} %mask) {{
  %ctx = alloca [{self.layout.size} x {self.v}], align {align}
{body}
  ret void
}}
"""

    def copy_vector(
        self, source: str, at: int, target: str, to: int, name: str, *, mask: str | None = None
    ) -> None:
        """Copy a vector between two blocks of memory; with a mask, only its lanes."""
        value = f"%{name}.x"
        self.lines += [
            f"  %{name}.from = getelementptr {self.v}, ptr {source}, i64 {at}",
            f"  {value} = load {self.v}, ptr %{name}.from",
            f"  %{name}.to = getelementptr {self.v}, ptr {target}, i64 {to}",
        ]
        if mask is not None:
            self.lines += [
                f"  %{name}.old = load {self.v}, ptr %{name}.to",
                f"  %{name}.new = select {self.b} {mask}, {self.v} {value}, {self.v} %{name}.old",
            ]
            value = f"%{name}.new"
        self.lines.append(f"  store {self.v} {value}, ptr %{name}.to")
