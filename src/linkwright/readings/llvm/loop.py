"""The loop that NumPy calls, as LLVM IR: states in batches of blocks, on several threads.

    for every batch of K blocks of W states
        each block:  pack, trigonometry
        each chunk:  each block: the chunk, and unpack what it has completed

so that a chunk's code stays in the instruction cache, and outputs leave while they are in the
data cache. Large batches are split between threads, made for the call, whose floating-point flags
are the caller's in the end; small batches never notice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...tape import Port, Tape
from .outputs import Plan, Tile

if TYPE_CHECKING:
    from .emit import Layout, Precision

STACK_LIMIT = 1 << 16
"""Contexts larger than this many bytes are allocated on the heap."""

BLOCKS = 8
"""Blocks that go through a chunk together, at most, where there are several chunks."""

CACHE = 1 << 19
"""Bytes that the contexts of these blocks may take."""

WORK_PER_THREAD = 2_000_000
"""Instructions × states that are worth a thread (tens of microseconds to start)."""


class LoopWriter:
    """Writes `void loop(char **args, npy_intp *dimensions, npy_intp *steps, int64 *threads)`.

    A wrong number of strides cannot happen, since the ufunc's signature fixes all sizes.
    """

    def __init__(
        self, tape: Tape, layout: Layout, plan: Plan, p: Precision, lanes: int, angles: bool
    ) -> None:
        self.length = len(tape)
        self.v = f"<{lanes} x {p.scalar}>"
        self.w = lanes
        self.item = p.bytes
        self.layout = layout
        self.plan = plan
        self.chunks = len(plan.leaving)
        self.angles = angles
        self.blocks = self.blocks_together()
        self.n_in = len(tape.inputs)
        self.ports: list[Port] = [*tape.inputs, *tape.outputs]
        self.strides: list[tuple[int, ...]] = []
        position = len(self.ports)
        for port in self.ports:
            self.strides.append(tuple(range(position, position + len(port.shape))))
            position += len(port.shape)

    def blocks_together(self) -> int:
        """As many blocks as fit the second cache, if there is more than one chunk."""
        fitting = CACHE // (self.layout.size * self.w * self.item)
        return max(1, min(BLOCKS, fitting)) if self.chunks > 1 else 1

    def text(self) -> str:
        return self.range_function() + self.thread_function() + self.entry_function()

    # -- pieces --------------------------------------------------------------------------

    def memory(self) -> tuple[str, str]:
        """Space for the contexts: on the stack while it is small."""
        align = self.w * self.item
        size = self.blocks * self.layout.size
        if align * size <= STACK_LIMIT:
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

    def operands(self) -> str:
        """Addresses and strides of all operands, and %tight: whether all rows are contiguous."""
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
        lines.append(f"  %tight = and i1 true, {tight}")
        return "\n".join(lines)

    def shape(self, k: int) -> tuple[int, str, str]:
        """Columns and core strides of an operand, as rows and columns."""
        match self.ports[k].shape:
            case ():
                return 1, "0", str(self.item)
            case (n,):
                return n, "0", f"%core{k}.0"
            case (_, m):
                return m, f"%core{k}.0", f"%core{k}.1"
            case shape:
                raise AssertionError(shape)

    def places(self, operands: Sequence[int], tag: str) -> str:
        """Where the operands of the block that begins at state %first are."""
        lines = []
        for k in operands:
            lines += [
                f"  %shift{tag}{k} = mul i64 %first{tag}, %step{k}",
                f"  %here{tag}{k} = getelementptr i8, ptr %array{k}, i64 %shift{tag}{k}",
            ]
        return "\n".join(lines)

    def choose(self, tag: str, tiles: list[str], entries: list[str]) -> str:
        """Tiles where rows are contiguous and the block is whole, else entries."""
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

    def pack(self) -> str:
        blocks, tiles, entries = [], [], []
        for k in range(self.n_in):
            cols, s0, s1 = self.shape(k)
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
        places = self.places(range(self.n_in), ".in") + newline + newline.join(blocks)
        return places + self.choose(".in", tiles, entries)

    def unpack(self, chunk: int) -> str:
        """What is complete after a chunk, port by port."""
        tag = f".c{chunk}"
        by_port: dict[int, list[Tile]] = {}
        for tile in self.plan.leaving[chunk]:
            by_port.setdefault(self.n_in + tile.port, []).append(tile)
        if not by_port:
            return ""
        tiles, entries = [], []
        for k, leaving in by_port.items():
            size = self.ports[k].size
            where = f"ptr %here{tag}{k}, i64 %step{k}"
            whole = [t for t in leaving if t.first + self.w <= size]
            varied = [(t.first, self.layout.outputs + t.slot) for t in whole if t.row is None]
            same = [(t.first, t.row) for t in whole if t.row is not None]
            if varied:
                table = self.table(f"tiles.{k}.{chunk}", varied)
                tiles.append(f"  call void @unpack.tiles({where}, ptr %own{tag}, {table})")
            if same:
                table = self.table(f"rows.{k}.{chunk}", same)
                tiles.append(f"  call void @unpack.rows({where}, ptr @rows, {table})")
            tiles += [self.last(k, tag, tile) for tile in leaving if tile not in whole]
            places = [(t.first, self.layout.outputs + t.slot) for t in leaving]
            table = self.table(f"all.{k}.{chunk}", places)
            cols, s0, s1 = self.shape(k)
            entries.append(
                f"  call void @unpack.entries({where}, ptr %own{tag}, {table}, i64 {size}, "
                f"i64 {cols}, i64 {s0}, i64 {s1}, i64 %count{tag})"
            )
        return self.places(list(by_port), tag) + self.choose(tag, tiles, entries)

    def table(self, name: str, lines: Sequence[tuple[int, int | None]]) -> str:
        """A constant table of pairs; the arguments that hand it on: address and length."""
        pairs = ", ".join(f"[2 x i32] [i32 {a}, i32 {b}]" for a, b in sorted(lines))
        self.tables.append(f"@{name} = internal constant [{len(lines)} x [2 x i32]] [{pairs}]")
        return f"ptr @{name}, i64 {len(lines)}"

    def last(self, k: int, tag: str, tile: Tile) -> str:
        left = self.ports[k].size - tile.first
        return f"""  %last{tag}{k} = getelementptr i8, ptr %here{tag}{k}, i64 {tile.first * self.item}
  %from{tag}{k} = getelementptr {self.v}, ptr %own{tag}, i64 {self.layout.outputs + tile.slot}
  call void @unpack.last(ptr %last{tag}{k}, i64 %step{k}, ptr %from{tag}{k}, i64 {left})"""

    def each_block(self, tag: str, before: str, body: str, after: str) -> str:
        """A loop over the blocks of a batch; the body sees %own, %first and %count."""
        return f"""  br label %head{tag}
head{tag}:
  %k{tag} = phi i64 [0, %{before}], [%k1{tag}, %tail{tag}]
  %o{tag} = mul i64 %k{tag}, {self.layout.size}
  %own{tag} = getelementptr {self.v}, ptr %ctx, i64 %o{tag}
  %kw{tag} = mul i64 %k{tag}, {self.w}
  %first{tag} = add i64 %n, %kw{tag}
  %left{tag} = sub i64 %end, %first{tag}
  %full{tag} = icmp uge i64 %left{tag}, {self.w}
  %count{tag} = select i1 %full{tag}, i64 {self.w}, i64 %left{tag}
{body}
  br label %tail{tag}
tail{tag}:
  %k1{tag} = add i64 %k{tag}, 1
  %more{tag} = icmp ult i64 %k1{tag}, %some
  br i1 %more{tag}, label %head{tag}, label %{after}
{after}:"""

    # -- functions -----------------------------------------------------------------------

    def range_function(self) -> str:
        """States [start, end) of the arrays."""
        self.tables: list[str] = []
        allocate, free = self.memory()
        before = "allocated" if free else "entry"
        trigonometry = "\n  call void @trigonometry(ptr %own.in)" if self.angles else ""
        parts = [self.each_block(".in", "batch", self.pack() + trigonometry, "packed")]
        last = "packed"
        for n in range(self.chunks):
            after = f"done.c{n}" if n < self.chunks - 1 else "unpacked"
            body = f"  call void @chunk{n}(ptr %own.c{n})\n{self.unpack(n)}"
            parts.append(self.each_block(f".c{n}", last, body, after))
            last = after
        span, newline = self.blocks * self.w, "\n"
        return f"""
{newline.join(self.tables)}
declare ptr @malloc(i64)
declare void @free(ptr)

define internal void @range(ptr %args, ptr %steps, i64 %start, i64 %end) noinline {{
entry:
{allocate}
{self.operands()}
  br label %prepare
prepare:
  %kc = phi i64 [0, %{before}], [%kc1, %prepare]
  %oc = mul i64 %kc, {self.layout.size}
  %ownc = getelementptr {self.v}, ptr %ctx, i64 %oc
  call void @constants(ptr %ownc)
  %kc1 = add i64 %kc, 1
  %morec = icmp ult i64 %kc1, {self.blocks}
  br i1 %morec, label %prepare, label %batch
batch:
  %n = phi i64 [%start, %prepare], [%next, %unpacked]
  %left = sub i64 %end, %n
  %up.left = add i64 %left, {self.w - 1}
  %needed = udiv i64 %up.left, {self.w}
  %many = icmp ult i64 %needed, {self.blocks}
  %some = select i1 %many, i64 %needed, i64 {self.blocks}
{newline.join(parts)}
  %next = add i64 %n, {span}
  %more = icmp ult i64 %next, %end
  br i1 %more, label %batch, label %finish
finish:
{free}
  ret void
}}
"""

    def thread_function(self) -> str:
        return """
%job = type { ptr, ptr, i64, i64, i32 }

define internal ptr @work(ptr %job) {
  %p0 = getelementptr %job, ptr %job, i32 0, i32 0
  %args = load ptr, ptr %p0
  %p1 = getelementptr %job, ptr %job, i32 0, i32 1
  %steps = load ptr, ptr %p1
  %p2 = getelementptr %job, ptr %job, i32 0, i32 2
  %start = load i64, ptr %p2
  %p3 = getelementptr %job, ptr %job, i32 0, i32 3
  %end = load i64, ptr %p3
  call void @range(ptr %args, ptr %steps, i64 %start, i64 %end)
  %p4 = getelementptr %job, ptr %job, i32 0, i32 4
  %flags = call i32 @fetestexcept(i32 63)
  store i32 %flags, ptr %p4
  ret ptr null
}
declare i32 @fetestexcept(i32)
declare i32 @feraiseexcept(i32)
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_join(i64, ptr)
"""

    def entry_function(self) -> str:
        """Splits the states between threads in whole blocks, the first share for the caller."""
        share = max(self.w, WORK_PER_THREAD // max(1, self.length))
        return f"""
define void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) {{
entry:
  %total = load i64, ptr %dimensions
  %empty = icmp eq i64 %total, 0
  br i1 %empty, label %done, label %choose
choose:
  %allowed = load i64, ptr %data
  %worth = udiv i64 %total, {share}
  %few = icmp ult i64 %worth, %allowed
  %threads = select i1 %few, i64 %worth, i64 %allowed
  %alone = icmp ult i64 %threads, 2
  br i1 %alone, label %single, label %split
single:
  call void @range(ptr %args, ptr %steps, i64 0, i64 %total)
  ret void
split:
  %t1 = sub i64 %threads, 1
  %padded = add i64 %total, %t1
  %raw.share = udiv i64 %padded, %threads
  %rounded = add i64 %raw.share, {self.w - 1}
  %own = and i64 %rounded, {-self.w}
  %jobs = alloca %job, i64 %threads
  %ids = alloca i64, i64 %threads
  br label %start
start:
  %n = phi i64 [1, %split], [%n1, %started]
  %job = getelementptr %job, ptr %jobs, i64 %n
  %id = getelementptr i64, ptr %ids, i64 %n
  store i64 0, ptr %id
  %from = mul i64 %n, %own
  %to.raw = add i64 %from, %own
  %over = icmp ugt i64 %to.raw, %total
  %to = select i1 %over, i64 %total, i64 %to.raw
  %j0 = getelementptr %job, ptr %job, i32 0, i32 0
  store ptr %args, ptr %j0
  %j1 = getelementptr %job, ptr %job, i32 0, i32 1
  store ptr %steps, ptr %j1
  %j2 = getelementptr %job, ptr %job, i32 0, i32 2
  store i64 %from, ptr %j2
  %j3 = getelementptr %job, ptr %job, i32 0, i32 3
  store i64 %to, ptr %j3
  %nothing = icmp uge i64 %from, %to
  br i1 %nothing, label %started, label %create
create:
  %failed.code = call i32 @pthread_create(ptr %id, ptr null, ptr @work, ptr %job)
  %failed = icmp ne i32 %failed.code, 0
  br i1 %failed, label %myself, label %started
myself:
  store i64 0, ptr %id
  %ignored = call ptr @work(ptr %job)
  br label %started
started:
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, %threads
  br i1 %more, label %start, label %mine
mine:
  call void @range(ptr %args, ptr %steps, i64 0, i64 %own)
  br label %wait
wait:
  %m = phi i64 [1, %mine], [%m1, %waited]
  %mid = getelementptr i64, ptr %ids, i64 %m
  %handle = load i64, ptr %mid
  %none = icmp eq i64 %handle, 0
  br i1 %none, label %waited, label %join
join:
  %code = call i32 @pthread_join(i64 %handle, ptr null)
  %done.job = getelementptr %job, ptr %jobs, i64 %m
  %flag.place = getelementptr %job, ptr %done.job, i32 0, i32 4
  %flags = load i32, ptr %flag.place
  %raised = call i32 @feraiseexcept(i32 %flags)
  br label %waited
waited:
  %m1 = add i64 %m, 1
  %more.waits = icmp ult i64 %m1, %threads
  br i1 %more.waits, label %wait, label %done
done:
  ret void
}}
"""
