"""Absolute values of parameters, replaced by ±x: a prime field has no order.

CasADi writes √(x²) as |x|; this occurs for axes with one symbol.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from ...tape import OPERATION_ARITY, Op, Tape, remove_dead_tape_instructions

_FLOAT_OPERATIONS: dict[Op, Callable[..., float]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.ABS: abs,
    Op.SQRT: math.sqrt,
    Op.SIN: math.sin,
    Op.COS: math.cos,
    Op.TAN: math.tan,
    Op.POW: pow,
}


def resolve_base_parameter_signs(tape: Tape, values: Sequence[float]) -> Tape:
    """Replace |x| by x or −x where x depends only on the parameters p, which have the given
    values."""
    ops, args = tape.ops.copy(), tape.args.copy()
    if not (ops == Op.ABS).any():
        return tape
    numbers = _base_parameter_constants(tape, values)
    same = np.arange(len(tape), dtype=args.dtype)  # the instruction that replaces k
    for k, code in enumerate(ops.tolist()):
        if code not in (Op.INPUT, Op.CONSTANT):
            used = OPERATION_ARITY[Op(code)]
            args[k, :used] = same[args[k, :used]]
        inside = numbers[args[k, 0]] if code == Op.ABS else None
        if inside is not None and inside < 0:
            ops[k] = Op.NEG
        elif inside is not None:
            same[k] = args[k, 0]
    results = tuple(same[result] for result in tape.results)
    return remove_dead_tape_instructions(replace(tape, ops=ops, args=args, results=results))


def _base_parameter_constants(tape: Tape, values: Sequence[float]) -> list[float | None]:
    """The value of each instruction that depends only on the parameters p; None for the others."""
    found: list[float | None] = []
    for k, code in enumerate(tape.ops.tolist()):
        op = Op(code)
        value: float | None = None
        if op is Op.CONSTANT:
            value = float(tape.constants[k])
        elif op is Op.INPUT:
            port, entry = tape.args[k, :2].tolist()
            value = values[entry] if tape.inputs[port].name == "p" else None
        elif op in _FLOAT_OPERATIONS:
            operands = [found[a] for a in tape.args[k, : OPERATION_ARITY[op]].tolist()]
            value = None if None in operands else _FLOAT_OPERATIONS[op](*operands)
        found.append(value)
    return found
