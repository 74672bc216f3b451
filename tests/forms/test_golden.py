"""The printed forms of the papers' mechanisms: golden files, the papers' own formulas, the page.

After a change that is meant: python -m tests.forms.test_golden
"""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.expressions import (
    Expression,
    Negation,
    Power,
    Product,
    Sum,
    evaluate_expression_exactly,
    expression_text,
    parse_expression,
)  # fmt: skip
from linkwright.expressions.tree import Call
from tests.forms.reading import state

HERE = Path(__file__).parent / "golden"
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "closed-forms.md"
NAMES = ("elbow", "cartesian", "remote-elbow", "triple-pendulum", "stanford-rrp")
QUANTITIES = ("M", "C", "g", "christoffel", "momenta", "hamiltonian")


def forms(name: str) -> str:
    eqs = lw.derive(lw.gallery(name), by="lagrange")
    return "\n\n".join(eqs.closed_form(quantity).text() for quantity in QUANTITIES) + "\n"


@pytest.mark.parametrize("name", NAMES)
def test_golden(name: str) -> None:
    assert forms(name) == (HERE / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_them(name: str) -> None:
    golden = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    assert f"```\n{golden}```" in PAGE.read_text(encoding="utf-8")


def test_the_elbow_is_printed_as_in_the_book() -> None:
    """Spong and Vidyasagar (6.4.18), (6.4.19), to the letter."""
    eqs = lw.derive(lw.gallery("elbow"))
    M = eqs.closed_form("M").json()["entries"]
    assert M["M[1,1]"] == "m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2"
    assert M["M[1,2]"] == "m2*(lc2^2 + l1*lc2*cos(q2)) + I2"
    assert M["M[2,2]"] == "m2*lc2^2 + I2"
    c = eqs.closed_form("christoffel").json()["entries"]
    h = "m2*l1*lc2*sin(q2)"
    assert c["c[1,2,1]"] == c["c[2,1,1]"] == c["c[2,2,1]"] == f"-{h}"
    assert c["c[1,1,2]"] == h


# entry, the paper's formula; the order of factors and terms is free
PRINTED = {
    "elbow": """
        g[1] (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)
        g[2] m2*lc2*g*cos(q1 + q2)""",
    "cartesian": """
        M[1,1] m1 + m2
        M[2,2] m2
        M[1,2] 0
        g[1] g*(m1 + m2)
        c[1,1,2] 0""",
    "remote-elbow": """
        M[1,1] m1*lc1^2 + m2*l1^2 + I1
        M[1,2] m2*l1*lc2*cos(p2-p1)
        M[2,2] m2*lc2^2 + I2
        c[2,2,1] -m2*l1*lc2*sin(p2-p1)
        c[1,1,2] m2*l1*lc2*sin(p2-p1)
        g[1] (m1*lc1 + m2*l1)*g*cos(p1)
        g[2] m2*lc2*g*cos(p2)""",
    "triple-pendulum": """
        M[1,1] l1^2*(m1+m2+m3)+I1
        M[1,2] (m2+m3)*l1*l2*cos(theta1-theta2)
        M[1,3] m3*l1*l3*cos(theta1-theta3)
        M[2,2] l2^2*(m2+m3)+I2
        M[2,3] m3*l2*l3*cos(theta2-theta3)
        M[3,3] l3^2*m3+I3
        c[2,2,1] (m2+m3)*l1*l2*sin(theta1-theta2)
        c[3,3,1] m3*l1*l3*sin(theta1-theta3)
        c[3,3,2] m3*l2*l3*sin(theta2-theta3)
        g[1] (m1+m2+m3)*g*l1*cos(theta1)
        g[2] (m2+m3)*g*l2*cos(theta2)
        g[3] m3*g*l3*cos(theta3)
        p[1] dtheta1*(I1+(m1+m2+m3)*l1^2) + dtheta2*(m2+m3)*l1*l2*cos(theta1-theta2) + dtheta3*m3*l1*l3*cos(theta1-theta3)
        p[3] dtheta1*m3*l1*l3*cos(theta1-theta3) + dtheta2*m3*l2*l3*cos(theta2-theta3) + dtheta3*(I3+m3*l3^2)""",
    "stanford-rrp": """
        M[1,2] m3*s3*d2*cos(theta2)
        M[1,3] m3*d2*sin(theta2)
        M[3,3] m3
        c[2,2,1] -m3*d2*s3*sin(theta2)
        c[1,1,3] -m3*s3*sin(theta2)^2
        c[2,2,3] -m3*s3""",
}  # fmt: skip


def commuted(expression: Expression) -> str:
    """The text with factors and terms sorted."""
    match expression:
        case Sum(parts):
            return f"({'+'.join(sorted(commuted(part) for part in parts))})"
        case Product(parts):
            return "*".join(sorted(commuted(part) for part in parts))
        case Negation(operand):
            return f"-{commuted(operand)}"
        case Power(base, exponent):
            return f"{commuted(base)}^{commuted(exponent)}"
        case Call(function, (argument,)):
            return f"{function}{commuted(argument)}"
        case _:
            return expression_text(expression)


@pytest.mark.parametrize("name", NAMES)
def test_formulas_are_those_of_the_papers(name: str) -> None:
    eqs = lw.derive(lw.gallery(name))
    quantities = ("M", "g", "christoffel", "momenta")
    found = {
        k: v
        for q in quantities
        for k, v in eqs.closed_form(q).collect_terms().entries_by_name().items()
    }
    for line in PRINTED[name].split("\n")[1:]:
        entry, _, formula = line.strip().partition(" ")
        assert commuted(found[entry]) == commuted(parse_expression(formula)), entry


def test_the_stanford_arm_is_shorter_than_printed() -> None:
    """Agrawal (32) for M[1,1]: the same function; ours collects m2 and m3."""
    printed = (
        "m1*k13^2 + (m2+m3)*d2^2 + m2*(k21^2+g2^2) + m3*k33^2*cos(theta2)^2 + m3*s3^2*sin(theta2)^2"
        " - 2*m2*g2*d2 + m3*k31^2*sin(theta2)^2"
    )
    eqs = lw.derive(lw.gallery("stanford-rrp"))
    ours = eqs.closed_form("M").json()["entries"]["M[1,1]"]
    values = state(eqs, 3)
    both = [
        float(evaluate_expression_exactly(parse_expression(text), values))
        for text in (printed, ours)
    ]
    assert both[0] == pytest.approx(both[1], rel=1e-14)
    assert len(ours) < len(printed)


if __name__ == "__main__":
    for each in NAMES:
        (HERE / f"{each}.txt").write_text(forms(each), encoding="utf-8")
