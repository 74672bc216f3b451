"""LLVM IR of the loop that NumPy calls: states in batches of blocks, on several threads.

    for every batch of K blocks of W states
        each block:  pack, trigonometry
        each chunk:  each block: the chunk
        each block:  unpack

A chunk's code therefore stays in the instruction cache. Outputs are written in the order of memory, at the end. Large
batches are split between threads, which are created for the call and whose floating-point flags become the caller's;
small batches run on the caller's thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .operand_ir import OperandIrWriter
from .output_tiles import find_constant_tiles
from .repeated_states import first_state_ir, has_room_ir
from .threads import ufunc_loop_ir

if TYPE_CHECKING:
    from .tape_ir import TapeIrEmitter

MAX_BLOCKS_TOGETHER = 3
"""Blocks that go through a chunk together, at most, where there is much code."""

MAX_BLOCKS_OF_HALVES_TOGETHER = 2
"""The same where vectors are executed in two halves, as measured on Zen 4."""

MAX_OUTPUTS_TOGETHER = 512
"""Different numbers in the outputs up to which blocks go together where code is fetched as fast as vectors in two halves
need it: more of them, and their rows, evict each other."""

MAX_FETCHED_INSTRUCTIONS = 8000
"""Instructions up to which code is fetched as fast as it runs, and blocks go through alone."""

MAX_CONTEXT_BYTES = 5 << 16
"""Bytes that the contexts of blocks together may take; beyond, they are allocated on the heap. (malloc maps large blocks
again at every call, and the faults of their pages would take up to a tenth of the time of a batch.)"""


class UfuncLoopIrWriter(OperandIrWriter):
    """Writes `void loop(char **args, npy_intp *dimensions, npy_intp *steps, int64 *threads)`.

    The number of strides is always right, since the ufunc's signature fixes all sizes.
    """

    can_repeat_states = True
    """Whether a state may be computed twice."""

    def __init__(self, emitter: TapeIrEmitter) -> None:
        super().__init__(emitter.tape, emitter.plan, emitter.p, emitter.w)
        self.length = len(emitter.tape)
        self.layout, self.plan = emitter.layout, emitter.plan
        self.chunks = len(emitter.chunks)
        self.angles = bool(emitter.angles)
        self.is_executed_in_halves = emitter.target.is_executed_in_halves
        self.blocks = self.count_blocks_together()
        self.contexts = self.blocks

    def count_blocks_together(self) -> int:
        """The number of blocks that run a chunk together: several if the code is long and contexts small."""
        fitting = MAX_CONTEXT_BYTES // (self.layout.size * self.w * self.item)
        is_apart = self.is_executed_in_halves and self.plan.slots > MAX_OUTPUTS_TOGETHER
        if self.length <= MAX_FETCHED_INSTRUCTIONS or is_apart:
            return 1
        most = MAX_BLOCKS_OF_HALVES_TOGETHER if self.is_executed_in_halves else MAX_BLOCKS_TOGETHER
        return max(1, min(most, fitting))

    def write_loop(self) -> str:
        """The whole loop: a function for a range of states, and `@loop`, which splits them."""
        return self.write_range_function() + ufunc_loop_ir(self.length, self.w)

    # -- pieces --------------------------------------------------------------------------

    def write_context_memory(self) -> tuple[str, str]:
        """The code that allocates and frees the contexts; small ones are on the stack."""
        align = self.w * self.item
        size = self.contexts * self.layout.size
        if align * size <= MAX_CONTEXT_BYTES:
            return f"  %ctx = alloca [{max(1, size)} x {self.v}], align {align}", ""
        lines = [  # where no memory is left, the stack is tried
            f"  %heap = call ptr @malloc(i64 {align * (1 + size)})",
            "  %none.left = icmp eq ptr %heap, null",
            "  br i1 %none.left, label %stack, label %allocated",
            "stack:",
            f"  %on.stack = alloca i8, i64 {align * (1 + size)}",
            "  br label %allocated",
            "allocated:",
            "  %raw = phi ptr [%heap, %entry], [%on.stack, %stack]",
            "  %address = ptrtoint ptr %raw to i64",
            f"  %up = add i64 %address, {align - 1}",
            f"  %aligned = and i64 %up, {-align}",
            "  %ctx = inttoptr i64 %aligned to ptr",
        ]
        return "\n".join(lines), "  call void @free(ptr %heap)"

    def choose_tiles_or_entries(self, tag: str, tiles: list[str], entries: list[str]) -> str:
        """The branch to `tiles` if rows are contiguous and the block is whole, else to `entries`."""
        newline = "\n"
        return f"""
  %whole{tag} = icmp eq i64 %count{tag}, {self.w}
  %fast{tag} = and i1 %whole{tag}, %tight
  br i1 %fast{tag}, label %tiles{tag}, label %entries{tag}
tiles{tag}:
{newline.join(tiles)}
  br label %moved{tag}
entries{tag}:
{newline.join(entries)}
  br label %moved{tag}
moved{tag}:"""

    def write_packing(self) -> str:
        """Packs the inputs of a block."""
        blocks, tiles, entries = [], [], []
        for k in range(self.n_in):
            cols, s0, s1 = self.operand_strides(k)
            size = self.ports[k].size
            blocks.append(
                f"  %block{k} = getelementptr {self.v}, ptr %own.in, i64 {self.layout.inputs[k]}"
            )
            where = f"ptr %here.in{k}, i64 %step{k}"
            tiles.append(f"  call void @pack.tiles({where}, i64 {size}, ptr %block{k})")
            entries.append(
                f"  call void @pack.entries({where}, i64 {size}, i64 {cols}, i64 {s0}, i64 {s1}, "
                f"i64 %count.in, ptr %block{k})"
            )
        newline = "\n"
        places = self.write_operand_places(range(self.n_in), ".in") + newline + newline.join(blocks)
        return places + self.choose_tiles_or_entries(".in", tiles, entries)

    def write_unpacking(self) -> str:
        """Unpacks the outputs of a block, port by port."""
        ports = range(self.n_in, len(self.ports))
        tiles = [line for k in ports for line in self.write_port_tiles(k)]
        entries = [self.write_port_entries(k) for k in ports]
        return self.write_operand_places(ports, ".out") + self.choose_tiles_or_entries(
            ".out", tiles, entries
        )

    def write_port_entries(self, k: int) -> str:
        """Unpacks a port of a block with any strides and any number of states."""
        cols, s0, s1 = self.operand_strides(k)
        return (
            f"  call void @unpack.entries(ptr %here.out{k}, i64 %step{k}, ptr %own.out, "
            f"ptr @slots.{k}, i64 {self.ports[k].size}, "
            f"i64 {cols}, i64 {s0}, i64 {s1}, i64 %count.out)"
        )

    def write_tile_origin(self, k: int, tag: str) -> str:
        """%first, %map and %flags: the first whole tile of a port in its row, in the table of slots, and its flag."""
        lead = f"%lead{k}" if k in self.leading else "0"
        return f"""  %first.bytes{tag}{k} = mul i64 {lead}, {self.item}
  %first{tag}{k} = getelementptr i8, ptr %here{tag}{k}, i64 %first.bytes{tag}{k}
  %map{tag}{k} = getelementptr i32, ptr @slots.{k}, i64 {lead}
  %flags.skip{tag}{k} = mul i64 {lead}, {self.plan.count_whole_tiles(k - self.n_in)}
  %flags{tag}{k} = getelementptr i8, ptr @flags.{k}, i64 %flags.skip{tag}{k}"""

    def write_port_tiles(self, k: int, tag: str = ".out", start: int = 0) -> list[str]:
        """Unpacks the tiles of a port to contiguous rows: whole ones from `start` on, for half of the states at a time,
        and edges."""
        count = self.plan.count_whole_tiles(k - self.n_in) - start
        lines = [self.write_tile_origin(k, tag)]
        for state in (0, self.w // 2) if count else ():
            name = f"{tag}{k}.{state}"
            lines.append(f"""  %half.jump{name} = mul i64 %step{k}, {state}
  %half.bytes{name} = add i64 %half.jump{name}, {start * self.w * self.item}
  %half{name} = getelementptr i8, ptr %first{tag}{k}, i64 %half.bytes{name}
  %half.ctx{name} = getelementptr {self.scalar}, ptr %own{tag}, i64 {state}
  %half.map{name} = getelementptr i32, ptr %map{tag}{k}, i64 {start * self.w}
  %half.flags{name} = getelementptr i8, ptr %flags{tag}{k}, i64 {start}
  call void @unpack.tiles(ptr %half{name}, i64 %step{k}, ptr %half.ctx{name}, ptr %half.map{name}, ptr %half.flags{name}, i64 {count})""")
        return lines + self.write_edge_tiles(k, tag)

    def write_edge_tiles(self, k: int, tag: str) -> list[str]:
        """Unpacks the tiles of a port of which only some entries are written."""
        lines = []
        for tile in self.plan.tiles[k - self.n_in]:
            if not tile.edge:
                continue
            name = f"{tag}{k}.{tile.edge}"
            here, slots = f"%here{tag}{k}", f"@slots.{k}"
            if tile.leads:
                here, slots = f"%first{tag}{k}", f"%map{tag}{k}"
            left = {
                "head": f"%lead{k}",
                "tail": f"%behind{k}",
                "rest": str(self.ports[k].size - tile.first),
            }[tile.edge]
            lines.append(f"""  %to{name} = getelementptr i8, ptr {here}, i64 {tile.first * self.item}
  %from{name} = getelementptr i32, ptr {slots}, i64 {tile.first}
  call void @unpack.last(ptr %to{name}, i64 %step{k}, ptr %own{tag}, ptr %from{name}, i64 {left})""")
        return lines

    def write_flag_tables(self) -> list[str]:
        """The tables that say, for each lead, which whole tiles of an output are one constant."""
        tables, constants = [], set(self.plan.constant_slots.values())
        for port, slots in enumerate(self.plan.entry_slots):
            k = self.n_in + port
            leads = range(self.w) if k in self.leading else range(1)
            count = self.plan.count_whole_tiles(port)
            flags = "".join(
                "\\01" if flag else "\\00"
                for lead in leads
                for flag in find_constant_tiles(slots, constants, self.w, lead, count)
            )
            tables.append(f'@flags.{k} = internal constant [{len(flags) // 3} x i8] c"{flags}"')
        return tables

    def write_slot_tables(self) -> list[str]:
        """The tables of the places of outputs in a context, in bytes; a tile may reach beyond the last entry."""
        tables = []
        for port, slots in enumerate(self.plan.entry_slots):
            padded = [*slots, *slots[-1:] * self.w]
            size = self.w * self.item
            numbers = ", ".join(f"i32 {size * (self.layout.outputs + at)}" for at in padded)
            tables.append(
                f"@slots.{self.n_in + port} = internal constant [{len(padded)} x i32] [{numbers}]"
            )
        return tables

    def loop_over_blocks(self, tag: str, before: str, body: str, after: str) -> str:
        """A loop over the blocks of a batch; its body uses %own, %first and %count.

        For one block the loop is left out, and the code compiles in two thirds of the time.
        """
        if self.blocks == 1:
            return f"""  %own{tag} = getelementptr {self.v}, ptr %ctx, i64 0
{first_state_ir(tag, "0", self.w, can_repeat=self.can_repeat_states)}
{self.write_block_count(tag)}
{body}
  br label %{after}
{after}:"""
        return f"""  br label %head{tag}
head{tag}:
  %k{tag} = phi i64 [0, %{before}], [%k1{tag}, %tail{tag}]
  %o{tag} = mul i64 %k{tag}, {self.layout.size}
  %own{tag} = getelementptr {self.v}, ptr %ctx, i64 %o{tag}
  %kw{tag} = mul i64 %k{tag}, {self.w}
{first_state_ir(tag, f"%kw{tag}", self.w, can_repeat=self.can_repeat_states)}
{self.write_block_count(tag)}
{body}
  br label %tail{tag}
tail{tag}:
  %k1{tag} = add i64 %k{tag}, 1
  %more{tag} = icmp ult i64 %k1{tag}, %some
  br i1 %more{tag}, label %head{tag}, label %{after}
{after}:"""

    def write_block_count(self, tag: str) -> str:
        """%count: the states of the block that begins at state %first."""
        return f"""  %left{tag} = sub i64 %end, %first{tag}
  %full{tag} = icmp uge i64 %left{tag}, {self.w}
  %count{tag} = select i1 %full{tag}, i64 {self.w}, i64 %left{tag}"""

    def write_trigonometry(self, tag: str) -> str:
        """The call that stores sines and cosines of the inputs of a block, if there are any."""
        return f"\n  call void @trigonometry(ptr %own{tag})" if self.angles else ""

    def loop_over_chunks(self, last: str) -> tuple[str, str]:
        """The chunks in order, each for all blocks, and the outputs, after the label `last`; and the label behind
        them."""
        parts = []
        for n in range(self.chunks):
            body = f"  call void @chunk{n}(ptr %own.c{n})"
            parts.append(self.loop_over_blocks(f".c{n}", last, body, f"done.c{n}"))
            last = f"done.c{n}"
        parts.append(self.loop_over_blocks(".out", last, self.write_unpacking(), "done.out"))
        return "\n".join(parts), "done.out"

    # -- functions -----------------------------------------------------------------------

    def write_batch_body(self) -> str:
        """The code of a batch, from `batch:` to `unpacked:`."""
        own = self.write_packing() + self.write_trigonometry(".in")
        chunks, _ = self.loop_over_chunks("packed")
        return f"""{self.loop_over_blocks(".in", "batch", own, "packed")}
{chunks}
  br label %unpacked
unpacked:"""

    def write_constant_outputs(self, before: str) -> str:
        """Writes constants into all contexts after the label `before`, then begins a batch: at state
        %n, with %some blocks."""
        if self.contexts == 1:
            return f"""  call void @constants(ptr %ctx)
  br label %batch
batch:
  %n = phi i64 [%start, %{before}], [%next, %unpacked]"""
        return f"""  br label %prepare
prepare:
  %kc = phi i64 [0, %{before}], [%kc1, %prepare]
  %oc = mul i64 %kc, {self.layout.size}
  %ownc = getelementptr {self.v}, ptr %ctx, i64 %oc
  call void @constants(ptr %ownc)
  %kc1 = add i64 %kc, 1
  %morec = icmp ult i64 %kc1, {self.contexts}
  br i1 %morec, label %prepare, label %batch
batch:
  %n = phi i64 [%start, %prepare], [%next, %unpacked]
  %left = sub i64 %end, %n
  %up.left = add i64 %left, {self.w - 1}
  %needed = udiv i64 %up.left, {self.w}
  %many = icmp ult i64 %needed, {self.blocks}
  %some = select i1 %many, i64 %needed, i64 {self.blocks}"""

    def write_range_function(self) -> str:
        """The function that computes states [start, end) of the arrays."""
        allocate, free = self.write_context_memory()
        before = "allocated" if free else "entry"
        tables = [*self.write_slot_tables(), *self.write_flag_tables()]
        body = self.write_batch_body()
        span, newline = self.blocks * self.w, "\n"
        sizes = [port.size * self.item for port in self.ports]
        return f"""
{newline.join(tables)}
declare ptr @malloc(i64)
declare void @free(ptr)
{has_room_ir(sizes, self.n_in, self.w)}

define internal void @range(ptr %args, ptr %dimensions, ptr %steps, i64 %start, i64 %end) noinline {{
entry:
{allocate}
{self.write_operands()}
  %last.first = sub i64 %end, {self.w}
  %has.room = call i1 @has.room(ptr %args, ptr %steps, i64 %start, i64 %end, i1 %tight)
{self.write_constant_outputs(before)}
{body}
  %next = add i64 %n, {span}
  %more = icmp ult i64 %next, %end
  br i1 %more, label %batch, label %finish
finish:
{free}
  ret void
}}
"""
