"""A tape divided into chunks: functions of a length that suits instruction caches and compilers.

Values that are needed in a later chunk are stored in a workspace. Inputs, sines and cosines of inputs, and constants
are available everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...tape import OPERATION_ARITY, Op, Tape
from ...types import Integers
from .fused_multiply_add import MachineFusedMultiplyAdd

OUTPUT_CHUNK_WEIGHT = 8
"""The number of instructions that an output counts for: a piece's outputs should fit the data cache."""


@dataclass(frozen=True)
class MachineCodeChunk:
    """Instructions [start, stop) with the values that they load and save.

    `loads` maps values to the workspace slots that hold them; `saves` maps values that are needed later to theirs.
    """

    start: int
    stop: int
    loads: dict[int, int]
    saves: dict[int, int]


def cut_into_machine_code_chunks(
    tape: Tape, at_hand: set[int], fused: Mapping[int, MachineFusedMultiplyAdd], length: int
) -> tuple[list[MachineCodeChunk], int]:
    """The chunks of a tape, and the number of workspace slots that they need.

    A fused sum needs the factors of its product, not the product.
    """
    operands = [_machine_code_operands(tape, k, fused) for k in range(len(tape))]
    bounds = _machine_code_chunk_bounds(tape, operands, at_hand, length)
    piece = np.zeros(len(tape), np.int64)
    for n, (start, stop) in enumerate(bounds):
        piece[start:stop] = n
    last_use = piece.copy()
    users: list[set[int]] = [set() for _ in bounds]
    gone = {sum_.product for sum_ in fused.values()}
    for k in range(len(tape)):
        if k in at_hand or k in gone:
            continue
        for a in operands[k]:
            if a not in at_hand and piece[a] != piece[k]:
                last_use[a] = max(last_use[a], piece[k])
                users[piece[k]].add(a)
    slots: dict[int, int] = {}
    free: list[int] = []
    count = 0
    chunks = []
    for n, (start, stop) in enumerate(bounds):
        loads = {a: slots[a] for a in sorted(users[n])}
        saves = {}
        for k in range(start, stop):
            if last_use[k] > n:
                saves[k] = free.pop() if free else count
                count += saves[k] == count
        chunks.append(MachineCodeChunk(start, stop, loads, saves))
        free += [slots.pop(a) for a in list(slots) if last_use[a] == n]
        slots |= saves
    return chunks, count


def _machine_code_operands(
    tape: Tape, k: int, fused: Mapping[int, MachineFusedMultiplyAdd]
) -> list[int]:
    """The values that instruction k needs."""
    if k in fused:
        return [*tape.operands[fused[k].product][:2], fused[k].other]
    op = tape.operations[k]
    return [] if op is Op.INPUT else tape.operands[k][: OPERATION_ARITY[op]]


def _machine_code_chunk_bounds(
    tape: Tape, operands: Sequence[Sequence[int]], at_hand: set[int], length: int
) -> list[tuple[int, int]]:
    """The bounds of the chunks: about every `length` of weight, where the fewest values are alive."""
    weight = np.ones(len(tape), np.int64)
    for result in tape.results:
        np.add.at(weight, result[tape.ops[result] != Op.CONSTANT], OUTPUT_CHUNK_WEIGHT)
    travelled = np.concatenate([[0], np.cumsum(weight)])
    total = int(travelled[-1])
    if total <= length * 3 // 2:
        return [(0, len(tape))]
    alive = _count_live_machine_values(operands, at_hand)
    bounds = [0]
    while total - travelled[bounds[-1]] > length * 3 // 2:
        start = travelled[bounds[-1]]
        low = int(np.searchsorted(travelled, start + length * 3 // 4))
        high = int(np.searchsorted(travelled, start + length * 5 // 4))
        bounds.append(low + int(np.argmin(alive[low : max(high, low + 1)])))
    return list(zip(bounds, [*bounds[1:], len(tape)], strict=True))


def _count_live_machine_values(operands: Sequence[Sequence[int]], at_hand: set[int]) -> Integers:
    """The number of values that are alive before each instruction."""
    last = np.arange(len(operands))
    for k, used in enumerate(operands):
        for a in used:
            last[a] = k
    change = np.zeros(len(operands) + 1, np.int64)
    for a in range(len(operands)):
        if a not in at_hand and last[a] > a:
            change[a + 1] += 1
            change[last[a] + 1] -= 1
    return np.cumsum(change)
