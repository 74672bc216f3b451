"""LLVM IR that copies rows of arrays into lanes and back.

A block holds W states: for each entry of an operand one vector, with one state in each lane. Whole blocks of contiguous
rows are transposed in registers in W×W tiles; everything else (strides, incomplete blocks) is copied entry by entry.
Unused lanes repeat the last state, so that they raise no other floating-point flags than that state does.
"""

from __future__ import annotations

from collections.abc import Callable

PACKING_DECLARATIONS = """
declare void @pack.tiles(ptr, i64, i64, ptr)
declare void @unpack.tiles(ptr, i64, ptr, ptr, i64)
declare void @unpack.last(ptr, i64, ptr, i64)
declare void @pack.entries(ptr, i64, i64, i64, i64, i64, i64, ptr)
declare void @unpack.entries(ptr, i64, ptr, ptr, i64, i64, i64, i64, i64, i64)
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


class LaneTransposeIrWriter:
    """Writes the transposition of W vectors of W scalars in registers."""

    def __init__(self, scalar: str, item_bytes: int, lanes: int) -> None:
        self.t = scalar
        self.size = item_bytes
        self.w = lanes
        self.v = f"<{lanes} x {scalar}>"
        self.b = f"<{lanes} x i1>"
        self.suffix = f"v{lanes}f{8 * item_bytes}"
        self.per_lane = min(lanes, 16 // item_bytes)

    def write_declarations(self) -> str:
        """Declares the masked loads and stores of LLVM."""
        return (
            f"declare {self.v} @llvm.masked.load.{self.suffix}.p0(ptr, {self.b}, {self.v})\n"
            f"declare void @llvm.masked.store.{self.suffix}.p0({self.v}, ptr, {self.b})\n"
        )

    def transpose_vectors(self, lines: list[str], names: list[str], tag: str) -> list[str]:
        """Transposes W vectors of W scalars, first inside 128-bit lanes, then the lanes."""
        inside = self.exchange_vectors(lines, names, tag, 1, self.interleaved_lanes)
        return self.exchange_vectors(lines, inside, tag, self.per_lane, self.alternate_lanes)

    def exchange_vectors(
        self,
        lines: list[str],
        names: list[str],
        tag: str,
        distance: int,
        order: Callable[[int, int], list[int]],
    ) -> list[str]:
        """Exchanges entries between vectors whose indices differ in one bit, bit after bit."""
        w, v = self.w, self.v
        end = self.per_lane if distance < self.per_lane else w
        while distance < end:
            fresh = list(names)
            for i in range(w):
                if i & distance:
                    continue
                for half, k in enumerate((i, i | distance)):
                    mask = ", ".join(f"i32 {n}" for n in order(distance, half))
                    fresh[k] = f"%{tag}t{distance}.{k}"
                    lines.append(
                        f"  {fresh[k]} = shufflevector {v} {names[i]}, {v} {names[i | distance]}, "
                        f"<{w} x i32> <{mask}>"
                    )
            names = fresh
            distance *= 2
        return names

    def interleaved_lanes(self, distance: int, half: int) -> list[int]:
        """The shuffle that takes runs of `distance` lanes from both vectors in turn."""
        found = []
        for n in range(self.w):
            other = self.w if n & distance else 0
            base = n & ~distance
            found.append(other + base + (distance if half else 0))
        return found

    def alternate_lanes(self, distance: int, half: int) -> list[int]:
        """The shuffle that takes every other 128-bit lane of one vector, then of the other."""
        lanes = self.w // self.per_lane
        chosen = [lane for lane in range(lanes) if lane % 2 == half]
        one = [lane * self.per_lane + n for lane in chosen for n in range(self.per_lane)]
        return one + [self.w + n for n in one]


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

    def write_tile_function(self, name: str, tag: str, masked: bool) -> str:
        """Copies one W×W tile between the array's rows at %tile and the block's vectors at %target."""
        v, w = self.v, self.w
        lines = self.write_row_addresses(tag)
        vectors = [f"  %{tag}d{n} = getelementptr {v}, ptr %{tag}target, i64 {n}" for n in range(w)]
        align = f"align {self.size}"
        if name == "pack":
            for n in range(w):
                at = f"ptr {align} %{tag}a{n}"
                load = f"load {v}, ptr %{tag}a{n}, {align}"
                if masked:
                    intrinsic = f"@llvm.masked.load.{self.suffix}.p0"
                    load = f"call {v} {intrinsic}({at}, {self.b} %mask, {v} zeroinitializer)"
                lines.append(f"  %{tag}row{n} = {load}")
            columns = self.transpose_vectors(lines, [f"%{tag}row{n}" for n in range(w)], tag)
            lines += vectors
            lines += [f"  store {v} {c}, ptr %{tag}d{n}" for n, c in enumerate(columns)]
            return "\n".join(lines)
        lines += vectors
        lines += [f"  %{tag}row{n} = load {v}, ptr %{tag}d{n}" for n in range(w)]
        columns = self.transpose_vectors(lines, [f"%{tag}row{n}" for n in range(w)], tag)
        for n, column in enumerate(columns):
            at = f"ptr {align} %{tag}a{n}"
            intrinsic = f"@llvm.masked.store.{self.suffix}.p0"
            whole = f"  store {v} {column}, ptr %{tag}a{n}, {align}"
            part = f"  call void {intrinsic}({v} {column}, {at}, {self.b} %mask)"
            lines.append(part if masked else whole)
        return "\n".join(lines)

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
{self.write_tile_function("pack", "l.", masked=False)}
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
{self.write_tile_function("pack", "m.", masked=True)}
  br label %done
done:
  ret void
}}
"""

    def write_half_tile(self) -> str:
        """Copies half of a tile's states: two transposed squares side by side are their rows."""
        v, w, half = self.v, self.w, self.w // 2
        square = _LanePackingIrWriter(self.t, self.size, half)
        lines = []
        for n in range(w):
            lines += [
                f"  %d{n} = getelementptr {v}, ptr %target, i64 {n}",
                f"  %e{n} = getelementptr {self.t}, ptr %d{n}, i64 %state",
                f"  %r{n} = load {square.v}, ptr %e{n}, align {half * self.size}",
            ]
        left = square.transpose_vectors(lines, [f"%r{n}" for n in range(half)], "l")
        right = square.transpose_vectors(lines, [f"%r{n}" for n in range(half, w)], "r")
        whole = ", ".join(f"i32 {n}" for n in range(w))
        for n in range(half):
            lines += [
                f"  %z{n} = shufflevector {square.v} {left[n]}, {square.v} {right[n]}, "
                f"<{w} x i32> <{whole}>",
                f"  %so{n} = mul i64 %stride, {n}",
                f"  %sa{n} = getelementptr i8, ptr %tile, i64 %so{n}",
                f"  store {v} %z{n}, ptr %sa{n}, align {self.size}",
            ]
        return "\n".join(lines)

    def write_unpack_tiles(self) -> str:
        """Unpacks tiles of a table of (first entry, slot) to contiguous rows of a whole block.

        Half of the states at a time: rows at distances of a power of two share cache sets, and eight of them at once
        would evict each other.
        """
        return f"""
define void @unpack.tiles(ptr %array, i64 %stride, ptr %ctx, ptr %table, i64 %size) {{
entry:
  br label %states
states:
  %state = phi i64 [0, %entry], [%state1, %states.end]
  %jump = mul i64 %stride, %state
  %rows = getelementptr i8, ptr %array, i64 %jump
  br label %loop
loop:
  %n = phi i64 [0, %states], [%n1, %loop]
  %line = getelementptr [2 x i32], ptr %table, i64 %n
  %entry32 = load i32, ptr %line
  %at.slot = getelementptr i32, ptr %line, i64 1
  %slot32 = load i32, ptr %at.slot
  %first = zext i32 %entry32 to i64
  %slot = zext i32 %slot32 to i64
  %offset = mul i64 %first, {self.size}
  %tile = getelementptr i8, ptr %rows, i64 %offset
  %target = getelementptr {self.v}, ptr %ctx, i64 %slot
{self.write_half_tile()}
  %n1 = add i64 %n, 1
  %more = icmp ult i64 %n1, %size
  br i1 %more, label %loop, label %states.end
states.end:
  %state1 = add i64 %state, {self.w // 2}
  %more.states = icmp ult i64 %state1, {self.w}
  br i1 %more.states, label %states, label %done
done:
  ret void
}}
"""

    def write_unpack_last_tile(self) -> str:
        """Unpacks the last tile of an operand, which has only %left entries."""
        return f"""
define void @unpack.last(ptr %tile, i64 %stride, ptr %target, i64 %left) {{
{self.write_lane_mask()}
{self.write_tile_function("unpack", "", masked=True)}
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
        """Unpacks tiles of a table to any strides; entries beyond the operand's size are skipped."""
        t, v, w = self.t, self.v, self.w
        return f"""
define void @unpack.entries(ptr %array, i64 %stride, ptr %ctx, ptr %table, i64 %tiles, i64 %size, i64 %cols, i64 %s0, i64 %s1, i64 %count) {{
entry:
  br label %tile
tile:
  %t = phi i64 [0, %entry], [%t1, %tile.end]
  %row = getelementptr [2 x i32], ptr %table, i64 %t
  %entry32 = load i32, ptr %row
  %at.slot = getelementptr i32, ptr %row, i64 1
  %slot32 = load i32, ptr %at.slot
  %first = zext i32 %entry32 to i64
  %slot = zext i32 %slot32 to i64
  br label %each
each:
  %e = phi i64 [0, %tile], [%e1, %each.end]
  %k = add i64 %first, %e
  %exists = icmp ult i64 %k, %size
  br i1 %exists, label %place, label %tile.end
place:
  %i = udiv i64 %k, %cols
  %j = urem i64 %k, %cols
  %oi = mul i64 %i, %s0
  %oj = mul i64 %j, %s1
  %o = add i64 %oi, %oj
  %base = getelementptr i8, ptr %array, i64 %o
  %at = add i64 %slot, %e
  %source = getelementptr {v}, ptr %ctx, i64 %at
  br label %lane
lane:
  %n = phi i64 [0, %place], [%n1, %lane]
  %om = mul i64 %n, %stride
  %to = getelementptr i8, ptr %base, i64 %om
  %from = getelementptr {t}, ptr %source, i64 %n
  %x = load {t}, ptr %from
  store {t} %x, ptr %to, align 1
  %n1 = add i64 %n, 1
  %more.lanes = icmp ult i64 %n1, %count
  br i1 %more.lanes, label %lane, label %each.end
each.end:
  %e1 = add i64 %e, 1
  %more.entries = icmp ult i64 %e1, {w}
  br i1 %more.entries, label %each, label %tile.end
tile.end:
  %t1 = add i64 %t, 1
  %more = icmp ult i64 %t1, %tiles
  br i1 %more, label %tile, label %done
done:
  ret void
}}
"""
