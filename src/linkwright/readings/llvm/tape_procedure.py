"""Tapes as procedures that programs call, in LLVM IR."""

from __future__ import annotations

from ...tape import Tape
from .tape_ir import DOUBLE_PRECISION, TapeIrEmitter
from .target import MachineTarget


def emit_tape_procedure(tape: Tape, target: MachineTarget) -> str:
    """Return the LLVM module of a tape that programs call; it exports `@loop`."""
    return ProcedureIrWriter(TapeIrEmitter(tape, target, DOUBLE_PRECISION)).write_procedure()


class ProcedureIrWriter:
    """Writes the function of a tape that programs call; it calls the functions of the blocks."""

    def __init__(self, emitter: TapeIrEmitter) -> None:
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
        for tile in (tile for some in self.emitter.plan.completed_tiles for tile in some):
            for n in range(min(self.w, self.tape.outputs[tile.port].size - tile.first)):
                at, to = self.layout.outputs + tile.slot + n, tile.first + n
                self.copy_vector(
                    "%ctx", at, f"%out{tile.port}", to, f"o{tile.port}.{to}", mask="%mask"
                )
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
