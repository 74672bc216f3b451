"""Every operation of the tape in the exact algebra: prime fields, proofs, reduced forms."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwright.algebra.exact.prime_field import PrimeField
from linkwright.algebra.exact.quotient_expressions import QuotientPrinter
from linkwright.algebra.exact.residues import FIELD_PRIME
from linkwright.algebra.exact.tape_identity import compare_tapes_modulo_prime
from linkwright.algebra.exact.trig_polynomials import evaluate_tape_in_quotient_field
from linkwright.errors import UnsupportedError
from linkwright.expressions import expression_to_float
from linkwright.ports import Port
from linkwright.tape import OPERATION_ARITY, Op, Tape
from linkwright.tape.writer import TapeWriter
from tests.operation_tapes import (
    ENTRIES,
    NAMES,
    PASSES,
    REFERENCE,
    TapeBuilder,
    each_operation,
    operation_tape,
    reference,
)

RATIONAL = {Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG, Op.FMA}
IN_A_FIELD = RATIONAL | {Op.SIN, Op.COS, Op.TAN, Op.SQRT, Op.POW}


@each_operation
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


@each_operation
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


@each_operation
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
    made = TapeBuilder(seed)
    write = made.writer.write_instruction
    y = write(Op.POW, write(Op.SUB, made.x[0], made.x[1]), made.number(float(seed * 2 - 2)))
    return made.writer.finish_tape(
        "f", [Port("x", (ENTRIES,))], [Port("y", (1,))], [np.array([y], np.int32)]
    )
