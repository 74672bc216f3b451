"""Entries that printed sets write with indices, M[1,2], are read by the checker."""

from __future__ import annotations

import pytest

import linkwright as lw

RIGHT = """M[1,2] = M[2,1] = 1/2*m2*l1*l2*cos(theta1 - theta2)
C[1,2] = 1/2*m2*l1*l2*sin(theta1 - theta2)*dtheta2
g[2] = 1/2*m2*g*l2*cos(theta2)
J[2,1] = -l1*cos(theta1 - theta2)"""


def test_printed_entries_of_the_four_bar_are_proved() -> None:
    report = lw.check(lw.gallery("four-bar"), RIGHT)
    assert {x.status for x in report} == {"identical"}, str(report)


@pytest.mark.parametrize("line", RIGHT.splitlines())
def test_a_printed_entry_with_another_sign_differs(line: str) -> None:
    left, _, right = line.rpartition(" = ")
    report = lw.check(lw.gallery("four-bar"), f"{left} = -({right})")
    assert "differs" in {x.status for x in report}, str(report)


def test_entries_of_other_quantities_are_no_products() -> None:
    text = "g[1] = g[2] = 0\nf[1] = 0\nB[1,1] = 1\nB[1,2] = 1\nPhi[1] = 0\nM[7,1] = 0"
    found = [x.status for x in lw.check(lw.gallery("car"), text)]
    assert found == [*["identical"] * 4, "differs", "unreadable", "unreadable"]


def test_printed_residuals_are_compared_where_loops_are_open() -> None:
    right = "-l1*sin(theta1 - theta2) - l4*sin(theta2) - l3*sin(theta2 - theta3)"
    four_bar = lw.gallery("four-bar")
    assert [x.status for x in lw.check(four_bar, f"Phi[2] = {right}")] == ["identical"]
    assert [x.status for x in lw.check(four_bar, f"Phi[2] = -({right})")] == ["differs"]


INFLUENCE = """Gc2[1,1] = -l1*sin(q1) - lc2*sin(q1 + q2)
Gc2[2,2] = lc2*cos(q1 + q2)
Gw2[3,1] = 1
Hc2[1,1,2] = -lc2*cos(q1 + q2)
I[1,2] = m2*(lc2^2 + l1*lc2*cos(q2)) + I2
P[2,1,1] = m2*l1*lc2*sin(q2)"""
RECURRENT = """A2[1,2] = -sin(q1 + q2)
beta2[z] = 1
alpha1^2[x] = -l1*sin(q1) - lc2*sin(q1 + q2)
alpha1^1[y] = lc1*cos(q1)
Z2[2,2] = m2*lc2^2 + I2"""


@pytest.mark.parametrize("text", [INFLUENCE, RECURRENT])
def test_labels_of_formulations_mean_what_their_papers_say(text: str) -> None:
    """By hand: positions of two links in a plane, differentiated once and twice."""
    elbow = lw.gallery("elbow")
    assert {x.status for x in lw.check(elbow, text)} == {"identical"}
    wrong = "\n".join(f"{line} + 1" for line in text.splitlines())
    assert {x.status for x in lw.check(elbow, wrong)} == {"differs"}


def test_reactions_of_loops_are_the_multipliers_along_the_coupler() -> None:
    """By hand: the pin's residuals are measured along and across the coupler, which theta2 turns."""
    text = "Fx_pin = cos(theta2)*lambda_pin_1 - sin(theta2)*lambda_pin_2\nm3*ddx3 = Fx_pin + Fx_q3"
    assert [x.status for x in lw.check(lw.gallery("four-bar"), text)] == ["identical"] * 2
    wrong = text.replace("- sin", "+ sin").replace("+ Fx_q3", "- Fx_q3")
    assert [x.status for x in lw.check(lw.gallery("four-bar"), wrong)] == ["differs"] * 2


def test_a_printed_entry_is_not_said_to_be_taken_for_itself() -> None:
    report = lw.check(lw.gallery("elbow"), "M[1,2] = m2*(lc2^2 + l1*lc2*cos(q2)) + I2")
    assert report.passed
    assert not report.names


SPRUNG = """
name = "sprung"
gravity = [0, "-g", 0]
parameters = { m1 = 1.0, l1 = 1.0, k = 30.0, L0 = 0.4, g = 9.81 }
bodies.link = { mass = "m1", center = ["l1/2", 0, 0], inertia = { zz = "m1*l1^2/12" } }
joints.q1 = { type = "revolute", child = "link" }
frames.a = { body = "ground", origin = [0, "l1", 0] }
frames.b = { body = "link", origin = ["l1", 0, 0] }
forces.strut = { type = "spring", between = ["a", "b"], stiffness = "k", length = "L0" }
"""


@pytest.mark.parametrize("by", ["hamilton", "kane", "newton_euler", "recurrent", "influence"])
def test_the_tension_of_a_spring_is_read_as_it_is_printed(by: str) -> None:
    """S is the tension over the length: k (L − L0)/L."""
    mechanism = lw.load(SPRUNG)
    report = lw.check(mechanism, str(lw.derive(mechanism, by=by).equation_set()))
    assert {x.status for x in report} <= {"identical", "definition"}
    if by in ("hamilton", "kane"):
        heading = f"[by {by}]"
        assert lw.check(mechanism, f"{heading}\nS_strut = k*(1 - L0/L_strut)").passed
        assert not lw.check(mechanism, f"{heading}\nS_strut = k*(1 + L0/L_strut)").passed
