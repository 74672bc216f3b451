"""Places of outputs in a context, and the chunks after which they are written to arrays.

Outputs are written in tiles of W entries, as soon as the chunk that completes a tile has run and while its vectors are
still in the nearest cache. Neighbouring tiles are adjacent, so that a tile may begin at any entry: large outputs are
written in tiles that begin at cache lines, `lead` entries after the row (known at the call), so that a store touches
only one line. Constants are written once into a context and never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...tape import Op, Tape
from .chunks import MachineCodeChunk

MIN_TILES_TO_LEAD = 8
"""Tiles from which on an output is worth a tile more, in order to begin with cache lines."""


RegisterIndices = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class LaneTile:
    """Entries [first, first + W) of an output port, at W slots of a context.

    A tile that `leads` begins `lead` entries later in both. Only a part of a tile at an `edge` is written: the first
    `lead` entries, all but `lead`, or the rest of the output.
    """

    port: int
    first: int
    slot: int
    leads: bool = False
    edge: Literal["", "head", "tail", "rest"] = ""


@dataclass
class LaneTilePlan:
    """The tiles of all outputs and the slots of their values.

    `completed_tiles[c]` are the tiles that are complete after chunk c, and `leaving_tiles[c]` those which whole blocks
    of contiguous rows write then; `store_slots` has the slots of values and `constant_slots` those of constants.
    """

    completed_tiles: list[list[LaneTile]]
    leaving_tiles: list[list[LaneTile]]
    store_slots: dict[int, list[int]] = field(default_factory=dict)
    constant_slots: list[tuple[int, int]] = field(default_factory=list)
    slots: int = 0

    def leading_ports(self) -> set[int]:
        """The output ports with tiles that begin at cache lines."""
        tiles = [tile for some in self.leaving_tiles for tile in some]
        return {tile.port for tile in tiles if tile.leads or tile.edge == "head"}


def plan_output_lane_tiles(
    tape: Tape, chunks: Sequence[MachineCodeChunk], lanes: int
) -> LaneTilePlan:
    """The tiles of all outputs of a tape, with slots counted from 0."""
    piece = np.zeros(len(tape), np.int64)
    for n, chunk in enumerate(chunks):
        piece[chunk.start : chunk.stop] = n
    piece[tape.ops == Op.CONSTANT] = -1
    plan = LaneTilePlan([[] for _ in chunks], [[] for _ in chunks])
    for port, result in enumerate(tape.results):
        tiles, ready = _place_output_lane_tiles(plan, port, result, piece, lanes)
        for tile, n in zip(tiles, ready, strict=True):
            plan.completed_tiles[n].append(tile)
        if len(tiles) >= MIN_TILES_TO_LEAD and len(result) % lanes == 0:
            tiles, ready = _align_lane_tiles(plan, tiles, ready, result, lanes)
        for tile, n in zip(tiles, ready, strict=True):
            plan.leaving_tiles[n].append(tile)
    return plan


def _place_output_lane_tiles(
    plan: LaneTilePlan, port: int, result: RegisterIndices, piece: RegisterIndices, lanes: int
) -> tuple[list[LaneTile], list[int]]:
    """The tiles of an output, and the chunks that complete them.

    Constants are written with a neighbour. Neighbouring tiles filled with one number (blocks of zeros) share slots.
    """
    tiles: list[LaneTile] = []
    ready: list[int] = []
    before: RegisterIndices = result[:0]
    for first in range(0, len(result), lanes):
        values = result[first : first + lanes]
        last = int(piece[values].max())
        flat = last < 0 and len(values) == lanes and len(set(values.tolist())) == 1
        if flat and np.array_equal(values, before):
            slot = tiles[-1].slot
        else:
            slot = _reserve_lane_tile_slots(plan, values, piece, lanes, flat)
        tiles.append(LaneTile(port, first, slot, edge="" if len(values) == lanes else "rest"))
        ready.append(last if last >= 0 else (ready or [0])[-1])
        before = values
    return tiles, ready


def _reserve_lane_tile_slots(
    plan: LaneTilePlan, values: RegisterIndices, piece: RegisterIndices, lanes: int, flat: bool
) -> int:
    """The first slot of a new tile.

    A tile of a single number gets one slot more, so that the rows of a matrix do not follow each other at powers of
    two, in the same cache sets.
    """
    start = plan.slots
    wanted = [*values[: int(flat)].tolist(), *values.tolist()]
    for at, value in enumerate(wanted, start):
        if piece[value] < 0:
            plan.constant_slots.append((value, at))
        else:
            plan.store_slots.setdefault(value, []).append(at)
    plan.slots += lanes + flat
    return start + flat


def _align_lane_tiles(
    plan: LaneTilePlan, tiles: list[LaneTile], ready: list[int], result: RegisterIndices, lanes: int
) -> tuple[list[LaneTile], list[int]]:
    """The tiles that begin at cache lines, with a part of a tile before and after them.

    All pairs of neighbouring tiles of one number share two tiles of it.
    """
    found = [replace(tiles[0], edge="head"), replace(tiles[-1], leads=True, edge="tail")]
    when = [ready[0], ready[-1]]
    double: dict[int, int] = {}
    for (one, other), chunks in zip(pairwise(tiles), pairwise(ready), strict=True):
        slot, value = one.slot, int(result[one.first])
        if slot == other.slot:
            if value not in double:
                double[value] = plan.slots
                plan.slots += 2 * lanes
                plan.constant_slots += [(value, double[value] + i) for i in range(2 * lanes)]
            slot = double[value]
        found.append(LaneTile(one.port, one.first, slot, leads=True))
        when.append(max(chunks))
    return found, when
