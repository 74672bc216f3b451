"""The pass that orders instructions such that values have short live ranges.

Mechanisms are computed from the tips to the base. Outputs are computed in that order, entries of
the last joints first and those of all matrices together; each output is preceded by the
instructions that it still needs, in their old order.
"""

from __future__ import annotations

import numpy as np

from .tape import OPERATION_ARITY, Op, Tape
from .writer import reorder_tape_instructions


def schedule_tape(tape: Tape) -> Tape:
    """The tape with its instructions ordered such that few values are alive at a time."""
    arity = {int(op): n for op, n in OPERATION_ARITY.items()} | {int(Op.INPUT): 0}
    args, ops = tape.args.tolist(), tape.ops.tolist()
    done = np.zeros(len(tape), bool)
    order: list[int] = []
    for output in _scheduled_tape_outputs(tape):
        fresh, pending = [], [output]
        while pending:
            k = pending.pop()
            if not done[k]:
                done[k] = True
                fresh.append(k)
                pending += args[k][: arity[ops[k]]]
        order += sorted(fresh)
    return reorder_tape_instructions(tape, np.array(order, np.int64))


def _scheduled_tape_outputs(tape: Tape) -> list[int]:
    """The output values, those with the largest indices first."""
    found = []
    for number, (port, result) in enumerate(zip(tape.outputs, tape.results, strict=True)):
        for index, value in zip(np.ndindex(*port.shape), result.tolist(), strict=True):
            high, low = max(index, default=0), min(index, default=0)
            found.append((-high, -low, number, value))
    return list(dict.fromkeys(value for *_, value in sorted(found)))
