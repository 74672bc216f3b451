"""Compiled functions of events, and direct LAPACK calls for small linear systems, for which NumPy's
checks cost more than the solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np
from scipy.linalg.lapack import dgelsy, dpotrf, dpotrs

from ...ports import Port
from ...readings.llvm import compile_tape
from ...tape import normalize_tape, record_tape, schedule_tape
from ...types import Floats

NamedExpression = tuple[str, Any, tuple[int, ...]]
"""A name, a CasADi expression, and the shape of its numbers."""


def compile_expressions(
    name: str, inputs: list[NamedExpression], outputs: list[NamedExpression]
) -> Callable[..., list[Floats]]:
    """Return a function of arrays, whose leading axes are states.

    Empty inputs and outputs are left out of the compiled code.
    """
    taken = [k for k, place in enumerate(inputs) if 0 not in place[2]]
    made = [k for k, place in enumerate(outputs) if 0 not in place[2]]
    empty = [np.zeros(shape) for _, _, shape in outputs]
    if not made:
        return lambda *_: list(empty)
    ins, outs = [inputs[k] for k in taken], [outputs[k] for k in made]
    function = ca.Function(
        name,
        [symbol for _, symbol, _ in ins],
        ca.cse([ca.densify(ca.SX(e)) for _, e, _ in outs]),
        [n for n, *_ in ins],
        [n for n, *_ in outs],
    )
    ports = ([Port(n, shape) for n, _, shape in side] for side in (ins, outs))
    code = compile_tape(schedule_tape(normalize_tape(record_tape(function, *ports))), threads=1)

    def call(*values: Any) -> list[Floats]:
        found = code(*(values[k] for k in taken))
        results = list(empty)
        for k, part in zip(made, (found,) if len(made) == 1 else found, strict=True):
            results[k] = part
        return results

    return call


def least_squares(A: Floats, b: Floats, rank_below: float) -> tuple[Floats, int]:
    """Return the least x for which A x is nearest to b, and the rank of A."""
    m, n = A.shape
    right = b if m >= n else np.concatenate([b, np.zeros(n - m)])
    room = min(m, n) + 32 * (n + 2)
    _, x, _, rank, _ = dgelsy(A, right, np.zeros(n, np.int32), rank_below, room)
    return x[:n], int(rank)


def symmetric_inverse(M: Floats) -> Floats | None:
    """Return M⁻¹ of a symmetric matrix; None if it is not positive definite."""
    factor, failed = dpotrf(M)
    if failed:
        return None
    found: Floats = dpotrs(factor, np.eye(len(M)))[0]
    return found
