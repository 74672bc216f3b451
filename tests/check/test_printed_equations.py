"""Verdicts on equations as papers and textbooks print them."""

from __future__ import annotations

import pytest
import sympy as sp

import linkwright as lw
from linkwright.errors import LinkwrightError

ELBOW = lw.gallery("elbow")
STANFORD = lw.gallery("stanford-rrp")
DISK = lw.gallery("sharp-edged-disk")
RIGHT = r"""
K = \frac12 \dot{\mathbf q}^{\top} \mathbf M(\mathbf q) \dot{\mathbf q} \\
\mathbf{M}(\mathbf{q})\ddot{\mathbf{q}} + \mathbf{C}(\mathbf{q}, \dot{\mathbf{q}})\dot{\mathbf{q}} + \mathbf{g}(\mathbf{q}) = \boldsymbol{\tau} \tag{1} \\
\ddot q = M^{-1}(q)\left(\tau - C(q, \dot q)\dot q - g(q)\right) \\
H = \sum_{j} \dot{q}_{j} p_{j} - L(q, \dot{q}) \\
c_{ijk} = \frac{1}{2} \left[ \frac{\partial M_{kj}}{\partial q_i} + \frac{\partial M_{ki}}{\partial q_j} - \frac{\partial M_{ij}}{\partial q_k} \right] \\
\frac{d}{dt}\left(\frac{\partial L}{\partial \dot q_i}\right) - \frac{\partial L}{\partial q_i} = \tau_i \\
(\phi_1, \phi_2) = \bigl((m_1 l_{c1} + m_2 l_1) g\, Cos\, q_1 + m_2 l_{c2} g\, C(q_1+q_2),\; m_2 l_{c2} g\, c_{1+2}\bigr) \\
V = \sum_{i=1}^{2} m_i g y_i \\
\dot q^T(\dot M - 2C)\dot q = 0 \\
\begin{bmatrix} x_2 \\ y_2 \end{bmatrix} = \begin{bmatrix} l_1 \cos q_1 + l_{c2} C(q_1 + q_2) \\ l_1 S_1 + l_{c2} S_{12} \end{bmatrix}
"""  # fmt: skip
CHANGED = {
    r"K = \frac12": r"K = \frac13",
    r"\mathbf{C}(\mathbf{q}, \dot{\mathbf{q}})\dot{\mathbf{q}} +": r"\mathbf{C}(\mathbf{q}, \dot{\mathbf{q}})\dot{\mathbf{q}} -",
    r"\left(\tau - C": r"\left(\tau + C",
    r"p_{j} - L": r"p_{j} + L",
    r"- \frac{\partial M_{ij}}{\partial q_k}": r"+ \frac{\partial M_{ij}}{\partial q_k}",
    r"- \frac{\partial L}{\partial q_i} =": r"+ \frac{\partial L}{\partial q_i} =",
    r"Cos\, q_1": r"Sin\, q_1",
    r"c_{1+2}": r"c_{1-2}",
    r"m_i g y_i": r"m_i g x_i",
    r"l_1 S_1": r"l_1 S_2",
    r"\dot M - 2C": r"\dot M - C",
}


def test_right_equations_of_the_elbow_are_proved() -> None:
    report = lw.check(ELBOW, RIGHT)
    assert {x.status for x in report} == {"identical"}, str(report)
    assert len(report) == 1 + 2 + 2 + 1 + 8 + 2 + 2 + 1 + 1 + 2


def test_each_changed_token_is_found() -> None:
    lines = RIGHT.split(" \\\\\n")
    for right, wrong in CHANGED.items():
        (line,) = (x for x in lines if right in x)
        report = lw.check(ELBOW, line.replace(right, wrong) + " \\\\ S_1 = \\sin q_1")
        assert "differs" in {x.status for x in report}, wrong


def test_the_stanford_arm_as_agrawal_prints_it() -> None:
    """(13), (14), (20), (26), (29), (31) and, wrong as printed, (15)."""
    frames = "frame A on link1\nframe B on link1 at 0, 0, d1\nV_B1 is V_link1\nV_B2 is V_link2\nF3 is tau3\n"
    text = frames + r"""
        $$\hat{\mathbf{V}}^{B_1} = \dot{\boldsymbol{\theta}}_1 \hat{\mathbf{z}}_B \tag{13}$$
        $$\hat{\mathbf{V}}^A = \dot{\boldsymbol{\theta}}_1 \hat{\mathbf{z}}_A \tag{14}$$
        $$\hat{\mathbf{V}}^{1} = (0, 0, \dot{\theta}_{1})^{T} \tag{20}$$
        $$\frac{\hat{\mathbf{F}}_{1}^{*}}{m_{1}} = (0, 0, \epsilon k_{13}^{2} \ddot{\theta}_{1})^{T} \tag{26}$$
        $$F_{3} = m_{3}(d_{2}S\theta_{2}\ddot{\theta}_{1} + \ddot{s}'_{3} - s'_{3}S^{2}\theta_{2}\dot{\theta}_{1}^{2} - s'_{3}\dot{\theta}_{2}^{2}) \tag{29}$$
        $$\hat{\mathbf{V}}^{B_2} = \dot{\theta}_1 \hat{\mathbf{z}}_B + \dot{\theta}_2 \hat{\mathbf{y}}_B \tag{15}$$"""  # fmt: skip
    report = lw.check(STANFORD, text)
    statuses = [(x.number, x.status) for x in report]
    right = [
        (number, "identical") for number in ("13", "14", "20", "20", "20", "26", "26", "26", "29")
    ]
    assert statuses == [*right, ("15", "differs")], str(report)
    assert report.names["s3prime"] == "s3"


def test_the_disk_as_agrawal_prints_it() -> None:
    text = r"""$$\dot{q}_2 C q_3 - \dot{q}_1 S q_3 + \dot{q}_3 l = 0 \tag{41}$$
        $$u_1 = \dot{q}_1 C q_3 + \dot{q}_2 S q_3 \tag{42}$$ $$u_2 = -\dot{q}_1 S q_3 + \dot{q}_2 C q_3 \tag{43}$$
        $$\dot q_3 = -\frac{u_2}{l} \tag{45}$$
        $$\dot{u}_2 = -gCq_3 + \omega^2 Sq_3q_1 + \frac{u_1u_2}{l} \tag{53}$$"""
    statuses = [x.status for x in lw.check(DISK, text)]
    assert statuses == ["identical", "definition", "definition", "identical", "differs"]


def test_primes_and_accents_are_part_of_the_name() -> None:
    """They are dropped only where the text has no such name without them, and the report says so."""
    text = r"\dot{\hat q}_1 = \dot{\hat q}_1 \\ d_{22} = m_2 \bar l_{c2}^2 + I_2"
    report = lw.check(ELBOW, text)
    assert report.names["lbarc2"] == "lc2"
    with pytest.raises(LinkwrightError, match="'lbarc2' has no meaning"):
        lw.check(ELBOW, r"d_{22} = m_2 \bar l_{c2}^2 + I_2 + l_{c2}")


def test_sympy_symbols_in_latex_and_what_has_no_meaning() -> None:
    m, l, I = sp.symbols("m_2 l_{c2} I_2")
    assert lw.check(ELBOW, sp.Eq(sp.Symbol("d_{22}"), m * l**2 + I)).passed
    good, bad = sp.Eq(sp.Symbol("d22"), m * l**2 + I), sp.Integral(m, l)
    assert [x.status for x in lw.check(ELBOW, [good, bad])] == ["identical", "unreadable"]


def test_an_unknown_symbol_beside_superabundant_coordinates_is_named() -> None:
    """Symbols without a meaning stand for time while others are guessed; there was no time here."""
    text = "[approximate]\n(1) zz*f1 = x2 - l1*cos(theta1) - l2*cos(theta2)"
    with pytest.raises(LinkwrightError, match="'zz' has no meaning for triple-pendulum"):
        lw.check(lw.gallery("triple-pendulum"), text)


@pytest.mark.parametrize(
    ("mechanism", "text", "why"),
    [
        ("car", "f1 = 0", "there are no constraints of positions"),
        ("rolling-disk", "T = m1*3", "did you mean 'm'"),
        ("rolling-disk", "M77 = 0", "its indices are out of range"),
        ("quadruped", "c111 = 0", "speeds that are rates of coordinates"),
        ("cart-pole", "m1 = 1", "2 indices, such as m11"),
    ],
)
def test_a_symbol_of_papers_that_means_nothing_here_says_why(
    mechanism: str, text: str, why: str
) -> None:
    with pytest.raises(lw.LinkwrightError, match=why):
        lw.check(lw.gallery(mechanism), text)
