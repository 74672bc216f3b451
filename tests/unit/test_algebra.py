"""An expression and its recorded tape have one value in every algebra."""

from __future__ import annotations

import random
from fractions import Fraction

import casadi as ca
import pytest

from linkwright.algebra.exact.prime_field import PrimeField
from linkwright.algebra.exact.residue_programs import RandomResiduePoint, ResidueProgram
from linkwright.algebra.exact.residues import FIELD_PRIME, Residue
from linkwright.algebra.exact.tape_algebra import (
    evaluate_expression_in_algebra,
    evaluate_tape_in_algebra,
    record_exact_formula_tape,
)
from linkwright.checking.residue_keys import DualStatementAlgebra, DualStatementValue
from linkwright.checking.statement_jets import StatementJet, StatementJetAlgebra
from linkwright.errors import UnsupportedError
from linkwright.expressions import (
    PI,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Reciprocal,
    Sum,
    evaluate_expression_exactly,
    parse_expression,
)  # fmt: skip
from linkwright.readings.balls import ExactBallAlgebra, ball_precision
from linkwright.tape import Op, record_tape

NAMES = ("a", "b", "c")


def random_expression(rng: random.Random, depth: int) -> Expression:
    if depth == 0:
        number = Number(Fraction(rng.randrange(-(10**20), 10**20), rng.randrange(1, 10**18)))
        return rng.choice(
            [*map(Name, NAMES), Name(PI), number, NumberWithUnit(Number(Fraction(7)), "deg")]
        )
    parts = [random_expression(rng, depth - 1) for _ in range(3)]
    return rng.choice([
        Sum(tuple(parts)), Product(tuple(parts)), Negation(parts[0]), Reciprocal(parts[1]),
        Power(parts[0], Number(Fraction(rng.randrange(-3, 4)))), Call("sin", (parts[0],)),
        Call("atan", (parts[1],)), Call("sqrt", (Power(parts[0], Number(Fraction(2))),)),
    ])  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_an_expression_and_its_tape_have_the_same_value(seed: int) -> None:
    expression = random_expression(random.Random(seed), 3)
    tape = record_exact_formula_tape(expression, inputs=NAMES)
    field = PrimeField(seed, lenient=True)
    inputs = [field.symbol(name) for name in NAMES] + [field.pi()] * (tape.inputs[0].size - 3)
    ((value,),) = evaluate_tape_in_algebra(tape, field, [inputs])
    direct = evaluate_expression_in_algebra(expression, field, field.symbol)
    assert (value.number, value.marks) == (direct.number, direct.marks)
    with ball_precision(200):
        balls = ExactBallAlgebra()
        known = {name: balls.constant(Fraction(k + 3, 7)) for k, name in enumerate(NAMES)}
        inputs = [*known.values()] + [balls.pi()] * (tape.inputs[0].size - 3)
        ((ball,),) = evaluate_tape_in_algebra(tape, balls, [inputs])
        other = evaluate_expression_in_algebra(expression, balls, known.__getitem__)
        assert not ball.is_finite() or not other.is_finite() or ball.overlaps(other)


@pytest.mark.parametrize(
    "text", ["1/3", "0.1", "123456789012345678901234567890/7", "-(2^60)*2^20", "1e-30"]
)
def test_numbers_are_exact_on_the_tape(text: str) -> None:
    """A float holds 53 bits; a recorded number has all that it is written with."""
    expression = parse_expression(text)
    ((value,),) = evaluate_tape_in_algebra(
        record_exact_formula_tape(expression), _Fractions(), [[]]
    )
    assert value == evaluate_expression_exactly(expression)


class _Fractions:
    def constant(self, value: Fraction) -> Fraction:
        return value

    def apply(self, op: Op, operands: list[Fraction]) -> Fraction:
        a, b = operands[0], operands[-1]
        match op:
            case Op.ADD:
                return a + b
            case Op.MUL:
                return a * b
            case Op.DIV:
                return a / b
            case Op.POW:
                return a ** int(b)
            case _:
                return -a


def test_a_power_is_whole_only_where_its_exponent_is_certain() -> None:
    """Modulo a prime √(4 y²/y²) is 2 or −2: its power of x must not be taken for x²."""
    field = PrimeField(1, lenient=True)

    def value(text: str) -> Residue:
        return evaluate_expression_in_algebra(parse_expression(text), field, field.symbol)

    assert value("x^sqrt(4*y^2/y^2)").marks is not None
    assert value("x^sqrt(2809)").marks is not None  # 53², of a prime that is not among the small
    assert value("x^sqrt(4)").number == value("x^2").number
    assert value("x^40/x^39").number == field.symbol("x").number


# -- one prime field -------------------------------------------------------------------------

X = ca.SX.sym("x", 4)
A, B, C, D = ca.vertsplit(X)
LETTERS = ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "expression",
    [
        (A + B) / (A * C - D), A**-3 * B**2, ca.fabs(A - B) * ca.sign(C), ca.fmax(A, B) / ca.fmin(C, D),
        ca.if_else(A < B, C, D), ca.if_else(ca.logic_and(A <= B, ca.ne(C, D)), A, B),
        ca.if_else(A, B, C), ca.logic_or(A, B < C), ca.exp(A * B) - ca.tanh(-C), ca.atan2(A, B + C),
    ],
    ids=str,
)  # fmt: skip
def test_both_readings_modulo_a_prime_give_functions_the_same_values(expression: ca.SX) -> None:
    """The checker's field and the programs of proofs at the same point of the same prime."""
    tape = record_tape(ca.Function("f", [X], [expression]))
    field = PrimeField(11, lenient=True)
    ((value,),) = evaluate_tape_in_algebra(tape, field, [[field.symbol(name) for name in LETTERS]])
    assert ResidueProgram(tape, [LETTERS]).evaluate_residues_at(
        RandomResiduePoint(FIELD_PRIME, 11, 1)
    ) == [[value.number]]


@pytest.mark.parametrize("condition", [A, ca.logic_not(A), ca.logic_and(A, B)], ids=str)
def test_a_condition_that_is_a_number_is_not_taken_for_0_or_1(condition: ca.SX) -> None:
    """`if 2 then b else c` is b: a difference from c + 2 (b − c) is not a proof of anything."""
    tape = record_tape(ca.Function("f", [X], [ca.if_else(condition, C, D)]))
    field = PrimeField(5, lenient=True)
    ((value,),) = evaluate_tape_in_algebra(tape, field, [[field.symbol(name) for name in LETTERS]])
    assert value.marks is not None
    assert value.marks.has_unknown_function


@pytest.mark.parametrize(
    ("text", "derivative"),
    [
        ("x^3/y", "3*x^2/y"), ("sin(x*y) - cos(x)", "y*cos(x*y) + sin(x)"), ("sqrt(x^2)*y", "y*x/sqrt(x^2)"),
        ("1/(x - y)", "-1/(x - y)^2"), ("tan(2*x)", "2 + 2*tan(2*x)^2"), ("y - x*x", "-2*x"),
    ],
)  # fmt: skip
def test_derivatives_modulo_a_prime(text: str, derivative: str) -> None:
    field = PrimeField(2, lenient=True)
    values = {name: field.symbol(name) for name in "xy"}
    jets = {"x": StatementJet(values["x"], {"x": 1}), "y": StatementJet(values["y"])}
    found = evaluate_expression_in_algebra(
        parse_expression(text), StatementJetAlgebra(field), jets.__getitem__
    )
    wanted = evaluate_expression_in_algebra(parse_expression(derivative), field, values.__getitem__)
    assert found.derivatives == {"x": wanted.number}
    with pytest.raises(UnsupportedError, match="derivatives"):
        evaluate_expression_in_algebra(
            parse_expression("exp(x)"), StatementJetAlgebra(field), jets.__getitem__
        )


@pytest.mark.parametrize(
    ("text", "real", "dual"),
    [
        ("x*x/y", "a^2/c", "2*a*b/c - a^2*d/c^2"), ("x^(-2)", "a^(-2)", "-2*b/a^3"),
        ("sin(x) - cos(y)", "sin(a) - cos(c)", "b*cos(a) + d*sin(c)"), ("3 - x", "3 - a", "-b"),
    ],
)  # fmt: skip
def test_dual_numbers_modulo_a_prime(text: str, real: str, dual: str) -> None:
    """x = a + eps b, y = c + eps d."""
    field = PrimeField(3, lenient=True)
    a, b, c, d = (field.symbol(name) for name in LETTERS)
    numbers = {"x": DualStatementValue((a,), (b,)), "y": DualStatementValue((c,), (d,))}
    found = evaluate_expression_in_algebra(
        parse_expression(text), DualStatementAlgebra(field, 1), numbers.__getitem__
    )
    parts = [
        evaluate_expression_in_algebra(parse_expression(x), field, field.symbol).number
        for x in (real, dual)
    ]
    assert [found.real_parts[0].number, found.dual_parts[0].number] == parts
