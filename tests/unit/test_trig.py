"""The ring: exact, reduced, one form for one function."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from linkwright.algebra.exact.exact_angles import (
    exact_angle,
    exact_angle_combinations,
    exact_angle_lattice,
)
from linkwright.algebra.exact.polynomial_budget import BudgetError, ExactPolynomialBudget
from linkwright.algebra.exact.quotient_expressions import QuotientPrinter
from linkwright.algebra.exact.quotient_ring import QuotientRing
from linkwright.algebra.exact.quotients import Quotient, are_equal_quotients, raise_quotient
from linkwright.algebra.exact.tape_algebra import record_exact_formula_tape
from linkwright.algebra.exact.trig_polynomials import (
    evaluate_tape_in_quotient_field,
    evaluate_tape_in_quotient_ring,
)
from linkwright.errors import UnsupportedError
from linkwright.expressions import expression_to_float, parse_expression
from linkwright.ports import Port
from linkwright.tape import Op, Tape
from linkwright.tape.writer import TapeWriter

A, B = exact_angle({"a": 1}), exact_angle({"b": 1})
SUM = exact_angle({"a": 1, "b": 1})


def ring(spare: int = 0, **options: object) -> QuotientRing:
    angles, table = exact_angle_lattice([A, SUM], [A, B, SUM, exact_angle({"a": 2})])
    return QuotientRing(["a", "b", "x", "y"], angles, table, spare, **options)  # type: ignore[arg-type]


def test_sines_and_cosines_of_sums_are_one_thing() -> None:
    r = ring()
    a, b = r.symbol("a"), r.symbol("b")
    (ca, sa), (cb, sb), (cab, sab) = (r.cosine_and_sine(v) for v in (a, b, r.add_quotients(a, b)))
    minus = r.constant(Fraction(-1))
    assert are_equal_quotients(
        r,
        cab,
        r.add_quotients(
            r.multiply_quotients(ca, cb), r.multiply_quotients(minus, r.multiply_quotients(sa, sb))
        ),
    )
    assert are_equal_quotients(
        r, sab, r.add_quotients(r.multiply_quotients(sa, cb), r.multiply_quotients(ca, sb))
    )
    one = r.add_quotients(r.multiply_quotients(cb, cb), r.multiply_quotients(sb, sb))
    assert one.numerator == r.one_polynomial
    double = r.cosine_and_sine(r.add_quotients(a, a))[1]
    assert are_equal_quotients(
        r, double, r.multiply_quotients(r.constant(Fraction(2)), r.multiply_quotients(sa, ca))
    )


def test_roots_and_their_reciprocals_are_reduced() -> None:
    r = ring(spare=4)
    x, y = r.symbol("x"), r.symbol("y")
    square = r.add_quotients(r.multiply_quotients(x, x), r.multiply_quotients(y, y))
    root = r.apply(Op.SQRT, [square])
    assert are_equal_quotients(r, r.multiply_quotients(root, root), square)
    assert are_equal_quotients(r, r.apply(Op.SQRT, [square]), root)
    unit = [r.divide_quotients(v, root) for v in (x, y)]
    total = r.add_quotients(
        r.multiply_quotients(unit[0], unit[0]), r.multiply_quotients(unit[1], unit[1])
    )
    assert total.numerator == r.one_polynomial
    assert total.denominator is None
    assert r.apply(Op.SQRT, [r.constant(Fraction(9, 4))]).numerator == r.one_polynomial * 3 / 2


def test_quotients_are_compared_by_cross_multiplication() -> None:
    r = ring()
    x, y, one = r.symbol("x"), r.symbol("y"), Quotient(r.one_polynomial)
    left = r.add_quotients(r.divide_quotients(one, x), r.divide_quotients(one, y))
    right = r.divide_quotients(r.add_quotients(x, y), r.multiply_quotients(x, y))
    assert are_equal_quotients(r, left, right)
    assert not are_equal_quotients(r, left, r.divide_quotients(one, x))
    ca, sa = r.cosine_and_sine(r.symbol("a"))
    tangent = r.divide_quotients(sa, ca)
    cosecant = r.divide_quotients(
        r.add_quotients(
            one, r.multiply_quotients(r.constant(Fraction(-1)), r.multiply_quotients(ca, ca))
        ),
        r.multiply_quotients(sa, ca),
    )
    assert are_equal_quotients(r, tangent, cosecant)


def test_functions_are_generators_of_their_own() -> None:
    r = ring(spare=3)
    x, y = r.symbol("x"), r.symbol("y")
    signs = [r.apply(Op.SIGN, [v]) for v in (x, y, x)]
    assert are_equal_quotients(r, signs[0], signs[2])
    assert not are_equal_quotients(r, signs[0], signs[1])


def test_powers() -> None:
    r = ring(spare=1)
    x = r.symbol("x")
    cube = raise_quotient(r, x, r.constant(Fraction(3)))
    assert are_equal_quotients(r, cube, r.multiply_quotients(x, r.multiply_quotients(x, x)))
    assert are_equal_quotients(
        r,
        r.multiply_quotients(cube, raise_quotient(r, x, r.constant(Fraction(-3)))),
        Quotient(r.one_polynomial),
    )
    half = raise_quotient(r, x, r.constant(Fraction(3, 2)))
    assert are_equal_quotients(r, r.multiply_quotients(half, half), cube)


def test_constants_are_what_they_are() -> None:
    """0.1 on a tape is a dyadic number, and is read as that."""
    writer = TapeWriter()
    value = writer.write_instruction(
        Op.MUL, writer.write_instruction(Op.INPUT, 0, 0), writer.write_constant(0.1)
    )
    tape: Tape = writer.finish_tape(
        "f", [Port("x", (1,))], [Port("y", ())], [np.array([value], np.int32)]
    )
    found = evaluate_tape_in_quotient_ring(tape, {"x": ["x"]}, exact={"x": Fraction(1, 3)})
    (result,) = found.outputs["y"]
    assert str(result.numerator) == str(found.ring.constant(Fraction(0.1) / 3).numerator)


def test_budgets_stop() -> None:
    r = ring(budget=ExactPolynomialBudget(max_terms=20, seconds=5))
    four = r.add_quotients(
        r.add_quotients(r.symbol("a"), r.symbol("b")), r.add_quotients(r.symbol("x"), r.symbol("y"))
    )
    square = r.multiply_quotients(four, four)
    with pytest.raises(BudgetError):
        r.multiply_quotients(square, square)
    late = ring(budget=ExactPolynomialBudget(seconds=-1))
    with pytest.raises(BudgetError):
        late.add_quotients(late.symbol("a"), late.symbol("b"))


def test_lattices() -> None:
    angles, table = exact_angle_lattice(
        [A, SUM], [B, exact_angle({"b": Fraction(1, 2)}), exact_angle({"c": 1})]
    )
    assert angles == [
        exact_angle({"a": Fraction(1, 2)}),
        exact_angle({"a": Fraction(1, 2), "b": Fraction(1, 2)}),
        exact_angle({"c": 1}),
    ]
    assert table[B] == (-2, 2, 0)
    assert exact_angle_combinations([exact_angle({"z": 1}), SUM], [A, B]) == [None, [1, 1]]
    assert exact_angle_lattice([A, SUM], []) == ([], {})


# -- as a field ------------------------------------------------------------------------------


def in_field(*texts: str) -> tuple[QuotientRing, list[Quotient]]:
    """Expressions of a, b, x, y read in a ring that is a field."""
    tape = record_exact_formula_tape(*map(parse_expression, texts), inputs=["a", "b", "x", "y"])
    found = evaluate_tape_in_quotient_field(tape, {"x": ["a", "b", "x", "y", "pi"]})
    return found.ring, found.outputs["y"]


@pytest.mark.parametrize(
    "zero",
    [
        "1/(1 + sqrt(x)) - (1 - sqrt(x))/(1 - x)",
        "sqrt(x/y)*sqrt(x/y) - x/y",
        "sqrt(x/y)/(sqrt(x/y)*y) - 1/y",
        "sin(a/b)^2 + cos(a/b)^2 - 1",
        "sin(-a/b) + sin(a/b)",
        "cos(a + b) - cos(a)*cos(b) + sin(a)*sin(b)",
        "tan(a)*cos(a) - sin(a)",
        "(x^2 - y^2)/(x - y) - x - y",
        "x^(-3/2)*x^(3/2) - 1",
        "sqrt(9/4) - 1.5",
    ],
)
def test_in_a_field_zero_is_seen_to_be_zero(zero: str) -> None:
    r, (value,) = in_field(zero)
    assert r.is_zero(value)


@pytest.mark.parametrize("other", ["x - y", "sqrt(x*y) - sqrt(x)", "pi - 3", "cos(a) - cos(b)"])
def test_in_a_field_nothing_else_is_zero(other: str) -> None:
    r, (value,) = in_field(other)
    assert not r.is_zero(value)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "text",
    ["sqrt(x/y)", "1/sqrt(x/y) + a", "cos(a/y + 1)/(sin(a)*b)", "(a + b/2)*tan(a + 2*b) - pi*x"],
)
def test_what_is_printed_has_the_value_of_what_was_read(text: str, sign: int) -> None:
    """Also where both under a root are negative: the root of x/y is not that of x*y over y."""
    r, (value,) = in_field(text)
    numbers = {
        "a": Fraction("0.3"),
        "b": Fraction("-1.7"),
        "x": sign * Fraction("2"),
        "y": sign * Fraction("5"),
    }
    printed = expression_to_float(QuotientPrinter(r).print_quotient(value), numbers)
    assert printed == pytest.approx(expression_to_float(parse_expression(text), numbers), rel=1e-12)


def test_a_field_refuses_other_functions() -> None:
    with pytest.raises(UnsupportedError, match="exp has no meaning"):
        in_field("exp(x)")
