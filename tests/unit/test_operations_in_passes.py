"""Every operation of the tape through recording, every pass and the counts, against mpmath."""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwright.ports import Port
from linkwright.tape import (
    OPERATION_ARITY,
    Op,
    count_tape_operations,
    count_tape_operations_by_kind,
    count_tape_state_operations,
    record_tape,
)
from linkwright.tape.writer import TapeWriter
from tests.operation_tapes import (
    DOMAIN,
    OPERATIONS,
    PASSES,
    REFERENCE,
    each_operation,
    operation_tape,
    quarters,
    reference,
    values_by_meaning,
)
from tests.tapes import run


def test_no_operation_is_left_out() -> None:
    """A new operation needs a meaning here, and with it goes through all tests below."""
    assert set(REFERENCE) == set(Op) - {Op.CONSTANT, Op.INPUT}
    for op in OPERATIONS:
        assert op in operation_tape(op, 0).ops


@each_operation
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_passes_keep_the_values(op: Op, seed: int) -> None:
    tape = operation_tape(op, seed)
    states = quarters(7, seed)
    wanted = reference(tape, states)
    for name, change in PASSES.items():
        made = change(tape)
        assert count_tape_operations(made) <= count_tape_operations(tape), name
        np.testing.assert_allclose(run(made, states)[0], wanted, 1e-13, 1e-14, err_msg=name)


CASADI: dict[Op, Callable[..., ca.SX]] = {
    Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b, Op.NEG: lambda a: -a, Op.SQRT: ca.sqrt, Op.SIN: ca.sin,
    Op.COS: ca.cos, Op.TAN: ca.tan, Op.ASIN: ca.asin, Op.ACOS: ca.acos, Op.ATAN2: ca.atan2,
    Op.EXP: ca.exp, Op.LOG: ca.log, Op.POW: ca.power, Op.TANH: ca.tanh, Op.ABS: ca.fabs,
    Op.SIGN: ca.sign, Op.MIN: ca.fmin, Op.MAX: ca.fmax, Op.LT: ca.lt, Op.LE: ca.le, Op.EQ: ca.eq,
    Op.NE: ca.ne, Op.AND: ca.logic_and, Op.OR: ca.logic_or, Op.NOT: ca.logic_not,
    Op.SELECT: ca.if_else, Op.FLOOR: ca.floor,
}  # fmt: skip


@each_operation
def test_recording_keeps_the_meaning(op: Op) -> None:
    """CasADi has no fused multiply–add; all others come from it."""
    assert set(CASADI) == set(REFERENCE) - {Op.FMA}
    if op is Op.FMA:
        return
    x = ca.SX.sym("x", OPERATION_ARITY[op])
    tape = record_tape(ca.Function("f", [x], [CASADI[op](*ca.vertsplit(x))]))
    rng = np.random.default_rng(op)
    states = rng.uniform(*DOMAIN.get(op, (-3, 3)), (20, OPERATION_ARITY[op]))
    states[::2] = np.round(states[::2]) + (op in DOMAIN and op not in (Op.ASIN, Op.ACOS))
    if op is Op.DIV:
        states[states == 0] = 2.0
    np.testing.assert_allclose(run(tape, states)[0], values_by_meaning(op, states), 1e-13, 1e-15)


@each_operation
def test_counts_follow_the_conventions(op: Op) -> None:
    """Negation is free, a fused multiply–add counts 2, everything else 1; what depends on
    parameters alone is not counted among operations on states."""
    cost = {Op.NEG: 0, Op.FMA: 2}.get(op, 1)
    for name, moves in (("q", True), ("p", False)):
        writer = TapeWriter()
        operands = [writer.write_instruction(Op.INPUT, 0, k) for k in range(OPERATION_ARITY[op])]
        made = writer.write_instruction(op, *operands)
        writer.write_constant(2.0)
        tape = writer.finish_tape(
            "f", [Port(name, (3,))], [Port("y", ())], [np.array([made], np.int32)]
        )
        kinds = {op.name.lower(): 1} if cost else {}
        assert count_tape_operations(tape) == cost
        assert count_tape_operations_by_kind(tape) == kinds
        assert count_tape_state_operations(tape) == (kinds if moves else {})
