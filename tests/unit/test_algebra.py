"""An expression and its recorded tape have one value in every algebra."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from linkwright.algebra.exact.algebra import evaluate_expression, read, record_expression
from linkwright.algebra.exact.prime_field import PrimeField
from linkwright.expressions import (
    PI,
    Call,
    Expression,
    Measured,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    evaluate,
    parse,
)  # fmt: skip
from linkwright.readings.balls import ExactBalls, precision
from linkwright.tape import Op

NAMES = ("a", "b", "c")


def random_expression(rng: random.Random, depth: int) -> Expression:
    if depth == 0:
        number = Number(Fraction(rng.randrange(-(10**20), 10**20), rng.randrange(1, 10**18)))
        return rng.choice(
            [*map(Name, NAMES), Name(PI), number, Measured(Number(Fraction(7)), "deg")]
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
    tape = record_expression(expression, inputs=NAMES)
    field = PrimeField(seed, lenient=True)
    inputs = [field.symbol(name) for name in NAMES] + [field.pi()] * (tape.inputs[0].size - 3)
    ((value,),) = read(tape, field, [inputs])
    direct = evaluate_expression(expression, field, field.symbol)
    assert (value.number, value.marks) == (direct.number, direct.marks)
    with precision(200):
        balls = ExactBalls()
        known = {name: balls.constant(Fraction(k + 3, 7)) for k, name in enumerate(NAMES)}
        inputs = [*known.values()] + [balls.pi()] * (tape.inputs[0].size - 3)
        ((ball,),) = read(tape, balls, [inputs])
        other = evaluate_expression(expression, balls, known.__getitem__)
        assert not ball.is_finite() or not other.is_finite() or ball.overlaps(other)


@pytest.mark.parametrize(
    "text", ["1/3", "0.1", "123456789012345678901234567890/7", "-(2^60)*2^20", "1e-30"]
)
def test_numbers_are_exact_on_the_tape(text: str) -> None:
    """A float holds 53 bits; a recorded number has all that it is written with."""
    expression = parse(text)
    ((value,),) = read(record_expression(expression), _Fractions(), [[]])
    assert value == evaluate(expression)


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
    """Modulo a prime √4 is 2 or −2: x^√4 must not be taken for x²."""
    field = PrimeField(1, lenient=True)
    power = evaluate_expression(parse("x^sqrt(4)"), field, field.symbol)
    assert power.marks is not None
    assert (
        evaluate_expression(parse("x^40/x^39"), field, field.symbol).number
        == field.symbol("x").number
    )
