"""LLVM IR of the loop over blocks of a short tape, which calls `@block` for each (see `fused_block`).

Whole blocks of contiguous rows are read and written in their arrays. So is a single state: its row is that
of all lanes. Everything else goes through copies of the rows.
"""

from __future__ import annotations

from ...tape import Tape
from .operand_ir import OperandIrWriter
from .output_tiles import LaneTilePlan
from .tape_ir import LlvmScalarType
from .threads import ufunc_loop_ir


class FusedLoopIrWriter(OperandIrWriter):
    """Writes `void loop(char **args, npy_intp *dimensions, npy_intp *steps, int64 *threads)`."""

    def __init__(self, tape: Tape, p: LlvmScalarType, lanes: int) -> None:
        super().__init__(tape, LaneTilePlan(), p, lanes)
        self.length = len(tape)

    def write_loop(self) -> str:
        """The whole loop: a function for a range of states, and `@loop`, which splits them."""
        return self.write_range_function() + ufunc_loop_ir(self.length, self.w)

    def block_call(self, rows: list[str], strides: list[str]) -> str:
        """The call of `@block`."""
        given = ", ".join(
            f"ptr {row}, i64 {stride}" for row, stride in zip(rows, strides, strict=True)
        )
        return f"  call void @block({given})"

    def row_copy(self, name: str, k: int) -> str:
        """The call that copies the rows of an operand."""
        cols, s0, s1 = self.operand_strides(k)
        return (
            f"  call void @{name}(ptr %here{k}, i64 %step{k}, i64 {self.ports[k].size}, i64 {cols}, "
            f"i64 {s0}, i64 {s1}, i64 %count, ptr %copy{k})"
        )

    def write_range_function(self) -> str:
        """The function that computes states [start, end) of the arrays."""
        operands = range(len(self.ports))
        here = [f"%here{k}" for k in operands]
        sizes = [max(1, port.size) for port in self.ports]
        memory = [
            f"  %copy{k} = alloca [{self.w * size} x {self.scalar}], align {self.w * self.item}"
            for k, size in enumerate(sizes)
        ]
        copied = [self.row_copy("gather.rows", k) for k in range(self.n_in)]
        copied.append(
            self.block_call(
                [f"%copy{k}" for k in operands], [str(size * self.item) for size in sizes]
            )
        )
        copied += [self.row_copy("scatter.rows", k) for k in operands[self.n_in :]]
        newline = "\n"
        return f"""
define internal void @range(ptr %args, ptr %dimensions, ptr %steps, i64 %start, i64 %end) noinline {{
entry:
{newline.join(memory)}
{self.write_operands()}
  br label %batch
batch:
  %first = phi i64 [%start, %entry], [%next, %computed]
{self.write_operand_places(operands, "")}
  %left = sub i64 %end, %first
  %full = icmp uge i64 %left, {self.w}
  %count = select i1 %full, i64 {self.w}, i64 %left
  %whole = and i1 %full, %tight
  br i1 %whole, label %rows, label %part
rows:
{self.block_call(here, [f"%step{k}" for k in operands])}
  br label %computed
part:
  %one = icmp eq i64 %count, 1
  %alone = and i1 %one, %tight
  br i1 %alone, label %single, label %copies
single:
{self.block_call(here, ["0"] * len(here))}
  br label %computed
copies:
{newline.join(copied)}
  br label %computed
computed:
  %next = add i64 %first, {self.w}
  %more = icmp ult i64 %next, %end
  br i1 %more, label %batch, label %finish
finish:
  ret void
}}
"""
