"""What equations are read as: LaTeX of papers and textbooks, plain text, labels, vectors, sums."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.checking.statement_reader import Statement, UnreadableStatement, read_statements
from linkwright.errors import ExpressionError, LinkwrightError
from linkwright.expressions import expression_text
from linkwright.mechanism import replace_part_fields
from tests.commands import run

ELBOW = lw.gallery("elbow")
CART = lw.gallery("cart-pole")
PENDULUM = lw.Mechanism(
    name="pendulum",
    gravity=[0, "-g", 0],
    parameters={"m": 1, "l": "1/2", "g": 9.81, "J": "m*l^2/3", "d": 2, "k": 3},
    bodies={"rod": {"mass": "m", "center": [0, "-l", 0], "inertia": {"zz": "J"}}},
    joints={"theta": {"type": "revolute", "child": "rod"}},
)


def equations(mechanism: lw.Mechanism, text: str) -> list[str]:
    """Each equation that the text is read as, in plain text."""
    return [
        f"{expression_text(x.left)} = {expression_text(x.right)}"
        if isinstance(x, Statement)
        else str(x.error)
        for x in read_statements(text, mechanism)
    ]


# -- symbols, functions, layout -------------------------------------------------------------

SYMBOLS = {
    r"x_1 = l_1 Cos \theta_1 + l_{c1}Sin(\theta_2) - Tan(q_1)": "x1 = l1*cos(theta1) + lc1*sin(theta2) - tan(q1)",
    r"x_1 = \operatorname{cos}(q_1) + \mathrm{sin} q_2 + cosq_1": "x1 = cos(q1) + sin(q2) + cos(q1)",
    r"x_1 = S^{2}\theta_2 + C^2\theta_1 - C q_2 + S(q_1+q_2)": "x1 = sin(theta2)^2 + cos(theta1)^2 - cos(q2) + sin(q1 + q2)",
    r"x_1 = c\theta_{12} s\theta_1 + c_{1+2} + \operatorname{c}_{12}": "x1 = cos(theta1 + theta2)*sin(theta1) + cos(q1 + q2) + c12",
    r"\ddot{s}'_1 + \dot s_1' = s''_2 + {s}_{2}^{\prime\prime}": "dds1prime + ds1prime = s2primeprime + s2primeprime",
    r"\bar l_1 + \hat\theta_2 + \tilde{m} = \overline{l_1}": "lbar1 + thetahat2 + mtilde = lbar1",
    r"\vec{v}_1 + \underline{v}_1 = \boldsymbol{v}_{1}": "v1 + v1 = v1",
    r"x_1 = \left\{ l_1 + \left\lbrace l_2 \right\rbrace \right\} \mathstrut \; \, l_1": "x1 = (l1 + l2)*l1",
    r"x_1 = \cos 30^\circ + \cos(45\degree) \cdot 2": "x1 = cos(30*(pi*(1/180))) + cos(45*(pi*(1/180)))*2",
    r"x_1 = \sin\omega t": "x1 = sin(omega*t)",
    r"F_1^* = l_1^{*} q^2_1": "F1_star = l1_star*q1^2",
    r"T = \frac{d\theta_1}{dt} + \frac{d^2 q_1}{dt^2} - d q_1/dt": "T = dtheta1 + ddq1 - dq1",
    r"\partial L/\partial q_1 = dL/dq_1": "L_q1 = L_q1",
    r"\boxed{T = \frac12 m_1 \lvert v_1\rvert^2 + m_2\|v_2\|^{2}}\,,": "T = 0.5*m1*v1^2 + m2*v2^2",
    r"x_1 = d \cos q_1 + \frac{d \sin q_1}{2}": "x1 = d*cos(q1) + (d*sin(q1))/2",
}  # fmt: skip


@pytest.mark.parametrize(("latex", "plain"), SYMBOLS.items())
def test_latex_symbols(latex: str, plain: str) -> None:
    assert equations(ELBOW, latex) == [plain]


TEXTS = {
    "tau1 = 1/2 m1 l1^2 ddq1 + sin q1 - sin^2(q2)": "tau1 = 0.5*m1*l1^2*ddq1 + sin(q1) - sin(q2)^2",
    "θ̈₁ = ½·q̇₁² − ∂L/∂q̇1": "ddtheta1 = 0.5*dq1^2 - L_dq1",
    "d/dt(∂L/∂q̇1) - dL/dq1 = tau1": "dL_dq1 - L_q1 = tau1",
    "x1 = 1.5e-3*l1 + m2(l1 + l2) + cos(30 deg)": "x1 = 0.0015*l1 + m2*(l1 + l2) + cos(30*(pi*(1/180)))",
    "x1 = Cos(q1)*Sin q2": "x1 = cos(q1)*sin(q2)",
    "q1(t) = s1'": "q1 = s1prime",
}  # fmt: skip


@pytest.mark.parametrize(("text", "plain"), TEXTS.items())
def test_plain_text(text: str, plain: str) -> None:
    assert equations(ELBOW, text) == [plain]


REFUSED = {
    "tau1 = m1*g/2 l1": "'/' may reach as far as 'l1'",
    "tau1 = coz(q1)": "did you mean 'cos'",
    "tau1 = (q1 + 2*q2": "a bracket is not closed",
    "tau1 = q1 + ": "something is missing at the end",
    r"\tau_1 = \int q_1": r"'\int' is not in the subset",
    r"\tau_1 = m_1 \sin(q": "a bracket is not closed",
    r"\tau_1 = \sin q": "has a vector of 2 for a number",
    r"\tau_1 = \dot q": "stands beside a vector",
    r"\ddot q = (1, 2, 3)": "a vector of 3 stands where 2 entries are needed",
    r"x_1 = q_1^{(2)}": "a superscript in brackets",
    r"V = \frac12 m_1 v_1^2 (17)": "may be the equation's number, or a factor",
    r"\phi_1 = 0 & V = 0": "'&' stands between two factors",
    r"\dot q^T M M M M M M M M M M M M M M M M M M M \dot q = 0": "too long to be written out",
    r"\dot q^T(M - 2 l_1)\dot q = 0": "the matrix M stands among numbers",
    r"\tau_1 = \sum_{i=1}^{m} m_i": "the limit 'm' of a sum",
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_refusals_say_where(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as error:
        read_statements(text, ELBOW)
    assert said in str(error.value)


# -- labels ---------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["12", "6.4.18", "12a", "A.3", "7'", "3-2"])
def test_a_number_in_brackets_is_a_label(number: str) -> None:
    for body in ("d22 = I2", r"\tau_2 = q_1", "-d22 = -I2", "(m1 + m2)*d22 = I2"):
        (line,) = read_statements(f"({number}) {body}", ELBOW)
        assert line.number == number
    (line,) = read_statements(rf"\tau_2 = q_1 \quad ({number})", ELBOW)
    assert line.number == number


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (r"(m_1 + m_2) \phi_2 = 0", "(m1 + m2)*phi2"),
        (r"(m_1) \phi_2 = 0", "m1*phi2"),
        ("(m1 + m2) phi2 = 0", "(m1 + m2)*phi2"),
        ("(m1) phi2 = 0", "m1*phi2"),
        ("(2)*phi2 = 0", "2*phi2"),
        (r"(2) \cdot \phi_2 = 0", "2*phi2"),
        ("(l1 - 2) phi2 = 0", "(l1 - 2)*phi2"),
        (r"(2g) \phi_2 = 0", "(2*g)*phi2"),
        (r"(2a) \phi_2 = a", "(2*a)*phi2"),
    ],
)
def test_other_brackets_are_factors(text: str, left: str) -> None:
    (line,) = read_statements(text, ELBOW)
    assert isinstance(line, Statement)
    assert (line.number, expression_text(line.left)) == ("1", left)


def test_labels_of_words_have_a_colon() -> None:
    (line,) = read_statements("! (table 1): phi2 = 0", ELBOW)
    assert (line.number, line.is_said_wrong) == ("table 1", True)


def test_a_leading_factor_counts() -> None:
    """Both were read as the equation's number."""
    text = r"(m_1 + m_2) \phi_2 = m_2 l_{c2} g \cos(q_1+q_2)"
    assert lw.check(ELBOW, text)[0].status == "differs"
    right = r"(m_c + m_p)\ddot x + \frac12 m_p l(\ddot\theta\cos\theta - \dot\theta^2\sin\theta) = \tau_1"
    assert lw.check(CART, right).passed


# -- functions and products -----------------------------------------------------------------

PRODUCTS = {
    r"T = \frac12 J (\dot\theta)^2": "T = 0.5*J*dtheta^2",
    r"T = \frac12 J \left(\dot\theta\right)^{2}": "T = 0.5*J*dtheta^2",
    r"V = k(\theta - l) + m(\theta) + d(\theta)": "V = k*(theta - l) + m*theta + d*theta",
    r"V = l(\dot\theta)^2 + J(\ddot\theta)": "V = l*dtheta^2 + J*ddtheta",
    r"L = T(\theta, \dot\theta) - V(\theta)": "L = T - V",
    r"\tau = M(\ddot\theta) + B(\dot\theta) + c(\dot\theta) + F(\theta)": "tau = M*ddtheta + B*dtheta + c*dtheta + F*theta",
    r"\tau = c(\dot\theta - \dot\phi) + S(\theta - \phi)": "tau = c*(dtheta - dphi) + sin(theta - phi)",
    r"\tau = c\dot\theta + s\theta": "tau = c*dtheta + sin(theta)",
    r"M(\theta)\ddot\theta(t) + V_1(\theta) = \tau(t)": "M*ddtheta + V1 = tau",
    r"\theta(t)^2 = \dot\theta(t)": "theta^2 = dtheta",
    "T = J(dtheta)^2/2": "T = J*dtheta^2/2",
    "V(theta) = -m*g*l*cos(theta)": "V = -m*g*l*cos(theta)",
}


@pytest.mark.parametrize(("text", "plain"), PRODUCTS.items())
def test_what_depends_and_what_multiplies(text: str, plain: str) -> None:
    assert equations(PENDULUM, text) == [plain]


def test_a_term_that_may_be_either_is_refused() -> None:
    with pytest.raises(ExpressionError, match=r"'g\(theta\)' may be a product, or a function"):
        read_statements(r"M\ddot\theta + g(\theta) = \tau", PENDULUM)


def test_a_function_that_the_text_defines() -> None:
    text = r"h(q_2) = -m_2 l_1 l_{c2}\sin q_2 \\ c_{121} = h(q_2)"
    assert equations(ELBOW, text) == ["h = -m2*l1*lc2*sin(q2)", "c121 = h"]


def test_brackets_are_squared_alone() -> None:
    right = r"T = \frac12 (m l^2 + J) (\dot\theta)^2"
    assert lw.check(PENDULUM, right).passed
    assert lw.check(PENDULUM, right.removesuffix("^2"))[0].status == "differs"
    assert lw.check(PENDULUM, r"2 T - m l^2\dot\theta^2 = J^2 \dot\theta")[0].status == "differs"


# -- several equations ----------------------------------------------------------------------


def test_one_that_cannot_be_read_does_not_stop_the_others() -> None:
    text = r"\phi_2 = m_2 l_{c2} g\cos(q_1+q_2) \\ \phi_1 = \int q \tag{7} \\ d_{22} = m_2 l_{c2} + I_2"
    lines = read_statements(text, ELBOW)
    assert [type(x) for x in lines] == [Statement, UnreadableStatement, Statement]
    report = lw.check(ELBOW, text)
    assert [x.status for x in report] == ["identical", "unreadable", "differs"]
    assert report[1].number == "7"
    assert r"'\int' is not in the subset" in report[1].sentence()
    assert not report.passed
    assert not lw.check(ELBOW, "! tau1 = q1 +* q2\nd22 = m2*lc2^2 + I2").passed


def test_the_command_ends_with_2_for_what_cannot_be_read(tmp_path: Path) -> None:
    text = "d22 = m2*lc2^2 + I2\n(7) tau1 = q1 +* q2\n(8) d22 = m2*lc2 + I2"
    (tmp_path / "e.txt").write_text(text, encoding="utf-8")
    done = run("check", "elbow", "e.txt", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, "linkwright: cannot be read: 7\n")
    assert "when lc2 is squared" in done.stdout


def test_the_command_ends_with_1_for_definitions_alone(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("omega = dq1", encoding="utf-8")
    done = run("check", "elbow", "e.txt", cwd=tmp_path)
    assert done.returncode == 1
    assert "nothing uses it" in done.stdout
    assert done.stderr == "linkwright: nothing was checked: the text has definitions only\n"


def test_where_none_can_be_read_the_first_reason_is_raised() -> None:
    with pytest.raises(ExpressionError, match="something is missing"):
        lw.check(ELBOW, "tau1 = q1 +\n\n\n")
    with pytest.raises(ExpressionError, match="a side of an equation is empty"):
        lw.check(ELBOW, "[part]\n= tau2\ntau1 = *")


LAYOUTS = {
    "prose": r"""The energy is $K = 0$, where $K$ is kinetic. With \begin{equation}\label{e} V = 0 \end{equation}
        the gravity follows: \[ \phi_2 = 0. \tag{6.4} \] It vanishes.""",
    "cases": r"\begin{cases} K = 0 \\ V = 0 \\ \phi_2 = 0 \end{cases}",
    "array": r"\left\{\begin{array}{l} K = 0 \\ V = 0, \\ \phi_2 = 0 \end{array}\right.",
    "one line": r"K = 0, \quad V = 0; \qquad \phi_2 = 0",
    "words": r"K = 0 \text{ and } V = 0 \Rightarrow \phi_2 = 0",
    "lists": r"(K, V, \phi_2) = (0, 0, 0)",
    "columns": r"\begin{bmatrix} K \\ V \\ \phi_2 \end{bmatrix} = \left[\begin{array}{c} 0 \\ 0 \\ 0 \end{array}\right]",
    "transposed": r"[K, V, \phi_2]^T = \{0, 0, 0\}^{\mathsf T}",
    "chain": r"\begin{align} K &= 0 \\ V &= 0 \\ \phi_2 &= 0 \\ &= 0 \end{align}",
    "beside each other": r"\begin{align} K &= 0 & V &= 0 \\ \phi_2 &= 0 \end{align}",
    "plain lists": "(K, V, phi2) = [0, 0, 0]",
    "plain columns": "[K; V; phi2] = [0; 0; 0]",
}


@pytest.mark.parametrize("text", LAYOUTS.values(), ids=list(LAYOUTS))
def test_layouts(text: str) -> None:
    assert list(dict.fromkeys(equations(ELBOW, text))) == ["K = 0", "V = 0", "phi2 = 0"]


# -- vectors, matrices, sums ----------------------------------------------------------------

ROWS = [
    "(M11*ddq1 + M12*ddq2) + (C11*dq1 + C12*dq2) + g1 = tau1",
    "(M21*ddq1 + M22*ddq2) + (C21*dq1 + C22*dq2) + g2 = tau2",
]
MOTION = {
    "bare": r"M\ddot q + C\dot q + g = \tau",
    "bold": r"\mathbf{M}(\mathbf{q})\ddot{\mathbf{q}} + \mathbf{C}(\mathbf{q}, \dot{\mathbf{q}})\dot{\mathbf{q}}"
    r" + \mathbf{g}(\mathbf{q}) = \boldsymbol{\tau} \quad (1)",
    "text": "M*ddq + C*dq + g = tau",
    "Craig": r"M(\Theta)\ddot\Theta + V(\Theta, \dot\Theta) + g(\Theta) = \tau",
    "Siciliano": r"B(q)\ddot q + C(q, \dot q)\dot q + g(q) = \tau",
    "sums": r"\sum_{j=1}^n M_{kj}(q)\ddot q_j + \sum_j C_{kj}\dot q_j + g_k(\mathbf q) = \tau_k, \quad k = 1, \dots, n",
    "open index": r"\sum_{j=1}^{2} M_{ij}\ddot q_j + \sum_{j=1}^{2} C_{ij}\dot q_j + g_i = \tau_i",
    "columns": r"""\begin{bmatrix} M_{11} & M_{12} \\ M_{21} & M_{22} \end{bmatrix}
        \begin{bmatrix} \ddot q_1 \\ \ddot q_2 \end{bmatrix} + C \begin{pmatrix} \dot q_1 \\ \dot q_2 \end{pmatrix}
        + \left(\begin{array}{c} g_1 \\ g_2 \end{array}\right) = \begin{bmatrix} \tau_1 \\ \tau_2 \end{bmatrix}""",
}  # fmt: skip


@pytest.mark.parametrize("text", MOTION.values(), ids=list(MOTION))
def test_equations_of_motion_as_vectors(text: str) -> None:
    assert equations(ELBOW, text) == ROWS


def test_vectors_of_coordinates_with_other_names() -> None:
    assert equations(CART, r"\dot q = p") == ["dx = p1", "dtheta = p2"]
    p = lw.gallery("remote-elbow")
    found = equations(p, r"K = \dot p^T D \dot p")
    assert found == ["K = (dp1*D11 + dp2*D21)*dp1 + (dp1*D12 + dp2*D22)*dp2"]
    assert equations(PENDULUM, r"\dot\theta = q") == ["dtheta = q"]


def test_rows_and_derivatives_by_vectors() -> None:
    assert equations(ELBOW, r"\tau^T \dot q = 0") == ["tau1*dq1 + tau2*dq2 = 0"]
    lagrange = (
        r"\frac{d}{dt}\frac{\partial L}{\partial \dot q} - \frac{\partial L}{\partial q} = \tau"
    )
    assert equations(ELBOW, lagrange) == ["dL_dq1 - L_q1 = tau1", "dL_dq2 - L_q2 = tau2"]
    assert equations(ELBOW, r"\frac{d M_{11}}{dt} = 0") == ["M11_q1*dq1 + M11_q2*dq2 = 0"]
    assert equations(ELBOW, r"J^T = \begin{bmatrix} a & b \\ c & d \end{bmatrix}")[1] == "JT12 = b"


def test_nested_sums() -> None:
    text = r"H = \sum_{i=1}^{n}\sum_{j=1}^{i} m_i x_{j+1} + l_{ci}"
    assert equations(ELBOW, text)[0] == "H = (m1*x2 + (m2*x2 + m2*x3)) + lc1"
    assert len(equations(ELBOW, r"c_{ijk} = 0")) == 8


def test_parameters_on_the_diagonal() -> None:
    chain = lw.gallery("chain-6")
    dampers = {f"D{k}": 1 for k in range(1, 7)}
    damped = replace_part_fields(chain, parameters={**chain.parameters, **dampers})
    found = equations(damped, r"M\ddot q + D\dot q = \tau")
    assert "D1*dq1" in found[0]
    assert "D2" not in found[0]


HOSTILE = {
    "spaces": r"\tau_1 = q_1" + r"\," * 70_000 + ", i = 1, 2",
    "environments": r"\begin{equation}" * 11_000,
    "matrices": r"\begin{bmatrix}" * 12_000 + r"\tau_1 = 1",
    "formulas": r"\[" * 99_000 + "=",
    "fonts": r"\tau_1 = x^" + r"\mathbf" * 1000,
    "sums": r"\tau_1 = " + r"\sum_{i=1}^{99}" * 12 + "q_1",
    "open indices": r"\tau_i = \sum_j \sum_k \sum_{l=1}^{99} \sum_{r=1}^{99} c_{ijk}",
    "inverses": r"\ddot q = " + "M^{-1}" * 200 + r"\tau",
    "derivatives": "x = " + "d/dt(" * 1500 + "q1",
    "bars": r"\tau_1 = " + "|" * 3000,
    "digits": "1" * 199_000 + " x = 1",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_hostile_texts_are_refused(text: str) -> None:
    """In time that is linear in their length; a search that is not would not end."""
    with pytest.raises(LinkwrightError) as error:
        read_statements(text, ELBOW)
    assert "\n" not in str(error.value)
