"""Symbols and numbers as books print them: made-up names, fractions, the letter of constraints."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.files.dh_reader import read_dh_toml


def test_a_denavit_hartenberg_table_gives_its_own_symbols() -> None:
    puma = lw.derive(lw.gallery("puma560"))
    known = set(puma.parameters) - set(puma.constants)
    assert {"a2", "a3", "d3", "d4", "m4", "cz6", "Ixx6", "g", "J_q1", "G_q1"} <= known
    assert not any("child" in name or "link" in name for name in known)
    assert float(puma.parameters["a2"]) == 0.4318  # as in the table, not its opposite
    assert float(puma.parameters["g"]) == 9.81
    assert puma.closed_form("g").json()["entries"]["g[4]"] == (
        "m6*cz6*g*sin(q2 + q3)*sin(q4)*sin(q5)"
    )


def test_constants_come_first_in_angles() -> None:
    """w*t, not t*w, as the file has it."""
    slide = lw.Mechanism(
        name="slide", gravity=[0, "-g", 0], parameters={"m": 2, "A": 0.1, "w": 3, "g": 9.81, "R": 1},
        bodies={"frame": {}, "bob": {"mass": "m", "center": ["R", 0, 0]}},
        joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "frame"},
                "phi": {"type": "revolute", "parent": "frame", "child": "bob"}},
        coordinates={"names": ["th"], "joints": {"x": "A*sin(w*t)", "phi": "th"}},
    )  # fmt: skip
    assert str(lw.derive(slide).closed_form("d")) == "d[1] = m*A*R*w^2*sin(th)*sin(w*t)"


MODIFIED = """
convention = "modified"
[[links]]
mass = 1
center = [0.1, 0, 0]
[[links]]
alpha = "30 deg"
a = 0.3
d = 0.2
mass = 2
center = [0.1, 0, 0]
[[links]]
alpha = "90 deg"
d = 0.25
mass = 2
center = [0.1, 0, 0]
"""


def test_a_modified_table_keeps_its_angles_and_offsets() -> None:
    arm = read_dh_toml(MODIFIED)
    eqs = lw.derive(arm)
    assert {"alpha2", "a2", "d2", "d3"} <= set(eqs.parameters)
    q = np.array([0.1, 0.2, 0.3])
    numeric = lw.derive(arm, parameters="numeric")
    values = [float(value) for value in eqs.parameters.values()]
    np.testing.assert_allclose(
        np.array(eqs.function("mass_matrix")(q, values)),
        np.array(numeric.function("mass_matrix")(q)),
        rtol=1e-12,
    )


def test_made_up_names_give_way_to_the_files() -> None:
    """A coordinate a1, a parameter m1 and a rate dq are the file's; numbers get other names."""
    arm = lw.Mechanism(
        parameters={"m1": 3},
        bodies={"arm": {"mass": 2, "center": ["m1/10", 0.2, 0]}},
        joints={"a1": {"type": "revolute", "child": "arm", "origin": [0.5, 0, 0.25]}},
    )
    names = list(lw.derive(arm).parameters)
    assert {"m1", "m_arm", "cy1", "d1", "g"} <= set(names)
    assert "a1" not in names


@pytest.mark.parametrize(
    ("radius", "printed"),
    [
        ("l/2", "1/4*m*l^2"),
        ("l/3", "1/9*m*l^2"),
        ("2*l/5", "4/25*m*l^2"),
        ("0.5*l", "0.25*m*l^2"),
        ("0.4*l", "0.16*m*l^2"),
    ],
)
def test_numbers_are_fractions_unless_the_file_has_decimals(radius: str, printed: str) -> None:
    arm = lw.Mechanism(
        parameters={"l": 1, "m": 1},
        bodies={"b": {"mass": "m", "center": [radius, 0, 0]}},
        joints={"q1": {"type": "revolute", "child": "b"}},
    )
    form = lw.derive(arm).closed_form("M")
    assert form.text() == f"M[1,1] = {printed}"
    if "/" in printed:
        top, bottom = printed.split("*")[0].split("/")
        assert f"\\frac{{{top}}}{{{bottom}}} \\, m" in form.latex()
        assert f"<mfrac><mn>{top}</mn><mn>{bottom}</mn></mfrac>" in form.html()


def test_entries_of_a_quantity_are_collected_alike() -> None:
    """M of Vukobratović's arm: m3 is taken out of M22 and M23 alike, with l3²/3 inside."""
    M = lw.derive(lw.gallery("vukobratovic-arm")).closed_form("M").json()["entries"]
    assert M["M[2,2]"] == "1/3*m2*l2^2 + m3*(l2^2 + 1/3*l3^2 + l2*l3*cos(phi3))"
    assert M["M[2,3]"] == M["M[3,2]"] == "m3*(1/3*l3^2 + 1/2*l2*l3*cos(phi3))"
    assert M["M[3,3]"] == "1/3*m3*l3^2"


def test_constraints_and_a_coordinate_phi_have_two_letters() -> None:
    form = lw.derive(lw.gallery("3-rrr")).closed_form("constraint_residual")
    assert form.text().startswith("Phi[1] = ")
    assert "\\Phi_1" in form.latex()
    assert "\\phi" in form.latex()
    assert "<mi>Φ</mi>" in form.html()
    assert "<mi>φ</mi>" in form.html()


URDF = """<robot name="arm">
  <link name="base_link"><inertial><mass value="5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>
  </inertial></link>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="lower"><inertial><origin xyz="0.1 0 0"/><mass value="1.5"/>
    <inertia ixx="0.1" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="shoulder" type="continuous"><parent link="base_link"/><child link="upper"/>
    <origin xyz="0 0 0.3"/><axis xyz="0 1 0"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/>
    <origin xyz="0.4 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tool"/>
    <origin xyz="0.25 0 0"/></joint>
</robot>"""


def test_numbers_of_moving_parts_begin_with_one() -> None:
    """A base that is fixed to ground and a flange do not count: m1 is the first body that moves, as
    in its equations of motion, and a2 the length of the first link."""
    eqs = lw.derive(lw.load(URDF), by="newton_euler")
    assert {"d1", "a2", "m1", "cx1", "m2", "m_base_link"} <= set(eqs.parameters)
    assert "m3" not in eqs.parameters
    assert "  m1*ddx1 = " in eqs.equation_set().text()
    weight = lw.derive(lw.load(URDF)).closed_form("g").json()["entries"]
    assert weight["g[2]"] == "-m2*cx2*g*cos(shoulder + elbow)"


def test_unit_numbers_with_a_dimension_keep_their_symbols() -> None:
    """By hand: a point mass of 1 kg on a rod of 1 m has M = m1 cx1² and g = m1 g cx1 cos(q); without
    the symbols, kg m² would be printed as 1. A gear of 1 needs no symbol."""
    arm = lw.load(
        """
        gravity = [0, -9.81, 0]
        [bodies.rod]
        mass = 1.0
        center = [1, 0, 0]
        [joints.q]
        type = "revolute"
        parent = "ground"
        child = "rod"
        axis = [0, 0, 1]
        damping = 1
        motor = { inertia = 1, ratio = 1 }
        """
    )
    eqs = lw.derive(arm, by="lagrange")
    assert "m1*cx1^2 + J_q" in str(eqs.closed_form("M"))
    assert "m1*cx1*g*cos(q)" in str(eqs.closed_form("g"))
    assert "-d_q*dq" in str(eqs.closed_form("f"))
