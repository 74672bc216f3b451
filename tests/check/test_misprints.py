"""A right equation with one random misprint: found wrong, and a repair is what it was before."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

import linkwright as lw
from linkwright.checking.misprint_candidates import multiply_repaired_term
from linkwright.checking.node_paths import replace_statement_node
from linkwright.expressions import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Sum,
    expression_text,
    negate_expression,
    parse_expression,
)
from linkwright.expressions.tree import child_expressions

D11 = "m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2"
D12 = "m2*(lc2^2 + l1*lc2*cos(q2)) + I2"
RIGHT = {
    "tau1": f"({D11})*ddq1 + ({D12})*ddq2 - m2*l1*lc2*sin(q2)*(2*dq1*dq2 + dq2^2)"
    " + (m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)",
    "tau2": f"({D12})*ddq1 + (m2*lc2^2 + I2)*ddq2 + m2*l1*lc2*sin(q2)*dq1^2 + m2*lc2*g*cos(q1 + q2)",
    "d11": D11,
    "phi1": "(m1*lc1 + m2*l1)*g*cos(q1) + m2*lc2*g*cos(q1 + q2)",
    "K": f"1/2*({D11})*dq1^2 + ({D12})*dq1*dq2 + 1/2*(m2*lc2^2 + I2)*dq2^2",
    "p2": f"({D12})*dq1 + (m2*lc2^2 + I2)*dq2",
}
OTHER = {"1": "2", "2": "1"}


def places(
    node: Expression, path: tuple[int, ...] = ()
) -> list[tuple[tuple[int, ...], Expression]]:
    below = [
        place
        for i, child in enumerate(child_expressions(node))
        if not (isinstance(node, Power) and i == 1)
        for place in places(child, (*path, i))
    ]
    return [(path, node), *below]


def slips(kind: str, root: Expression) -> list[Expression]:
    """All trees with one misprint of a kind."""
    found = []
    for path, node in places(root):
        new: list[Expression] = []
        match kind, node:
            case "sign", Sum(terms):
                new = [
                    Sum((*terms[:i], negate_expression(t), *terms[i + 1 :]))
                    for i, t in enumerate(terms)
                ]
            case "factor 2", Sum(terms):
                for number in (Number(Fraction(2)), Number(Fraction(1, 2))):
                    new += [
                        Sum((*terms[:i], multiply_repaired_term(t, number), *terms[i + 1 :]))
                        for i, t in enumerate(terms)
                    ]
            case "lost square", Power(base, _):
                new = [base]
            case "lost factor", Product(factors) if len(factors) > 2:
                new = [
                    Product((*factors[:i], *factors[i + 1 :]))
                    for i, factor in enumerate(factors) if isinstance(factor, Name)
                ]  # fmt: skip
            case "extra factor", Product(factors):
                new = [Product((*factors, Name("l1")))]
            case "sin for cos", Call(function, arguments):
                new = [Call({"sin": "cos", "cos": "sin"}[function], arguments)]
            case "index", Name(name) if name[-1] in OTHER:
                new = [Name(name[:-1] + OTHER[name[-1]])]
            case "dropped term", Sum(terms) if len(path) == 0:
                new = [Sum((*terms[:i], *terms[i + 1 :])) for i in range(len(terms))]
            case "doubled term", Sum(terms):
                new = [Sum((*terms, term)) for term in terms]
            case "dot", Name(name) if name in ("ddq1", "ddq2", "dq1", "dq2"):
                new = [Name(name[1:])]
        found += [replace_statement_node(root, path, x) for x in new]
    return found


KINDS = (
    "sign", "factor 2", "lost square", "lost factor", "extra factor", "sin for cos", "index",
    "dropped term", "doubled term", "dot",
)  # fmt: skip
ELBOW = lw.gallery("elbow")


@pytest.mark.parametrize("kind", KINDS)
def test_a_misprint_is_found_and_repaired(kind: str) -> None:
    draw = random.Random(kind)
    texts = [
        (left, right, wrong)
        for left, right in RIGHT.items()
        for wrong in slips(kind, parse_expression(right))
    ]
    for left, right, wrong in draw.sample(texts, min(12, len(texts))):
        printed = f"{left} = {expression_text(wrong)}"
        if (
            len(expression_text(wrong)) < len(right) / 2
        ):  # what is missing is longer than the equation
            continue
        (finding,) = lw.check(ELBOW, printed)
        if finding.status == "identical":  # index 1 for 2 in a symmetric place
            assert kind == "index"
            continue
        assert finding.status == "differs", printed
        assert finding.repairs, f"{kind}: {printed}"
        again = lw.check(ELBOW, "\n".join(repair.equation for repair in finding.repairs))
        assert again.passed, f"{kind}: {printed}"
        assert any(f"{left} = " in repair.equation for repair in finding.repairs)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("phi2 = m2*lc2*g*sin(q1+q2)", "sin(q1 + q2) is cos"),
        ("phi2 = -m2*lc2*g*cos(q1+q2)", "the sign of the term m2*lc2*g*cos(q1 + q2) is changed"),
        ("phi2 = m2*lc1*g*cos(q1+q2)", "lc1 is lc2"),
        ("phi2 = m2*lc2*g*cos(q1)", "q1 is q1 + q2"),
        (
            "phi2 = m2*lc2*g*g*cos(q1+q2)",
            "the factor g is left out of the term m2*lc2*g*g*cos(q1 + q2)",
        ),
        ("phi2 = m2*lc2*cos(q1+q2)", "the factor g is added to the term m2*lc2*cos(q1 + q2)"),
        ("d22 = m2*lc2 + I2", "lc2 is squared"),
        ("d22 = m2*lc2^2", "the term I2 is missing"),
        ("p2 = (m2*(lc2^2 + l1*lc2*cos(q2)) + I2)*q1 + (m2*lc2^2 + I2)*dq2", "q1 is dq1"),
        ("K = m2*lc2^2*dq2^2", ""),
    ],
)
def test_what_is_said(text: str, what: str) -> None:
    (finding,) = lw.check(ELBOW, text)
    assert finding.status == "differs"
    if what:
        assert finding.repairs[0].what == what
        assert f"equation 1 becomes right when {what}" in finding.sentence()
    else:
        assert not finding.repairs


def test_a_misprint_in_a_definition() -> None:
    text = """
        h = -m2*l1*lc2*cos(q2)
        C11 = h*dq2
        Y1 := (lc2 + l1*cos(q2))*m2*lc2 + I2
        d12 = Y1
        d21 = Y1*2
    """
    report = lw.check(ELBOW, text)
    assert [x.status for x in report] == [
        "differs", "differs", "definition", "identical", "differs",
    ]  # fmt: skip
    assert report[0].repairs[0].what == "cos(q2) is sin"
    assert report[0].repairs[0].equation == "h = -m2*l1*lc2*sin(q2)"
    assert not report[1].repairs
    assert "corrected definition" in report[1].note
    assert report[4].repairs[0].what == "the term Y1*2 is halved"


def test_there_is_no_difference_where_constraints_decide_the_motion() -> None:
    """Among four bars it could be written in many ways."""
    (finding,) = lw.check(lw.gallery("four-bar"), "x1 = l1*cos(theta1)/3")
    assert (finding.status, finding.difference) == ("differs", "")


def test_two_missing_terms_are_named_together() -> None:
    (finding,) = lw.check(ELBOW, "M11 = m1*lc1^2 + I1 + I2 + m2*lc2^2")
    assert [x.what for x in finding.repairs] == [
        "the terms m2*l1^2 + 2*m2*l1*lc2*cos(q2) are missing"
    ]


def test_the_difference_is_closed() -> None:
    (finding,) = lw.check(ELBOW, "d11 = m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*sin(q2)^2) + I1")
    assert finding.difference == "I2 + 2*m2*l1*lc2*(cos(q2) - sin(q2)^2)"


@pytest.mark.parametrize(
    ("text", "difference"),
    [
        ("d22 = m2*lc2^2 + 1/3", "I2 - 1/3"),
        ("tau2 = 0.1*ddq1", "4.905*cos(q1 + q2)"),  # with the mechanism's exact numbers
        ("ddq1 = 0.3*tau1/m1", "/m1"),
    ],
)
def test_no_number_of_a_difference_is_rounded(text: str, difference: str) -> None:
    assert lw.check(ELBOW, text)[0].difference.endswith(difference)


def test_literals_of_the_mechanism_are_numbers_and_not_named() -> None:
    arm = lw.Mechanism(
        parameters={"l": 1, "m": 1},
        bodies={"b": {"mass": "m", "center": ["l*pi/4 + 0.03", 0, 0]}},
        joints={"q": {"type": "revolute", "child": "b"}},
    )
    text = "tau1 = m*(pi*l/4 + 0.03)^2*ddq\nd11 = m*(pi*l/4 + 0.05)^2"
    right, wrong = lw.check(arm, text)
    assert (right.status, right.under) == ("identical", "")  # gravity acts along the axis
    assert wrong.difference == "-0.01*m*(l*pi + 0.16)"
