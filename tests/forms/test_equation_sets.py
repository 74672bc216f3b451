"""Sets of equations in the form of their formulation."""

from __future__ import annotations

import json
import re

import casadi as ca
import numpy as np
import pytest

import linkwright as lw
from linkwright.forms.equation_set_typesetting import equation_set_source
from linkwright.forms.latex_prose import latex_formula, latex_prose
from tests.commands import ok


def test_hamilton_prints_the_equations_of_the_paper() -> None:
    """The printed lines of the triple pendulum are those of Bayseç and Kapucu, (60)–(65)."""
    pendulum = lw.gallery("triple-pendulum")
    found = lw.derive(pendulum, by="hamilton").equation_set()
    momenta, _, _, rates = found.sections
    assert [line.left for line in momenta.lines] == ["p1", "p2", "p3"]
    assert momenta.lines[0].text() == (
        "p1 = ((m1 + m2 + m3)*l1^2 + I1)*dtheta1 + (m2 + m3)*l1*l2*cos(theta1 - theta2)*dtheta2"
        " + m3*l1*l3*cos(theta1 - theta3)*dtheta3"
    )
    assert rates.lines[2].text() == (
        "dp3 = m3*l1*l3*sin(theta1 - theta3)*dtheta1*dtheta3"
        " + m3*l2*l3*sin(theta2 - theta3)*dtheta2*dtheta3 + tau3 - m3*g*l3*cos(theta3)"
    )
    printed = "\n".join(line.text() for line in (*momenta.lines, *rates.lines))
    assert lw.check(pendulum, printed).passed
    assert found.source.counts.text() == "6 equations, 6 unknowns, 6 states; M is 3 × 3"


@pytest.mark.parametrize("name", ["elbow", "cart-pole", "four-bar", "stanford-rrp"])
def test_momentum_rates_are_those_of_the_motion(name: str) -> None:
    """ṗ = M q̈ + Ṁ q̇ by differences of p along a motion with the accelerations of `recursive`."""
    mechanism = lw.gallery(name)
    eqs = lw.derive(mechanism, by="hamilton", parameters="numeric")
    source = equation_set_source(eqs)
    lines = {line.left: line.right for line in source.lines() if isinstance(line.left, str)}
    n, rng = eqs.nv, np.random.default_rng(5)
    own = [eqs.symbols[key] for key in ("q", "qd", "tau", "lambda")]
    p = ca.Function("p", own, [ca.vertcat(*(lines[f"p{k + 1}"] for k in range(n)))])
    rate = ca.Function("r", own, [ca.vertcat(*(lines[f"dp{k + 1}"] for k in range(n)))])
    q, qd, tau, force = (rng.uniform(0.2, 0.8, int(x.numel())) for x in own)
    tree = lw.derive(mechanism, parameters="numeric")
    M, bias = (
        np.array(tree.function(key)(*x)) for key, x in (("mass_matrix", [q]), ("bias", [q, qd]))
    )
    right = tau - bias.ravel()
    if eqs.names.constraints:
        right = right + np.array(tree.function("constraint_jacobian")(q)).T @ force
    qdd, h = np.linalg.solve(M, right), 1e-5
    ends = [np.array(p(q + s * h * qd, qd + s * h * qdd, tau, force)) for s in (1, -1)]
    np.testing.assert_allclose(
        np.array(rate(q, qd, tau, force)), (ends[0] - ends[1]) / (2 * h), rtol=1e-7, atol=1e-7
    )


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk", "slider-crank"])
def test_the_equations_with_multipliers_hold_on_a_motion(name: str) -> None:
    """The printed lines, as one linear system in q̈ and λ, give the accelerations of `recursive`."""
    mechanism = lw.gallery(name)
    eqs = lw.derive(mechanism, by="multipliers", parameters="numeric")
    source = equation_set_source(eqs)
    rows = [line.left - line.right for line in source.lines() if not isinstance(line.left, str)]
    known = [eqs.symbols["q"], eqs.symbols["qd"], eqs.symbols["tau"]]
    unknown = ca.vertcat(eqs.symbols["qdd"], eqs.symbols["lambda"])
    system = ca.Function("s", [*known, unknown], [ca.vertcat(*rows)])
    slope = ca.Function("j", [*known, unknown], [ca.jacobian(ca.vertcat(*rows), unknown)])
    model = lw.compile(mechanism)
    rng = np.random.default_rng(2)
    tau, zero = rng.uniform(-1, 1, model.nv), np.zeros(unknown.numel())
    q = model.home()
    qd = lw.assemble_velocities(mechanism, q, rng.uniform(-1, 1, model.nv))
    right = -np.array(system(q, qd, tau, zero)).ravel()
    found = np.linalg.lstsq(np.array(slope(q, qd, tau, zero)), right, rcond=None)[0]
    np.testing.assert_allclose(
        found[: model.nv], model.forward_dynamics(q, qd, tau), rtol=1e-9, atol=1e-9
    )
    counts = source.counts
    assert counts.equations == counts.unknowns == len(rows)


def test_every_format_has_the_sections() -> None:
    """Text, LaTeX, HTML and JSON of one set."""
    text = ok("derive", "elbow", "--by", "hamilton")
    assert "Rates of the momenta: ṗ = −∂H/∂q + Q  (11)" in text
    latex = ok("derive", "elbow", "--by", "hamilton", "--as", "latex")
    assert r"\dot{p}_2 &= " in latex
    page = ok("derive", "elbow", "--by", "hamilton", "--as", "html")
    assert "<h3>Generalized momenta " in page
    assert "<small>p = ∂L/∂q̇</small>" in page
    data = json.loads(ok("derive", "elbow", "--by", "hamilton", "--json"))
    assert [s["title"] for s in data["sections"]][:2] == ["Generalized momenta", "Hamiltonian"]
    assert data["counts"]["matrices"] == {"M": [2, 2]}


@pytest.mark.parametrize(
    ("prose", "latex"),
    [
        ("Here q̇ stands for M⁻¹ (p − a).", r"Here $\dot{q}$ stands for $M^{-1}$ (p $-$ a)."),
        ("M⁽ⁱ⁾ are α_jⁱ, Ñ⁽ⁱ⁾", r"$M^{(i)}$ are $\alpha_j^{i}$, $\tilde{N}^{(i)}$"),
        ("ω of upper_arm, Bayseç", r"$\omega$ of upper\_arm, Bayseç"),
    ],
)
def test_prose_in_latex_has_formulas(prose: str, latex: str) -> None:
    """LaTeX has no letters with dots, and an underscore needs a backslash."""
    assert latex_prose(prose) == latex


def test_lowered_indices_of_laws_are_not_words() -> None:
    assert latex_formula("q̇_s = Σ A_sr u_r") == r"\dot{q}_s = \sum  A_{sr} u_r"
    assert latex_formula("W q̈ with the velocities") == r"W \ddot{q} \text{ with the velocities }"


def test_counts_of_one_are_singular() -> None:
    text = lw.derive(lw.gallery("four-bar"), by="influence").equation_set().text()
    assert "1 equation, 1 unknown, 2 states; I* is 1 × 1" in text


def test_products_of_decimals_are_decimals() -> None:
    """The rate of 0.2 sin(0.7 t) is 0.14 cos(0.7 t), in spite of floating point."""
    arm = lw.load("""
    bodies.a = { mass = "m1", center = [1, 0, 0] }
    joints.q1 = { type = "revolute", child = "a" }
    constraints.d = { type = "drive", on = "q1", position = "0.2*sin(0.7*t)" }
    parameters = { m1 = 2 }
    """)
    found = lw.derive(arm, by="multipliers").closed_form("constraint_velocity")
    assert str(found) == "V[1] = dq1 - 0.14*cos(0.7*t)"


def test_momenta_do_not_share_names_with_coordinates() -> None:
    """The coordinates of the remotely driven elbow are p1 and p2 in the book."""
    text = lw.derive(lw.gallery("remote-elbow"), by="hamilton").equation_set().text()
    assert "\n  dp_p1 = m2*l1*lc2*sin(p2 - p1)*dp1*dp2 + tau_p1 - " in text
    assert "\n  p_p1: momentum of p1\n" in text
    assert "\n  dp1 = " not in text


def test_names_with_two_meanings_are_told() -> None:
    """The dual unit is eps; so may be an offset of the mechanism."""
    arm = lw.Mechanism(
        name="arm",
        parameters={"eps": 2},
        bodies={"a": {"mass": 1, "center": [1, "eps", 0]}},
        joints={"q": {"type": "revolute", "child": "a"}},
    )
    text = lw.derive(arm, by="kane").equation_set().text()
    assert "eps: the dual unit, eps^2 = 0; the mechanism has a parameter of this name, too" in text


@pytest.mark.parametrize("by", ["hamilton", "recurrent"])
def test_multipliers_in_lines_have_meanings(by: str) -> None:
    """Only those that occur: three rows of the pin are zero in the plane."""
    found = lw.derive(lw.gallery("four-bar"), by=by).equation_set().source.symbols
    assert found["lambda_pin_2"] == "multiplier of row 2 of J"
    assert "lambda_pin_3" not in found


def test_terms_of_a_mass_matrix_look_alike_in_all_quantities() -> None:
    """The coefficient of q̈1 in τ1, that of q̇1² in 2T and 2L, and M11 are one text, as in books; no
    half stands inside a half."""
    links = {"l1": 0.8, "l2": 0.5, "I1": 0.01, "I2": 0.02, "m1": 1.5, "m2": 0.7, "g": 9.81}
    bodies, joints = {}, {}
    for k in (1, 2):
        center, inertia = [f"l{k}/2", 0, 0], {"zz": f"I{k}"}
        bodies[f"b{k}"] = {"mass": f"m{k}", "center": center, "inertia": inertia}
        joints[f"q{k}"] = {"type": "revolute", "child": f"b{k}"}
    joints["q2"] |= {"parent": "b1", "origin": ["l1", 0, 0]}
    arm = lw.Mechanism(
        name="rods", gravity=[0, "-g", 0], parameters=links, bodies=bodies, joints=joints
    )
    eqs = lw.derive(arm)
    first = "1/4*m1*l1^2 + m2*(l1^2 + 1/4*l2^2 + l1*l2*cos(q2)) + I1 + I2"
    second = "m2*(1/4*l2^2 + 1/2*l1*l2*cos(q2)) + I2"
    M = eqs.closed_form("M").text()
    assert f"M[1,1] = {first}\n" in M
    assert f"M[1,2] = M[2,1] = {second}\n" in M
    assert f"tau[1] = ({first})*ddq1 + ({second})*ddq2" in eqs.closed_form("tau").text()
    for energy in ("T", "L"):
        assert f"({second})*dq1*dq2" in eqs.closed_form(energy).text()


def test_hidden_halves_of_gradients_are_not_printed() -> None:
    """Momenta of an arm that are longer than a page: no term is written as the sum of its halves."""
    found = lw.derive(lw.gallery("puma560"), by="hamilton").equation_set()
    assert "1/2" not in "\n".join(step.text() for step in found.sections[0].steps)


@pytest.mark.parametrize("by", ["hamilton", "kane", "influence", "recurrent", "multipliers"])
def test_actuators_act_by_their_own_names(by: str) -> None:
    """As in (56)–(65) of Bayseç and Kapucu: τ1 − τ2 acts on the first angle."""
    name = "four-bar" if by == "multipliers" else "triple-pendulum"
    text = lw.derive(lw.gallery(name), by=by).equation_set().text()
    assert "tau_theta" not in text
    what = "efforts of the actuators" if name == "triple-pendulum" else "effort of the actuator"
    names = "tau1, tau2, tau3" if name == "triple-pendulum" else "tau1"
    assert f"  {names}: {what}\n" in text
    assert by == "multipliers" or "tau1 - tau2" in text


def test_quaternions_are_printed_by_the_names_that_the_checker_reads() -> None:
    """ball.wx is a velocity, dball.wx its rate."""
    ball = lw.Mechanism(
        name="ball",
        bodies={"rod": {"mass": 1, "center": [0, 0, -0.5], "inertia": [0.08, 0.08, 0.001]}},
        joints={"ball": {"type": "spherical", "child": "rod"}},
    )
    lines = lw.derive(ball).closed_form("tau").text()
    assert "dball.wx" in lines
    assert "ddball" not in lines
    printed = lines.replace("tau[1]", "tau_ball.wx").splitlines()[0]
    assert lw.check(ball, printed).passed


def test_arrays_of_a_set_have_closed_forms() -> None:
    """An array by its name, an entry by its index; on the command line, too."""
    eqs = lw.derive(lw.gallery("elbow"), by="influence")
    assert eqs.closed_form("Gc1").text() == "Gc1[1,1] = -lc1*sin(q1)\nGc1[2,1] = lc1*cos(q1)"
    assert eqs.closed_form("P").text().startswith("P[1,1,2] = ")  # not the potential energy
    text = ok("derive", "elbow", "--by", "influence", "--what", "Gc1[1,1],M")
    assert "  Gc1[1,1] = -lc1*sin(q1)" in text
    assert "Kinematic influence coefficients" in text


def test_momenta_are_not_mistaken_for_coordinates_that_are_called_p() -> None:
    """p_p2 of the five-bar is the momentum of p2; without underscores it were the velocity ṗ2."""
    five_bar = lw.gallery("five-bar")
    found = lw.derive(five_bar, by="hamilton").equation_set()
    momenta, _, _, rates, _ = found.sections
    assert [line.left for line in momenta.lines] == ["p_q1", "p_p1", "p_q2", "p_p2"]
    report = lw.check(five_bar, "\n".join(line.text() for line in (*momenta.lines, *rates.lines)))
    assert [claim.status for claim in report] == ["identical"] * 8
    assert lw.check(five_bar, "pp2 = dp2").passed
    wrong = lw.check(five_bar, momenta.lines[3].text().replace("1/4*m3", "1/3*m3"))
    assert wrong[0].status == "differs"


@pytest.mark.parametrize(
    ("parameters", "momentum"),
    [(("p_1", "b"), "p_q1"), (("p1", "p_q2"), "momentum_q1"), (("a", "b"), "p1")],
)
def test_names_of_momenta_differ_from_all_names_of_the_mechanism(
    parameters: tuple[str, str], momentum: str
) -> None:
    """Underscores do not count for the checker: a mass p_1 is also p1."""
    first, second = parameters
    pair = lw.load(
        f"""
        name = "pair"
        gravity = [0, -9.81, 0]
        [parameters]
        {first} = 2
        {second} = 3
        [bodies.one]
        mass = "{first}"
        center = [0.5, 0, 0]
        [bodies.two]
        mass = "{second}"
        center = [0.5, 0, 0]
        [joints.q1]
        type = "revolute"
        child = "one"
        [joints.q2]
        type = "revolute"
        parent = "one"
        child = "two"
        origin = [1, 0, 0]
        """
    )
    momenta, _, _, rates = lw.derive(pair, by="hamilton").equation_set().sections
    assert momenta.lines[0].left == momentum
    report = lw.check(pair, "\n".join(line.text() for line in (*momenta.lines, *rates.lines)))
    assert [claim.status for claim in report] == ["identical"] * 4


@pytest.mark.parametrize("name", ["triple-pendulum", "four-bar", "remote-elbow"])
def test_forces_of_the_recurrent_equations_are_not_read_as_potential_energies(name: str) -> None:
    """V1 in W q̈ = P + V is a generalized force; elsewhere V1 is the energy of a body."""
    mechanism = lw.gallery(name)
    text = lw.derive(mechanism, by="recurrent").equation_set().text()
    lines = [line.strip() for line in text.splitlines() if " = " in line]
    kept = [
        line for line in lines if line.startswith(("W", "V1", "V2", "V3", "dd")) and "q̈" not in line
    ]
    report = lw.check(mechanism, "\n".join(kept))
    assert len(kept) > 6
    assert {claim.status for claim in report} == {"identical"}
    wrong = [line.replace("sin(", "cos(") if line.startswith("V1") else line for line in kept]
    assert "differs" in {claim.status for claim in lw.check(mechanism, "\n".join(wrong))}
    assert lw.check(lw.gallery("elbow"), "V1 = m1*g*lc1*sin(q1)").passed


def test_superscripts_of_vectors_are_elements_of_mathml() -> None:
    """α₁² of the second iteration of the recurrent method: the 2 is a number above α, not text."""
    html = lw.derive(lw.gallery("elbow"), by="recurrent").equation_set().html()
    assert "<msubsup><mi>α</mi><mtext>1,x</mtext><mn>2</mn></msubsup>" in html
    assert not re.search(r"</mtext>\d", html)


def test_long_left_sides_are_broken_into_lines_on_pages() -> None:
    """The last row of each equation of motion ends with its right side."""
    steps = lw.derive(lw.gallery("elbow"), by="lagrange").equation_set(steps=True)
    last = steps.sections[-1].mathml()
    rows = last.split('<mtd columnspan="3"')[1:]
    signs = [row.count("<mo>=</mo>") for row in rows]
    assert signs[0] == 0
    assert signs[-1] == 1
    assert sum(signs) == 2
    assert last.count("<mrow>") == last.count("</mrow>")


def test_listed_parts_have_their_signs_in_front() -> None:
    printed = str(lw.derive(lw.gallery("rattleback"), by="kane").equation_set())
    assert "x15 = " in printed
    assert not re.findall(r"[*/] ?\(-x\d+\)|- \(-x\d+\)|\(-x\d+\)\*", printed)
