"""The writing of tapes in single assignment, without repeated or unused instructions."""

from __future__ import annotations

from collections.abc import Sequence
from math import copysign

import numpy as np
from numpy.typing import NDArray

from ..ports import Port
from ..types import Integers
from .tape import COMMUTATIVE_OPERATIONS, Op, Tape


class TapeWriter:
    """Writes instructions in single assignment; a repeated instruction is written once."""

    def __init__(self) -> None:
        self.ops: list[int] = []
        self.args: list[tuple[int, int, int]] = []
        self.constants: list[float] = []
        self.written_before: dict[tuple[float, ...], int] = {}

    def write_instruction(
        self, op: Op, a: int = -1, b: int = -1, c: int = -1, constant: float = 0.0
    ) -> int:
        """Writes an instruction unless it is on the tape already; the number of its value."""
        if a > b and op in COMMUTATIVE_OPERATIONS:
            a, b = b, a
        # −0.0 and 0.0 are different constants
        key = (op, constant, copysign(1.0, constant)) if op is Op.CONSTANT else (op, a, b, c)
        new = len(self.ops)
        index = self.written_before.setdefault(key, new)
        if index == new:
            self.ops.append(op)
            self.args.append((a, b, c))
            self.constants.append(constant)
        return index

    def write_constant(self, value: float) -> int:
        """Writes a constant; the number of its value."""
        return self.write_instruction(Op.CONSTANT, constant=value)

    def finish_tape(
        self,
        name: str,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        results: Sequence[NDArray[np.int32]],
    ) -> Tape:
        """The tape of all instructions, with the given ports and outputs."""
        return Tape(
            name,
            tuple(inputs),
            tuple(outputs),
            np.array(self.ops, np.int16),
            np.array(self.args, np.int32).reshape(-1, 3),
            np.array(self.constants, np.float64),
            tuple(results),
        )


def remove_dead_tape_instructions(tape: Tape) -> Tape:
    """The tape without instructions that no output needs."""
    if _is_every_value_used(tape):
        return tape
    alive = [False] * len(tape)
    for result in tape.results:
        for k in result.tolist():
            alive[k] = True
    is_input = (tape.ops == Op.INPUT).tolist()
    for k in range(len(tape) - 1, -1, -1):
        if alive[k] and not is_input[k]:
            for a in tape.operands[k]:
                if a >= 0:
                    alive[a] = True
    return reorder_tape_instructions(tape, np.flatnonzero(alive))


def _is_every_value_used(tape: Tape) -> bool:
    """Whether each value is an operand or an output: then each leads to an output in the end."""
    is_used = np.zeros(len(tape) + 1, bool)  # the last entry stands for operands −1
    is_used[tape.args[tape.ops != Op.INPUT]] = True
    for result in tape.results:
        is_used[result] = True
    return bool(is_used[:-1].all())


def reorder_tape_instructions(tape: Tape, order: Integers) -> Tape:
    """The tape with only the given instructions, in that order (operands before use)."""
    new = np.full(len(tape) + 1, -1, np.int32)  # the last entry maps −1 to −1
    new[order] = np.arange(len(order))
    ops = tape.ops[order]
    args = tape.args[order]
    is_input = (ops == Op.INPUT)[:, None]
    mapped = np.where(is_input, args, new[np.where(is_input, -1, args)])
    return Tape(
        tape.name,
        tape.inputs,
        tape.outputs,
        ops,
        mapped.astype(np.int32),
        tape.constants[order],
        tuple(new[result] for result in tape.results),
    )
