"""What a finding says of the names that it inferred, and names that are not inferred."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.errors import NameNotFoundError
from linkwright.studio.studio_tasks import check_for_studio
from tests import commands

ELBOW = lw.gallery("elbow")
"""Its lengths are l1, l2, lc1 and lc2, its masses m1 and m2, and its coordinates q1 and q2."""
IDENTICAL, DIFFERS = "identical", "differs"


def chain(*coordinates: str) -> lw.Mechanism:
    """Point masses m1, m2, … at distances l1, l2, … from joints that turn; x slides."""
    masses = range(1, len(coordinates) + 1)
    joints = {
        name: {"type": "prismatic" if name == "x" else "revolute", "child": f"b{i}"}
        | ({"axis": [1, 0, 0]} if name == "x" else {})
        | ({"parent": f"b{i - 1}"} if i > 1 else {})
        for i, name in enumerate(coordinates, 1)
    }
    return lw.Mechanism(
        name="chain",
        parameters={"g": 9.81} | {f"{letter}{i}": 1 for i in masses for letter in "ml"},
        bodies={f"b{i}": {"mass": f"m{i}", "center": [f"l{i}", 0, 0]} for i in masses},
        joints=joints,
        gravity=[0, "-g", 0],
    )


ONE = "T = 1/2*m1*l1^2*{}^2"


@pytest.mark.parametrize(
    ("ours", "text", "status"),
    [
        ("q2", ONE.format("dq1"), DIFFERS),  # one of our family that we do not have
        ("q2", ONE.format("dq2"), IDENTICAL),
        ("q2", ONE.format("dq"), IDENTICAL),
        ("q2", ONE.format("dtheta1"), IDENTICAL),  # the first coordinate, by another letter
        ("theta", ONE.format("dtheta1"), IDENTICAL),
        ("q2 q3", "p2 = m2*l2^2*dq1 + m2*l2*(l2 + 0)*dq2", DIFFERS),
        ("q2 q3", "V_q3 = m2*g*l2*cos(q1 + q2)", DIFFERS),  # q3 as q1, or q2 and q3 as q1 and q2
        ("x theta1", "M11*dx = (m1 + m2)*dtheta2", DIFFERS),
    ],
)
def test_another_member_of_our_family_is_a_misprint(ours: str, text: str, status: str) -> None:
    (finding,) = lw.check(chain(*ours.split()), text)
    assert finding.status == status


@pytest.mark.parametrize(
    ("ours", "text"),
    [
        ("x theta", "M11*dx = (m1 + m2)*dtheta1"),  # theta, or the first coordinate, x
        ("x theta1 theta2", "p1*dphi2 = p1*dphi2"),  # theta2, or the second one, theta1
        ("theta2 theta3 theta5", "p1*dphi2 = p1*dphi2"),
    ],
)
def test_letters_with_two_readings_have_none(ours: str, text: str) -> None:
    with pytest.raises(NameNotFoundError, match="has no meaning for chain"):
        lw.check(chain(*ours.split()), text)


def test_names_are_not_taken_for_ours_of_another_family() -> None:
    """phi2 = m2 lc2 g cos(q1 + q2): l for lc2, where there are l1 and l2, is a slip."""
    with pytest.raises(NameNotFoundError, match="'l' has no meaning for elbow; did you mean"):
        lw.check(ELBOW, "phi2 = m2*l*g*cos(q1 + q2)")
    (finding,) = lw.check(ELBOW, "phi2 = m*a*G*cos(q1 + q2)")
    assert finding.inferred_names == {"m": "m2", "a": "lc2", "G": "g"}


def test_a_misprint_is_not_explained_by_other_numbers() -> None:
    """m0 + m1 for m1 + m2: one wrong symbol, or the masses counted from 0."""
    text = "M11*(m1 + m2) = M11*(m0 + m1)"
    (finding,) = lw.check(ELBOW, text)
    assert finding.status == DIFFERS
    assert finding.repairs[0].what == "m0 is m2"
    counted = "phi1 = (m0*lc1 + m1*l1)*g*cos(q1) + m1*lc2*g*cos(q1 + q2)"
    (finding,) = lw.check(ELBOW, counted)  # no single change of m0 makes it right
    assert finding.status == IDENTICAL
    assert finding.inferred_names == {"m0": "m1", "m1": "m2"}


def test_findings_say_which_names_they_inferred(tmp_path: Path) -> None:
    text = "w := theta1 + theta2\nphi2 = m2*lc2*G*cos(w)\nphi2 = m2*lc2*g*sin(q1 + q2)"
    right = lw.check(ELBOW, text.splitlines()[0] + "\n" + text.splitlines()[1])[1]
    assert right.sentence().startswith(
        "identical with G read as g, theta1 read as q1 and theta2 read as q2, proved"
    )
    wrong = lw.check(ELBOW, "phi2 = m2*lc2*g*sin(theta1 + theta2)")[0]
    assert wrong.sentence().startswith("differs with theta1 read as q1 and theta2 read as q2; left")
    assert not lw.check(ELBOW, "phi_2 = m_2*lc2*g*cos(q_1 + q_2)")[0].inferred_names
    given = lw.check(ELBOW, "phi2 = m2*a*g*cos(q1 + q2)", names={"a": "lc2"})[0]
    assert not given.inferred_names
    path = tmp_path / "equations.txt"
    path.write_text("T1 = 0\nphi2 = m2*a*g*cos(theta1 + theta2)", encoding="utf-8")
    printed = commands.run("check", "elbow", str(path), "--json")
    found = json.loads(printed.stdout)["findings"][1]
    assert found["inferred_names"] == {"a": "lc2", "theta1": "q1", "theta2": "q2"}


def test_pages_say_which_names_were_inferred(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    path = tmp_path / "texts" / "one.txt"
    path.write_text("phi2 = m2*a*g*cos(q1 + q2)", encoding="utf-8")
    sentence, marks = "Judged with a read as lc2.", tmp_path / "marks.html"
    commands.run("check", str(path.parent), "--mechanism", "elbow", "-o", str(marks))
    assert sentence in marks.read_text(encoding="utf-8")
    assert sentence in check_for_studio(ELBOW, path.read_text(encoding="utf-8"))


def test_a_symbol_that_the_text_defines_is_not_a_parameter_of_ours() -> None:
    """D = m1 + m2 beside a damping d; where the text does not define D, it is the damping."""
    arm = lw.Mechanism(
        name="arm",
        parameters={"m": 1, "l": 0.5, "d": 0.1, "g": 9.81},
        gravity=[0, "-g", 0],
        bodies={"rod": {"mass": "m", "center": ["l", 0, 0]}},
        joints={"q": {"type": "revolute", "child": "rod", "damping": "d"}},
    )
    own = lw.check(arm, "D = m*l^2\nM11 = D\np1 = D*dq")
    assert [x.status for x in own] == ["definition", IDENTICAL, IDENTICAL]
    assert not own[1].inferred_names
    (read,) = lw.check(arm, "bias1 = D*dq + m*g*l*cos(q)")
    assert (read.status, read.inferred_names) == (IDENTICAL, {"D": "d"})
