"""A pass over the tape: an order of instructions with short live ranges.

Mechanisms are computed from the tips inward. Outputs are made in that order, entries of the
last joints first and those of all matrices together; each brings the instructions that it
still lacks, in the order they had.
"""

from __future__ import annotations

import numpy as np

from .tape import OPERATION_ARITY, Op, Tape
from .writer import reorder_instructions


def schedule_tape(tape: Tape) -> Tape:
    """The same instructions in an order for few values alive at a time."""
    arity = {int(op): n for op, n in OPERATION_ARITY.items()} | {int(Op.INPUT): 0}
    args, ops = tape.args.tolist(), tape.ops.tolist()
    done = np.zeros(len(tape), bool)
    order: list[int] = []
    for output in _outputs_first_order(tape):
        fresh, pending = [], [output]
        while pending:
            k = pending.pop()
            if not done[k]:
                done[k] = True
                fresh.append(k)
                pending += args[k][: arity[ops[k]]]
        order += sorted(fresh)
    return reorder_instructions(tape, np.array(order, np.int64))


def _outputs_first_order(tape: Tape) -> list[int]:
    """Outputs by their indices: the largest first, then the other, then by output."""
    found = []
    for number, (port, result) in enumerate(zip(tape.outputs, tape.results, strict=True)):
        for index, value in zip(np.ndindex(*port.shape), result.tolist(), strict=True):
            high, low = max(index, default=0), min(index, default=0)
            found.append((-high, -low, number, value))
    return list(dict.fromkeys(value for *_, value in sorted(found)))
