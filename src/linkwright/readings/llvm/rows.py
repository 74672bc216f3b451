"""Rows of arrays into lanes and back, as LLVM IR.

A block holds W states: for each entry of an operand one vector, a state a lane. Whole blocks
of contiguous rows go through in-register transposes of W×W tiles; everything else (strides,
tails) entry by entry. Lanes beyond a tail repeat its last state, so that they raise no flag
that the state itself does not.
"""

from __future__ import annotations


def rows_ir(scalar: str, item_bytes: int, lanes: int) -> str:
    """`@pack` and `@unpack` for vectors of `lanes` scalars of `item_bytes`."""
    return _Rows(scalar, item_bytes, lanes).text()


class _Rows:
    def __init__(self, scalar: str, item_bytes: int, lanes: int) -> None:
        self.t = scalar
        self.size = item_bytes
        self.w = lanes
        self.v = f"<{lanes} x {scalar}>"
        self.b = f"<{lanes} x i1>"
        self.suffix = f"v{lanes}f{8 * item_bytes}"

    def transpose(self, lines: list[str], names: list[str]) -> list[str]:
        """log₂W rounds of exchanges between vectors whose indices differ in one bit."""
        v, w = self.v, self.w
        distance = 1
        while distance < w:
            fresh = list(names)
            for i in range(w):
                if i & distance:
                    continue
                a, b = names[i], names[i | distance]
                low = [n if not n & distance else w + n - distance for n in range(w)]
                high = [n + distance if not n & distance else w + n for n in range(w)]
                for k, order in ((i, low), (i | distance, high)):
                    mask = ", ".join(f"i32 {n}" for n in order)
                    fresh[k] = f"%t{distance}.{k}"
                    lines.append(
                        f"  {fresh[k]} = shufflevector {v} {a}, {v} {b}, <{w} x i32> <{mask}>"
                    )
            names = fresh
            distance *= 2
        return names

    def load_tile(self) -> str:
        v, w = self.v, self.w
        lines = []
        for n in range(w):
            lines += [
                f"  %o{n} = mul i64 %stride, {n}",
                f"  %a{n} = getelementptr i8, ptr %tile, i64 %o{n}",
                f"  %row{n} = call {v} @llvm.masked.load.{self.suffix}.p0(ptr align {self.size} %a{n}, "
                f"{self.b} %mask, {v} zeroinitializer)",
            ]
        columns = self.transpose(lines, [f"%row{n}" for n in range(w)])
        for n, column in enumerate(columns):
            lines += [
                f"  %d{n} = getelementptr {v}, ptr %target, i64 {n}",
                f"  store {v} {column}, ptr %d{n}",
            ]
        return "\n".join(lines)

    def store_tile(self) -> str:
        v, w = self.v, self.w
        lines = []
        for n in range(w):
            lines += [
                f"  %s{n} = getelementptr {v}, ptr %target, i64 {n}",
                f"  %row{n} = load {v}, ptr %s{n}",
            ]
        columns = self.transpose(lines, [f"%row{n}" for n in range(w)])
        for n, column in enumerate(columns):
            lines += [
                f"  %o{n} = mul i64 %stride, {n}",
                f"  %a{n} = getelementptr i8, ptr %tile, i64 %o{n}",
                f"  call void @llvm.masked.store.{self.suffix}.p0({v} {column}, "
                f"ptr align {self.size} %a{n}, {self.b} %mask)",
            ]
        return "\n".join(lines)

    def by_tiles(self, name: str, tile: str) -> str:
        """Whole blocks of contiguous rows, W columns at a time, the last tile masked.

        Blocks are padded to whole tiles, so that the last tile may be stored whole.
        """
        v, w = self.v, self.w
        steps = ", ".join(f"i64 {n}" for n in range(w))
        return f"""
define internal void @{name}.tiles(ptr %array, i64 %stride, i64 %size, ptr %block) {{
entry:
  br label %loop
loop:
  %n = phi i64 [0, %entry], [%n1, %loop]
  %left = sub i64 %size, %n
  %lefts = insertelement <{w} x i64> poison, i64 %left, i32 0
  %many = shufflevector <{w} x i64> %lefts, <{w} x i64> poison, <{w} x i32> zeroinitializer
  %mask = icmp ult <{w} x i64> <{steps}>, %many
  %offset = mul i64 %n, {self.size}
  %tile = getelementptr i8, ptr %array, i64 %offset
  %target = getelementptr {v}, ptr %block, i64 %n
{tile}
  %n1 = add i64 %n, {w}
  %more = icmp ult i64 %n1, %size
  br i1 %more, label %loop, label %done
done:
  ret void
}}
"""

    def by_entries(self) -> str:
        """Any strides, any number of states: rows × columns entries, lane by lane."""
        t, v, w = self.t, self.v, self.w
        head = (
            "(ptr %array, i64 %stride, i64 %rows, i64 %cols, i64 %s0, i64 %s1, i64 %count, "
            "ptr %block)"
        )
        loop = """entry:
  %last = sub i64 %count, 1
  br label %row
row:
  %i = phi i64 [0, %entry], [%i1, %row.end]
  %oi = mul i64 %i, %s0
  br label %col
col:
  %j = phi i64 [0, %row], [%j1, %lane.end]
  %oj = mul i64 %j, %s1
  %o = add i64 %oi, %oj
  %ki = mul i64 %i, %cols
  %k = add i64 %ki, %j
  %base = getelementptr i8, ptr %array, i64 %o
  %slot = getelementptr {v}, ptr %block, i64 %k
  br label %lane
lane:
  %n = phi i64 [0, %col], [%n1, %lane]
{body}
  %n1 = add i64 %n, 1
  %more.lanes = icmp ult i64 %n1, {count}
  br i1 %more.lanes, label %lane, label %lane.end
lane.end:
  %j1 = add i64 %j, 1
  %more.cols = icmp ult i64 %j1, %cols
  br i1 %more.cols, label %col, label %row.end
row.end:
  %i1 = add i64 %i, 1
  %more.rows = icmp ult i64 %i1, %rows
  br i1 %more.rows, label %row, label %done
done:
  ret void
}"""
        load = f"""  %full = icmp ult i64 %n, %count
  %m = select i1 %full, i64 %n, i64 %last
  %om = mul i64 %m, %stride
  %from = getelementptr i8, ptr %base, i64 %om
  %x = load {t}, ptr %from, align 1
  %to = getelementptr {t}, ptr %slot, i64 %n
  store {t} %x, ptr %to"""
        store = f"""  %om = mul i64 %n, %stride
  %to = getelementptr i8, ptr %base, i64 %om
  %from = getelementptr {t}, ptr %slot, i64 %n
  %x = load {t}, ptr %from
  store {t} %x, ptr %to, align 1"""
        pack = loop.replace("{body}", load).replace("{v}", v).replace("{count}", str(w))
        unpack = loop.replace("{body}", store).replace("{v}", v).replace("{count}", "%count")
        return (
            f"\ndefine internal void @pack.entries{head} {{\n{pack}\n"
            f"\ndefine internal void @unpack.entries{head} {{\n{unpack}\n"
        )

    def choose(self, name: str) -> str:
        """Tiles where rows are contiguous and the block is whole, else entries."""
        return f"""
define internal void @{name}(ptr %array, i64 %stride, i64 %rows, i64 %cols, i64 %s0, i64 %s1, i64 %count, ptr %block) {{
  %size = mul i64 %rows, %cols
  %row.bytes = mul i64 %cols, {self.size}
  %whole = icmp eq i64 %count, {self.w}
  %tight1 = icmp eq i64 %s1, {self.size}
  %tight0 = icmp eq i64 %s0, %row.bytes
  %single = icmp eq i64 %rows, 1
  %c0 = or i1 %tight0, %single
  %c1 = and i1 %c0, %tight1
  %c2 = and i1 %c1, %whole
  br i1 %c2, label %tiles, label %entries
tiles:
  call void @{name}.tiles(ptr %array, i64 %stride, i64 %size, ptr %block)
  ret void
entries:
  call void @{name}.entries(ptr %array, i64 %stride, i64 %rows, i64 %cols, i64 %s0, i64 %s1, i64 %count, ptr %block)
  ret void
}}
"""

    def text(self) -> str:
        v, b = self.v, self.b
        return (
            f"declare {v} @llvm.masked.load.{self.suffix}.p0(ptr, {b}, {v})\n"
            f"declare void @llvm.masked.store.{self.suffix}.p0({v}, ptr, {b})\n"
            + self.by_tiles("pack", self.load_tile())
            + self.by_tiles("unpack", self.store_tile())
            + self.by_entries()
            + self.choose("pack")
            + self.choose("unpack")
        )
