"""Places of outputs in a context, and the tiles in which they are written to arrays.

Each value has one slot, also where several entries of the outputs have it (zeros, both halves of a symmetric matrix): a
table says which slot an entry has. So the slots stay few, and in the nearest cache. Outputs are written in tiles of W
entries after the last chunk, in the order of memory. A tile may begin at any entry: large outputs are written in tiles
that begin at cache lines, `lead` entries after the row (known at the call), so that a store touches only one line.
Constants are written once into a context and never change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
    entries, all but `lead`, or the rest of the output.
    """

    first: int
    leads: bool = False
    edge: Literal["", "head", "tail", "rest"] = ""


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

    def count_whole_tiles(self, port: int) -> int:
        """The number of tiles of a port that are written whole: they follow each other."""
        return sum(not tile.edge for tile in self.tiles[port])

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
        tiles = _output_lane_tiles(result, lanes)
        if len(tiles) >= MIN_TILES_TO_LEAD and len(result) % lanes == 0:
            tiles = _align_lane_tiles(tiles)
        plan.tiles.append(tiles)
    return plan


def _output_lane_tiles(result: RegisterIndices, lanes: int) -> list[LaneTile]:
    """The tiles of an output."""
    return [
        LaneTile(first, edge="" if first + lanes <= len(result) else "rest")
        for first in range(0, len(result), lanes)
    ]


def _align_lane_tiles(tiles: list[LaneTile]) -> list[LaneTile]:
    """The tiles that begin at cache lines, with a part of a tile before and after them."""
    return [
        replace(tiles[0], edge="head"),
        *(replace(tile, leads=True) for tile in tiles[:-1]),
        replace(tiles[-1], leads=True, edge="tail"),
    ]


def find_constant_tiles(
    slots: Sequence[int], constant_slots: set[int], lanes: int, lead: int, count: int
) -> list[bool]:
    """Whether each of `count` tiles that begin `lead` entries later is one constant; entries are in `slots`."""
    found = []
    for first in range(lead, lead + count * lanes, lanes):
        places = set(slots[first : first + lanes])
        found.append(len(places) == 1 and places <= constant_slots)
    return found
