"""LLVM IR of the loop over blocks of a short tape, which calls `@block` for each (see `fused_block`).

Whole blocks of contiguous rows are read and written in their arrays. So is a single state: its row is that
of all lanes. Everything else goes through copies of the rows.
"""

from __future__ import annotations

from .fused_block import FusedBlockIrEmitter
from .ufunc_loop import UfuncLoopIrWriter


class FusedLoopIrWriter(UfuncLoopIrWriter):
    """Writes `void loop(char **args, npy_intp *dimensions, npy_intp *steps, int64 *threads)`."""

    def __init__(self, emitter: FusedBlockIrEmitter) -> None:
        super().__init__(emitter)
        self.operands = [*range(self.n_in), *(self.n_in + k for k in emitter.small)]
        self.large = [k for k in range(len(self.ports)) if k not in self.operands]

    def count_blocks_together(self) -> int:
        """One block goes through at a time."""
        return 1

    def block_call(self, rows: str, strides: list[str]) -> str:
        """The call of `@block`; the rows of operand k are at %(rows)k."""
        given = [
            f"ptr %{rows}{k}, i64 {stride}"
            for k, stride in zip(self.operands, strides, strict=True)
        ]
        return f"  call void @block({', '.join(given)}, ptr %ctx)"

    def row_copy(self, name: str, k: int) -> str:
        """The call that copies the rows of an operand."""
        cols, s0, s1 = self.operand_strides(k)
        return (
            f"  call void @{name}(ptr %here.out{k}, i64 %step{k}, i64 {self.ports[k].size}, i64 {cols}, "
            f"i64 {s0}, i64 {s1}, i64 %count.out, ptr %copy{k})"
        )

    def write_batch_body(self) -> str:
        """The code of a block that begins at state %n, to `unpacked:`."""
        sizes = [max(1, self.ports[k].size) * self.item for k in self.operands]
        copies = [self.row_copy("gather.rows", k) for k in range(self.n_in)]
        copies.append(self.block_call("copy", [str(size) for size in sizes]))
        copies += [self.row_copy("scatter.rows", k) for k in self.operands[self.n_in :]]
        tiles = [line for k in self.large for line in self.write_port_tiles(k)]
        entries = [self.write_port_entries(k) for k in self.large]
        newline = "\n"
        return f"""  %own.out = getelementptr {self.v}, ptr %ctx, i64 0
  %first.out = add i64 %n, 0
{self.write_block_count(".out")}
{self.write_operand_places(range(len(self.ports)), ".out")}
  %whole = and i1 %full.out, %tight
  br i1 %whole, label %rows, label %part
rows:
{self.block_call("here.out", [f"%step{k}" for k in self.operands])}
{newline.join(tiles)}
  br label %unpacked
part:
  %one = icmp eq i64 %count.out, 1
  %alone = and i1 %one, %tight
  br i1 %alone, label %single, label %copies
single:
{self.block_call("here.out", ["0"] * len(self.operands))}
  br label %entries
copies:
{newline.join(copies)}
  br label %entries
entries:
{newline.join(entries)}
  br label %unpacked
unpacked:"""

    def write_context_memory(self) -> tuple[str, str]:
        """The code that allocates the context, and the rows that are copied; and the code that frees it."""
        rows = [
            f"  %copy{k} = alloca [{self.w * max(1, self.ports[k].size)} x {self.scalar}], align {self.w * self.item}"
            for k in self.operands
        ]
        allocate, free = super().write_context_memory()
        return "\n".join([*rows, allocate]), free
