"""Tapes in ball arithmetic (Arb): intervals that are guaranteed to contain the exact value.

Inputs and parameters are used exactly, and the precision is increased until the requested digits
are certain. Where a sign or a condition cannot be decided, the result is the hull of both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import inf, log10

import flint

from ..algebra.exact.tape_algebra import evaluate_expression_in_algebra, evaluate_tape_in_algebra
from ..displays import NotebookDisplayed
from ..errors import UnsupportedError
from ..expressions import ExactNumber, Expression, PiMultiple
from ..tape import Op, Tape
from ..types import Ball

MAX_BALL_BITS = 1 << 15
MAX_UNROUNDED_CONSTANT = 1 << 20
"""Integers and dyadic fractions up to this are meant as they stand on a tape; other constants were
rounded when CasADi folded them."""


MIN_COMPARED_SIZE = 1e-6
"""Sizes below are taken for this, where results are compared that cancel."""


class BallAlgebra:
    """The algebra of `flint.arb` for tapes, where rounded constants are balls."""

    def pi(self) -> Ball:
        """The ball of π."""
        return flint.arb.pi()

    def constant(self, value: Fraction) -> Ball:
        """The ball of a constant on a tape, which may be a rounded float."""
        exact = flint.arb(flint.fmpq(value.numerator, value.denominator))
        if (
            abs(value.numerator) <= MAX_UNROUNDED_CONSTANT
            and value.denominator <= MAX_UNROUNDED_CONSTANT
        ):
            return exact
        return exact * flint.arb(1, 2.0**-52)

    def apply(self, op: Op, operands: Sequence[Ball]) -> Ball:
        """The ball that contains the result of an operation."""
        return _BALL_OPERATIONS[op](*operands)


class ExactBallAlgebra(BallAlgebra):
    """The same algebra with exact constants, for expressions: sqrt(3) is not a float."""

    def constant(self, value: Fraction) -> Ball:
        """The ball of an exact rational."""
        return flint.arb(flint.fmpq(value.numerator, value.denominator))


def _ball_sign(x: Ball) -> Ball:
    """The sign of a ball; the hull of −1 and 1 if it contains zero."""
    if x > 0:
        return flint.arb(1)
    if x < 0:
        return flint.arb(-1)
    return flint.arb(0) if x == 0 else flint.arb(-1).union(flint.arb(1))


def _ball_truth(decided: bool, refuted: bool) -> Ball:
    """1 if decided, 0 if refuted, else the hull of both."""
    if decided:
        return flint.arb(1)
    return flint.arb(0) if refuted else flint.arb(0).union(flint.arb(1))


def _ball_is_true(x: Ball) -> Ball:
    """The truth value of a ball: whether it is nonzero."""
    return _ball_truth(x != 0, x == 0)


def _select_ball(condition: Ball, yes: Ball, no: Ball) -> Ball:
    """`yes` or `no` by the condition; their hull if the condition is undecided."""
    if condition == 0:
        return no
    return yes if condition != 0 else yes.union(no)


def _ball_power(x: Ball, y: Ball) -> Ball:
    """The power of balls; whole exponents allow any base, other exponents positive bases."""
    whole = y.unique_fmpz() if y.is_exact() and y.is_integer() else None
    return x ** int(whole) if whole is not None else x**y


_BALL_OPERATIONS: dict[Op, Callable[..., Ball]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.FMA: lambda a, b, c: a * b + c,
    Op.SQRT: lambda a: a.sqrt(),
    Op.SIN: lambda a: a.sin(),
    Op.COS: lambda a: a.cos(),
    Op.TAN: lambda a: a.tan(),
    Op.ASIN: lambda a: a.asin(),
    Op.ACOS: lambda a: a.acos(),
    Op.ATAN2: lambda a, b: flint.arb.atan2(a, b),
    Op.EXP: lambda a: a.exp(),
    Op.LOG: lambda a: a.log(),
    Op.POW: _ball_power,
    Op.TANH: lambda a: a.tanh(),
    Op.ABS: lambda a: abs(a),
    Op.SIGN: _ball_sign,
    Op.MIN: lambda a, b: a.min(b),
    Op.MAX: lambda a, b: a.max(b),
    Op.FLOOR: lambda a: a.floor(),
    Op.LT: lambda a, b: _ball_truth(a < b, a >= b),
    Op.LE: lambda a, b: _ball_truth(a <= b, a > b),
    Op.EQ: lambda a, b: _ball_truth(a == b, a != b),
    Op.NE: lambda a, b: _ball_truth(a != b, a == b),
    Op.AND: lambda a, b: _ball_is_true(a) * _ball_is_true(b),
    Op.OR: lambda a, b: _ball_is_true(a).max(_ball_is_true(b)),
    Op.NOT: lambda a: 1 - _ball_is_true(a),
    Op.SELECT: _select_ball,
}


def make_ball(
    value: ExactNumber | str | Decimal,
    named: Mapping[str, Expression] | None = None,
    name: str = "",
) -> Ball:
    """The ball of a number: exact for floats, fractions and decimal text.

    A parameter that is only known as a float is computed from its expression in `named`.
    """
    if isinstance(value, PiMultiple):
        return make_ball(value.coefficient) * flint.arb.pi()
    if named is not None and isinstance(value, float) and name in named:

        def ball_of_name(other: str) -> Ball:
            """The ball of a parameter, from its expression."""
            return evaluate_expression_in_algebra(named[other], ExactBallAlgebra(), ball_of_name)

        return ball_of_name(name)
    try:
        exact = Fraction(str(value)) if isinstance(value, str) else Fraction(value)
    except (ValueError, TypeError, OverflowError):
        raise UnsupportedError(
            f"{value!r} is not a finite number", remedy="give floats, fractions or decimals as text"
        ) from None
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


@contextmanager
def ball_precision(bits: int) -> Iterator[None]:
    """Sets the precision of ball arithmetic, in bits, for a block."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


@dataclass(frozen=True, repr=False)
class Interval(NotebookDisplayed):
    """All numbers from mid − radius to mid + radius, both exact decimals as text."""

    mid: str
    radius: str

    def summary(self) -> str:
        """The midpoint and the radius, in one line."""
        return f"Interval {self.mid} ± {self.radius}"

    @property
    def bounds(self) -> tuple[Fraction, Fraction]:
        """The exact lower and upper bounds."""
        mid, radius = Fraction(self.mid), Fraction(self.radius)
        return mid - radius, mid + radius

    @property
    def digits(self) -> float:
        """The number of certain decimal digits; infinite for an exact value."""
        mid, radius = abs(Fraction(self.mid)), Fraction(self.radius)
        if not radius:
            return inf
        return (
            0.0
            if mid <= radius
            else _log10_of_ball_bound(mid) - _log10_of_ball_bound(radius) - log10(2)
        )

    def __float__(self) -> float:
        return float(Fraction(self.mid))

    def __contains__(self, value: float | Fraction | str) -> bool:
        low, high = self.bounds
        return low <= Fraction(value) <= high

    def __str__(self) -> str:
        return f"{self.mid} ± {self.radius}"


def _log10_of_ball_bound(x: Fraction) -> float:
    """The decimal logarithm of a fraction of any size."""
    shift = x.numerator.bit_length() - x.denominator.bit_length()
    return log10(float(x / Fraction(2) ** shift)) + shift * log10(2)


def interval_from_ball(ball: Ball, digits: int) -> Interval:
    """The ball in decimals, rounded outward."""
    if not ball.is_finite():
        raise UnsupportedError(
            "no finite interval holds the value",
            remedy="move away from states where it is undefined",
        )
    mid, radius, power = (int(x) for x in ball.mid_rad_10exp(digits + 5))
    return Interval(_ball_decimal_text(mid, power), _ball_decimal_text(radius, power))


def _ball_decimal_text(whole: int, power: int) -> str:
    """The number whole · 10^power as text."""
    sign, digits = int(whole < 0), tuple(int(d) for d in str(abs(whole)))
    return str(Decimal((sign, digits, power)) if whole else Decimal(0))


def evaluate_tape_in_balls(
    tape: Tape, inputs: Callable[[], Sequence[Sequence[Ball]]], bits: int
) -> list[list[Ball]]:
    """All outputs of a tape as balls; `inputs` makes those of the inputs at the precision."""
    with ball_precision(bits):
        return evaluate_tape_in_algebra(tape, BallAlgebra(), inputs())


def certify_tape_in_balls(
    tape: Tape, inputs: Callable[[], Sequence[Sequence[Ball]]], digits: int = 30
) -> list[list[Interval]]:
    """Intervals of all outputs that are certain to `digits` digits where possible.

    Entries much smaller than the largest are certain to as many decimal places. Intervals that more
    precision does not improve stay wide.
    """
    bits, before = int(digits * 3.33) + 64, None
    while True:
        found = evaluate_tape_in_balls(tape, inputs, bits)
        with ball_precision(bits):
            balls = [ball for port in found for ball in port]
            largest = max((ball.abs_upper() for ball in balls), default=flint.arb(0))
            wide = [_relative_ball_width(ball, largest, digits) for ball in balls]
            worst = max(wide, default=0.0)
            if worst <= 1 or bits >= MAX_BALL_BITS or (before is not None and worst > before / 2):
                return [[interval_from_ball(ball, digits) for ball in port] for port in found]
        bits, before = 2 * bits, worst


def _relative_ball_width(ball: Ball, largest: Ball, digits: int) -> float:
    """The radius of a ball as a share of the requested accuracy."""
    if not ball.is_finite():
        return float("inf")
    if ball.rad() == 0:
        return 0.0
    fine = flint.arb(10) ** -digits
    allowed = abs(ball.mid()).max(largest * fine) * fine / 10
    return float((ball.rad() / allowed).mid())


def exact_ball_inputs(
    tape: Tape,
    values: Mapping[str, Sequence[ExactNumber | str | Decimal]],
    parameters: Mapping[str, ExactNumber],
    named: Mapping[str, Expression],
) -> Callable[[], list[list[Ball]]]:
    """A function that makes the balls of a tape's inputs from `values` and parameters."""

    def make_input_balls() -> list[list[Ball]]:
        return [
            [make_ball(x) for x in values[port.name]]
            if port.name in values
            else [make_ball(value, named, name) for name, value in parameters.items()]
            for port in tape.inputs
        ]

    return make_input_balls


# -- agreement -----------------------------------------------------------------------------


@dataclass(frozen=True)
class BallAgreement:
    """Whether two tapes agree at random states to `digits` digits of their largest entry.

    This is not a proof, but the only check where functions are not rational.
    """

    is_agreed: bool
    digits: int
    states: int
    differing: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.is_agreed:
            return f"different: {', '.join(self.differing)}"
        return f"agree to {self.digits} digits in ball arithmetic, at {self.states} random states"


def compare_tapes_in_balls(
    one: Tape,
    other: Tape,
    inputs: Callable[[int], Callable[[], Sequence[Sequence[Ball]]]],
    digits: int = 30,
    states: int = 8,
) -> BallAgreement:
    """Compares two tapes at states; `inputs` makes the inputs of the state with a number."""
    differing: dict[str, None] = {}
    for k in range(states):
        bits = int(digits * 3.33) + 200
        found = [evaluate_tape_in_balls(tape, inputs(k), bits) for tape in (one, other)]
        with ball_precision(bits):
            for port, a, b in zip(one.outputs, *found, strict=True):
                largest = max((x.abs_upper() for x in (*a, *b)), default=MIN_COMPARED_SIZE)
                largest = max(largest, MIN_COMPARED_SIZE)
                for i, (x, y) in enumerate(zip(a, b, strict=True)):
                    if not (abs(x - y) <= largest * flint.arb(10) ** -digits or x == y):
                        differing[f"{port.name}[{i + 1}]"] = None
    return BallAgreement(not differing, digits, states, tuple(differing))
