"""Operation counts: +, −, ×, ÷, √, sin, cos and similar count 1, fma 2, negation 0."""

from __future__ import annotations

from collections import Counter

from .tape import OPERATION_ARITY, Op, Tape

_FREE_OPERATIONS = frozenset({Op.CONSTANT, Op.INPUT, Op.NEG})


def count_tape_operations(tape: Tape) -> int:
    """The number of floating-point operations on the tape."""
    counts = Counter(tape.ops.tolist())
    return sum(
        n * (2 if op == Op.FMA else 1) for op, n in counts.items() if op not in _FREE_OPERATIONS
    )


def count_tape_operations_by_kind(tape: Tape) -> dict[str, int]:
    """The number of floating-point operations on the tape by name: add, mul, sin, …"""
    counts = Counter(tape.ops.tolist())
    return {
        Op(op).name.lower(): n for op, n in sorted(counts.items()) if op not in _FREE_OPERATIONS
    }


def count_tape_state_operations(tape: Tape) -> dict[str, int]:
    """The number of operations by name, without those on parameters alone."""
    moving: list[bool] = []
    counts: Counter[str] = Counter()
    for k, code in enumerate(tape.ops.tolist()):
        op = Op(code)
        if op is Op.INPUT:
            moving.append(tape.inputs[tape.args[k, 0]].name != "p")
            continue
        moving.append(any(moving[a] for a in tape.args[k, : OPERATION_ARITY[op]].tolist()))
        if moving[k] and op not in _FREE_OPERATIONS:
            counts[op.name.lower()] += 1
    return dict(sorted(counts.items()))


def largest_number_of_live_values(tape: Tape) -> int:
    """The largest number of computed values that later instructions need at the same time."""
    operands = [
        set(tape.operands[k][: OPERATION_ARITY[op]]) if op is not Op.INPUT else set()
        for k, op in enumerate(tape.operations)
    ]
    last_use = {a: k for k, several in enumerate(operands) for a in several}
    computed = {k for k, op in enumerate(tape.operations) if op not in (Op.INPUT, Op.CONSTANT)}
    alive = largest = 0
    for k, several in enumerate(operands):
        alive += (k in computed and k in last_use) - sum(
            a in computed and last_use[a] == k for a in several
        )
        largest = max(largest, alive)
    return largest
