"""LLVM IR that writes large outputs of the block before between the arithmetic of a block.

The arithmetic of one block fills a context, and then the rows of its outputs are written: thousands of stores, behind
which the arithmetic of the next block waits, because the queue of stores is full. Where both are in one stream of
instructions, the processor does them at the same time. So a block has two contexts in turn: it computes into one and
writes from the other, half a tile after every few instructions.

Loads of the places of entries would slow the stores down. The places are therefore part of the code, which is written for
the usual leads only: arrays that begin with a cache line, and those that malloc puts 16 bytes behind one. The code must
stay within the instruction cache, so that a large output leaves only in part between the arithmetic, the rest behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .lane_transposes import LaneTransposeIrWriter

MALLOC_OFFSET = 16
"""Bytes from the beginning of a page to a large array that malloc allocates."""

MAX_OVERLAPPED_TILES = 64
"""Tiles of all outputs together, at most: each becomes code."""

MAX_OVERLAPPED_TILES_OF_HALVES = 32
"""The same where vectors are executed in two halves, as measured on Zen 4."""

MIN_INSTRUCTIONS_PER_TILE = 16
"""Instructions for each of these tiles, at least: with less arithmetic there is nothing to overlap."""


def usual_leads(lanes: int, item_bytes: int) -> tuple[int, ...]:
    """The numbers of entries before the first cache line of an array, in the usual cases."""
    return (0, (lanes * item_bytes - MALLOC_OFFSET) // item_bytes)


@dataclass(frozen=True)
class OverlappedPort:
    """An output: the places of its entries in a context, in bytes, and the literals of those that are constant."""

    places: Sequence[int]
    literals: Mapping[int, str]

    def common_literal(self, first: int, count: int) -> str | None:
        """The literal of a run of entries, if all are the same constant."""
        places = set(self.places[first : first + count])
        return self.literals.get(places.pop()) if len(places) == 1 else None


class OverlappedTileIrWriter:
    """Writes the first `count` whole tiles of each operand of the block before, for one lead; `%old` is its context,
    `%old.rows` and `%old.stride` of an operand lead to its rows."""

    def __init__(
        self,
        rows: LaneTransposeIrWriter,
        ports: Mapping[int, OverlappedPort],
        lead: int,
        count: int,
    ) -> None:
        self.rows = rows
        self.ports = ports
        self.lead = lead
        self.count = count

    @property
    def name(self) -> str:
        """The name of the function of a block."""
        return f"block.lead{self.lead}"

    @property
    def parameters(self) -> str:
        """The parameters that say where the outputs of the block before go."""
        return "".join(f"ptr %old.rows{k}, i64 %old.stride{k}, " for k in self.ports) + "ptr %old, "

    def write_addresses(self) -> list[str]:
        """The addresses of the first whole tiles of the rows: distances of whole vectors from there are short in code."""
        return [
            line
            for k in self.ports
            for n in range(self.rows.w)
            for line in (
                f"  %old{k}.o{n} = mul i64 %old.stride{k}, {n}",
                f"  %old{k}.b{n} = getelementptr i8, ptr %old.rows{k}, i64 %old{k}.o{n}",
                f"  %old{k}.r{n} = getelementptr {self.rows.t}, ptr %old{k}.b{n}, i64 {self.lead}",
            )
        ]

    def half_tiles(self) -> list[list[str]]:
        """The code of the tiles, first for half of the states, then for the others."""
        first, size = self.lead, self.rows.w
        return [
            self.write_half_tile(k, entry, state)
            for k in self.ports
            for state in (0, size // 2)
            for entry in range(first, first + self.count * size, size)
        ]

    def write_half_tile(self, k: int, first: int, state: int) -> list[str]:
        """The code of a tile that begins with entry `first`, for half of the states."""
        tag = f"old{k}.{state}.{first}."
        lines: list[str] = []
        literal = self.ports[k].common_literal(first, self.rows.w)
        if literal is None:
            values = self.write_transposition(lines, tag, k, first, state)
        else:
            values = [literal] * (self.rows.w // 2)
        for n, value in enumerate(values):
            lines += [
                f"  %{tag}s{n} = getelementptr {self.rows.t}, ptr %old{k}.r{state + n}, i64 {first - self.lead}",
                f"  store {self.rows.v} {value}, ptr %{tag}s{n}, align {self.rows.size}",
            ]
        return lines

    def write_transposition(
        self, lines: list[str], tag: str, k: int, first: int, state: int
    ) -> list[str]:
        """Half of the rows of a tile."""
        half = self.rows.w // 2
        part = f"<{half} x {self.rows.t}>"
        names = []
        for n, place in enumerate(self.ports[k].places[first : first + self.rows.w]):
            names.append(f"%{tag}v{n}")
            lines += [
                f"  %{tag}h{n} = getelementptr i8, ptr %old, i64 {place + state * self.rows.size}",
                f"  %{tag}v{n} = load {part}, ptr %{tag}h{n}, align {half * self.rows.size}",
            ]
        return self.rows.transpose_pairs(lines, names, tag)


def spread_groups(lines: Sequence[str], groups: Sequence[Sequence[str]]) -> list[str]:
    """Lines with groups of other lines between them, at equal distances."""
    found: list[str] = []
    done = 0
    for n, line in enumerate(lines):
        found.append(line)
        due = (n + 1) * len(groups) // len(lines)
        for group in groups[done:due]:
            found += group
        done = due
    for group in groups[done:]:
        found += group
    return found
