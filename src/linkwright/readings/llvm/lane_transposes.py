"""LLVM IR of transpositions in registers: W vectors of W scalars, or 8 halves of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable


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

    def transpose_pairs(self, lines: list[str], halves: list[str], tag: str = "") -> list[str]:
        """Transposes 8 halves of vectors, [0|2], [1|3], [4|6], [5|7] side by side, to 4 vectors of 8 scalars."""
        part, v = f"<4 x {self.t}>", self.v

        def shuffle(name: str, kind: str, one: str, other: str, order: Iterable[int]) -> str:
            mask = ", ".join(f"i32 {n}" for n in order)
            lines.append(
                f"  {name} = shufflevector {kind} {one}, {kind} {other}, <8 x i32> <{mask}>"
            )
            return name

        pairs = [
            shuffle(f"%{tag}p{n}", part, halves[n], halves[n + 2], range(8)) for n in (0, 1, 4, 5)
        ]
        rows = []
        for odd in (0, 1):
            mixed = [k for m in range(0, 8, 2) for k in (m + odd, 8 + m + odd)]
            low = shuffle(f"%{tag}u{odd}.0", v, pairs[0], pairs[1], mixed)
            high = shuffle(f"%{tag}u{odd}.1", v, pairs[2], pairs[3], mixed)
            for lane in (0, 1):
                order = [
                    o + k for o in (0, 8) for m in (lane, lane + 2) for k in (2 * m, 2 * m + 1)
                ]
                rows.append(shuffle(f"%{tag}c{odd + 2 * lane}", v, low, high, order))
        return [rows[0], rows[2], rows[1], rows[3]]

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
