"""Places of outputs in a context, and the chunks after which they are written to arrays.

Each value has one slot, also where several entries of the outputs have it (zeros, both halves of a symmetric matrix): a
table says which slot an entry has. So the slots stay few, and in the nearest cache. Outputs are written in tiles of W
entries, as soon as the chunk that completes a tile has run. A tile may begin at any entry: large outputs are written in
tiles that begin at cache lines, `lead` entries after the row (known at the call), so that a store touches only one line.
Constants are written once into a context and never change.
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
    """Entries [first, first + W) of an output port.

    A tile that `leads` begins `lead` entries later. Only a part of a tile at an `edge` is written: the first `lead`
    entries, all but `lead`, or the rest of the output. `constant` is the value that fills a tile, if it is one number.
    """

    port: int
    first: int
    leads: bool = False
    edge: Literal["", "head", "tail", "rest"] = ""
    constant: int | None = None


@dataclass
class LaneTilePlan:
    """The tiles of all outputs and the slots of their values.

    `completed_tiles[c]` are the tiles that are complete after chunk c, and `leaving_tiles[c]` those which whole blocks
    of contiguous rows write then; `entry_slots` has the slot of each entry of each port, `store_slots` those of
    values and `constant_slots` those of constants.
    """

    completed_tiles: list[list[LaneTile]]
    leaving_tiles: list[list[LaneTile]]
    entry_slots: list[list[int]] = field(default_factory=list)
    store_slots: dict[int, int] = field(default_factory=dict)
    constant_slots: dict[int, int] = field(default_factory=dict)
    slots: int = 0

    def leading_ports(self) -> set[int]:
        """The output ports with tiles that begin at cache lines."""
        tiles = [tile for some in self.leaving_tiles for tile in some]
        return {tile.port for tile in tiles if tile.leads or tile.edge == "head"}


def plan_output_lane_tiles(
    tape: Tape, chunks: Sequence[MachineCodeChunk], lanes: int, *, keeps_outputs: bool
) -> LaneTilePlan:
    """The tiles of all outputs of a tape, with slots counted from 0.

    Where outputs need not be kept until the last chunk, the slots of those that have been written are used again.
    """
    piece = np.zeros(len(tape), np.int64)
    for n, chunk in enumerate(chunks):
        piece[chunk.start : chunk.stop] = n
    piece[tape.ops == Op.CONSTANT] = -1
    plan = LaneTilePlan([[] for _ in chunks], [[] for _ in chunks])
    last_use: dict[int, int] = {}
    for port, result in enumerate(tape.results):
        tiles, ready = _place_output_lane_tiles(port, result, piece, lanes)
        for tile, n in zip(tiles, ready, strict=True):
            plan.completed_tiles[n].append(tile)
        _note_last_uses(last_use, tiles, ready, result, lanes)
        if len(tiles) >= MIN_TILES_TO_LEAD and len(result) % lanes == 0:
            tiles, ready = _align_lane_tiles(tiles, ready)
            _note_last_uses(last_use, tiles, ready, result, 2 * lanes)
        for tile, n in zip(tiles, ready, strict=True):
            plan.leaving_tiles[n].append(tile)
    _reserve_output_slots(plan, last_use, piece, len(chunks), keeps_outputs=keeps_outputs)
    slots = plan.store_slots | plan.constant_slots
    plan.entry_slots = [[slots[value] for value in result.tolist()] for result in tape.results]
    return plan


def _place_output_lane_tiles(
    port: int, result: RegisterIndices, piece: RegisterIndices, lanes: int
) -> tuple[list[LaneTile], list[int]]:
    """The tiles of an output, and the chunks that complete them; constants are written with a neighbour."""
    tiles: list[LaneTile] = []
    ready: list[int] = []
    for first in range(0, len(result), lanes):
        values = result[first : first + lanes]
        last = int(piece[values].max())
        is_flat = last < 0 and len(values) == lanes and len(set(values.tolist())) == 1
        edge: Literal["", "rest"] = "" if len(values) == lanes else "rest"
        constant = int(values[0]) if is_flat else None
        tiles.append(LaneTile(port, first, edge=edge, constant=constant))
        ready.append(last if last >= 0 else (ready or [0])[-1])
    return tiles, ready


def _align_lane_tiles(tiles: list[LaneTile], ready: list[int]) -> tuple[list[LaneTile], list[int]]:
    """The tiles that begin at cache lines, with a part of a tile before and after them."""
    found = [replace(tiles[0], edge="head"), replace(tiles[-1], leads=True, edge="tail")]
    when = [ready[0], ready[-1]]
    for (one, other), chunks in zip(pairwise(tiles), pairwise(ready), strict=True):
        constant = one.constant if one.constant == other.constant else None
        found.append(replace(one, leads=True, constant=constant))
        when.append(max(chunks))
    return found, when


def _note_last_uses(
    last_use: dict[int, int],
    tiles: Sequence[LaneTile],
    ready: Sequence[int],
    result: RegisterIndices,
    width: int,
) -> None:
    """Notes the last chunk after which each value is written."""
    for tile, n in zip(tiles, ready, strict=True):
        for value in result[tile.first : tile.first + width].tolist():
            last_use[value] = max(last_use.get(value, 0), n)


def _reserve_output_slots(
    plan: LaneTilePlan,
    last_use: dict[int, int],
    piece: RegisterIndices,
    chunks: int,
    *,
    keeps_outputs: bool,
) -> None:
    """Gives each value of the outputs a slot, in the order of the chunks."""
    free: list[int] = []
    made: list[list[int]] = [[] for _ in range(chunks)]
    gone: list[list[int]] = [[] for _ in range(chunks)]
    for value in sorted(last_use):
        if piece[value] < 0:
            plan.constant_slots[value] = plan.slots
            plan.slots += 1
        else:
            made[piece[value]].append(value)
            gone[last_use[value]].append(value)
    for n in range(chunks):
        for value in made[n]:
            if not free:
                free.append(plan.slots)
                plan.slots += 1
            plan.store_slots[value] = free.pop()
        if not keeps_outputs:
            free += [plan.store_slots[value] for value in gone[n]]
