"""LLVM IR of the loop over blocks of a short tape, which calls `@block` for each (see `fused_block`).

Whole blocks of contiguous rows are read and written in their arrays. So is a single state: its row is that
of all lanes. Everything else goes through copies of the rows.
"""

from __future__ import annotations

from .fused_block import FusedBlockIrEmitter
from .repeated_states import first_state_ir
from .ufunc_loop import UfuncLoopIrWriter


class FusedLoopIrWriter(UfuncLoopIrWriter):
    """Writes `void loop(char **args, npy_intp *dimensions, npy_intp *steps, int64 *threads)`."""

    def __init__(self, emitter: FusedBlockIrEmitter) -> None:
        super().__init__(emitter)
        self.operands = [*range(self.n_in), *(self.n_in + k for k in emitter.small)]
        self.large = [k for k in range(len(self.ports)) if k not in self.operands]
        self.overlaps = emitter.overlaps
        self.contexts = 2 if self.overlaps else 1

    def count_blocks_together(self) -> int:
        """One block goes through at a time."""
        return 1

    def block_call(
        self, rows: str, strides: list[str], name: str = "block", before: str = ""
    ) -> str:
        """The call of the function of a block, with the arguments of the block `before`; the rows of operand k are at
        %(rows)k."""
        given = [
            f"ptr %{rows}{k}, i64 {stride}"
            for k, stride in zip(self.operands, strides, strict=True)
        ]
        return f"  call void @{name}({before}{', '.join(given)}, ptr %own.out)"

    def write_rows(self) -> str:
        """The code of a whole block of contiguous rows, from `rows:` to the branch to `unpacked:`."""
        strides = [f"%step{k}" for k in self.operands]
        alone = self.block_call("here.out", strides)
        tiles = "\n".join(line for k in self.large for line in self.write_port_tiles(k))
        if not self.overlaps:
            return f"rows:\n{alone}\n{tiles}\n  br label %unpacked"
        start = self.overlaps[0].count
        rest = "\n".join(
            line for k in self.large for line in self.write_port_tiles(k, ".old", start)
        )
        before = "".join(f"ptr %here.old{k}, i64 %step{k}, " for k in self.large) + "ptr %own.old, "
        calls, cases, newline = list[str](), list[str](), "\n"
        for overlap in self.overlaps:
            call = self.block_call("here.out", strides, overlap.name, before)
            calls.append(f"rows.lead{overlap.lead}:\n{call}\n  br label %rows.rest")
            cases.append(f"i64 {overlap.lead}, label %rows.lead{overlap.lead}")
        return f"""rows:
  %begins = icmp eq i64 %n, %start
  %is.apart = or i1 %begins, %is.moved.out
  %without = or i1 %is.apart, %not.usual
  br i1 %without, label %rows.alone, label %rows.both
rows.alone:
{alone}
  br label %computed
rows.both:
  switch i64 %lead{self.large[0]}, label %rows.alone [{" ".join(cases)}]
{newline.join(calls)}
rows.rest:
{rest}
  br label %computed
computed:
  %left.next = sub i64 %left.out, {self.w}
  %next.part = icmp ult i64 %left.next, {self.w}
  %writes = or i1 %next.part, %not.usual
  br i1 %writes, label %rows.last, label %unpacked
rows.last:
{tiles}
  br label %unpacked"""

    def write_operands(self) -> str:
        """Loads addresses and strides of all operands; %not.usual says that no function overlaps their tiles."""
        text = super().write_operands()
        if not self.overlaps:
            return text
        lines = ["  %usual0 = or i1 false, false"]
        for n, overlap in enumerate(self.overlaps):
            same = "true"
            for k in self.large:
                name = f"{n}.{k}"
                lines += [
                    f"  %is.lead{name} = icmp eq i64 %lead{k}, {overlap.lead}",
                    f"  %are.lead{name} = and i1 {same}, %is.lead{name}",
                ]
                same = f"%are.lead{name}"
            lines.append(f"  %usual{n + 1} = or i1 %usual{n}, {same}")
        lines.append(f"  %not.usual = xor i1 %usual{len(self.overlaps)}, true")
        return "\n".join([text, *lines])

    def write_contexts_in_turn(self) -> str:
        """%own.out, the context of a block; with overlaps also %own.old, that of the block before, and its rows."""
        if not self.overlaps:
            return f"  %own.out = getelementptr {self.v}, ptr %ctx, i64 0"
        lines = [
            f"""  %done = sub i64 %n, %start
  %odd.bit = and i64 %done, {self.w}
  %is.odd = icmp ne i64 %odd.bit, 0
  %ctx.other = getelementptr {self.v}, ptr %ctx, i64 {self.layout.size}
  %own.out = select i1 %is.odd, ptr %ctx.other, ptr %ctx
  %own.old = select i1 %is.odd, ptr %ctx, ptr %ctx.other"""
        ]
        for k in self.large:
            lines += [
                f"  %back{k} = mul i64 %step{k}, {-self.w}",
                f"  %here.old{k} = getelementptr i8, ptr %here.out{k}, i64 %back{k}",
            ]
        return "\n".join(lines)

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
        entries = [self.write_port_entries(k) for k in self.large]
        newline = "\n"
        return f"""{first_state_ir(".out", "0", self.w, can_repeat=True)}
{self.write_block_count(".out")}
{self.write_operand_places(range(len(self.ports)), ".out")}
{self.write_contexts_in_turn()}
  %whole = and i1 %full.out, %tight
  br i1 %whole, label %rows, label %part
{self.write_rows()}
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
