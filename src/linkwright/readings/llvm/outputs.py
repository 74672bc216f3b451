"""Where outputs wait in a context, and when they leave it.

Outputs leave in tiles of W entries, as soon as the chunk that completes a tile has run and
while its vectors are still in the nearest cache; then their slots are free again. Tiles of
nothing but constants (blocks of zeros, mostly) wait in slots of their own, written once, and
need no transposing: every state has the same row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...tape import Op, Tape
from .chunks import Chunk


@dataclass(frozen=True)
class Tile:
    """Entries [first, first + W) of an output port, at W slots of a context; `row` numbers
    the row of constants that it is, if it is one."""

    port: int
    first: int
    slot: int
    row: int | None = None


@dataclass
class Plan:
    """`leaving[c]` are the tiles that are complete after chunk c; `stores` and `fills` say to
    which slots values go when they are made, and constants in which chunk; `fixed` those that
    are written once, and `rows` the distinct rows of constants."""

    leaving: list[list[Tile]]
    stores: dict[int, list[int]] = field(default_factory=dict)
    fills: list[list[tuple[int, int]]] = field(default_factory=list)
    fixed: list[tuple[int, int]] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    slots: int = 0


def plan_outputs(tape: Tape, chunks: Sequence[Chunk], lanes: int) -> Plan:
    """Slots (counted from 0) for all outputs of a tape."""
    piece = np.zeros(len(tape), np.int64)
    for n, chunk in enumerate(chunks):
        piece[chunk.start : chunk.stop] = n
    constant = tape.ops == Op.CONSTANT
    plan = Plan([[] for _ in chunks], fills=[[] for _ in chunks])
    spans = _spans(tape, piece, constant, lanes)
    _place_constant_tiles(plan, [s for s in spans if s.born is None])
    _place_tiles(plan, [s for s in spans if s.born is not None], constant, len(chunks), lanes)
    return plan


@dataclass(frozen=True)
class _Span:
    """A tile before it has a slot: its values, and the chunks that begin and complete it."""

    port: int
    first: int
    values: tuple[int, ...]
    born: int | None
    ready: int


def _spans(tape: Tape, piece: np.ndarray, constant: np.ndarray, lanes: int) -> list[_Span]:
    found = []
    for port, result in enumerate(tape.results):
        ready = 0
        for first in range(0, len(result), lanes):
            values = result[first : first + lanes]
            made = piece[values[~constant[values]]]
            born = int(made.min()) if len(made) else None
            ready = int(made.max()) if len(made) else ready  # constants leave with a neighbour
            found.append(_Span(port, first, tuple(values.tolist()), born, ready))
    return found


def _place_constant_tiles(plan: Plan, spans: list[_Span]) -> None:
    known: dict[tuple[int, ...], tuple[int, int]] = {}
    for span in spans:
        if span.values not in known:
            known[span.values] = plan.slots, len(plan.rows)
            plan.fixed += [(v, plan.slots + i) for i, v in enumerate(span.values)]
            plan.rows.append(span.values)
            plan.slots += len(span.values)
        plan.leaving[span.ready].append(Tile(span.port, span.first, *known[span.values]))


def _place_tiles(
    plan: Plan, spans: list[_Span], constant: np.ndarray, chunks: int, lanes: int
) -> None:
    plan.slots = -(-plan.slots // lanes) * lanes
    free: list[int] = []
    for n in range(chunks):
        for span in (s for s in spans if s.born == n):
            slot = free.pop() if free else plan.slots
            plan.slots += lanes if slot == plan.slots else 0
            for i, value in enumerate(span.values):
                if constant[value]:
                    plan.fills[n].append((value, slot + i))
                else:
                    plan.stores.setdefault(value, []).append(slot + i)
            plan.leaving[span.ready].append(Tile(span.port, span.first, slot))
        free += [tile.slot for tile in plan.leaving[n] if tile.row is None]
