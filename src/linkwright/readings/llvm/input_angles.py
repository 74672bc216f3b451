"""Angles of a tape whose sines and cosines are computed once for a block: inputs, or inputs plus a constant."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...tape import Op, Tape


def find_input_angles(tape: Tape) -> dict[int, int]:
    """The numbered angles: arguments of sin or cos that are an input, or an input plus a constant."""
    found = dict[int, int]()
    for k in np.flatnonzero((tape.ops == Op.SIN) | (tape.ops == Op.COS)):
        argument = int(tape.args[k, 0])
        if split_input_angle(tape, argument) is not None:
            found.setdefault(argument, len(found))
    return found


def split_input_angle(tape: Tape, value: int) -> tuple[int, float] | None:
    """The input and the offset that add up to a value, or None; −0.0 is not an offset."""
    if tape.ops[value] == Op.INPUT:
        return value, -0.0
    a, b = (int(x) for x in tape.args[value, :2])
    if tape.ops[value] == Op.ADD and tape.ops[a] == Op.CONSTANT:
        a, b = b, a
    if tape.ops[value] not in (Op.ADD, Op.SUB) or tape.ops[a] != Op.INPUT:
        return None
    if tape.ops[b] != Op.CONSTANT:
        return None
    offset = float(tape.constants[b])
    return a, offset if tape.ops[value] == Op.ADD else -offset


def find_loadable_values(tape: Tape, angles: Mapping[int, int]) -> set[int]:
    """The values that every chunk can load from the context or write as a literal."""
    simple = (tape.ops == Op.INPUT) | (tape.ops == Op.CONSTANT)
    turned = (tape.ops == Op.SIN) | (tape.ops == Op.COS)
    known = {int(k) for k in np.flatnonzero(turned) if int(tape.args[k, 0]) in angles}
    return {int(k) for k in np.flatnonzero(simple)} | known
