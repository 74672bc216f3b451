"""Every operation of the tape in machine code, balls, listings and Taylor series, by mpmath."""

from __future__ import annotations

import re
from fractions import Fraction

import casadi as ca
import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwright.errors import UnsupportedError
from linkwright.expressions import expression_text
from linkwright.ports import Port
from linkwright.readings.balls import BallAlgebra, evaluate_tape_in_balls
from linkwright.readings.heyoka import read_tape_as_heyoka
from linkwright.readings.listing import read_tape_as_listing
from linkwright.readings.llvm import compile_tape
from linkwright.tape import OPERATION_ARITY, Op, record_tape
from linkwright.tape.writer import TapeWriter
from tests.operation_tapes import (
    DOMAIN,
    NAMES,
    OPERATIONS,
    REFERENCE,
    each_operation,
    mpf,
    operation_tape,
    quarters,
    reference,
    values_by_meaning,
)


@pytest.fixture(scope="module")
def machine_code() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All operations on one tape, as machine code: states, values by meaning, batches, single."""
    tapes = [operation_tape(op, seed) for op in OPERATIONS for seed in range(4)]
    writer = TapeWriter()
    results: list[int] = []
    for tape in tapes:
        place: list[int] = []
        for k, op in enumerate(tape.operations):
            operands = tape.operands[k][: OPERATION_ARITY[op]]
            if op is Op.CONSTANT:
                place.append(writer.write_constant(float(tape.constants[k])))
            elif op is Op.INPUT:
                place.append(writer.write_instruction(op, *tape.operands[k][:2]))
            else:
                place.append(writer.write_instruction(op, *(place[a] for a in operands)))
        results += [place[r] for r in tape.results[0].tolist()]
    port = Port("y", (len(results),))
    whole = writer.finish_tape("f", tapes[0].inputs, [port], [np.array(results, np.int32)])
    function = compile_tape(whole, threads=1)
    states = quarters(37)
    wanted = np.hstack([reference(tape, states) for tape in tapes])
    return (
        wanted.reshape(37, len(OPERATIONS), -1),
        function(states).reshape(wanted.shape[0], len(OPERATIONS), -1),
        np.array([function(state) for state in states[:9]]).reshape(9, len(OPERATIONS), -1),
        function(states.astype(np.float32)).reshape(wanted.shape[0], len(OPERATIONS), -1),
    )


@each_operation
def test_machine_code_computes_it(op: Op, machine_code: tuple[np.ndarray, ...]) -> None:
    """Batches, single states and single precision."""
    wanted, batches, single, short = (part[:, OPERATIONS.index(op)] for part in machine_code)
    np.testing.assert_allclose(batches, wanted, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(single, wanted[:9], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(short, wanted, rtol=2e-4, atol=1e-5)


@each_operation
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_balls_hold_the_value(op: Op, seed: int) -> None:
    tape = operation_tape(op, seed)
    states = quarters(4, seed)
    for state, wanted in zip(states.tolist(), reference(tape, states), strict=True):
        (found,) = evaluate_tape_in_balls(tape, lambda s=state: [[flint.arb(x) for x in s]], 200)
        for ball, value in zip(found, wanted.tolist(), strict=True):
            assert float(ball.rad()) <= 1e-40 * max(1.0, abs(value))
            assert float(ball.mid()) == pytest.approx(value, rel=1e-15, abs=1e-15)


@each_operation
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_wide_balls_hold_all_values(op: Op, seed: int) -> None:
    """Of operands anywhere in their balls, also where a condition is undecided."""
    rng = np.random.default_rng(seed)
    low, high = DOMAIN.get(op, (-2, 2))
    middle = rng.uniform(low, high, OPERATION_ARITY[op])
    radius = rng.choice([0.0, 0.01, 0.5], OPERATION_ARITY[op])
    if op is Op.DIV:
        middle[1] = np.copysign(abs(middle[1]) + 0.6, middle[1])
    if op in DOMAIN or op is Op.TAN:
        radius = np.minimum(radius, 0.01)
        middle = np.clip(middle, low + 0.05, high - 0.05)
    balls = [flint.arb(m, r) for m, r in zip(middle.tolist(), radius.tolist(), strict=True)]
    hull = BallAlgebra().apply(op, balls)
    states = middle + radius * rng.uniform(-1, 1, (10, len(middle)))
    states[0] = middle
    with mpmath.workdps(40):
        for value in values_by_meaning(op, states).ravel().tolist():
            assert hull.overlaps(flint.arb(value, abs(value) * 1e-15)), (hull, value)


def test_undecided_conditions_give_the_hull_of_both_ways() -> None:
    apply, wide, one, two = BallAlgebra().apply, flint.arb(0, 1), flint.arb(1), flint.arb(2)
    for op in (Op.LT, Op.LE, Op.EQ, Op.NE):
        found = apply(op, (wide, flint.arb(0)))
        assert found.contains(0), op
        assert found.contains(1), op
    chosen = apply(Op.SELECT, (wide, one, two))
    assert chosen.contains(1)
    assert chosen.contains(2)
    assert apply(Op.SIGN, (wide,)).contains(-1)
    assert apply(Op.SIGN, (wide,)).contains(1)
    for op in (Op.AND, Op.OR):
        assert apply(op, (wide, wide)).contains(0), op
        assert apply(op, (wide, wide)).contains(1), op


@pytest.mark.parametrize("largest", [2**20, Fraction(1, 2**20), Fraction(2**20 - 1, 2**20), 0])
def test_small_constants_are_exact(largest: Fraction) -> None:
    """Integers and fractions up to 2^20 are what a tape means; others may have been rounded."""
    ball = BallAlgebra().constant(Fraction(largest))
    assert ball.is_exact()
    assert ball == flint.arb(Fraction(largest).numerator) / Fraction(largest).denominator
    for beyond in (2**20 + 1, Fraction(1, 2**20 + 1), Fraction(0.1)):
        assert not BallAlgebra().constant(Fraction(beyond)).is_exact()


PRINTED = {op.name.lower(): rule for op, rule in REFERENCE.items()}


@each_operation
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_listings_can_be_computed_by_hand(op: Op, seed: int) -> None:
    """The printed text, read by Python, gives the value."""
    tape = operation_tape(op, seed)
    listing = read_tape_as_listing(tape, {"x": ["q1", "q2", "q3", "q4"]})
    states = quarters(3, seed)
    for state, wanted in zip(states.tolist(), reference(tape, states), strict=True):
        with mpmath.workdps(30):
            known = {f"{name}_": rule for name, rule in PRINTED.items()}
            known |= {f"q{k + 1}": mpf(x) for k, x in enumerate(state)}
            for step in listing.steps:
                known[step.name] = _read_printed(expression_text(step.value), known)
            found = [
                float(_read_printed(expression_text(entry.value), known))
                for entry in listing.results["y"]
            ]
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=1e-15)


def _read_printed(text: str, known: dict[str, object]) -> object:
    code = re.sub(r"([a-z]\w*)\(", r"\1_(", text.replace("^", "**"))
    code = re.sub(r"(?<![\w.])(\d+(?:\.\d+)?)", r"mpf('\1')", code)
    return eval(code, {"mpf": mpf}, known)


NOT_SMOOTH = {Op.ABS, Op.SIGN, Op.MIN, Op.MAX, Op.FLOOR}


@each_operation
def test_taylor_integrators_compute_it(op: Op) -> None:
    hy = pytest.importorskip("heyoka")
    x = hy.make_vars(*NAMES[0])
    for seed in range(3):
        tape = operation_tape(op, seed)
        if op in NOT_SMOOTH:
            with pytest.raises(UnsupportedError, match=f"{op.name.lower()} is not smooth"):
                read_tape_as_heyoka(tape, [x])
            continue
        states = quarters(5, seed)
        (made,) = read_tape_as_heyoka(tape, [x])
        found = hy.cfunc(made, vars=x, opt_level=0)(np.ascontiguousarray(states.T)).T
        np.testing.assert_allclose(found, reference(tape, states), rtol=1e-13, atol=1e-14)


def test_listing_leaves_out_terms_that_cancel_and_the_steps_of_these() -> None:
    """y = (s + b a) − s with s = sin(a + b)·b, as velocities of constrained points have it."""
    a, b = ca.SX.sym("a"), ca.SX.sym("b")
    s = ca.sin(a + b) * b
    same = ca.Function("f", [a, b], [(s + b * a) - s, (s - a) + (a - s) * 1, s / a - a])
    inputs = [Port("a", ()), Port("b", ())]
    outputs = [Port("y", ()), Port("z", ()), Port("w", ())]
    listing = read_tape_as_listing(record_tape(same, inputs, outputs), {"a": ["a"], "b": ["b"]})
    found = {name: expression_text(part[0].value) for name, part in listing.results.items()}
    assert found["y"] in ("a*b", "b*a")
    assert found["z"] == "0"
    only = ca.Function("g", [a, b], [(s + b * a) - s])
    tape = record_tape(only, inputs, outputs[:1])
    assert read_tape_as_listing(tape, {"a": ["a"], "b": ["b"]}).steps == ()
