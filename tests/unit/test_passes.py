"""Passes on tapes: whatever they do to the order and the number of instructions, the numbers stay.

Inputs are small integers, so that sums and products are exact and any regrouping shows.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.ports import Port
from linkwright.readings.llvm import compile_tape, target
from linkwright.readings.llvm.fused_multiply_add import find_machine_fused_multiply_adds
from linkwright.tape import (
    OPERATION_ARITY,
    Op,
    Tape,
    count_tape_operations,
    largest_number_of_live_values,
    normalize_tape,
    schedule_tape,
    share_tape_reciprocals,
)
from linkwright.tape.writer import TapeWriter, remove_dead_tape_instructions
from tests.tapes import run

CHOICES = [Op.ADD, Op.SUB, Op.MUL, Op.NEG, Op.ABS, Op.MIN, Op.SELECT]


@st.composite
def tapes(draw: st.DrawFn) -> Tape:
    """Straight-line programs of exact operations, with outputs that are constants or shared."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_in, length = draw(st.integers(1, 12)), draw(st.integers(1, 200))
    shape = draw(st.sampled_from([(), (1,), (7,), (8,), (9,), (3, 5), (4, 8)]))
    writer = TapeWriter()
    values = [writer.write_instruction(Op.INPUT, 0, i) for i in range(n_in)]
    values += [writer.write_constant(c) for c in (0.0, 1.0, -2.0)]
    degree = dict.fromkeys(values, 1)
    for _ in range(length):
        op = CHOICES[rng.integers(len(CHOICES))]
        args = [
            values[rng.integers(max(0, len(values) - 30), len(values))]
            for _ in range(OPERATION_ARITY[op])
        ]
        if op is Op.MUL and sum(degree[a] for a in args) > 8:
            op = Op.SUB
        made = writer.write_instruction(op, *args)
        degree[made] = (
            sum(degree[a] for a in args) if op is Op.MUL else max(degree[a] for a in args)
        )
        values.append(made)
    port = Port("y", shape)
    results = rng.choice(values, max(1, port.size)).astype(np.int32)
    return remove_dead_tape_instructions(
        writer.finish_tape("random", [Port("x", (n_in,))], [port], [results])
    )


def states(tape: Tape, count: int = 21) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.integers(-1, 2, (count, *tape.inputs[0].shape)).astype(float)


@settings(max_examples=150, deadline=None)
@given(tapes())
def test_normalising_and_scheduling_keep_the_numbers(tape: Tape) -> None:
    x = states(tape)
    (wanted,) = run(tape, x)
    made = schedule_tape(normalize_tape(tape))
    np.testing.assert_array_equal(run(made, x)[0], wanted)
    assert count_tape_operations(made) <= count_tape_operations(tape)
    for k, op in enumerate(made.ops):
        if op != Op.INPUT:
            assert all(a < k for a in made.args[k, : OPERATION_ARITY[Op(op)]]), (
                "operands come first"
            )


@settings(max_examples=40, deadline=None)
@given(tapes(), st.sampled_from([20, 60, 1500]))
def test_any_cut_gives_the_same_code(tape: Tape, length: int) -> None:
    """Functions of 20 instructions or of 1500, with fused products: the same numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, "CHUNK_LENGTH", length)
        patch.setattr(target, "CHUNK_LENGTH_OF_WHOLE_VECTORS", length)
        function = compile_tape(tape, threads=1)
    x = states(tape)
    (wanted,) = run(tape, x)
    np.testing.assert_array_equal(function(x), np.broadcast_to(wanted, function(x).shape))


@settings(max_examples=100, deadline=None)
@given(tapes())
def test_products_are_fused_only_where_nobody_else_needs_them(tape: Tape) -> None:
    fused, gone = find_machine_fused_multiply_adds(tape)
    uses: dict[int, list[int]] = {}
    for k, op in enumerate(tape.ops):
        if op != Op.INPUT:
            for a in tape.args[k, : OPERATION_ARITY[Op(op)]]:
                uses.setdefault(int(a), []).append(k)
    outputs = {int(r) for result in tape.results for r in result}
    for sum_, pair in fused.items():
        assert tape.ops[pair.product] == Op.MUL
        assert sum_ in uses[pair.product]
    for value in gone:
        assert value not in outputs
        assert all(user in fused or user in gone for user in uses[value])


@pytest.mark.parametrize("name", ["puma560", "quadruped"])
def test_common_subexpressions_are_found_up_to_sign(name: str) -> None:
    """a − b and b − a, or −(a b) and (−a) b, are computed once."""
    tape = lw.compile(lw.gallery(name)).tape("inverse_dynamics")
    products = set()
    for k in np.flatnonzero(tape.ops == Op.MUL):
        factors = []
        for a in tape.args[k, :2].tolist():
            while tape.ops[a] == Op.NEG:
                a = int(tape.args[a, 0])
            factors.append(a)
        key = tuple(sorted(factors))
        assert key not in products
        products.add(key)
    differences = {frozenset(tape.args[k, :2].tolist()) for k in np.flatnonzero(tape.ops == Op.SUB)}
    assert len(differences) == (tape.ops == Op.SUB).sum()


def test_outputs_of_the_last_joints_are_made_first() -> None:
    """Mechanisms are computed from the tips inward: y[2] before y[1] before y[0]."""
    writer = TapeWriter()
    sines = [
        writer.write_instruction(Op.SIN, writer.write_instruction(Op.INPUT, 0, k)) for k in range(3)
    ]
    tape = writer.finish_tape(
        "f", [Port("x", (3,))], [Port("y", (3,))], [np.array(sines, np.int32)]
    )
    made = schedule_tape(tape)
    assert made.results[0].tolist() == sorted(made.results[0].tolist(), reverse=True)
    x = np.array([0.1, 0.2, 0.3])
    np.testing.assert_array_equal(run(made, x)[0], np.sin(x))


def test_few_values_wait_in_the_sweeps_over_a_long_chain() -> None:
    """Outward, inward, outward: a link leaves six components of velocity and a few products for
    the way back, not also its whole inertia (33 values a link before)."""
    model = lw.compile(lw.load(alternating_chain(60)), threads=1)
    tape = model.tape("forward_dynamics")
    assert largest_number_of_live_values(tape) < 20 * 60
    x = np.random.default_rng(2).uniform(-1, 1, (3, 60))
    qdd = model.forward_dynamics(*x)
    np.testing.assert_allclose(model.inverse_dynamics(*x[:2], qdd), x[2], atol=1e-9)


def test_few_values_wait_in_the_inward_sweep_of_a_long_chain() -> None:
    """Each link's wrench is computed when its inner neighbour needs it (19 values a link before)."""
    tape = lw.compile(lw.load(alternating_chain(60)), threads=1).tape("inverse_dynamics")
    assert largest_number_of_live_values(tape) < 10 * 60


def alternating_chain(count: int) -> str:
    """A chain of bodies with full inertias whose axes point along x, y and z in turn."""
    text = 'name = "chain"\n'
    for k in range(count):
        parent, axis = f"b{k - 1}" if k else "ground", [int(k % 3 == i) for i in range(3)]
        text += f"""
[bodies.b{k}]
mass = {1 + k % 7 / 10}
center = [0.03, -0.02, 0.01]
inertia = {{ xx = 0.02, yy = 0.03, zz = 0.04, xy = 0.001, xz = 0.002, yz = -0.001 }}
[joints.q{k}]
type = "revolute"
parent = "{parent}"
child = "b{k}"
origin = [0.1, 0.02, 0.03]
axis = {axis}
"""
    return text


def _quotient_tape(divisors: list[str | float]) -> Tape:
    """x0/d, x1/d, … with each divisor an input "d0", "d1" or a constant."""
    writer = TapeWriter()
    places = {f"d{n}": writer.write_instruction(Op.INPUT, 1, n) for n in range(2)}
    results = []
    for k, divisor in enumerate(divisors):
        below = places[divisor] if isinstance(divisor, str) else writer.write_constant(divisor)
        above = writer.write_instruction(Op.INPUT, 0, k)
        results.append(writer.write_instruction(Op.DIV, above, below))
    count = len(divisors)
    inputs = [Port("x", (count,)), Port("d", (2,))]
    return remove_dead_tape_instructions(
        writer.finish_tape(
            "quotients", inputs, [Port("y", (count,))], [np.array(results, np.int32)]
        )
    )


def test_quotients_with_one_divisor_share_its_reciprocal() -> None:
    tape = share_tape_reciprocals(_quotient_tape(["d0", "d0", "d0", "d1", 4.0, 3.0]))
    kinds = [op for op in tape.operations if op in (Op.DIV, Op.MUL)]
    assert kinds.count(Op.DIV) == 2  # 1/d0, and x3/d1 as it was
    assert kinds.count(Op.MUL) == 5
    rng = np.random.default_rng(0)
    x, d = rng.uniform(-9, 9, (2, 400, 6))
    found = run(tape, x, d[:, :2])[0]
    expected = x / np.stack([d[:, 0]] * 3 + [d[:, 1], 0 * x[:, 0] + 4, 0 * x[:, 0] + 3], axis=1)
    assert (abs(found - expected) <= 1.5 * np.spacing(abs(expected))).all()
    np.testing.assert_array_equal(found[:, 3:5], expected[:, 3:5])  # exact where nothing is lost


@pytest.mark.parametrize("divisor", [0.0, 5e-324, 1e-309, 2.0**1023, np.inf, np.nan])
def test_constants_without_a_precise_reciprocal_still_divide(divisor: float) -> None:
    tape = _quotient_tape([divisor])
    assert share_tape_reciprocals(tape) is tape


@pytest.mark.parametrize("value", [0.0, np.inf, -np.inf, np.nan, 1e300, 1e-300])
def test_shared_reciprocals_divide_by_special_numbers_as_division_does(value: float) -> None:
    tape = share_tape_reciprocals(_quotient_tape(["d0", "d0"]))
    x = np.array([[2.0, -3.0], [0.0, np.inf]])
    with np.errstate(all="ignore"):
        found = run(tape, x, np.full((2, 2), value))[0]
        np.testing.assert_allclose(found, x / value, rtol=4e-16)
