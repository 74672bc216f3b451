"""The equations of influence coefficients as Freeman and Tesar write them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import linkwright as lw
from linkwright.expressions import expression_to_float
from linkwright.forms.equation_set_typesetting import equation_set_source
from linkwright.mechanism import replace_part_fields
from tests.agreement.moving_mechanisms import CURVED, HOOP, SUPPORT, driven_disk, moving_four_bar
from tests.forms.line_values import line_values, motion_values, value_of


def sprung_elbow() -> lw.Mechanism:
    """The elbow with a sprung and damped joint, a spring and damper to ground, a spring of no free
    length between its links, and a load at the tip."""
    arm = lw.gallery("elbow")
    joints = {
        "q1": replace_part_fields(arm.joints["q1"], stiffness=4, rest=0.2, damping=0.3),
        "q2": arm.joints["q2"],
    }
    points = {
        "hook": {"body": "ground", "origin": [1.5, 0.2, 0]},
        "eye": {"body": "link1", "origin": [0.2, 0.1, 0]},
    }
    forces = {
        "rope": {"type": "spring", "between": ["hook", "tool"], "stiffness": 30, "damping": 0.5,
                 "length": 0.3},
        "band": {"type": "spring", "between": ["eye", "tool"], "stiffness": 7},
        "push": {"type": "wrench", "on": "tool", "force": ["2*dq1", 5, 0]},
    }  # fmt: skip
    frames = {**arm.frames, **points}
    return replace_part_fields(arm, joints=joints, frames=frames, forces=forces)


def test_the_checker_proves_the_printed_equations() -> None:
    """I* is the mass matrix, P* has the Christoffel symbols, and (17) is the equation of motion."""
    arm = lw.gallery("stanford-rrp")
    found = lw.derive(arm, by="influence").equation_set()
    lines = {line.left: line.text() for s in found.sections for line in s.lines}
    texts = [text for left, text in lines.items() if left.startswith("tau_")]
    for left, text in lines.items():
        index = left.partition("[")[2].removesuffix("]").split(",")
        if left.startswith("I["):
            texts.append(text.replace(left, "M" + "".join(index)))
        if left.startswith("P["):
            texts.append(text.replace(left, f"c{index[1]}{index[2]}{index[0]}"))
    assert len(texts) == 3 + 6 + 7
    assert lw.check(arm, "\n".join(texts)).passed


def test_printed_lines_of_the_elbow() -> None:
    found = lw.derive(lw.gallery("elbow"), by="influence").equation_set()
    lines = dict(line.text().split(" = ", 1) for s in found.sections for line in s.lines)
    assert lines["Gc2[1,1]"] == "-l1*sin(q1) - lc2*sin(q1 + q2)"
    assert lines["Hc2[2,1,2]"] == "-lc2*sin(q1 + q2)"
    assert lines["I[1,2]"] == "m2*(lc2^2 + l1*lc2*cos(q2)) + I2"
    assert lines["P[2,1,1]"] == "m2*l1*lc2*sin(q2)"
    assert "P[1,1,1]" not in lines
    titles = [section.source.title for section in found.sections]
    assert "Effective stiffness" not in titles
    assert titles[-1] == "Equations of motion"


def test_stiffness_damping_and_loads_as_the_paper_forms_them() -> None:
    """K* of the printed lines is the slope of the springs' forces by differences, C* that of the
    dampers'; with them, (17) gives the torques."""
    arm = sprung_elbow()
    eqs = lw.derive(arm, by="influence", parameters="numeric")
    known = motion_values(arm)
    found = line_values(equation_set_source(eqs).lines(), known)
    q, v = (np.array([known[f"{d}q1"], known[f"{d}q2"]]) for d in ("", "d"))
    passive, h = lw.derive(arm.without("gravity"), parameters="numeric").function("passive"), 1e-6
    for n, e in enumerate(np.eye(2)):
        K = (passive(q - h * e, 0 * v) - passive(q + h * e, 0 * v)) / (2 * h)
        C = (passive(q, v - e) - passive(q, v + e)) / 2
        for m in range(n + 1):
            index = f"[{m + 1},{n + 1}]"
            np.testing.assert_allclose(found[f"K{index}"], float(K[m]), rtol=1e-7)
            np.testing.assert_allclose(found[f"C{index}"], float(C[m]), rtol=1e-9)
    np.testing.assert_allclose([found["Tk1"], found["Tk2"]], -np.array(passive(q, 0 * v)).ravel())
    for name in ("tau_q1", "tau_q2"):
        np.testing.assert_allclose(found[name], known[name], rtol=1e-10)


def test_springs_are_printed_by_their_lengths() -> None:
    found = lw.derive(sprung_elbow(), by="influence").equation_set()
    lines = dict(line.text().split(" = ", 1) for s in found.sections for line in s.lines)
    assert lines["C[1,2]"] == "d_rope*Gs11*Gs12"
    assert "Gs11^2 + Hs111*u1" in lines["K[1,1]"]
    assert lines["Hs111"].endswith("/(u1 + l_rope)")


@pytest.mark.parametrize("name", ["four-bar", "slider-crank", "rolling-disk", "five-bar"])
def test_loops_in_their_inputs(name: str) -> None:
    """Both sides of the transferred equation agree on a motion, with the printed G, H, k and e."""
    mechanism = lw.gallery(name)
    source = equation_set_source(lw.derive(mechanism, by="influence", parameters="numeric"))
    found = line_values(source.lines(), motion_values(mechanism))
    equations = source.sections[-1].lines
    assert len(equations) == len(lw.derive(mechanism).names.independent)
    for line in equations:
        left, right = (value_of(side, found) for side in (line.left, line.right))
        np.testing.assert_allclose(left, right, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("by", ["kane", "influence"])
@pytest.mark.parametrize("mechanism", [HOOP, SUPPORT, CURVED, moving_four_bar(), driven_disk()],
                         ids=lambda m: m.name)  # fmt: skip
def test_forms_in_moving_coordinates(mechanism: lw.Mechanism, by: str) -> None:
    """Velocities and accelerations that coordinates bring along by themselves are in the equations."""
    mechanism = replace_part_fields(mechanism, ["speeds"])
    source = equation_set_source(lw.derive(mechanism, by=by, parameters="numeric"))
    known = motion_values(mechanism)
    found = line_values((x for x in source.lines() if x.left not in known), known)
    for line in source.sections[-1].lines:
        left = known[line.left] if isinstance(line.left, str) else value_of(line.left, found)
        np.testing.assert_allclose(left, value_of(line.right, found), rtol=1e-9, atol=1e-9)


def test_four_bar_has_the_textbook_coefficients() -> None:
    """dθ2/dθ1 and d²θ2/dθ1² of the vector loop, which is closed along axes that do not turn."""
    found = lw.derive(lw.gallery("four-bar"), by="influence").equation_set()
    lines = dict(line.text().split(" = ", 1) for s in found.sections[-3:-1] for line in s.lines)
    assert lines == {
        "G21": "-l1*sin(theta1 - theta3)/(l2*sin(theta2 - theta3))",
        "G31": "-l1*sin(theta1 - theta2)/(l3*sin(theta2 - theta3))",
        "H211": "(-l1*cos(theta1 - theta3) + l3*G31^2 - l2*cos(theta2 - theta3)*G21^2)"
        "/(l2*sin(theta2 - theta3))",
        "H311": "(-l1*cos(theta1 - theta2) - l2*G21^2 + l3*cos(theta2 - theta3)*G31^2)"
        "/(l3*sin(theta2 - theta3))",
    }


def test_what_is_not_listed_is_zero_or_symmetric() -> None:
    """H of a centre of mass is listed by its upper half: the other half is not zero."""
    text = lw.derive(lw.gallery("elbow"), by="influence").equation_set().text()
    assert "  H_c is symmetric in the last two indices. Other coefficients that" in text
    assert "Hc2[1,1,2] = " in text
    assert "Hc2[1,2,1]" not in text


def test_long_equations_stand_by_the_names_of_their_arrays() -> None:
    """The equations of motion of the 3-RRR robot in I*, P* and G, H hold on a motion of
    `recursive`, as the linear equations of G and H do; no numbered steps among them."""
    robot = replace_part_fields(lw.gallery("3-rrr"), actuators={})
    eqs = lw.derive(robot, by="influence")
    at = {name: float(x) for name, x in eqs.parameters.items()} | motion_values(robot)
    at = line_values(equation_set_source(eqs).lines(), at)
    found = {section.source.title: section for section in eqs.equation_set().sections}
    first = found["First-order coefficients of the joints with respect to the inputs"]
    for section in (first, found["Equations of motion"]):
        assert not section.steps
        assert "longer than a page" in section.text()
        for line in section.lines:
            assert not isinstance(line.left, str)
            left, right = (expression_to_float(x, at) for x in (line.left, line.right))
            assert left == pytest.approx(right, abs=1e-9)
    assert "I[2,2]" in found["Equations of motion"].text()
    assert "I_{22}" in found["Equations of motion"].latex()


def test_inertia_of_a_four_bar_is_collected() -> None:
    """I*(θ) θ̈, as in textbooks: one factor for the acceleration of the input."""
    text = lw.derive(lw.gallery("four-bar"), by="influence").equation_set().text()
    assert re.search(
        r"^  \(\(1/4\*m1 \+ m2\)\*l1\^2 \+ I1 .*\*G31\^2\)\*ddtheta1 = ", text, re.MULTILINE
    )
