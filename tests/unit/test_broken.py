"""Formulas in pieces say what the whole says, and no piece is long."""

from __future__ import annotations

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from linkwright.expressions import parse_expression
from linkwright.expressions.formula_breaks import MAX_PIECE_LENGTH, ExpressionBreaker
from linkwright.expressions.typeset import ExpressionTypesetter, MathmlNotation


def pieces(text: str) -> list[str]:
    found = ExpressionBreaker(ExpressionTypesetter(MathmlNotation(), {})).formula_pieces(
        parse_expression(text)
    )
    return [unescape(re.sub("<[^>]*>", "", piece)) for piece in found]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a + b", ["a+b"]),
        (
            "a*(b*cos(q1 + q2) + c*sin(q1 + q2) - d*(e + f*cos(q3) + g*sin(q3 + q4)))",
            ["a(bcos(q1+q2)", "+csin(q1+q2)", "−d(e+fcos(q3)+gsin(q3+q4)))"],
        ),
        (
            "sqrt(a^2*cos(q1)^2 + b^2*cos(q2)^2 + c^2)/(d + e*cos(q1) + f*cos(q2) + cos(q4))",
            ["√(a2cos2(q1)", "+b2cos2(q2)", "+c2)", "/(d", "+ecos(q1)", "+fcos(q2)", "+cos(q4))"],
        ),
        (
            "-(a*cos(q1) + b*cos(q2) + c*cos(q3))^2*d",
            ["−(acos(q1)", "+bcos(q2)", "+ccos(q3))2", "d"],
        ),
    ],
)
def test_pieces(text: str, shown: list[str]) -> None:
    invisible = {0x2061: None, 0x2062: None}
    assert [piece.translate(invisible) for piece in pieces(text)] == shown


def test_every_piece_is_well_formed_and_short() -> None:
    term = "m{0}*(l{0}*cos(q1 + q{0}) - (a{0} + b)^2*sin(q2)*cos(q{0})^2)"
    long = " + ".join(term.format(k) for k in range(9))
    found = ExpressionBreaker(ExpressionTypesetter(MathmlNotation(), {})).formula_pieces(
        parse_expression(f"2*({long})^2/(1 + {long})")
    )
    assert len(found) > 30
    for piece in found:
        tree = ElementTree.fromstring(f"<math>{piece}</math>")
        assert len("".join(tree.itertext())) <= MAX_PIECE_LENGTH + 15
