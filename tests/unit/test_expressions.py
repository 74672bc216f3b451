"""The parser: exact numbers, round trips, units, and refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwright.errors import ExpressionError
from linkwright.expressions import (
    Call,
    Expression,
    InferredDimension,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    PiMultiple,
    Power,
    Product,
    Reciprocal,
    Sum,
    check_expression_dimension,
    evaluate_expression_exactly,
    expression_text,
    expression_to_float,
    expression_without_unit,
    names_in_expression,
    negate_expression,
    parse_expression,
    parse_unit,
    read_expression,
)
from linkwright.expressions.typeset import ExpressionTypesetter, LatexNotation, MathmlNotation
from linkwright.expressions.units import UNIT_PLACE_RULE
from tests.effort import calls_of, memory_of

F = Fraction


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", F(1, 10)),
        ("-3", F(-3)),
        ("1e-3", F(1, 1000)),
        (".5", F(1, 2)),
        ("5.", F(5)),
        ("1/3", F(1, 3)),
        ("-1/3", F(-1, 3)),
        ("2^-1", F(1, 2)),
        ("-3^2", F(-9)),
        ("(-3)^2", F(9)),
        ("2^3^2", F(512)),
        ("2*-3", F(-6)),
        ("1 - 2 - 3", F(-4)),
        ("1 - (2 - 3)", F(2)),
        ("12/3/2", F(2)),
        ("12/(3*2)", F(2)),
        ("2*(3 + 4)*5", F(70)),
        ("sqrt(9/4)", F(3, 2)),
        ("abs(-1/7)", F(1, 7)),
        ("min(1/3, 1/4)", F(1, 4)),
        ("sin(pi/6)", F(1, 2)),
        ("cos(pi/3)", F(1, 2)),
        ("cos(-7*pi)", F(-1)),
        ("sin(3*pi/2)", F(-1)),
        ("0.1 + 0.2", F(3, 10)),
        ("2 kg", F(2)),
        ("25 g*cm^2", F(25, 10**7)),
        ("1.5 mm", F(3, 2000)),
        ("9.81 m/s^2", F(981, 100)),
        ("3 N*m/(rad/s)", F(3)),
        ("2·3", F(6)),
        ("3²", F(9)),
    ],
)
def test_exact_values(text: str, value: Fraction) -> None:
    found = evaluate_expression_exactly(parse_expression(text))
    assert found == value
    assert isinstance(found, Fraction)


@pytest.mark.parametrize(
    ("text", "coefficient"),
    [("30 deg", F(1, 6)), ("pi/2", F(1, 2)), ("-90 deg", F(-1, 2)), ("2*pi/3 + pi", F(5, 3)),
     ("1.5 rev", F(3)), ("π", F(1)), ("60 rpm", F(2))],
)  # fmt: skip
def test_multiples_of_pi_stay_exact(text: str, coefficient: Fraction) -> None:
    assert evaluate_expression_exactly(parse_expression(text)) == PiMultiple(coefficient)


def test_values_of_names() -> None:
    expression = parse_expression("m1*l1^2/12")
    assert names_in_expression(expression) == {"m1", "l1"}
    assert evaluate_expression_exactly(expression, {"m1": F(3), "l1": F(1, 2)}) == F(1, 16)
    assert expression_to_float(
        parse_expression("exp(log(x)) + atan2(0, -1)"), {"x": F(2)}
    ) == pytest.approx(2 + math.pi)


def test_floats_are_read_as_the_decimals_they_show() -> None:
    assert read_expression(0.1) == Number(F(1, 10))
    assert read_expression(1e-12) == Number(F(1, 10**12))
    assert read_expression(7) == Number(F(7))
    for wrong in (float("nan"), float("inf"), True, None, [1]):
        with pytest.raises(ExpressionError):
            read_expression(wrong)


NAMES = st.sampled_from(["m1", "l", "alpha", "θ2", "x_y"])
NUMBERS = st.fractions(min_value=-100, max_value=100, max_denominator=1000).map(Number)


def _extend(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    factor = inner.filter(lambda e: not isinstance(e, Reciprocal))
    divisor = factor.filter(lambda e: not isinstance(e, Number))
    term = inner.map(lambda e: e)
    exponent = st.integers(-5, 5).map(lambda n: Number(F(n))) | NAMES.map(Name)
    return st.one_of(
        st.lists(term, min_size=2, max_size=4).map(lambda t: Sum(tuple(t))),
        st.tuples(factor, factor | divisor.map(Reciprocal)).map(Product),
        st.tuples(factor, exponent).map(lambda t: Power(*t)),
        factor.map(negate_expression),
        factor.map(lambda e: Call("sin", (e,))),
        st.tuples(factor, factor).map(lambda t: Call("atan2", t)),
    )


EXPRESSIONS = st.recursive(NUMBERS | NAMES.map(Name), _extend, max_leaves=12)


@given(EXPRESSIONS)
def test_printing_and_parsing_are_inverse(expression: Expression) -> None:
    assert parse_expression(expression_text(expression)) == expression


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_a_clear_error(text: str) -> None:
    try:
        expression = parse_expression(text)
    except ExpressionError:
        return
    assert parse_expression(expression_text(expression)) == expression


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_become_floats_correctly_rounded(x: float) -> None:
    assert expression_to_float(read_expression(x)) == x
    assert expression_to_float(parse_expression(expression_text(read_expression(x)))) == x


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "empty"),
        ("x+", "missing at the end"),
        ("(1", "not closed"),
        ("1)", "unexpected ')'"),
        ("1 2", "unexpected '2'"),
        ("a b", "units follow plain numbers"),
        ("3 parsec", "'parsec' is not a unit; use units such as m, mm"),
        ("2*l mm", "units follow plain numbers"),
        ("foo(1)", "'foo' is not a function"),
        ("sin(1, 2)", "takes 1 argument"),
        ("1/0", "division by zero"),
        ("$", "cannot read '$'"),
        ("a = b", "cannot read '='"),
        ("__import__(os)", "'__import__' is not a function"),
        ("x..y", "cannot read '.'"),
        ("2^100", "exponent is larger"),
        ("1e999", "too long or too large"),
        ("3 m^99", "small integer"),
        ("1_000", "unexpected '_000' in '1_000'; write numbers without _"),
        ("3 kgg", "did you mean 'kg'"),
        *((text, UNIT_PLACE_RULE) for text in ("tan(90 deg)", "2 pi", "sin(2 pi)", "2 (3)", "(1 2)",
          "5 mm + 3 mm", "2 sin(1)", "3 m m", "1 2", "max(1 m, 2)")),
    ],
)  # fmt: skip
def test_refusals(text: str, what: str) -> None:
    with pytest.raises(ExpressionError) as error:
        parse_expression(text)
    assert what in str(error.value)


@pytest.mark.parametrize(
    "text", ["log(0)", "sqrt(-1)", "1/(1 - 1)", "(-8)^(1/3)", "exp(10000)", "1e400", "1e399*pi"]
)
def test_values_that_do_not_exist(text: str) -> None:
    with pytest.raises(ExpressionError, match="no finite real value"):
        evaluate_expression_exactly(parse_expression(text))


@pytest.mark.parametrize(
    "text",
    ["(" * 10**6, "-" * 9999 + "1", "1+" * 4999 + "1", "9^9^9^9", "((((2^60)^60)^60)^60)",
     "1" * 10**6, "1e" + "9" * 5000, "sin(" * 3000 + "1" + ")" * 3000],
)  # fmt: skip
def test_hostile_text_costs_little(text: str) -> None:
    assert calls_of(lambda: evaluate_expression_exactly(parse_expression(text))) < 500_000
    assert memory_of(lambda: evaluate_expression_exactly(parse_expression(text))) < 30 * 2**20


def test_long_sums_are_not_deep() -> None:
    assert evaluate_expression_exactly(parse_expression("+".join(["1"] * 3000))) == 3000


@pytest.mark.parametrize(
    ("text", "dimension"),
    [("kg", (1, 0, 0)), ("N", (1, 1, -2)), ("N*m*s/rad", (1, 2, -1)), ("1/s^2", (0, 0, -2)),
     ("J/(kg*m)", (0, 1, -2)), ("deg", (0, 0, 0)), ("m^-1", (0, -1, 0))],
)  # fmt: skip
def test_units(text: str, dimension: tuple[int, int, int]) -> None:
    assert parse_unit(text).dimension == dimension


@pytest.mark.parametrize(
    ("text", "in_base_units"),
    [
        ("1 N", "1 kg*m/s^2"), ("1 kN", "1000 kg*m/s^2"), ("1 mN", "0.001 kg*m/s^2"),
        ("1 Nm", "1 kg*m^2/s^2"), ("1 J", "1 kg*m^2/s^2"), ("1 W", "1 kg*m^2/s^3"),
        ("1 Hz", "1 s^-1"), ("1 rpm", "6 deg/s"), ("1 rev", "360 deg"), ("1 mrad", "0.001 rad"),
        ("1 t", "1000 kg"), ("1 g", "0.001 kg"), ("1 mg", "0.000001 kg"), ("1 lb", "0.45359237 kg"),
        ("1 km", "1000 m"), ("1 dm", "0.1 m"), ("1 cm", "0.01 m"), ("1 mm", "0.001 m"),
        ("1 um", "0.000001 m"), ("1 inch", "0.0254 m"), ("1 ft", "0.3048 m"),
        ("1 h", "3600 s"), ("1 min", "60 s"), ("1 ms", "0.001 s"), ("1 us", "0.000001 s"),
        ("1 percent", "0.01 rad"),
    ],
)  # fmt: skip
def test_units_are_those_of_the_si(text: str, in_base_units: str) -> None:
    """The SI brochure, and the international foot, inch and pound of 1959."""
    one, other = parse_expression(text), parse_expression(in_base_units)
    assert evaluate_expression_exactly(one) == evaluate_expression_exactly(other)
    units = [parse_unit(words.split(" ", 1)[1]).dimension for words in (text, in_base_units)]
    assert units[0] == units[1]


def test_dimensions_are_checked_as_far_as_units_tell() -> None:
    known = {"l": InferredDimension((F(0), F(1), F(0))), "m": InferredDimension((F(1), F(0), F(0)))}
    check_expression_dimension(parse_expression("m*l^2/12"), (1, 2, 0), known)
    check_expression_dimension(parse_expression("2*l + 0.1"), (0, 1, 0), known)
    check_expression_dimension(parse_expression("sqrt(l^2)"), (0, 1, 0), known)
    check_expression_dimension(
        parse_expression("x*l"), (5, 5, 5), known
    )  # x is not known, so anything may be
    for wrong in ("m*l", "l + m", "sin(l)", "m^2*l^2"):
        with pytest.raises(ExpressionError):
            check_expression_dimension(parse_expression(wrong), (1, 2, 0), known)


@pytest.mark.parametrize(
    "text",
    ["0.2*sin(tilt)", "0.2*sqrt(3)", "0.2*cos(30)*sin(tilt)/3", "0.1 + 0.2*exp(-2)", "0.2*tilt",
     "l + 0.2*sin(tilt)", "max(0.1, 0.2*sin(tilt))", "-0.2*sin(tilt)", "2*l*sin(tilt)", "0.3*l/l"],
)  # fmt: skip
def test_plain_numbers_are_si_in_products_and_functions(text: str) -> None:
    known = {
        "l": InferredDimension((F(0), F(1), F(0))),
        "tilt": InferredDimension((F(0), F(0), F(0))),
    }
    check_expression_dimension(parse_expression(text), (0, 1, 0), known)


@pytest.mark.parametrize(
    "text",
    ["tilt", "l/l", "30 deg", "2*l^2", "l + 0.2*m", "sin(l)", "0.2*sin(tilt) + m", "3 kg",
     "atan2(l, m)", "0.2*sin(tilt)*m"],
)  # fmt: skip
def test_units_of_the_wrong_kind_stay_errors_beside_plain_numbers(text: str) -> None:
    known = {
        "l": InferredDimension((F(0), F(1), F(0))),
        "m": InferredDimension((F(1), F(0), F(0))),
        "tilt": InferredDimension((F(0), F(0), F(0))),
    }
    with pytest.raises(ExpressionError):
        check_expression_dimension(parse_expression(text), (0, 1, 0), known)


def test_units_can_be_taken_off() -> None:
    assert evaluate_expression_exactly(
        expression_without_unit(parse_expression("90 deg"))
    ) == PiMultiple(F(1, 2))
    assert expression_without_unit(parse_expression("5 mm")) == Number(F(1, 200))
    assert negate_expression(parse_expression("5 mm")) == NumberWithUnit(Number(F(-5)), "mm")
    assert negate_expression(Negation(Name("x"))) == Name("x")


def test_what_no_float_holds_is_refused() -> None:
    with pytest.raises(ExpressionError, match="no finite real value"):
        expression_to_float(parse_expression("1e400"))


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("q1", r"q_1"),
        ("theta", r"\theta"),
        ("θ2", r"\theta_2"),
        ("lc1", r"l_{c1}"),
        ("a_b_c", r"a_{\mathrm{b\_c}}"),
        ("Fx_q1", r"F_{\mathrm{x,q1}}"),
        ("alpha2_1", r"\alpha_{2,1}"),
        ("50%&#$", r"\mathrm{50\%\&\#\$}"),
        ("a<b", r"\mathrm{a<b}"),
        ("x}\\y{", r"\mathrm{x\}\backslash{}y\{}"),
        ("base.q^w~", r"\mathrm{base.q\hat{}w\sim{}}"),
        ("a b\nc", r"\mathrm{a\ b\ c}"),
        ("%", r"\mathrm{\%}"),
    ],
)
def test_names_in_latex_are_no_commands(name: str, latex: str) -> None:
    assert ExpressionTypesetter(LatexNotation()).name(name) == latex


def test_entries_and_units_are_set() -> None:
    latex, mathml = ExpressionTypesetter(LatexNotation()), ExpressionTypesetter(MathmlNotation())
    assert latex.entry("by_q[1,2]") == r"\mathrm{by\_q}_{12}"
    assert latex.entry("M[10,2]") == "M_{10,2}"
    assert latex.typeset(parse_expression("l1^2*sin(q2)^2*(a + 1/b)")) == (
        r"l_1^2 \, \sin^2(q_2) \, \left(a + \frac{1}{b}\right)"
    )
    squared = "<msubsup><mi>l</mi><mtext>1</mtext><mn>2</mn></msubsup>"
    assert mathml.typeset(parse_expression("l1^2")) == squared
    rate = ExpressionTypesetter(MathmlNotation(), {"dq1": ("q1", 1)}).typeset(
        parse_expression("dq1")
    )
    assert rate == "<msub><mover><mi>q</mi><mo>.</mo></mover><mtext>1</mtext></msub>"
    assert latex.entry("T") == "T"
    assert mathml.entry("M[1,2]") == "<msub><mi>M</mi><mtext>12</mtext></msub>"
    assert mathml.name("a<&") == "<mi>a&lt;&amp;</mi>"
    assert latex.typeset(parse_expression("1e-14")) == "10^{-14}"
    assert latex.typeset(parse_expression("2.5e-14*m")) == r"2.5 \cdot 10^{-14} \, m"
    assert mathml.typeset(parse_expression("1e-14")) == "<msup><mn>10</mn><mn>-14</mn></msup>"
    assert latex.typeset(parse_expression("25 g*cm^2")) == r"25 \,\mathrm{g \, cm^{2}}"
    assert mathml.typeset(parse_expression("2 kg")) == "<mrow><mn>2</mn><mtext> kg</mtext></mrow>"
