"""Expressions stay exact where they can: multiples of π, square roots, derivatives, units."""

from __future__ import annotations

from fractions import Fraction

import pytest

from linkwright.expressions import (
    ExactNumber,
    PiMultiple,
    evaluate_expression_exactly,
    expression_text,
    parse_expression,
)
from linkwright.expressions.calculus import differentiate_expression
from linkwright.expressions.units import dimension_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2*(pi/3)", PiMultiple(Fraction(2, 3))),
        ("(pi/3)*(1/2)", PiMultiple(Fraction(1, 6))),
        ("pi/3 + pi/6", PiMultiple(Fraction(1, 2))),
        ("-(pi/4)", PiMultiple(Fraction(-1, 4))),
        ("4^(1/2)", Fraction(2)),
        ("(4/9)^(1/2)", Fraction(2, 3)),
        ("(2/3)^3", Fraction(8, 27)),
        ("2^-2", Fraction(1, 4)),
        ("sqrt(9/16)", Fraction(3, 4)),
    ],
)
def test_exact_values(text: str, value: ExactNumber) -> None:
    found = evaluate_expression_exactly(parse_expression(text), {})
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(("text", "value"), [("2^(1/2)", 2**0.5), ("sqrt(4/3)", (4 / 3) ** 0.5)])
def test_roots_that_are_not_rational_are_floats(text: str, value: float) -> None:
    found = evaluate_expression_exactly(parse_expression(text), {})
    assert isinstance(found, float)
    assert found == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x + 3", "1"),
        ("3", "0"),
        ("x^2 + y", "2*x"),
        ("sin(2*x)", "cos(2*x)*2"),
        ("x + x", "1 + 1"),
    ],
)
def test_derivatives_have_no_idle_terms(text: str, wanted: str) -> None:
    one = parse_expression("1")
    found = differentiate_expression(
        parse_expression(text), lambda name: one if name == "x" else parse_expression("0")
    )
    assert expression_text(found) == wanted
    assert found == parse_expression(wanted)


@pytest.mark.parametrize(
    ("dimension", "text"),
    [
        ((0, 0, 0), "1"), ((0, 0, -1), "1/s"), ((1, 0, -2), "kg/s^2"), ((1, 2, -2), "kg*m^2/s^2"),
        ((0, -1, -2), "1/(m*s^2)"), ((-1, 1, 0), "m/kg"),
    ],
)  # fmt: skip
def test_units_of_dimensions(dimension: tuple[int, int, int], text: str) -> None:
    assert dimension_text(dimension) == text
