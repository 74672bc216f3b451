"""Conditions on parameters, decided by the values that the mechanism gives these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..tape.tape import OPERATION_ARITY, Op, Tape


def decide_parameter_conditions(
    tape: Tape, names: Mapping[str, Sequence[str]], zero: Mapping[str, bool]
) -> Tape:
    """Return the tape without choices by `parameter == 0`, such as that between sign(v) and
    tanh(v/smoothing).

    `names` are those of the entries of inputs, and `zero` tells of parameters if they are 0.
    """
    if Op.SELECT not in tape.operations:
        return tape
    entries = [names.get(port.name, ()) for port in tape.inputs]
    same, known = _decided_values(tape, entries, zero)
    if not known:
        return tape
    ops, args, constants = tape.ops.copy(), tape.args.copy(), tape.constants.copy()
    for k, value in known.items():
        ops[k], args[k], constants[k] = Op.CONSTANT, 0, value
    for k, op in enumerate(tape.operations):
        if k not in known:
            for i in range(OPERATION_ARITY[op]):
                args[k, i] = same[args[k, i]]
    kept = np.array([same[k] == k for k in range(len(tape))])
    results = tuple(np.array([same[v] for v in row], row.dtype) for row in tape.results)
    decided = replace(tape, ops=ops, args=args, constants=constants, results=results)
    return _without_unused_values(decided, kept)


def _decided_values(
    tape: Tape, names: Sequence[Sequence[str]], zero: Mapping[str, bool]
) -> tuple[list[int], dict[int, float]]:
    """Return the value that each value is the same as, and the numbers of those that are known."""
    same, known = list(range(len(tape))), dict[int, float]()
    for k, op in enumerate(tape.operations):
        found = [same[v] for v in tape.operands[k][: OPERATION_ARITY[op]]]
        numbers = [
            tape.constants[v] if tape.operations[v] == Op.CONSTANT else known.get(v) for v in found
        ]
        if op == Op.EQ and 0.0 in numbers:
            other = found[1 - numbers.index(0.0)]
            name = _input_name(tape, other, names)
            if name in zero:
                known[k] = float(zero[name])
        elif not known:
            continue
        elif op == Op.NOT and numbers[0] is not None and found[0] in known:
            known[k] = float(not numbers[0])
        elif op == Op.SELECT and found[0] in known:
            same[k] = found[1] if numbers[0] else found[2]
        elif op == Op.ADD and 0.0 in numbers:
            same[k] = found[1 - numbers.index(0.0)]
    return same, known


def _input_name(tape: Tape, value: int, names: Sequence[Sequence[str]]) -> str:
    """Return the name of an input; "" for other values, and for entries without a name."""
    if tape.operations[value] != Op.INPUT:
        return ""
    port, entry = tape.operands[value][:2]
    return names[port][entry] if entry < len(names[port]) else ""


def _without_unused_values(tape: Tape, kept: NDArray[np.bool_]) -> Tape:
    """Return the tape without values that no result needs; `kept` are those that may stay."""
    needed = np.zeros(len(tape), bool)
    for row in tape.results:
        needed[row] = True
    for k in range(len(tape) - 1, -1, -1):
        if needed[k]:
            needed[tape.args[k, : OPERATION_ARITY[tape.operations[k]]]] = True
    needed &= kept
    place = np.cumsum(needed) - 1
    args = tape.args.copy()
    for k, op in enumerate(tape.operations):
        count = OPERATION_ARITY[op]
        args[k, :count] = place[args[k, :count]]
    return replace(
        tape,
        ops=tape.ops[needed],
        args=args[needed],
        constants=tape.constants[needed],
        results=tuple(place[row].astype(row.dtype) for row in tape.results),
    )
