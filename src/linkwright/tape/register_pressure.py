"""The order of instructions that keeps few values alive, for machines without memory to spare.

`schedule_tape` keeps the order of a formulation, sweep by sweep, in which compilers find much to do
at a time. Where a thread of a GPU has too few registers for it, `shorten_live_ranges` computes
what frees registers first: list scheduling by the change of the number of values alive.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np

from .tape import OPERATION_ARITY, Op, Tape
from .writer import reorder_tape_instructions


def count_live_values(tape: Tape) -> int:
    """Return the largest number of values that later instructions need at a time."""
    last = np.full(len(tape), -1)
    for k, needed in enumerate(_needed_values(tape)):
        last[needed] = k
    changes = np.zeros(len(tape) + 1, np.int64)
    alive = last >= 0
    np.add.at(changes, np.flatnonzero(alive), 1)
    np.add.at(changes, last[alive], -1)
    return int(np.cumsum(changes).max(initial=0))


def fit_tape_to_registers(tape: Tape, registers: int) -> Tape:
    """Return the tape; in another order if it needs more registers and that order needs fewer."""
    needed = count_live_values(tape)
    if needed <= registers:
        return tape
    other = shorten_live_ranges(tape)
    return other if count_live_values(other) < needed else tape


def shorten_live_ranges(tape: Tape) -> Tape:
    """Return the tape in an order that computes next what leaves the fewest values alive.

    Inputs are read where they are first needed.
    """
    needed = _needed_values(tape)
    users: list[list[int]] = [[] for _ in needed]
    for k, own in enumerate(needed):
        for a in own:
            users[a].append(k)
    operations = tape.operations
    is_free = [op in (Op.INPUT, Op.CONSTANT) for op in operations]
    uses = [len(own) for own in users]
    missing = [sum(not is_free[a] for a in own) for own in needed]
    is_done = [op is Op.CONSTANT for op in operations]
    order = [k for k in range(len(tape)) if is_done[k]]

    def count_change(k: int) -> int:
        change = int(uses[k] > 0)
        for a in needed[k]:
            if is_done[a]:
                change -= uses[a] == 1
            else:  # an input that is read now
                change += uses[a] > 1
        return change

    ready: list[tuple[int, int]] = []
    for k in range(len(tape)):
        if not is_free[k] and missing[k] == 0:
            heappush(ready, (count_change(k), k))
    while ready:
        k = heappop(ready)[1]
        if is_done[k]:
            continue
        again = []
        for a in needed[k]:
            if not is_done[a]:
                is_done[a] = True
                order.append(a)
                again += users[a]
            uses[a] -= 1
            if uses[a] == 1:
                again += users[a]
        is_done[k] = True
        order.append(k)
        for user in users[k]:
            missing[user] -= 1
            again.append(user)
        for other in again:  # their change may be smaller now; the old entry is then ignored
            if not is_done[other] and missing[other] == 0:
                heappush(ready, (count_change(other), other))
    order += [k for k in range(len(tape)) if not is_done[k]]  # inputs that are outputs
    return reorder_tape_instructions(tape, np.array(order, np.int64))


def _needed_values(tape: Tape) -> list[list[int]]:
    """Return the values, other than constants, that each instruction needs."""
    arity = {**OPERATION_ARITY, Op.INPUT: 0}
    operations, operands = tape.operations, tape.operands
    return [
        sorted({a for a in operands[k][: arity[op]] if operations[a] is not Op.CONSTANT})
        for k, op in enumerate(operations)
    ]
