"""LLVM IR of the operands of a ufunc's loop: their addresses, strides, and the places of their blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ports import Port
from ...tape import Tape
from .output_tiles import LaneTilePlan

if TYPE_CHECKING:
    from .tape_ir import LlvmScalarType


class OperandIrWriter:
    """Writes how the arrays of a ufunc's loop are addressed; a block has a state in each of its lanes."""

    def __init__(self, tape: Tape, plan: LaneTilePlan, p: LlvmScalarType, lanes: int) -> None:
        self.scalar = p.scalar
        self.v = f"<{lanes} x {p.scalar}>"
        self.w = lanes
        self.item = p.bytes
        self.n_in = len(tape.inputs)
        self.leading = {self.n_in + port for port in plan.leading_ports()}
        self.ports: list[Port] = [*tape.inputs, *tape.outputs]
        self.strides: list[tuple[int, ...]] = []
        position = len(self.ports)
        for port in self.ports:
            self.strides.append(tuple(range(position, position + len(port.shape))))
            position += len(port.shape)

    def write_operands(self) -> str:
        """Loads addresses and strides of all operands, and sets %tight: whether all rows are contiguous."""
        lines = []
        tight = "true"
        for k, port in enumerate(self.ports):
            lines += [
                f"  %pa{k} = getelementptr ptr, ptr %args, i64 {k}",
                f"  %array{k} = load ptr, ptr %pa{k}",
                f"  %ps{k} = getelementptr i64, ptr %steps, i64 {k}",
                f"  %step{k} = load i64, ptr %ps{k}",
            ]
            wanted = self.item
            for axis in range(len(port.shape) - 1, -1, -1):
                lines += [
                    f"  %pc{k}.{axis} = getelementptr i64, ptr %steps, i64 {self.strides[k][axis]}",
                    f"  %core{k}.{axis} = load i64, ptr %pc{k}.{axis}",
                ]
                if port.shape[axis] > 1:
                    lines += [
                        f"  %t{k}.{axis} = icmp eq i64 %core{k}.{axis}, {wanted}",
                        f"  %u{k}.{axis} = and i1 {tight}, %t{k}.{axis}",
                    ]
                    tight = f"%u{k}.{axis}"
                wanted *= port.shape[axis]
            if k in self.leading:
                lines.append(self.write_row_lead(k))
        lines.append(f"  %tight = and i1 true, {tight}")
        return "\n".join(lines)

    def write_row_lead(self, k: int) -> str:
        """%lead: the entries before the first whole vector in an array's row, if all rows have as many; else 0."""
        line = self.w * self.item
        return f"""{self.write_row_jumps(k)}
  %integer{k} = ptrtoint ptr %array{k} to i64
  %negative{k} = sub i64 0, %integer{k}
  %before{k} = and i64 %negative{k}, {line - 1}
  %phase{k} = and i64 %jumps{k}, {line - 1}
  %alike{k} = icmp eq i64 %phase{k}, 0
  %fits{k} = select i1 %alike{k}, i64 %before{k}, i64 0
  %lead{k} = udiv i64 %fits{k}, {self.item}
  %lead.bytes{k} = mul i64 %lead{k}, {self.item}
  %behind{k} = sub i64 {self.w}, %lead{k}"""

    def write_row_jumps(self, k: int) -> str:
        """%jumps from row to row, whose place in a cache line matters."""
        return f"  %jumps{k} = or i64 %step{k}, 0"

    def operand_strides(self, k: int) -> tuple[int, str, str]:
        """The number of columns and the core strides of an operand, as a matrix."""
        match self.ports[k].shape:
            case ():
                return 1, "0", str(self.item)
            case (n,):
                return n, "0", f"%core{k}.0"
            case (_, m):
                return m, f"%core{k}.0", f"%core{k}.1"
            case shape:
                raise AssertionError(shape)

    def write_operand_places(self, operands: Sequence[int], tag: str) -> str:
        """The addresses of the operands of the block that begins at state %first."""
        lines = []
        for k in operands:
            lines += [
                f"  %shift{tag}{k} = mul i64 %first{tag}, %step{k}",
                f"  %here{tag}{k} = getelementptr i8, ptr %array{k}, i64 %shift{tag}{k}",
            ]
        return "\n".join(lines)
