"""LLVM IR that copies rows of arrays into lanes and back.

A block holds W states: for each entry of an operand one vector, with one state in each lane. Whole blocks of contiguous
rows are transposed in registers in W×W tiles; everything else (strides, incomplete blocks) is copied entry by entry.
Unused lanes repeat the last state, so that they raise no other floating-point flags than that state does.
"""

from __future__ import annotations

from .lane_transposes import LaneTransposeIrWriter

PACKING_DECLARATIONS = """
declare void @pack.tiles(ptr, i64, i64, ptr)
declare void @unpack.tiles(ptr, i64, ptr, ptr, ptr, i64)
declare void @unpack.last(ptr, i64, ptr, ptr, i64)
declare void @pack.entries(ptr, i64, i64, i64, i64, i64, i64, ptr)
declare void @unpack.entries(ptr, i64, ptr, ptr, i64, i64, i64, i64, i64)
"""


def lane_packing_ir(scalar: str, item_bytes: int, lanes: int) -> str:
    """The IR of `@pack` and `@unpack`, by tiles and by entries, for vectors of `lanes` scalars."""
    rows = _LanePackingIrWriter(scalar, item_bytes, lanes)
    return (
        rows.write_declarations()
        + rows.write_pack_tiles()
        + rows.write_unpack_tiles()
        + rows.write_unpack_last_tile()
        + rows.write_pack_entries()
        + rows.write_unpack_entries()
    )


class _LanePackingIrWriter(LaneTransposeIrWriter):
    """Writes the packing functions for one vector type."""

    def write_row_addresses(self, tag: str) -> list[str]:
        """The addresses of the W rows of a tile."""
        lines = []
        for n in range(self.w):
            lines += [
                f"  %{tag}o{n} = mul i64 %stride, {n}",
                f"  %{tag}a{n} = getelementptr i8, ptr %{tag}tile, i64 %{tag}o{n}",
            ]
        return lines

    def write_packed_tile(self, tag: str, *, masked: bool) -> str:
        """Copies one W×W tile from the array's rows at %tile to the block's vectors at %target."""
        v, w = self.v, self.w
        lines = self.write_row_addresses(tag)
        if w == 8 and self.size == 8 and not masked:
            columns = self.write_half_loads(lines, tag)
        else:
            rows = [f"%{tag}row{n}" for n in range(w)]
            lines += [f"  {row} = {self.row_load(n, tag, masked)}" for n, row in enumerate(rows)]
            columns = self.transpose_vectors(lines, rows, tag)
        for n, column in enumerate(columns):
            lines += [
                f"  %{tag}d{n} = getelementptr {v}, ptr %{tag}target, i64 {n}",
                f"  store {v} {column}, ptr %{tag}d{n}",
            ]
        return "\n".join(lines)

    def row_load(self, n: int, tag: str, masked: bool) -> str:
        """The load of W entries of row n, or of those in %mask."""
        v, align = self.v, f"align {self.size}"
        if not masked:
            return f"load {v}, ptr %{tag}a{n}, {align}"
        at = f"ptr {align} %{tag}a{n}"
        intrinsic = f"@llvm.masked.load.{self.suffix}.p0"
        return f"call {v} {intrinsic}({at}, {self.b} %mask, {v} zeroinitializer)"

    def write_half_loads(self, lines: list[str], tag: str) -> list[str]:
        """The columns of a tile whose rows are loaded in halves."""
        columns = []
        for side in (0, 4):
            for n in range(8):
                lines += [
                    f"  %{tag}h{side}.{n} = getelementptr double, ptr %{tag}a{n}, i64 {side}",
                    f"  %{tag}r{side}.{n} = load <4 x double>, ptr %{tag}h{side}.{n}, align 8",
                ]
            halves = [f"%{tag}r{side}.{n}" for n in range(8)]
            columns += self.transpose_pairs(lines, halves, f"{tag}{side}.")
        return columns

    def write_lane_mask(self) -> str:
        """The mask of the first %left lanes, in %mask."""
        w = self.w
        steps = ", ".join(f"i64 {n}" for n in range(w))
        return f"""  %lefts = insertelement <{w} x i64> poison, i64 %left, i32 0
  %many = shufflevector <{w} x i64> %lefts, <{w} x i64> poison, <{w} x i32> zeroinitializer
  %mask = icmp ult <{w} x i64> <{steps}>, %many"""

    def write_pack_tiles(self) -> str:
        """Packs whole blocks of contiguous rows, W columns at a time, the last columns masked.

        Operands in a block are padded to whole tiles, so that nothing is masked there.
        """
        v, w = self.v, self.w
        return f"""
define void @pack.tiles(ptr %array, i64 %stride, i64 %size, ptr %block) {{
entry:
  %whole = and i64 %size, {-w}
  %some = icmp ne i64 %whole, 0
  br i1 %some, label %loop, label %check
loop:
  %n = phi i64 [0, %entry], [%n1, %loop]
  %l.offset = mul i64 %n, {self.size}
  %l.tile = getelementptr i8, ptr %array, i64 %l.offset
  %l.target = getelementptr {v}, ptr %block, i64 %n
{self.write_packed_tile("l.", masked=False)}
  %n1 = add i64 %n, {w}
  %more = icmp ult i64 %n1, %whole
  br i1 %more, label %loop, label %check
check:
  %left = sub i64 %size, %whole
  %rest = icmp ne i64 %left, 0
  br i1 %rest, label %last, label %done
last:
{self.write_lane_mask()}
  %m.offset = mul i64 %whole, {self.size}
  %m.tile = getelementptr i8, ptr %array, i64 %m.offset
  %m.target = getelementptr {v}, ptr %block, i64 %whole
{self.write_packed_tile("m.", masked=True)}
  br label %done
done:
  ret void
}}
"""

    def write_half_tile(self) -> str:
        """Copies a tile for half of the states. Where a vector has 8 lanes, halves of vectors are loaded side by side,
        which saves a third of the shuffles; else two transposed squares side by side are the rows."""
        names = [f"%r{n}" for n in range(self.w)]
        lines = [line for n in range(0, self.w, 2) for line in self.write_pair_of_loads(n)]
        rows = (
            self.join_squares(lines, names) if self.w != 8 else self.transpose_pairs(lines, names)
        )
        lines += [
            f"  store {self.v} {row}, ptr %row{n}, align {self.size}" for n, row in enumerate(rows)
        ]
        return "\n".join(lines)

    def write_pair_of_loads(self, n: int) -> list[str]:
        """Loads entries n and n + 1 of half of the states. Their places are loaded at once, because stores wait for
        loads; the empty assembly keeps LLVM from loading all places first, for which there are not enough registers."""
        half = self.w // 2
        lines = [
            f"  %m{n} = getelementptr i32, ptr %map, i64 {n}",
            f"  %pair{n} = load i64, ptr %m{n}, align 4",
            f"  %place{n} = and i64 %pair{n}, {0xFFFFFFFF}",
            f"  %place{n + 1} = lshr i64 %pair{n}, 32",
        ]
        for k in (n, n + 1):
            lines += [
                f"  %at{k} = getelementptr i8, ptr %ctx, i64 %place{k}",
                f'  %v{k} = call ptr asm sideeffect "", "=r,0"(ptr %at{k})',
                f"  %r{k} = load <{half} x {self.t}>, ptr %v{k}, align {half * self.size}",
            ]
        return lines

    def write_slot_addresses(self, lines: list[str], table: str) -> list[str]:
        """The addresses of the vectors of W entries, whose places in a context are in a table."""
        for n in range(self.w):
            lines += [
                f"  %m{n} = getelementptr i32, ptr {table}, i64 {n}",
                f"  %b{n} = load i32, ptr %m{n}",
                f"  %c{n}.long = zext i32 %b{n} to i64",
                f"  %v{n} = getelementptr i8, ptr %ctx, i64 %c{n}.long",
            ]
        return [f"%v{n}" for n in range(self.w)]

    def join_squares(self, lines: list[str], names: list[str]) -> list[str]:
        """The rows of two squares, which are transposed and stand side by side."""
        w, half = self.w, self.w // 2
        square = LaneTransposeIrWriter(self.t, self.size, half)
        left = square.transpose_vectors(lines, names[:half], "l")
        right = square.transpose_vectors(lines, names[half:], "r")
        whole = ", ".join(f"i32 {n}" for n in range(w))
        lines += [
            f"  %z{n} = shufflevector {square.v} {left[n]}, {square.v} {right[n]}, <{w} x i32> <{whole}>"
            for n in range(half)
        ]
        return [f"%z{n}" for n in range(half)]

    def write_constant_tile(self) -> str:
        """Copies one number to a tile for half of the states."""
        lines = [
            "  %place = load i32, ptr %map, align 4",
            "  %place.long = zext i32 %place to i64",
            "  %source = getelementptr i8, ptr %ctx, i64 %place.long",
            f"  %number = load {self.t}, ptr %source",
            f"  %first = insertelement {self.v} poison, {self.t} %number, i32 0",
            f"  %value = shufflevector {self.v} %first, {self.v} poison, <{self.w} x i32> zeroinitializer",
        ]
        lines += [
            f"  store {self.v} %value, ptr %row{n}, align {self.size}" for n in range(self.w // 2)
        ]
        return "\n".join(lines)

    def write_unpack_tiles(self) -> str:
        """Unpacks a run of tiles to contiguous rows, for half of the states of a block: rows at distances of a power of
        two share cache sets, and eight of them at once would evict each other.

        %rows is the first of the rows and %ctx the context, both at the first of the states; %flags says which tiles are
        one constant. Every row has an address of its own: stores with an index are slower.
        """
        rows = range(self.w // 2)
        begin, after = list[str](), list[str]()
        for n in rows:
            begin += [
                f"  %jump{n} = mul i64 %stride, {n}",
                f"  %begin{n} = getelementptr i8, ptr %rows, i64 %jump{n}",
            ]
            after += [
                f"  %behind{n} = getelementptr {self.v}, ptr %row{n}, i64 1",
                f'  %next{n} = call ptr asm "", "=r,0"(ptr %behind{n})',
            ]
        newline = "\n"
        return f"""
define void @unpack.tiles(ptr %rows, i64 %stride, ptr %ctx, ptr %slots, ptr %flags, i64 %count) {{
entry:
{newline.join(begin)}
  %end = getelementptr i8, ptr %flags, i64 %count
  %some = icmp ne i64 %count, 0
  br i1 %some, label %loop, label %done
loop:
  %flag = phi ptr [%flags, %entry], [%flag1, %written]
  %map = phi ptr [%slots, %entry], [%map1, %written]
{newline.join(f"  %row{n} = phi ptr [%begin{n}, %entry], [%next{n}, %written]" for n in rows)}
  %flag8 = load i8, ptr %flag
  %is.flat = icmp ne i8 %flag8, 0
  br i1 %is.flat, label %flat, label %varying
flat:
{self.write_constant_tile()}
  br label %written
varying:
{self.write_half_tile()}
  br label %written
written:
{newline.join(after)}
  %map1 = getelementptr i32, ptr %map, i64 {self.w}
  %flag1 = getelementptr i8, ptr %flag, i64 1
  %more = icmp ne ptr %flag1, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""

    def write_unpack_last_tile(self) -> str:
        """Unpacks the last tile of an operand, which has only %left entries."""
        lines: list[str] = []
        sources = self.write_slot_addresses(lines, "%map")
        lines += [f"  %row{n} = load {self.v}, ptr {source}" for n, source in enumerate(sources)]
        rows = self.transpose_vectors(lines, [f"%row{n}" for n in range(self.w)], "")
        lines += self.write_row_addresses("")
        for n, row in enumerate(rows):
            at = f"ptr align {self.size} %a{n}"
            intrinsic = f"@llvm.masked.store.{self.suffix}.p0"
            lines.append(f"  call void {intrinsic}({self.v} {row}, {at}, {self.b} %mask)")
        newline = "\n"
        return f"""
define void @unpack.last(ptr %tile, i64 %stride, ptr %ctx, ptr %map, i64 %left) {{
{self.write_lane_mask()}
{newline.join(lines)}
  ret void
}}
"""

    def write_pack_entries(self) -> str:
        """Packs rows × columns entries of any strides and any number of states, lane by lane."""
        t, v, w = self.t, self.v, self.w
        return f"""
define void @pack.entries(ptr %array, i64 %stride, i64 %size, i64 %cols, i64 %s0, i64 %s1, i64 %count, ptr %block) {{
entry:
  %last = sub i64 %count, 1
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %end]
  %i = udiv i64 %k, %cols
  %j = urem i64 %k, %cols
  %oi = mul i64 %i, %s0
  %oj = mul i64 %j, %s1
  %o = add i64 %oi, %oj
  %base = getelementptr i8, ptr %array, i64 %o
  %slot = getelementptr {v}, ptr %block, i64 %k
  br label %lane
lane:
  %n = phi i64 [0, %each], [%n1, %lane]
  %full = icmp ult i64 %n, %count
  %m = select i1 %full, i64 %n, i64 %last
  %om = mul i64 %m, %stride
  %from = getelementptr i8, ptr %base, i64 %om
  %x = load {t}, ptr %from, align 1
  %to = getelementptr {t}, ptr %slot, i64 %n
  store {t} %x, ptr %to
  %n1 = add i64 %n, 1
  %more.lanes = icmp ult i64 %n1, {w}
  br i1 %more.lanes, label %lane, label %end
end:
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %size
  br i1 %more, label %each, label %done
done:
  ret void
}}
"""

    def write_unpack_entries(self) -> str:
        """Unpacks all entries of an operand to any strides and any number of states, lane by lane."""
        t = self.t
        return f"""
define void @unpack.entries(ptr %array, i64 %stride, ptr %ctx, ptr %slots, i64 %size, i64 %cols, i64 %s0, i64 %s1, i64 %count) {{
entry:
  br label %each
each:
  %k = phi i64 [0, %entry], [%k1, %each.end]
  %i = udiv i64 %k, %cols
  %j = urem i64 %k, %cols
  %oi = mul i64 %i, %s0
  %oj = mul i64 %j, %s1
  %o = add i64 %oi, %oj
  %base = getelementptr i8, ptr %array, i64 %o
  %map = getelementptr i32, ptr %slots, i64 %k
  %bytes = load i32, ptr %map
  %bytes.long = zext i32 %bytes to i64
  %source = getelementptr i8, ptr %ctx, i64 %bytes.long
  br label %lane
lane:
  %n = phi i64 [0, %each], [%n1, %lane]
  %om = mul i64 %n, %stride
  %to = getelementptr i8, ptr %base, i64 %om
  %from = getelementptr {t}, ptr %source, i64 %n
  %x = load {t}, ptr %from
  store {t} %x, ptr %to, align 1
  %n1 = add i64 %n, 1
  %more.lanes = icmp ult i64 %n1, %count
  br i1 %more.lanes, label %lane, label %each.end
each.end:
  %k1 = add i64 %k, 1
  %more = icmp ult i64 %k1, %size
  br i1 %more, label %each, label %done
done:
  ret void
}}
"""
