"""Equations of elbow and pendulum as textbooks write them: text, LaTeX, SymPy, in any arrangement."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
import sympy as sp

import linkwright as lw
from linkwright.errors import ExpressionError, FileError, LinkwrightError, NameNotFoundError
from linkwright.mechanism import replace_part_fields
from tests.check.test_misprints import D11, D12, RIGHT

ELBOW = lw.gallery("elbow")
PENDULUM = lw.Mechanism(
    name="pendulum",
    gravity=[0, "-g", 0],
    parameters={"m": 1, "l": "1/2", "g": 9.81, "I": "m*l^2/3"},
    bodies={"rod": {"mass": "m", "center": [0, "-l", 0], "inertia": {"zz": "I"}}},
    joints={"theta": {"type": "revolute", "child": "rod"}},
)
TAU1, TAU2 = RIGHT["tau1"], RIGHT["tau2"]
B1 = "- m2*l1*lc2*sin(q2)*(2*dq1*dq2 + dq2^2) + (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)"
B2 = "m2*l1*lc2*sin(q2)*dq1^2 + m2*lc2*g*cos(q1 + q2)"
D22 = "(m2*lc2^2 + I2)"

BROKEN = TAU1.replace(" + ", "\n        + ")

SAME = {
    "for torques": f"tau1 = {TAU1}\ntau2 = {TAU2}",
    "sides swapped": f"{TAU1} = tau1\n{TAU2} = tau2",
    "multiplied by a factor": f"2*l1*tau1 = 2*l1*({TAU1})\n-tau2*cos(q1) = -cos(q1)*({TAU2})",
    "rows mixed": f"tau1 - tau2 = ({TAU1}) - ({TAU2})\ntau1 + tau2 = {TAU1} + {TAU2}",
    "all on one side": f"{TAU1} - tau1 = 0\n0 = tau2 - ({TAU2})",
    "for accelerations": (
        f"D := ({D11})*{D22} - ({D12})^2\n"
        f"ddq1 = ({D22}*(tau1 - ({B1})) - ({D12})*(tau2 - ({B2})))/D\n"
        f"ddq2 = (({D11})*(tau2 - ({B2})) - ({D12})*(tau1 - ({B1})))/D"
    ),
    "over several lines": f"(1) tau1 = {BROKEN}\n(2) tau2 = {TAU2}",
    "by names of ours": "\n".join(
        f"tau{i} = " + " + ".join(f"M{i}{j}*ddq{j} + C{i}{j}*dq{j}" for j in (1, 2)) + f" + g{i}"
        for i in (1, 2)
    ),
    "by Lagrange": r"""
        \frac{d}{dt}\frac{\partial L}{\partial \dot q_1} - \frac{\partial L}{\partial q_1} = \tau_1 \\
        \frac{d}{dt}\frac{\partial L}{\partial \dot q_2} - \frac{\partial L}{\partial q_2} = \tau_2""",
    "canonical": """
        dp1 = tau1 - V_q1
        dp2 = tau2 + 1/2*(M11_q2*dq1^2 + 2*M12_q2*dq1*dq2 + M22_q2*dq2^2) - V_q2""",
    "underscores, other letters": f"tau_1 = {TAU1}\ntau_2 = {TAU2}".replace("ddq", "ddtheta_")
    .replace("dq", "dtheta_").replace("q1", "theta_1").replace("q2", "theta_2"),
}  # fmt: skip


@pytest.mark.parametrize("text", SAME.values(), ids=list(SAME))
def test_arrangements(text: str) -> None:
    report = lw.check(ELBOW, text)
    assert report.passed, str(report)
    assert "determine all 2 accelerations" in report.note


def test_a_set_that_leaves_a_motion_free() -> None:
    report = lw.check(ELBOW, f"tau1 = {TAU1}\n2*tau1 = 2*({TAU1})")
    assert report.passed
    assert report.note == "The equations that hold determine 1 of 2 accelerations."


LATEX = {
    "shorthands": r"""\begin{align}
        \tau_1 &= \left[m_1 l_{c1}^2 + m_2(l_1^2 + l_{c2}^2 + 2 l_1 l_{c2} C_2) + I_1 + I_2\right]\ddot{\theta}_1
        + \left[m_2(l_{c2}^2 + l_1 l_{c2} \cos\theta_2) + I_2\right]\ddot\theta_2 \\
        &\quad - m_2 l_1 l_{c2} S_2 (2\dot\theta_1\dot\theta_2 + \dot\theta_2^2)
        + (m_1 l_{c1} + m_2 l_1) g C_1 + m_2 l_{c2} g C_{12} \tag{3}
        \end{align}""",
    "energies": r"$V = m_1 g l_{c1}\sin q_1 + m_2 g\bigl(l_1\sin{q_1} + l_{c_2}\sin(q_1+q_2)\bigr)$",
    "functions": r"\[ M_{11}(q) = m_1l_{c1}^2 + m_2 \{l_1^2 + l_{c2}^2 + 2 l_1 l_{c2} \cos q_2\} + I_1 + I_2 \]",
    "matrix": r"""M(q) = \begin{bmatrix}
        m_1 l_{c1}^2 + m_2(l_1^2 + l_{c2}^2 + 2 l_1 l_{c2} c_2) + I_1 + I_2 & m_2(l_{c2}^2 + l_1 l_{c2} c_2) + I_2 \\
        m_2(l_{c2}^2 + l_1 l_{c2} c_2) + I_2 & m_2 l_{c2}^2 + I_2 \end{bmatrix}""",
    "Coriolis": r"""h = -m_2 l_1 l_{c2} \sin q_2 \\
        C(q,\dot q) = \begin{pmatrix} h\dot q_2 & h\dot q_2 + h\dot q_1 \\ -h\dot q_1 & 0 \end{pmatrix}""",
    "Christoffel": r"c_{121} = -m_2 l_1 l_{c2}\sin q_2, \\ c_{112} = m_2 l_1 l_{c2} S_2, \\ c_{222} = 0",
    "fractions": r"T = \frac{1}{2} M_{11} \dot q_1^2 + M_{12}\dot q_1\dot q_2 + \tfrac12 M_{22}\dot{q}_2^{2}",
    "velocity": r"\dot x_2 = -l_1 s_1\dot\theta_1 - l_{c2} s_{12}(\dot\theta_1 + \dot\theta_2)",
    "squares": r"v_2^2 = l_1^2\dot q_1^2 + l_{c2}^2(\dot q_1 + \dot q_2)^2 + 2 l_1 l_{c2}\cos q_2 (\dot q_1^2 + \dot q_1\dot q_2)",
    "double angles": r"\phi_2 = m_2 l_{c2} g (2\cos^2\frac{q_1+q_2}{2} - 1)",
}  # fmt: skip


@pytest.mark.parametrize("text", LATEX.values(), ids=list(LATEX))
def test_latex(text: str) -> None:
    report = lw.check(ELBOW, text)
    assert report.passed, str(report)
    assert any(x.status == "identical" for x in report)


def test_coriolis_matrix_up_to_its_freedom() -> None:
    text = "h := -m2*l1*lc2*sin(q2)\nC = [2*h*dq2, h*dq2; -h*dq1, 0]"
    report = lw.check(ELBOW, text)
    assert report.passed
    assert [x.note for x in report][1:] == [
        *["not Christoffel's, but C q̇ is the same"] * 2, *["Christoffel's"] * 2,
    ]  # fmt: skip
    assert not lw.check(ELBOW, text.replace("2*h*dq2", "h*dq2")).passed


PENDULA = {
    "brackets": r"\tau = (m l^2 + I)\ddot\theta + m g l\sin\left(\theta\right)",
    "of time": r"\tau = (m l^2 + I)\ddot\theta(t) + m g l\sin(\theta(t))",
    "dependence": r"M(\theta) = I + m l^2, \\ V(\theta) = -m g l\cos (\theta)",
    "torque": r"\tau = (m l^2 + I)\ddot\theta + m g l\sin\theta",
    "free": r"\ddot\theta = -\frac{m g l}{I + m l^2}\sin\theta",
    "inertia of a rod": r"\ddot\theta + \frac{3 g}{4 l}\sin\theta = 0",
    "another letter": "(m*l^2 + I)*ddphi + m*g*l*sin(phi) = tau",
    "constant of energy": "V = m*g*l*(1 - cos(theta))",
    "canonical": "p = (m*l^2 + I)*dtheta\ndp = tau - m*g*l*sin(theta)\nH = p^2/(2*(I + m*l^2)) - m*g*l*cos(theta)",
    "numbers": "tau = 1/3*ddtheta + 4.905*sin(theta)",
    "gravity as a number": "tau = (m*l^2 + I)*ddtheta + 9.81*m*l*sin(theta)",
}  # fmt: skip


@pytest.mark.parametrize("text", PENDULA.values(), ids=list(PENDULA))
def test_pendulum(text: str) -> None:
    report = lw.check(PENDULUM, text)
    assert report.passed, str(report)


def test_what_was_assumed_is_said() -> None:
    assert lw.check(PENDULUM, PENDULA["free"])[0].under == "tau1 = 0"
    assert lw.check(PENDULUM, PENDULA["inertia of a rod"])[0].under == "I = m*l^2/3, tau1 = 0"
    energy = lw.check(PENDULUM, PENDULA["constant of energy"])[0]
    assert energy.note == "up to a constant"
    assert 0 < energy.chance < 2.0**-50
    assert lw.check(PENDULUM, "V = m*g*l*(1 + cos(theta))")[0].status == "differs"
    assert "g = 9.81" in lw.check(PENDULUM, PENDULA["gravity as a number"])[0].under
    assert not lw.check(ELBOW, SAME["by names of ours"])[0].under
    assert lw.check(PENDULUM, "v1 = l*dtheta*sin(theta)")[0].status == "differs"
    assert lw.check(PENDULUM, PENDULA["another letter"]).names["phi"] == "theta"


def test_names_may_be_said() -> None:
    text = "T_a = (M_r*L^2 + J)*ddq + M_r*G*L*sin(q)"
    names = {"T_a": "tau", "M_r": "m", "L": "l", "J": "I", "G": "g"}
    assert lw.check(PENDULUM, text, names=names).passed
    assert lw.check(PENDULUM, "x = 2*y", names={"x": "2*l", "y": "l"}).passed
    with pytest.raises(NameNotFoundError, match="has no meaning for pendulum"):
        lw.check(PENDULUM, text)


def test_names_are_inferred_where_one_choice_is_right() -> None:
    theirs = {
        "m1": "M_a",
        "m2": "M_b",
        "lc1": "r_1",
        "lc2": "r_2",
        "l1": "a",
        "I1": "J",
        "I2": "J_b",
    }
    text = f"tau1 = {TAU1}\ntau2 = {TAU2}"
    for ours, word in theirs.items():
        text = re.sub(rf"\b{ours}\b", word, text)
    report = lw.check(ELBOW, text)
    assert report.passed
    assert report.names == {word: ours for ours, word in theirs.items()}
    with pytest.raises(
        NameNotFoundError, match="'a' has no meaning for elbow"
    ):  # l1 or l2, m1 or m2 …
        lw.check(ELBOW, "V - V1 - V2 = a - a")


LOOPS = {
    "four-bar": """
        l1*cos(theta1) + l2*cos(theta2) = l4 + l3*cos(theta3)
        l1*sin(theta1) + l2*sin(theta2) = l3*sin(theta3)
        dtheta3 = l1*sin(theta1 - theta2)/(l3*sin(theta3 - theta2))*dtheta1
        l3^2 = l1^2 + l2^2 + l4^2 + 2*l1*l2*cos(theta1-theta2) - 2*l1*l4*cos(theta1) - 2*l2*l4*cos(theta2)
        tau1*dtheta1 = sum(i = 1..3: (dp{i} - L_q{i})*dtheta{i})
        ! dtheta2 = l1*sin(theta1 - theta3)/(l2*sin(theta2 - theta3))*dtheta1
        ! l1*cos(theta1) + l2*cos(theta2) = l4 - l3*cos(theta3)""",
    "slider-crank": """
        x = l1*cos(theta1) + l2*cos(theta2)
        0 = l1*sin(theta1) + l2*sin(theta2)
        dx = -l1*sin(theta1)*dtheta1 - l2*sin(theta2)*dtheta2
        dtheta2 = -l1*cos(theta1)/(l2*cos(theta2))*dtheta1
        ! dx = -l1*sin(theta1)*dtheta1 + l2*sin(theta2)*dtheta2""",
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), LOOPS.items())
def test_loops(name: str, text: str) -> None:
    """Constraints and their rates, on all closed positions of all lengths."""
    report = lw.check(lw.gallery(name), text)
    assert report.passed, str(report)
    for finding in report:
        if finding.is_said_wrong:
            assert finding.repairs[0].kind == "sign"


def test_names_of_dual_components_are_plain_without_eps() -> None:
    names = {"F1x": "Fx_q1", "F2x": "Fx_q2"}
    assert lw.check(ELBOW, "m1*ddx1 = F1x - F2x", names=names).passed
    with pytest.raises(NameNotFoundError):
        lw.check(ELBOW, "m_1*ddx1 = F1x - F2x")


def test_sympy() -> None:
    t = sp.Symbol("t")
    q1, q2 = sp.Function("q1")(t), sp.Function("q2")(t)
    m2, l1, lc2, I2, g = sp.symbols("m2 l1 lc2 I2 g")
    d12 = m2 * (lc2**2 + l1 * lc2 * sp.cos(q2)) + I2
    tau2 = d12 * q1.diff(t, 2) + (m2 * lc2**2 + I2) * q2.diff(t, 2)
    tau2 += m2 * l1 * lc2 * sp.sin(q2) * q1.diff(t) ** 2 + m2 * lc2 * g * sp.cos(q1 + q2)
    assert lw.check(ELBOW, sp.Eq(sp.Symbol("tau2"), tau2)).passed
    assert lw.check(ELBOW, [tau2.expand() - sp.Symbol("tau2")]).passed
    assert lw.check(ELBOW, {"tau2": tau2, "d12": d12}).passed
    g1 = lw.check(ELBOW, {"phi": sp.Matrix([0, m2 * lc2 * g * sp.cos(q1 + q2)])})
    assert [x.status for x in g1] == ["differs", "identical"]
    with pytest.raises(ExpressionError, match="has no meaning here"):
        lw.check(ELBOW, {"tau2": sp.Integral(q1, q2)})


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "equations.txt"
    path.write_text("d22 = m2*lc2^2 + I2", encoding="utf-8")
    assert lw.check(ELBOW, path).passed
    assert lw.check(ELBOW, str(path)).passed
    with pytest.raises(FileError, match="cannot be read"):
        lw.check(ELBOW, tmp_path / "none.txt")
    with pytest.raises(ExpressionError, match="is not text"):
        lw.check(ELBOW, 3)


HOSTILE = {
    "deep": "tau1 = " + "(" * 5000 + "q1" + ")" * 5000,
    "deep latex": r"\tau_1 = " + r"\frac{1}{" * 2000 + "q_1" + "}" * 2000,
    "deep accents": r"\tau_1 = " + r"\dot{" * 2000 + "q" + "}" * 2000,
    "deep functions": r"\tau_1 = " + r"\sin " * 3000 + "q_1",
    "long": "tau1 = " + "q1 + " * 250_000 + "q1",
    "long file of lines": "tau1 = q1\n" * 100_000,
    "exponent": "tau1 = q1^99999999999",
    "exponent latex": r"\tau_1 = q_1^{99999999999}",
    "number": "tau1 = 1e999999999",
    "range": "tau{i} = q1, i = 1..99999999",
    "ranges": "tau1 = {i}{j}{k}, i = 1..99, j = 1..99, k = 1..99",
    "sums": "tau1 = " + "sum(i = 1..99: " * 12 + "q1" + ")" * 12,
    "open sum": "tau1 = sum(i = 1..9: q1",
    "itself": "a := a + 1\ntau1 = a",
    "circle": "a := b\nb := a\ntau1 = a",
    "code": "tau1 = __import__('os').system('true')",
    "call": "tau1 = system(q1)",
    "unknown command": r"\tau_1 = \input{/etc/passwd}",
    "unknown macro": r"\def\x{\x\x}\tau_1 = \x",
    "open brace": r"\tau_1 = \frac{1}{2",
    "nothing": "",
    "no equation": "tau1 + tau2\nq1",
    "empty side": "tau1 = ",
    "units": "tau1 = 3 kg",
    "brackets": "M = [[[[",
    "null": "tau1 = \x00",
    "index": r"M_{" + "1" * 3000 + "} = 0",
    "regex": "(" + "!" * 50_000,
}  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    start = time.process_time()
    with pytest.raises(LinkwrightError) as error:
        lw.check(ELBOW, text)
    assert time.process_time() - start < 0.5
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "tau1 = 1/(q1 - q1)",
        "v1*v2 = sqrt(v1^2*v2^2)",
        "v1 = lc1*dq1",
        "tau1 = 9^9^9^9^9^9^9",
        "exp(q1)*exp(q2) = exp(q1 + q2)",
        "phi2 = sqrt(0)/0.0",
    ],
)
def test_what_cannot_be_decided_is_said(text: str) -> None:
    try:
        (finding,) = lw.check(ELBOW, text)
    except LinkwrightError:
        return
    assert finding.status == "undecided"
    assert finding.note


@pytest.mark.parametrize(
    ("said", "wrong"),
    [
        ("frame C on nobody", "unknown body or frame 'nobody'"),
        ("frame P on R", "there is a 'P' already"),
        ("frame C on P at 0, 0, l", "'frame C on P at 0, 0, l' has no position"),
        ("frame C on R at 0, l", "'frame C on R at 0, l' has no position"),
        ("frame C on R at 0, 0, nothing", "nothing"),
        ("mass m1 at Q", "unknown body or frame 'Q'"),
        ("mass m7 at P\nHPx = eps", "'m7' has no meaning"),
        ("[without brakes]", "unknown constraint 'brakes' after 'without'"),
        ("V_C is V_E", "'V_E' has no meaning"),
    ],
)
def test_wrong_declarations_are_refused(said: str, wrong: str) -> None:
    with pytest.raises(LinkwrightError, match=re.escape(wrong)):
        lw.check(lw.gallery("sharp-edged-disk"), f"{said}\nV_C = eps*dq1*x_P")


def test_a_name_that_is_no_vector_differs() -> None:
    (found,) = lw.check(lw.gallery("sharp-edged-disk"), "V_C is V\nV_C = eps*dq1*x_P")
    assert (found.status, found.repairs) == ("differs", ())


def test_a_frame_may_turn_with_one_body_and_move_with_another() -> None:
    text = "frame C on B at P\nV_C = omega*y_C + eps*(dq1*x_C + dq2*y_C - omega*q1*z_C)"
    assert lw.check(lw.gallery("sharp-edged-disk"), text).passed


def test_names_in_the_text_yield_to_names_that_are_given() -> None:
    text = "a is q1\nphi2 = m2*lc2*g*cos(a + q2)"
    assert lw.check(ELBOW, text).passed
    assert not lw.check(ELBOW, text, names={"a": "q2"}).passed


def test_parameters_without_effect_have_a_meaning() -> None:
    """Lengths that no force depends on."""
    mechanism = replace_part_fields(ELBOW, parameters={**ELBOW.parameters, "l2": 1})
    assert lw.check(mechanism, "! d22 = m2*l2^2 + I2").passed


@pytest.mark.parametrize("name", ["elbow", "remote-elbow", "triple-pendulum"])
def test_our_own_latex_is_read_back(name: str) -> None:
    eqs = lw.derive(lw.gallery(name))
    text = "\n\n".join(eqs.latex(quantity) for quantity in ("M", "C", "g", "c"))
    report = lw.check(lw.gallery(name), text)
    assert report.passed
    assert len(report) == 2 * eqs.nv**2 + eqs.nv + eqs.nv**3


@pytest.mark.parametrize("name", ["bicycle", "four-bar", "rolling-disk", "slider-crank"])
def test_constraints_and_energies_of_loops_and_wheels(name: str) -> None:
    """On all closed positions, with all numbers as symbols."""
    speeds = lw.derive(lw.gallery(name)).names.qd
    row = " + ".join(f"J1{k}*d{speed}" for k, speed in enumerate(speeds, 1))
    report = lw.check(lw.gallery(name), f"f1 = 0\nE = T + V\n{row} = 0\n! E = T\n! {row} = 1")
    assert report.passed, report
    assert {finding.under for finding in report} == {""}
    assert not any("is E" in str(x) for finding in report for x in finding.repairs)
