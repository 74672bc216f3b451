"""The pass that merges common subexpressions, up to their sign.

Every value is ± a base value. Negations cost nothing: a − b and b − a are one subtraction, (−a)·b
and a·(−b) one product, and signs appear only in sums and outputs.
"""

from __future__ import annotations

import numpy as np

from .tape import OPERATION_ARITY, Op, Tape
from .writer import TapeWriter, remove_dead_tape_instructions

SignedRegister = tuple[bool, int]  # whether negative, base


def normalize_tape(tape: Tape) -> Tape:
    """A tape of the same function with at most as many operations."""
    writer = TapeWriter()
    values: list[SignedRegister] = []
    final = {v for result in tape.results for v in result.tolist()}
    plain: dict[int, int] = {}
    for k in range(len(tape)):
        values.append(_rewrite_tape_instruction(tape, k, writer, values))
        if k in final:  # at once, so that it need not wait
            plain[k] = _write_signed_register(writer, values[k])
    results = tuple(
        np.array([plain[v] for v in result.tolist()], np.int32) for result in tape.results
    )
    return remove_dead_tape_instructions(
        writer.finish_tape(tape.name, tape.inputs, tape.outputs, results)
    )


def _write_signed_register(writer: TapeWriter, value: SignedRegister) -> int:
    """The register that holds the value with its sign."""
    negative, base = value
    return writer.write_instruction(Op.NEG, base) if negative else base


def _rewrite_tape_instruction(
    tape: Tape, k: int, writer: TapeWriter, values: list[SignedRegister]
) -> SignedRegister:
    """The value of instruction k on the new tape, as a sign and a base register."""
    op, operands = tape.operations[k], tape.operands[k]
    if op is Op.CONSTANT:
        number = float(tape.constants[k])
        return number < 0, writer.write_constant(abs(number) if number else number)
    if op is Op.INPUT:
        return False, writer.write_instruction(Op.INPUT, operands[0], operands[1])
    given = [values[a] for a in operands[: OPERATION_ARITY[op]]]
    match op:
        case Op.NEG:
            return not given[0][0], given[0][1]
        case Op.MUL | Op.DIV:
            (s, a), (t, b) = given
            return s != t, writer.write_instruction(op, a, b)
        case Op.ADD:
            return _write_signed_register_sum(writer, *given)
        case Op.SUB:
            return _write_signed_register_sum(writer, given[0], (not given[1][0], given[1][1]))
        case Op.SIN | Op.TAN | Op.ASIN | Op.TANH | Op.SIGN if _is_tape_value_not_constant(
            writer, given[0][1]
        ):
            return given[0][0], writer.write_instruction(op, given[0][1])  # odd functions
        case Op.COS | Op.ABS if _is_tape_value_not_constant(writer, given[0][1]):
            return False, writer.write_instruction(op, given[0][1])  # even functions
        case _:
            return False, writer.write_instruction(
                op, *(_write_signed_register(writer, value) for value in given)
            )


def _is_tape_value_not_constant(writer: TapeWriter, base: int) -> bool:
    return writer.ops[base] != Op.CONSTANT


def _write_signed_register_sum(
    writer: TapeWriter, one: SignedRegister, other: SignedRegister
) -> SignedRegister:
    """The sum of two signed registers, as a sign and a register."""
    (s, a), (t, b) = (one, other) if one[1] <= other[1] else (other, one)
    return s, writer.write_instruction(Op.ADD if s == t else Op.SUB, a, b)
