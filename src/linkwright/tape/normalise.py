"""A pass over the tape: common subexpressions up to sign.

Every value is ± a base. Negations cost nothing: a − b and b − a are one subtraction, (−a)·b and
a·(−b) one product, and signs meet in sums and outputs only.
"""

from __future__ import annotations

import numpy as np

from .tape import ARITY, Op, Tape
from .writer import Writer, without_dead

Signed = tuple[bool, int]  # whether negative, base


def normalised(tape: Tape) -> Tape:
    """The same function in at most as many operations."""
    writer = Writer()
    values: list[Signed] = []
    final = {v for result in tape.results for v in result.tolist()}
    plain: dict[int, int] = {}
    for k in range(len(tape)):
        values.append(_rewrite(tape, k, writer, values))
        if k in final:  # at once, so that it need not wait
            plain[k] = _plain(writer, values[k])
    results = tuple(
        np.array([plain[v] for v in result.tolist()], np.int32) for result in tape.results
    )
    return without_dead(writer.tape(tape.name, tape.inputs, tape.outputs, results))


def _plain(writer: Writer, value: Signed) -> int:
    negative, base = value
    return writer.write(Op.NEG, base) if negative else base


def _rewrite(tape: Tape, k: int, writer: Writer, values: list[Signed]) -> Signed:
    op, operands = tape.operations[k], tape.operands[k]
    if op is Op.CONSTANT:
        number = float(tape.constants[k])
        return number < 0, writer.constant(abs(number) if number else number)
    if op is Op.INPUT:
        return False, writer.write(Op.INPUT, operands[0], operands[1])
    given = [values[a] for a in operands[: ARITY[op]]]
    match op:
        case Op.NEG:
            return not given[0][0], given[0][1]
        case Op.MUL | Op.DIV:
            (s, a), (t, b) = given
            return s != t, writer.write(op, a, b)
        case Op.ADD:
            return _sum(writer, *given)
        case Op.SUB:
            return _sum(writer, given[0], (not given[1][0], given[1][1]))
        case Op.SIN | Op.TAN | Op.ASIN | Op.TANH | Op.SIGN if _is_value(writer, given[0][1]):
            return given[0][0], writer.write(op, given[0][1])  # odd functions
        case Op.COS | Op.ABS if _is_value(writer, given[0][1]):
            return False, writer.write(op, given[0][1])  # even functions
        case _:
            return False, writer.write(op, *(_plain(writer, value) for value in given))


def _is_value(writer: Writer, base: int) -> bool:
    return writer.ops[base] != Op.CONSTANT


def _sum(writer: Writer, one: Signed, other: Signed) -> Signed:
    (s, a), (t, b) = (one, other) if one[1] <= other[1] else (other, one)
    return s, writer.write(Op.ADD if s == t else Op.SUB, a, b)
