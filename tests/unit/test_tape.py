"""Recording: single assignment, the closed list of operations, counting, dead code."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.ports import Port
from linkwright.tape import (
    OPERATION_ARITY,
    Op,
    count_tape_operations,
    count_tape_operations_by_kind,
    record_tape,
)
from tests.tapes import run


def test_record_runs_to_the_same_numbers() -> None:
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 3)
    f = ca.Function("f", [x, y], [x @ y.T, ca.sin(x[0]) + y[2] ** 2, ca.SX(2, 2)])
    tape = record_tape(f)
    given = np.array([0.3, -1.2]), np.array([1.0, 2.0, 3.0])
    for ours, theirs in zip(run(tape, *given), f(*given), strict=True):
        np.testing.assert_allclose(ours.ravel(), np.asarray(theirs).ravel(), rtol=0, atol=1e-15)


def test_single_assignment_and_order() -> None:
    tape = lw.compile(lw.gallery("six-axis")).tape("forward_dynamics")
    for k, op in enumerate(tape.ops):
        if op != Op.INPUT:
            assert all(a < k for a in tape.args[k, : OPERATION_ARITY[Op(op)]])
    rows = {
        (int(o), *map(int, a), float(c))
        for o, a, c in zip(tape.ops, tape.args, tape.constants, strict=True)
    }
    assert len(rows) == len(tape), "no instruction is written twice"


def test_counting_follows_the_convention() -> None:
    x = ca.SX.sym("x", 2)
    f = ca.Function("f", [x], [-(x[0] * x[1]) + 3 * ca.sin(x[0]) - ca.sqrt(x[1]) / x[0]])
    tape = record_tape(f)
    assert count_tape_operations(tape) == 7, count_tape_operations_by_kind(tape)
    assert count_tape_operations_by_kind(tape)["sin"] == 1


def test_dead_code_is_dropped() -> None:
    x = ca.SX.sym("x", 3)
    tape = record_tape(ca.Function("f", [x], [x[0] + 1]))
    assert len(tape) == 3


def test_shapes_can_be_given() -> None:
    x = ca.SX.sym("x")
    tape = record_tape(ca.Function("f", [x], [2 * x]), [Port("x", ())], [Port("y", (1, 1))])
    assert tape.outputs[0].shape == (1, 1)
    assert tape.inputs[0].size == 1


def test_operations_outside_the_list_are_refused_by_name() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(UnsupportedError, match="ERF"):
        record_tape(ca.Function("f", [x], [ca.erf(x)]))


def test_structural_zeros_are_zeros() -> None:
    x = ca.SX.sym("x", 3)
    J = ca.jacobian(x[0] * x[1], x)
    assert J.nnz() == 2
    (row,) = run(record_tape(ca.Function("f", [x], [J])), np.array([2.0, 3.0, 4.0]))
    assert row.ravel().tolist() == [3.0, 2.0, 0.0]


def test_a_derivation_with_symbols_has_only_small_integers() -> None:
    """What is to be exact must not contain a number that went through floating point."""
    for name in ("elbow", "puma560", "six-axis", "stanford", "cart-pole"):
        eqs = lw.derive(lw.gallery(name), parameters="symbolic")
        for quantity in ("inverse_dynamics", "mass_matrix", "coriolis_matrix", "kinetic_energy"):
            tape = record_tape(eqs.function(quantity))
            constants = tape.constants[tape.ops == Op.CONSTANT]
            assert all(c == round(c) and abs(c) <= 1000 for c in constants), (
                name,
                quantity,
                constants,
            )
