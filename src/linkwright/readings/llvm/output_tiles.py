"""Places of outputs in a context, and the tiles in which they are written to arrays.

Each value has one slot, also where several entries of the outputs have it (zeros, both halves of a symmetric matrix): a
table says which slot an entry has. So the slots stay few, and in the nearest cache. Outputs are written in tiles of W
entries after the last chunk, in the order of memory. A tile may begin at any entry: large outputs are written in tiles
that begin at cache lines, `lead` entries after the row (known at the call), so that a store touches only one line.
Constants are written once into a context and never change.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...tape import Op, Tape

MIN_TILES_TO_LEAD = 8
"""Tiles from which on an output is worth a tile more, in order to begin with cache lines."""


RegisterIndices = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class LaneTile:
    """Entries [first, first + W) of an output port.

    A tile that `leads` begins `lead` entries later. Only a part of a tile at an `edge` is written: the first `lead`
    entries, all but `lead`, or the rest of the output. `constant` is the value that fills a tile, if it is one number.
    """

    first: int
    leads: bool = False
    edge: Literal["", "head", "tail", "rest"] = ""
    constant: int | None = None


@dataclass
class LaneTilePlan:
    """The tiles of each output port and the slots of their values.

    `entry_slots` has the slot of each entry of each port, `store_slots` those of values and `constant_slots` those of
    constants.
    """

    tiles: list[list[LaneTile]] = field(default_factory=list)
    entry_slots: list[list[int]] = field(default_factory=list)
    store_slots: dict[int, int] = field(default_factory=dict)
    constant_slots: dict[int, int] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        """The number of slots."""
        return len(self.store_slots) + len(self.constant_slots)

    def leading_ports(self) -> set[int]:
        """The output ports with tiles that begin at cache lines."""
        return {k for k, tiles in enumerate(self.tiles) if any(tile.leads for tile in tiles)}


def plan_output_lane_tiles(tape: Tape, lanes: int) -> LaneTilePlan:
    """The tiles of all outputs of a tape, with slots counted from 0."""
    plan = LaneTilePlan()
    for slot, value in enumerate(sorted({v for result in tape.results for v in result.tolist()})):
        kind = plan.constant_slots if tape.ops[value] == Op.CONSTANT else plan.store_slots
        kind[value] = slot
    slots = plan.store_slots | plan.constant_slots
    plan.entry_slots = [[slots[value] for value in result.tolist()] for result in tape.results]
    for result in tape.results:
        tiles = _output_lane_tiles(tape, result, lanes)
        if len(tiles) >= MIN_TILES_TO_LEAD and len(result) % lanes == 0:
            tiles = _align_lane_tiles(tiles)
        plan.tiles.append(tiles)
    return plan


def _output_lane_tiles(tape: Tape, result: RegisterIndices, lanes: int) -> list[LaneTile]:
    """The tiles of an output."""
    tiles = []
    for first in range(0, len(result), lanes):
        values = result[first : first + lanes].tolist()
        is_flat = len(set(values)) == 1 and tape.ops[values[0]] == Op.CONSTANT
        edge: Literal["", "rest"] = "" if len(values) == lanes else "rest"
        tiles.append(LaneTile(first, edge=edge, constant=values[0] if is_flat else None))
    return tiles


def _align_lane_tiles(tiles: list[LaneTile]) -> list[LaneTile]:
    """The tiles that begin at cache lines, with a part of a tile before and after them."""
    between = [
        replace(one, leads=True, constant=one.constant if one.constant == other.constant else None)
        for one, other in pairwise(tiles)
    ]
    return [
        replace(tiles[0], edge="head"),
        *between,
        replace(tiles[-1], leads=True, edge="tail"),
    ]
