"""Approximate equations as printed: those of the paper, and what the checker proves."""

from __future__ import annotations

import re

import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.forms import TypesetEquationSet
from tests.commands import ok


def printed_lines(found: TypesetEquationSet) -> list[str]:
    """All lines; names of parts, and e = f + γḟ, which the heading of a section says, as
    definitions."""
    lines = [
        line
        for section in found.sections
        for line in (
            *(step.text().replace(" = ", " := ", 1) for step in section.steps),
            *(line.text() for line in section.lines),
        )
    ]
    used = sorted({int(k) for line in lines for k in re.findall(r"\be(\d+)\b", line)})
    positions = [k for k in used if any(line.startswith(f"f{k} = ") for line in lines)]
    errors = [f"e{k} := {f'f{k} + ' * (k in positions)}gamma*df{k}" for k in used]
    return [*errors, *lines]


def test_the_pendulum_prints_the_equations_of_the_paper() -> None:
    """(67)–(69) letter for letter, without zeros of (68); (70)–(76) are proved."""
    arm = lw.gallery("triple-pendulum")
    lines = printed_lines(lw.derive(arm, by="approximate").equation_set())
    paper = """
        f1 = x2 - l1*cos(theta1) - l2*cos(theta2)
        f4 = y3 - l1*sin(theta1) - l2*sin(theta2) - l3*sin(theta3)
        JT11 = l1*sin(theta1)
        JT24 = -l2*cos(theta2)
        JT33 = l3*sin(theta3)
        JT74 = 1
        Q1 = tau1 - tau2 - m1*g*l1*cos(theta1)
        Q2 = tau2 - tau3
        Q3 = tau3
        Q4 = 0
        Q7 = -m3*g
        ddtheta3 = (-beta*l3*sin(theta3)*e3 + beta*l3*cos(theta3)*e4 + tau3)/I3
        ddx2 = -beta*e1/m2
        ddx3 = -beta*e3/m3
    """
    assert {line.strip() for line in paper.splitlines() if line.strip()} <= set(lines)
    assert sum(line.startswith("JT") for line in lines) == 14
    report = lw.check(arm, "[approximate]\n" + "\n".join(lines))
    assert report.passed, str(report)


@pytest.mark.parametrize("name", ["four-bar", "stanford-rrp", "rolling-disk"])
def test_printed_equations_are_proved(name: str) -> None:
    """A loop, an arm in space with coupled inertias, and velocity constraints."""
    mechanism = lw.gallery(name)
    lines = printed_lines(lw.derive(mechanism, by="approximate").equation_set())
    report = lw.check(mechanism, "[approximate]\n" + "\n".join(lines))
    assert report.passed, str(report)


def test_beta_and_gamma_stay_symbols() -> None:
    """In every format, also where they have values, which stand in the list of symbols alone."""
    text = ok("derive", "elbow", "--by", "approximate", "--beta", "14753.88", "--gamma", "10ms")
    assert text.count("14753") == 1
    assert "q = [q1, q2, x2, y2]ᵀ  (66)" in text
    assert "4 equations, 4 unknowns, 8 states; M is 2 × 2" in text
    assert "Constraint forces: P = −β Jᵀe, e = f + γḟ  (20), (77)" in text
    assert "beta: stiffness of the constraints, 14753.9 N/m" in text
    latex = lw.derive(lw.gallery("elbow"), by="approximate", beta=1e5).equation_set().latex()
    assert r"q = [q_1, q_2, x_2, y_2]^T" in latex
    assert r"P = -\beta J^T e" in latex
    text = lw.derive(lw.gallery("elbow"), by="approximate", iterations=3).equation_set().text()
    assert "P = Jᵀλ, λ ← λ − (J m⁻¹ Jᵀ + 1/β)⁻¹ (f̈ + 2ḟ/γ + f/γ²)" in text
    assert "λ starts at zero and is corrected 3 times" in text
    assert "ddx2 = lambda1/m2" in text
    free = lw.derive(lw.gallery("cartesian"), by="approximate").equation_set().text()
    assert "beta" not in free


def test_bodies_without_inertia_are_refused_by_name() -> None:
    """The paper's own pendulum has I = 0, by which approximate dynamics would divide."""
    with pytest.raises(UnsupportedError, match="moments of inertia, and link2, link3 have none"):
        lw.derive(lw.gallery("triple-pendulum-points"), by="approximate")


def test_a_coordinate_beta_and_time_in_the_constraints() -> None:
    """The disk between plates has a coordinate beta, so that the stiffness is beta_s; its drive
    depends on t."""
    disk = lw.gallery("sharp-edged-disk")
    inertia = "(IB + m2*(l*cos(q3) + q1)^2 + m1*q1^2)"
    text = "[approximate]\nf1 = -omega*t + beta\n{}*ddbeta = Q1 - {}*(f1 + gamma*df1)"
    assert lw.check(disk, text.format(inertia, "beta_s")).passed
    assert not lw.check(disk, text.format(inertia, "2*beta_s")).passed
    form = lw.derive(disk, by="approximate").closed_form("ddbeta").text()
    assert "ddbeta = (-beta_s*gamma*dbeta - 2*(" in form
