"""The pass that replaces quotients by products with reciprocals, for machine arithmetic.

A division takes as long as eight products. Elimination divides many numbers by one pivot: the
pivot's reciprocal is computed once. A product with a rounded reciprocal is within 1.5 units in the
last place of the quotient.
"""

from __future__ import annotations

from collections import Counter
from math import isfinite

import numpy as np

from .tape import OPERATION_ARITY, Op, Tape
from .writer import TapeWriter, remove_dead_tape_instructions

_LARGEST_SAFE_DIVISOR = 2.0**1022
"""Reciprocals of larger constants are subnormal: they have lost digits."""


def share_tape_reciprocals(tape: Tape) -> Tape:
    """Return a tape that divides by each value once, and by constants not at all."""
    divisors = Counter(tape.operands[k][1] for k in np.flatnonzero(tape.ops == Op.DIV).tolist())
    replaced = {
        divisor
        for divisor, uses in divisors.items()
        if (_has_reciprocal(tape, divisor) if tape.ops[divisor] == Op.CONSTANT else uses > 1)
    }
    if not replaced:
        return tape
    writer, new = TapeWriter(), list[int]()
    for k, (op, operands) in enumerate(zip(tape.operations, tape.operands, strict=True)):
        if op is Op.CONSTANT:
            new.append(writer.write_constant(float(tape.constants[k])))
        elif op is Op.INPUT:
            new.append(writer.write_instruction(op, *operands[:2]))
        elif op is Op.DIV and operands[1] in replaced:
            reciprocal = _write_reciprocal(writer, new[operands[1]])
            new.append(writer.write_instruction(Op.MUL, new[operands[0]], reciprocal))
        else:
            given = [new[a] for a in operands[: OPERATION_ARITY[op]]]
            new.append(writer.write_instruction(op, *given))
    results = tuple(np.array([new[v] for v in r.tolist()], np.int32) for r in tape.results)
    return remove_dead_tape_instructions(
        writer.finish_tape(tape.name, tape.inputs, tape.outputs, results)
    )


def _has_reciprocal(tape: Tape, divisor: int) -> bool:
    """Whether the reciprocal of a constant is a finite number with all its digits."""
    number = abs(float(tape.constants[divisor]))
    return 0 < number <= _LARGEST_SAFE_DIVISOR and isfinite(1 / number)


def _write_reciprocal(writer: TapeWriter, divisor: int) -> int:
    """Write the reciprocal of a value, or find it on the tape."""
    if writer.ops[divisor] == Op.CONSTANT:
        return writer.write_constant(1 / writer.constants[divisor])
    return writer.write_instruction(Op.DIV, writer.write_constant(1.0), divisor)
