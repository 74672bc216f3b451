"""Closed forms are the same functions as the derivation, whoever derived it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.algebra.exact.polynomial_budget import BudgetError
from linkwright.errors import LinkwrightError, NameNotFoundError, UnsupportedError
from linkwright.expressions import names_in_expression as names_in
from linkwright.forms.quantity_typesetting import typeset_quantity
from linkwright.written_equations import equation_of_motion_functions
from tests.forms.reading import agree
from tests.random_trees import random_tree

SMALL = ["elbow", "cartesian", "remote-elbow", "triple-pendulum", "stanford-rrp", "cart-pole"]
ARMS = [*SMALL, "puma560", "chain-6", "vukobratovic-arm", "stanford"]


@pytest.mark.parametrize("name", ARMS)
def test_formulations_give_the_same_polynomials(name: str) -> None:
    mechanism = lw.gallery(name)
    all_of_them = [lw.derive(mechanism, by=by) for by in ("lagrange", "recursive", "kane")]
    for quantity in ("M", "C", "g"):
        first, *others = [eqs.closed_form(quantity, terms=200_000) for eqs in all_of_them]
        assert all(first == other for other in others)


def test_different_polynomials_differ() -> None:
    eqs = lw.derive(lw.gallery("elbow"))
    heavier = lw.derive(lw.gallery("remote-elbow"))
    assert eqs.closed_form("M") == eqs.closed_form("mass_matrix")
    assert eqs.closed_form("M") != heavier.closed_form("M")
    assert eqs.closed_form("M") != eqs.closed_form("g")
    assert eqs.closed_form("inverse_mass_matrix") == eqs.closed_form("inverse_mass_matrix")
    assert eqs.closed_form("inverse_mass_matrix") != eqs.closed_form("M")


@pytest.mark.parametrize("by", ["auto", "mass", "geometry", "none"])
@pytest.mark.parametrize("name", SMALL)
def test_what_is_printed_has_the_values_of_the_function(name: str, by: str) -> None:
    eqs = lw.derive(lw.gallery(name))
    for quantity in ("M", "C", "g", "tau", "christoffel", "energy", "momenta", "linearized"):
        agree(eqs, quantity, by=by)
    frame = eqs.names.bodies[-1]
    for quantity in ("jacobian", "placement", "frame_velocity"):
        agree(eqs, quantity, frame, by=by)


@pytest.mark.parametrize("name", ["puma560", "chain-6", "stanford"])
def test_large_forms_have_the_values_too(name: str) -> None:
    eqs = lw.derive(lw.gallery(name))
    for quantity in ("M", "g"):
        agree(eqs, quantity)


@pytest.mark.parametrize(
    ("name", "by", "quantity"),
    [
        ("four-bar", "recursive", "constraint_jacobian"),
        ("four-bar", "recursive", "constraint_residual"),
        ("four-bar", "recursive", "constraint_bias"),
        ("slider-crank", "recursive", "constraint_jacobian"),
        ("elbow", "recursive", "regressor"),
        ("elbow", "recursive", "reactions_of_motion"),
        ("elbow", "recursive", "center_of_mass"),
        ("elbow", "influence", "effective_inertia"),
        ("elbow", "influence", "inertia_power"),
        ("elbow", "influence", "coefficients"),
        ("triple-pendulum", "recursive", "input_matrix"),
        ("rolling-disk", "recursive", "M"),
        ("rolling-disk", "recursive", "constraint_jacobian"),
        ("slider-crank-sundials", "recursive", "passive"),
        ("six-axis", "recursive", "passive"),
    ],
)
def test_every_kind_of_quantity(name: str, by: str, quantity: str) -> None:
    agree(lw.derive(lw.gallery(name), by=by), quantity)


def test_long_roots_get_names() -> None:
    bias = lw.derive(lw.gallery("slider-crank-sundials")).closed_form("bias")
    first, *others = bias.text().splitlines()
    assert first.startswith("r1 = sqrt(")
    assert all("sqrt" not in line and "/r1" in line and "r1/r1" not in line for line in others)
    disk = lw.derive(lw.gallery("rolling-disk")).closed_form("J").json()["entries"]
    assert disk["J[2,6]"] == "-r*cos(psi)*cos(theta)/abs(cos(theta))"


KINDS = ["revolute", "prismatic", "helical", "cylindrical", "universal", "planar", "ball", "fixed"]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**20), st.sampled_from(KINDS), st.integers(0, 1))
def test_random_trees(seed: int, kind: str, parent: int) -> None:
    """Skew axes with symbols for their directions, springs, friction, rotors, quaternions."""
    eqs = lw.derive(random_tree(seed, ["revolute", kind], [0, parent]).mechanism)
    for quantity in ("M", "g", "passive"):
        try:
            form = eqs.closed_form(quantity, terms=2000, seconds=2)
        except BudgetError:
            continue
        if form.terms < 3000:
            agree(eqs, quantity, seed=seed, by="none" if form.terms > 400 else "auto")


@pytest.mark.parametrize("name", ["elbow", "stanford-rrp", "triple-pendulum"])
def test_accelerations_are_adjugate_over_determinant(name: str) -> None:
    import numpy as np

    from linkwright.expressions import evaluate_expression_exactly, parse_expression
    from tests.forms.reading import state

    eqs = lw.derive(lw.gallery(name))
    values = state(eqs, 1)
    made = eqs.closed_form("forward_dynamics", seconds=30).json()
    known = values | {
        "D": float(evaluate_expression_exactly(parse_expression(made["groups"]["D"]), values))
    }
    for group, text in made["groups"].items():
        known[group] = float(evaluate_expression_exactly(parse_expression(text), known))
    found = [
        float(
            evaluate_expression_exactly(parse_expression(made["entries"][f"qdd[{k + 1}]"]), known)
        )
        for k in range(eqs.nv)
    ]
    model = lw.compile(lw.gallery(name))
    given_ = [[values[f"{p}{n}"] for n in eqs.names.qd] for p in ("", "d", "tau_")]
    np.testing.assert_allclose(found, model.forward_dynamics(*given_), rtol=1e-9)


def test_hamiltons_function_in_momenta() -> None:
    text = lw.derive(lw.gallery("elbow"), by="hamilton").closed_form("hamiltonian").text()
    assert "V = (m1*lc1 + m2*l1)*g*sin(q1) + m2*g*lc2*sin(q1 + q2)" in text
    assert "p_q1*p_q2" in text
    assert "D = " in text


def test_the_energy_in_momenta_is_that_of_the_inverse_mass_matrix() -> None:
    """T = ½ pᵀ D⁻¹ p with the elbow's D of Spong and Vidyasagar (6.4.11), at numbers."""
    sympy = pytest.importorskip("sympy")
    found = lw.derive(lw.gallery("elbow"), by="hamilton").closed_form("hamiltonian").sympy()["T"]
    names = "m1 m2 l1 lc1 lc2 I1 I2 q2 p_q1 p_q2"
    values = dict(zip(names.split(), range(2, 12), strict=True))
    m1, m2, l1, lc1, lc2, I1, I2, q2, p1, p2 = values.values()
    coupling = l1 * lc2 * sympy.cos(q2)
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * coupling) + I1 + I2
    d12, d22 = m2 * (lc2**2 + coupling) + I2, m2 * lc2**2 + I2
    T = (p1**2 * d22 - 2 * p1 * p2 * d12 + p2**2 * d11) / (2 * (d11 * d22 - d12**2))
    known = {sympy.Symbol(name, real=True): value for name, value in values.items()}
    assert float(found.subs(known)) == pytest.approx(float(T), rel=1e-12)


# -- parameters ------------------------------------------------------------------------------


@pytest.mark.parametrize("derived", ["symbolic", "numeric"])
def test_numbers_are_exact(derived: str) -> None:
    """0.5² · 0.1 and 1/12 are no floats, whichever way the equations were derived."""
    arm = lw.gallery("elbow").with_parameters(m1=0.1, lc1=0.3)
    options = {} if derived == "numeric" else {"parameters": "numeric"}
    form = lw.derive(arm, parameters=derived).closed_form("M", **options)
    assert not set(form.symbols) - {"q1", "q2"}
    first = form.json("none")["entries"]["M[2,2]"]
    assert Fraction(first) == Fraction(1, 3)
    assert form.text().startswith(
        f"M[1,1] = {Fraction(1, 3) + 1 + Fraction('0.009') + Fraction(1, 120)}"[:9]
    )


def test_some_parameters_stay() -> None:
    eqs = lw.derive(lw.gallery("elbow"))
    form = eqs.closed_form("g", parameters=["m2"])
    assert form.text().splitlines()[1] == "g[2] = 4.905*m2*cos(q1 + q2)"
    assert form == lw.derive(lw.gallery("elbow"), parameters=["m2"]).closed_form("g")
    with pytest.raises(LinkwrightError, match="'zz' is not a parameter"):
        eqs.closed_form("g", parameters=["zz"])


# -- budgets, errors ---------------------------------------------------------------------------


def test_hostile_sizes_stop() -> None:
    import time

    eqs = lw.derive(lw.gallery("chain-20"))
    eqs.M  # noqa: B018 - derived before the clock runs
    start = time.monotonic()
    with pytest.raises(BudgetError, match="too long"):
        eqs.closed_form("C", seconds=0.2, terms=3000)
    assert time.monotonic() - start < 10


def test_the_command_falls_back_to_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    from linkwright.cli.commands.derive_command import derive

    derive(lw.gallery("chain-12"), what=["mass_matrix"]).show()
    long = capsys.readouterr().out
    assert "operations)" in long
    assert "    x1 = " in long
    derive(lw.gallery("elbow"), what=["gravity"], parameters="numeric").show()
    short = capsys.readouterr().out
    assert "(3 terms)" in short
    assert "g[2] = 4.905*cos(q1 + q2)" in short
    derive(lw.gallery("elbow"), what=["gravity"], steps=True).show()
    assert "operations)" in capsys.readouterr().out


def test_it_can_be_interrupted() -> None:
    import gc
    import signal
    import time

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    eqs = lw.derive(lw.gallery("chain-20"))
    eqs.C  # noqa: B018 - derived before the clock runs
    before = signal.signal(signal.SIGALRM, interrupt)
    start = time.monotonic()
    gc.disable()  # Hypothesis looks at every collection, and would swallow an interrupt there
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3)
        with pytest.raises(KeyboardInterrupt):
            eqs.closed_form("C", terms=10**9, seconds=100).text()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()
    assert time.monotonic() - start < 5


def test_odd_angles() -> None:
    """Multiples and expressions of coordinates, gears, skew twists of joints."""
    text = """
[parameters]
ratio = 3.5
alpha = "20 deg"
[bodies.a]
mass = 2
center = [0.3, 0, 0]
[bodies.b]
mass = 1
center = [0.2, 0, 0]
[joints.q1]
type = "revolute"
axis = [0, 1, 0]
child = "a"
[joints.q2]
type = "revolute"
parent = "a"
child = "b"
origin = { xyz = [0.5, 0, 0], rpy = ["alpha", 0, 0] }
[coordinates]
names = ["u", "w"]
[coordinates.joints]
q1 = "TIMES*u"
q2 = "ratio*w + u"
"""
    for times in ("3", "u", "ratio"):
        eqs = lw.derive(lw.load(text.replace("TIMES", times)))
        for quantity in ("M", "g"):
            agree(eqs, quantity)
        assert "cos(alpha)" in eqs.closed_form("M").text()
    fast = lw.derive(lw.load(text.replace("TIMES", "5000"))).closed_form("g")
    assert "cos(5000*u)" in fast.text()


def test_unknown_names_are_refused() -> None:
    eqs = lw.derive(lw.gallery("elbow"))
    with pytest.raises(NameNotFoundError, match="unknown quantity 'Mass'"):
        eqs.closed_form("Mass")
    with pytest.raises(NameNotFoundError, match=r'closed_form."jacobian", "link2"'):
        eqs.closed_form("jacobian")
    with pytest.raises(NameNotFoundError, match="no frame or body 'hand'"):
        eqs.closed_form("jacobian", "hand")
    with pytest.raises(LinkwrightError, match="not collected by 'weight'"):
        eqs.closed_form("M").text(by="weight")
    with pytest.raises(UnsupportedError, match="too long"):
        lw.derive(lw.gallery("chain-4")).closed_form("inverse_mass_matrix")


# -- notations ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_mathml_is_well_formed(name: str) -> None:
    eqs = lw.derive(lw.gallery(name))
    for quantity in ("M", "C", "g", "tau"):
        assert ET.fromstring(eqs.closed_form(quantity).html()).tag == "math"


@pytest.mark.parametrize("name", [*SMALL, "puma560"])
def test_latex_is_well_formed(name: str) -> None:
    eqs = lw.derive(lw.gallery(name))
    for quantity in ("g", "tau") if name != "puma560" else ("g",):
        text = eqs.latex(quantity)
        assert text.count("{") == text.count("}")
        assert text.count("\\left(") == text.count("\\right)")
        assert text.count("\\begin") == text.count("\\end")
    assert "\\begin{bmatrix}" in lw.derive(lw.gallery("cartesian")).latex("M")


def test_notebooks_show_the_equations() -> None:
    shown = lw.derive(lw.gallery("elbow"))._repr_latex_()
    assert shown is not None
    assert shown.count("$$") == 6
    assert r"\ddot" not in shown
    assert lw.derive(lw.gallery("elbow")).closed_form("tau")._repr_latex_().count(r"\ddot") >= 2
    large = lw.derive(lw.gallery("seven-axis"))._repr_latex_()
    assert large is None or large.count("$$") == 2


def test_sympy_and_back() -> None:
    sympy = pytest.importorskip("sympy")
    form = lw.derive(lw.gallery("elbow")).closed_form("M")
    M = form.sympy()
    q2, m2, l1, lc2, I2 = (sympy.Symbol(n, real=True) for n in ("q2", "m2", "l1", "lc2", "I2"))
    assert sympy.expand(M[0, 1] - (m2 * (lc2**2 + l1 * lc2 * sympy.cos(q2)) + I2)) == 0
    assert M.shape == (2, 2)
    assert form.sympy() == form.sympy(by="none").applyfunc(sympy.simplify) or sympy.simplify(
        form.sympy() - form.sympy(by="none")
    ) == sympy.zeros(2, 2)
    both = lw.derive(lw.gallery("elbow")).closed_form("linearized").sympy()
    assert set(both) == {"by_q", "by_qd", "by_qdd"}


def test_sympy_has_scalars_and_arrays() -> None:
    """Spong and Vidyasagar (6.4.13): c121 = c211 = c221 = h = −m2 l1 lc2 sin q2, c112 = −h."""
    sympy = pytest.importorskip("sympy")
    eqs = lw.derive(lw.gallery("elbow"), by="lagrange")
    m1, m2, l1, lc1, lc2, g, q1, q2 = (
        sympy.Symbol(n, real=True) for n in ["m1", "m2", "l1", "lc1", "lc2", "g", "q1", "q2"]
    )
    V = (m1 * lc1 + m2 * l1) * g * sympy.sin(q1) + m2 * g * lc2 * sympy.sin(q1 + q2)
    assert sympy.expand(eqs.closed_form("potential_energy").sympy() - V) == 0
    h = -m2 * l1 * lc2 * sympy.sin(q2)
    c = eqs.closed_form("christoffel").sympy()
    assert c.tolist() == [[[0, -h], [h, 0]], [[h, 0], [h, 0]]]


def test_json_has_every_entry() -> None:
    found = lw.derive(lw.gallery("elbow")).closed_form("M").json()
    assert list(found) == ["name", "what", "terms", "groups", "entries"]
    assert set(found["entries"]) == {"M[1,1]", "M[1,2]", "M[2,1]", "M[2,2]"}


def test_functions_of_literals_are_not_rounded() -> None:
    """sqrt(3) in a file is no decimal fraction in a closed form."""
    arm = lw.Mechanism(
        parameters={"l": 1, "m": 1},
        bodies={"b": {"mass": "m", "center": ["l*sqrt(3)", "l*2^(1/2)", 0]}},
        joints={"q1": {"type": "revolute", "child": "b"}},
    )
    form = lw.derive(arm).closed_form("M")
    assert form.text() == "M[1,1] = 5*m*l^2"
    assert lw.derive(arm).closed_form("M", parameters=["m", "l"]).text() == "M[1,1] = 5*m*l^2"
    assert lw.compile(arm).mass_matrix([0.0]) == pytest.approx(5, rel=1e-15)


@pytest.mark.parametrize(
    ("center", "M"),
    [
        ("l - 0.03", "m*(l - 0.03)^2"),
        ("l/3 + 0.5", "1/9*m*(l + 1.5)^2"),
        ("2/3*0.1", "m*cx1^2"),
        ("l*pi/4", "1/16*m*l^2*pi^2"),
        ("l*cos(0.3)", "m*l^2*cos(0.3)^2"),
        ("l + sqrt(2)", "m*(l^2 + 2*l*sqrt(2) + 2)"),
    ],
)
def test_literals_are_printed_as_numbers(center: str, M: str) -> None:
    """By hand; and by SymPy, which has the number itself."""
    arm = lw.Mechanism(
        parameters={"l": 1, "m": 1},
        bodies={"b": {"mass": "m", "center": [center, 0, 0]}},
        joints={"q1": {"type": "revolute", "child": "b"}},
    )
    form = lw.derive(arm).closed_form("M")
    assert form.text() == f"M[1,1] = {M}"
    sympy = pytest.importorskip("sympy")
    m, length = sympy.symbols("m l", real=True)
    wanted = m * sympy.sympify(center, locals={"l": length}, rational=True) ** 2
    exact = form.sympy()[0].subs(sympy.Symbol("cx1", real=True), sympy.Rational(1, 15))
    assert sympy.expand(exact - wanted) == 0
    assert form == lw.derive(arm, by="lagrange").closed_form("M")


def test_most_terms_of_a_sum_are_positive() -> None:
    """By hand: (l - 3/100)^2 + (l/5)^2, of which the term with l alone stands first."""
    arm = lw.Mechanism(
        parameters={"l": 1, "m": 1},
        bodies={"b": {"mass": "m", "center": ["l - 0.03", "l/5", 0]}},
        joints={"q1": {"type": "revolute", "child": "b"}},
    )
    form = lw.derive(arm).closed_form("M")
    assert form.text() == "M[1,1] = m*(-0.06*l + 1.04*l^2 + 0.0009)"
    assert form == lw.derive(arm, by="lagrange").closed_form("M")


@pytest.mark.parametrize(
    ("radius", "M"),
    [
        ("l + h", "m*(h + l)^2"),
        ("l - h", "m*(h - l)^2"),
        ("l + 0.5", "m*(l + 0.5)^2"),
        ("2*l - 1", "4*m*(l - 1/2)^2"),
        ("l - 2*h", "m*(4*h^2 - 4*h*l + l^2)"),
    ],
)
def test_squares_of_sums_are_recognized(radius: str, M: str) -> None:
    """A mass on an arm r has the inertia m r²; a sum with other factors than ±1 is written out."""
    arm = lw.Mechanism(
        parameters={"l": 1, "m": 1, "h": "1/4"},
        bodies={"b": {"mass": "m", "center": [radius, 0, 0]}},
        joints={"q1": {"type": "revolute", "child": "b"}},
    )
    assert lw.derive(arm).closed_form("M").text() == f"M[1,1] = {M}"


@pytest.mark.parametrize("name", lw.gallery())
def test_no_invented_symbol_stands_for_a_number(name: str) -> None:
    """Closed forms, steps and tables of the gallery have numbers where their files have some."""
    eqs = lw.derive(lw.gallery(name))
    numbers = {*eqs.literals}
    assert {key for key in eqs.parameters if key.startswith("n_")} == numbers
    for what in (
        equation_of_motion_functions(eqs.names, eqs.function_names())
        if numbers or "pi" in eqs.parameters
        else ()
    ):
        for steps in (True, False):
            sheet = typeset_quantity(eqs, what, steps=steps)
            values = [value for _, value in (*sheet.steps, *sheet.rows)]
            assert not numbers & frozenset[str]().union(*map(names_in, values))
            assert "n_" not in sheet.latex()
            assert "<mi>n</mi>" not in sheet.mathml()
