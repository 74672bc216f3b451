"""The pass that orders instructions such that values have short live ranges.

Mechanisms are computed from the tips to the base. Outputs are computed in that order, entries of
the last joints first and those of all matrices together; each output is preceded by the
instructions that it still needs, in their old order. Where very many values then wait, as in the
sweeps over a long chain, each instruction is put as late as its users allow, if fewer wait so;
else that instruction comes next which leaves the fewest values, if that is better.
"""

from __future__ import annotations

import numpy as np

from .operation_counts import largest_number_of_live_values
from .register_pressure import shorten_live_ranges
from .tape import OPERATION_ARITY, Op, Tape
from .writer import reorder_tape_instructions

MANY_LIVE_VALUES = 512
"""Vectors of 64 bytes that fill a first cache of 32 KiB."""

MAX_LATE_SHARE = 0.75
"""The share of live values that must be left where instructions are put late: they are spread over
all parts of the mechanism then, and short tapes lose by it. The same for the other order."""


def schedule_tape(tape: Tape) -> Tape:
    """The tape with its instructions ordered such that few values are alive at a time."""
    made = _schedule_by_outputs(tape)
    live = largest_number_of_live_values(made) if len(made) > MANY_LIVE_VALUES else 0
    if live <= MANY_LIVE_VALUES:
        return made
    for schedule in (_schedule_late, shorten_live_ranges):
        other = schedule(made)
        if largest_number_of_live_values(other) <= MAX_LATE_SHARE * live:
            return other
    return made


def _schedule_by_outputs(tape: Tape) -> Tape:
    """The tape with the instructions that each output still needs before it."""
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


def _schedule_late(tape: Tape) -> Tape:
    """The tape in the order of the longest way from each instruction to the end; those with ways
    of the same length stay in their order."""
    steps = [0] * len(tape)
    for k in range(len(tape) - 1, -1, -1):
        op, after = tape.operations[k], steps[k] + 1
        for a in tape.operands[k][: OPERATION_ARITY[op]] if op is not Op.INPUT else ():
            steps[a] = max(steps[a], after)
    return reorder_tape_instructions(tape, np.argsort(-np.array(steps), kind="stable"))


def _scheduled_tape_outputs(tape: Tape) -> list[int]:
    """The output values, those with the largest indices first."""
    found = []
    for number, (port, result) in enumerate(zip(tape.outputs, tape.results, strict=True)):
        for index, value in zip(np.ndindex(*port.shape), result.tolist(), strict=True):
            high, low = max(index, default=0), min(index, default=0)
            found.append((-high, -low, number, value))
    return list(dict.fromkeys(value for *_, value in sorted(found)))
