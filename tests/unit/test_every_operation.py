"""Every operation of the tape, through every pass and in every reading, against mpmath.

`REFERENCE` says what the operations mean. Operands come with both signs, so that what a pass does
with signs shows; states are quarters, so that comparisons meet ties.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction

import casadi as ca
import flint
import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwright.algebra.exact.prime_field import PrimeField
from linkwright.algebra.exact.quotient_expressions import QuotientPrinter
from linkwright.algebra.exact.residues import FIELD_PRIME
from linkwright.algebra.exact.tape_algebra import evaluate_tape_in_algebra
from linkwright.algebra.exact.tape_identity import compare_tapes_modulo_prime
from linkwright.algebra.exact.trig_polynomials import evaluate_tape_in_quotient_field
from linkwright.errors import UnsupportedError
from linkwright.expressions import expression_text, expression_to_float
from linkwright.ports import Port
from linkwright.readings.balls import BallAlgebra, evaluate_tape_in_balls
from linkwright.readings.heyoka import read_tape_as_heyoka
from linkwright.readings.listing import read_tape_as_listing
from linkwright.readings.llvm import compile_tape
from linkwright.tape import (
    OPERATION_ARITY,
    Op,
    Tape,
    count_tape_operations,
    count_tape_operations_by_kind,
    count_tape_state_operations,
    normalize_tape,
    record_tape,
    remove_dead_tape_instructions,
    schedule_tape,
)
from linkwright.tape.writer import TapeWriter
from tests.tapes import run

mpf = mpmath.mpf
REFERENCE: dict[Op, Callable[..., object]] = {
    Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b, Op.NEG: lambda a: -a, Op.SQRT: mpmath.sqrt, Op.SIN: mpmath.sin,
    Op.COS: mpmath.cos, Op.TAN: mpmath.tan, Op.ASIN: mpmath.asin, Op.ACOS: mpmath.acos,
    Op.ATAN2: mpmath.atan2, Op.EXP: mpmath.exp, Op.LOG: mpmath.log, Op.POW: mpmath.power,
    Op.TANH: mpmath.tanh, Op.ABS: abs, Op.SIGN: mpmath.sign, Op.MIN: min, Op.MAX: max,
    Op.LT: lambda a, b: mpf(a < b), Op.LE: lambda a, b: mpf(a <= b),
    Op.EQ: lambda a, b: mpf(a == b), Op.NE: lambda a, b: mpf(a != b),
    Op.AND: lambda a, b: mpf(bool(a) and bool(b)), Op.OR: lambda a, b: mpf(bool(a) or bool(b)),
    Op.NOT: lambda a: mpf(not a), Op.SELECT: lambda c, a, b: a if c else b,
    Op.FLOOR: mpmath.floor, Op.FMA: lambda a, b, c: a * b + c,
}  # fmt: skip
OPERATIONS = sorted(REFERENCE)
TRUTHS = {Op.AND: (0, 1), Op.OR: (0, 1), Op.NOT: (0,), Op.SELECT: (0,)}
"""Operands that are conditions."""
ENTRIES = 4
NAMES = [[f"x{k}" for k in range(ENTRIES)]]


def test_no_operation_is_left_out() -> None:
    """A new operation needs a meaning here, and with it goes through all tests below."""
    assert set(REFERENCE) == set(Op) - {Op.CONSTANT, Op.INPUT}
    for op in OPERATIONS:
        assert op in operation_tape(op, 0).ops


class _Builder:
    """Operands within the domain of an operation."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.writer = TapeWriter()
        self.x = [self.writer.write_instruction(Op.INPUT, 0, k) for k in range(ENTRIES)]

    def number(self, value: float) -> int:
        return self.writer.write_constant(value)

    def leaf(self) -> int:
        a, b = self.rng.choice(self.x, 2, replace=False)
        match self.rng.integers(5):
            case 0:
                return self.writer.write_instruction(Op.SUB, a, b)
            case 1:
                return self.writer.write_instruction(Op.NEG, a)
            case 2:
                return self.number(float(self.rng.choice([-1.5, -1.0, 0.75, 2.0])))
            case _:
                return int(a)

    def positive(self, a: int) -> int:
        square = self.writer.write_instruction(Op.MUL, a, a)
        return self.writer.write_instruction(Op.ADD, square, self.number(0.25))

    def operand(self, op: Op, place: int, leaf: int) -> int:
        write = self.writer.write_instruction
        if place in TRUTHS.get(op, ()):
            return write(Op.LT, leaf, self.leaf())
        if op in (Op.SQRT, Op.LOG) or (op is Op.POW and place == 0):
            return self.positive(leaf)
        if op is Op.DIV and place == 1:
            return self.signed(self.positive(leaf))
        if op is Op.ATAN2:  # away from the jump at zero, whose sign mpmath does not know
            return write(Op.ADD, leaf, self.number(0.125))
        if op in (Op.ASIN, Op.ACOS, Op.TAN):
            return write(Op.MUL, self.number(0.125), leaf)
        return leaf

    def signed(self, a: int) -> int:
        return self.writer.write_instruction(Op.NEG, a) if self.rng.integers(2) else a


def operation_tape(op: Op, seed: int) -> Tape:
    """f(a, …), its negative, f of the operands with the other sign, and their difference."""
    made = _Builder(seed)
    write = made.writer.write_instruction
    leaves = [made.leaf() for _ in range(OPERATION_ARITY[op])]
    leaves[0] = made.x[0]  # so that something is left to compute
    y = write(op, *(made.operand(op, k, a) for k, a in enumerate(leaves)))
    negated = [write(Op.NEG, a) if k == 0 or made.rng.integers(2) else a
               for k, a in enumerate(leaves)]  # fmt: skip
    z = write(op, *(made.operand(op, k, a) for k, a in enumerate(negated)))
    results = [y, write(Op.NEG, y), z, write(Op.SUB, y, z), write(Op.MUL, made.x[1], z)]
    port = Port("y", (len(results),))
    return made.writer.finish_tape(
        "f", [Port("x", (ENTRIES,))], [port], [np.array(results, np.int32)]
    )


def quarters(count: int, seed: int = 0) -> np.ndarray:
    """States with ties."""
    return np.random.default_rng(seed).integers(-8, 9, (count, ENTRIES)) / 4


class _MpAlgebra:
    def constant(self, value: Fraction) -> object:
        return mpf(value.numerator) / value.denominator

    def apply(self, op: Op, operands: Sequence[object]) -> object:
        return REFERENCE[op](*operands)


def reference(tape: Tape, states: np.ndarray) -> np.ndarray:
    """The output of the tape by its meaning, with 40 digits, rounded once."""
    with mpmath.workdps(40):
        return np.array([
            [float(v) for v in evaluate_tape_in_algebra(tape, _MpAlgebra(), [[mpf(x) for x in state]])[0]]
            for state in states.tolist()
        ])  # fmt: skip


operations = pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name.lower())


# -- passes --------------------------------------------------------------------------------

PASSES: dict[str, Callable[[Tape], Tape]] = {
    "dead code": remove_dead_tape_instructions,
    "normalization": normalize_tape,
    "schedule": schedule_tape,
    "all": lambda tape: schedule_tape(normalize_tape(remove_dead_tape_instructions(tape))),
}


@operations
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
DOMAIN = {Op.ASIN: (-1, 1), Op.ACOS: (-1, 1), Op.SQRT: (0.1, 4), Op.LOG: (0.1, 4), Op.POW: (0.1, 4)}


@operations
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
    np.testing.assert_allclose(run(tape, states)[0], _by_meaning(op, states), 1e-13, 1e-15)


def _by_meaning(op: Op, states: np.ndarray) -> np.ndarray:
    return np.array([[float(REFERENCE[op](*map(mpf, state)))] for state in states.tolist()])


@operations
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


# -- readings ------------------------------------------------------------------------------


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


@operations
def test_machine_code_computes_it(op: Op, machine_code: tuple[np.ndarray, ...]) -> None:
    """Batches, single states and single precision."""
    wanted, batches, single, short = (part[:, OPERATIONS.index(op)] for part in machine_code)
    np.testing.assert_allclose(batches, wanted, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(single, wanted[:9], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(short, wanted, rtol=2e-4, atol=1e-5)


@operations
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


@operations
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
        for value in _by_meaning(op, states).ravel().tolist():
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


@operations
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


@operations
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


RATIONAL = {Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.FMA}
IN_A_FIELD = RATIONAL | {Op.SIN, Op.COS, Op.TAN, Op.SQRT, Op.POW}


@operations
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_prime_field_has_the_residue_of_the_exact_value(op: Op, seed: int) -> None:
    field, rng = PrimeField(seed), np.random.default_rng(seed)
    numbers = [Fraction(int(a), int(b)) for a, b in rng.integers(1, 50, (3, 2))]
    operands = [field.constant(x) for x in numbers[: OPERATION_ARITY[op]]]
    if op not in IN_A_FIELD:
        with pytest.raises(UnsupportedError, match=f"{op.name.lower()} has no meaning"):
            field.apply(op, operands)
        lenient = PrimeField(seed, lenient=True)
        one, other = lenient.apply(op, operands), lenient.apply(op, operands)
        assert one.number == other.number, "a function, if an unknown one"
        assert one.marks is not None
        assert one.marks.has_unknown_function
    elif op in RATIONAL:
        exact = REFERENCE[op](*numbers[: OPERATION_ARITY[op]])
        assert isinstance(exact, Fraction)
        assert field.apply(op, operands).number == _residue(exact)
    elif op is Op.POW:
        whole = int(rng.integers(-5, 6))
        found = field.apply(op, [operands[0], field.constant(Fraction(whole))])
        assert found.number == _residue(numbers[0] ** whole)
    elif op is Op.SQRT:
        found = field.apply(op, [field.constant(numbers[0] ** 2)])
        assert found.number in (_residue(numbers[0]), _residue(-numbers[0]))
    else:
        _check_circle(field, op)


def _residue(x: Fraction) -> int:
    return x.numerator * pow(x.denominator, -1, FIELD_PRIME) % FIELD_PRIME


def _check_circle(field: PrimeField, op: Op) -> None:
    """sin and cos lie on the circle, follow the addition theorem; tan is their quotient."""
    a, b = field.symbol("a"), field.symbol("b")
    (sa, ca_), (sb, cb) = (
        [field.apply(f, [angle]).number for f in (Op.SIN, Op.COS)] for angle in (a, b)
    )
    both = field.apply(Op.ADD, [a, b])
    assert (sa * sa + ca_ * ca_) % FIELD_PRIME == 1
    wanted = {
        Op.SIN: sa * cb + ca_ * sb,
        Op.COS: ca_ * cb - sa * sb,
        Op.TAN: (sa * cb + ca_ * sb) * pow(ca_ * cb - sa * sb, -1, FIELD_PRIME),
    }[op]
    assert field.apply(op, [both]).number == wanted % FIELD_PRIME


@operations
def test_proofs_modulo_a_prime_see_through_passes(op: Op) -> None:
    """A tape is identical to what passes make of it, and not to one with another value.

    Normalization writes the power −1.5 as −(1.5); proofs take only constants for known powers.
    """
    change = PASSES["schedule" if op is Op.POW else "all"]
    for seed in range(5):
        tape = operation_tape(op, seed)
        verdict = compare_tapes_modulo_prime(tape, change(tape), NAMES)
        assert verdict.is_identical, f"{op.name} {seed}: {verdict}"
        assert not compare_tapes_modulo_prime(tape, _one_more(tape), NAMES).is_identical


def _one_more(tape: Tape) -> Tape:
    """The tape whose first output is larger by the second input."""
    writer = TapeWriter()
    writer.ops, writer.constants = tape.ops.tolist(), tape.constants.tolist()
    writer.args = [(a, b, c) for a, b, c in tape.args.tolist()]
    results = tape.results[0].copy()
    second = writer.write_instruction(Op.INPUT, 0, 1)
    results[0] = writer.write_instruction(Op.ADD, int(results[0]), second)
    return writer.finish_tape(tape.name, tape.inputs, tape.outputs, [results])


@operations
def test_the_exact_ring_prints_the_value(op: Op) -> None:
    """What is rational in x, sin, cos and roots has one reduced form, with the same value."""
    for seed in range(3):
        tape = operation_tape(op, seed)
        if op not in IN_A_FIELD:
            with pytest.raises(UnsupportedError, match="has no meaning"):
                evaluate_tape_in_quotient_field(tape, {"x": NAMES[0]})
            continue
        if op is Op.POW:
            tape = _whole_power(seed)
        found = evaluate_tape_in_quotient_field(tape, {"x": NAMES[0]})
        printer = QuotientPrinter(found.ring)
        state = [Fraction(3, 4), Fraction(-5, 4), Fraction(2), Fraction(1, 2)]
        values = dict(zip(NAMES[0], state, strict=True))
        (wanted,) = reference(tape, np.array([state], float))
        got = [
            expression_to_float(printer.print_quotient(value), values)
            for value in found.outputs["y"]
        ]
        np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-13)


def _whole_power(seed: int) -> Tape:
    made = _Builder(seed)
    write = made.writer.write_instruction
    y = write(Op.POW, write(Op.SUB, made.x[0], made.x[1]), made.number(float(seed * 2 - 2)))
    return made.writer.finish_tape(
        "f", [Port("x", (ENTRIES,))], [Port("y", (1,))], [np.array([y], np.int32)]
    )
