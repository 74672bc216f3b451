"""The ring: exact, reduced, one form for one function."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from linkwright.algebra.exact.algebra import record_expression
from linkwright.algebra.exact.angles import combinations, form, lattice
from linkwright.algebra.exact.quotient_expressions import RingPrinter
from linkwright.algebra.exact.quotient_ring import Budget, BudgetError, QuotientRing, same
from linkwright.algebra.exact.quotients import Quotient
from linkwright.algebra.exact.trig import read_field, read_trig
from linkwright.errors import UnsupportedError
from linkwright.expressions import parse, to_float
from linkwright.ports import Port
from linkwright.tape import Op, Tape
from linkwright.tape.writer import Writer

A, B = form({"a": 1}), form({"b": 1})
SUM = form({"a": 1, "b": 1})


def ring(spare: int = 0, **options: object) -> QuotientRing:
    angles, table = lattice([A, SUM], [A, B, SUM, form({"a": 2})])
    return QuotientRing(["a", "b", "x", "y"], angles, table, spare, **options)  # type: ignore[arg-type]


def test_sines_and_cosines_of_sums_are_one_thing() -> None:
    r = ring()
    a, b = r.symbol("a"), r.symbol("b")
    (ca, sa), (cb, sb), (cab, sab) = (r.circle(v) for v in (a, b, r.sum(a, b)))
    minus = r.constant(Fraction(-1))
    assert same(r, cab, r.sum(r.product(ca, cb), r.product(minus, r.product(sa, sb))))
    assert same(r, sab, r.sum(r.product(sa, cb), r.product(ca, sb)))
    one = r.sum(r.product(cb, cb), r.product(sb, sb))
    assert one.numerator == r.one
    double = r.circle(r.sum(a, a))[1]
    assert same(r, double, r.product(r.constant(Fraction(2)), r.product(sa, ca)))


def test_roots_and_their_reciprocals_are_reduced() -> None:
    r = ring(spare=4)
    x, y = r.symbol("x"), r.symbol("y")
    square = r.sum(r.product(x, x), r.product(y, y))
    root = r.apply(Op.SQRT, [square])
    assert same(r, r.product(root, root), square)
    assert same(r, r.apply(Op.SQRT, [square]), root)
    unit = [r.quotient(v, root) for v in (x, y)]
    total = r.sum(r.product(unit[0], unit[0]), r.product(unit[1], unit[1]))
    assert total.numerator == r.one
    assert total.denominator is None
    assert r.apply(Op.SQRT, [r.constant(Fraction(9, 4))]).numerator == r.one * 3 / 2


def test_quotients_are_compared_by_cross_multiplication() -> None:
    r = ring()
    x, y, one = r.symbol("x"), r.symbol("y"), Quotient(r.one)
    left = r.sum(r.quotient(one, x), r.quotient(one, y))
    right = r.quotient(r.sum(x, y), r.product(x, y))
    assert same(r, left, right)
    assert not same(r, left, r.quotient(one, x))
    ca, sa = r.circle(r.symbol("a"))
    tangent = r.quotient(sa, ca)
    cosecant = r.quotient(
        r.sum(one, r.product(r.constant(Fraction(-1)), r.product(ca, ca))), r.product(sa, ca)
    )
    assert same(r, tangent, cosecant)


def test_functions_are_generators_of_their_own() -> None:
    r = ring(spare=3)
    x, y = r.symbol("x"), r.symbol("y")
    signs = [r.apply(Op.SIGN, [v]) for v in (x, y, x)]
    assert same(r, signs[0], signs[2])
    assert not same(r, signs[0], signs[1])


def test_powers() -> None:
    r = ring(spare=1)
    x = r.symbol("x")
    cube = r.power(x, r.constant(Fraction(3)))
    assert same(r, cube, r.product(x, r.product(x, x)))
    assert same(r, r.product(cube, r.power(x, r.constant(Fraction(-3)))), Quotient(r.one))
    half = r.power(x, r.constant(Fraction(3, 2)))
    assert same(r, r.product(half, half), cube)


def test_constants_are_what_they_are() -> None:
    """0.1 on a tape is a dyadic number, and is read as that."""
    writer = Writer()
    value = writer.write(Op.MUL, writer.write(Op.INPUT, 0, 0), writer.constant(0.1))
    tape: Tape = writer.tape("f", [Port("x", (1,))], [Port("y", ())], [np.array([value], np.int32)])
    found = read_trig(tape, {"x": ["x"]}, exact={"x": Fraction(1, 3)})
    (result,) = found.outputs["y"]
    assert str(result.numerator) == str(found.ring.constant(Fraction(0.1) / 3).numerator)


def test_budgets_stop() -> None:
    r = ring(budget=Budget(terms=20, seconds=5))
    four = r.sum(r.sum(r.symbol("a"), r.symbol("b")), r.sum(r.symbol("x"), r.symbol("y")))
    square = r.product(four, four)
    with pytest.raises(BudgetError):
        r.product(square, square)
    late = ring(budget=Budget(seconds=-1))
    with pytest.raises(BudgetError):
        late.sum(late.symbol("a"), late.symbol("b"))


def test_lattices() -> None:
    angles, table = lattice([A, SUM], [B, form({"b": Fraction(1, 2)}), form({"c": 1})])
    assert angles == [
        form({"a": Fraction(1, 2)}),
        form({"a": Fraction(1, 2), "b": Fraction(1, 2)}),
        form({"c": 1}),
    ]
    assert table[B] == (-2, 2, 0)
    assert combinations([form({"z": 1}), SUM], [A, B]) == [None, [1, 1]]
    assert lattice([A, SUM], []) == ([], {})


# -- as a field ------------------------------------------------------------------------------


def in_field(*texts: str) -> tuple[QuotientRing, list[Quotient]]:
    """Expressions of a, b, x, y read in a ring that is a field."""
    tape = record_expression(*map(parse, texts), inputs=["a", "b", "x", "y"])
    found = read_field(tape, {"x": ["a", "b", "x", "y", "pi"]})
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
    printed = to_float(RingPrinter(r).expression(value), numbers)
    assert printed == pytest.approx(to_float(parse(text), numbers), rel=1e-12)


def test_a_field_refuses_other_functions() -> None:
    with pytest.raises(UnsupportedError, match="exp has no meaning"):
        in_field("exp(x)")
