"""Operation counts: +, −, ×, ÷, √, sin, cos and the like 1 each, fma 2, negation 0."""

from __future__ import annotations

from collections import Counter

from .tape import Op, Tape

_FREE = frozenset({Op.CONSTANT, Op.INPUT, Op.NEG})


def count_operations(tape: Tape) -> int:
    """How many floating-point operations the tape takes."""
    counts = Counter(tape.ops.tolist())
    return sum(n * (2 if op == Op.FMA else 1) for op, n in counts.items() if op not in _FREE)


def operations_by_kind(tape: Tape) -> dict[str, int]:
    counts = Counter(tape.ops.tolist())
    return {Op(op).name.lower(): n for op, n in sorted(counts.items()) if op not in _FREE}
