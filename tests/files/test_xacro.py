"""xacro files, expanded by the package xacro."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import linkwright as lw
from linkwright.errors import FileError, MissingExtraError, NameNotFoundError
from linkwright.expressions import expression_to_float
from tests.commands import ok

MACROS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="bar" params="name length">
  <link name="${name}"><inertial><origin xyz="${length/2} 0 0"/><mass value="${2*length}"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
</xacro:macro></robot>"""
ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="length" default="0.5"/>
<xacro:include filename="$(find r_description)/urdf/macros.xacro"/>
<link name="base"/>
<xacro:bar name="bar" length="$(arg length)"/>
<joint name="q" type="continuous"><parent link="base"/><child link="bar"/>
  <origin rpy="0 0 ${pi/6}"/><axis xyz="0 0 1"/></joint>
</robot>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    pytest.importorskip("xacro", reason="the extra [ros] is not installed")
    folder = tmp_path / "r_description" / "urdf"
    folder.mkdir(parents=True)
    (folder / "macros.xacro").write_text(MACROS, encoding="utf-8")
    (folder / "r.urdf.xacro").write_text(ROBOT, encoding="utf-8")
    return folder / "r.urdf.xacro"


def test_macros_arguments_and_packages(path: Path) -> None:
    """By hand: mass 2 · length, centre at its half, a joint turned by 30°."""
    robot = lw.load(path)
    assert expression_to_float(robot.bodies["bar"].mass) == 1.0
    assert expression_to_float(robot.bodies["bar"].center[0]) == 0.25
    assert expression_to_float(robot.joints["q"].origin.rpy[2]) == pytest.approx(0.5235987755982988)
    longer = lw.load(path, arguments={"length": "0.8"}, base="free")
    assert expression_to_float(longer.bodies["bar"].mass) == 1.6
    assert longer.joints["root_joint"].type == "free"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("r_description)", "other)", "the ROS package 'other' is not found"),
        ("${pi/6}", "${1/0}", "xacro refuses it: division by zero"),
        ("<xacro:bar", "<xacro:beam", "xacro refuses it: unknown macro name: xacro:beam"),
        (
            "$(arg length)",
            "$(arg size)",
            "give it: load(…, arguments={'size': …}), or --arg size=…",
        ),
        ("urdf/macros", "urdf/none", "none.xacro' is not found; correct its path"),
        ("</robot>", "", "is not well-formed XML"),
        ('<robot name="r"', '<!DOCTYPE r><robot name="r"', "has a DTD or entities"),
    ],
)
def test_errors_are_one_sentence(path: Path, old: str, new: str, words: str) -> None:
    path.write_text(ROBOT.replace(old, new), encoding="utf-8")
    with pytest.raises(FileError) as caught:
        lw.load(path)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_is_never_expanded() -> None:
    """Macros in bare text or in a .urdf file are refused, not evaluated."""
    with pytest.raises(FileError, match=r"has <xacro:arg>, which is not URDF; .*ends in \.xacro"):
        lw.load(ROBOT)


def test_without_the_extra(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xacro", None)
    with pytest.raises(MissingExtraError, match=r"linkwright\[ros\]"):
        lw.load(path)


def test_arguments_are_for_xacro() -> None:
    with pytest.raises(FileError, match="arguments= is for xacro files"):
        lw.load("<robot name='r'><link name='a'/></robot>", arguments={"a": "b"})


def test_an_unknown_argument_is_an_error(path: Path) -> None:
    """xacro itself ignores it."""
    with pytest.raises(NameNotFoundError, match=r"no argument 'lenght'.*length"):
        lw.load(path, arguments={"lenght": "0.4"})
    assert lw.load(path, arguments={"length": "0.4"}).name == "r"


def test_the_command_line_takes_arguments_and_density(path: Path, tmp_path: Path) -> None:
    assert "1.6 kg" in ok("info", str(path), "--arg", "length=0.8")
    (tmp_path / "box.urdf").write_text(
        """<robot name="b"><link name="base"/><link name="box"><visual><geometry>
        <box size="0.1 0.2 0.3"/></geometry></visual></link><joint name="q" type="continuous">
        <parent link="base"/><child link="box"/><axis xyz="0 0 1"/></joint></robot>""",
        encoding="utf-8",
    )
    found = ok("info", str(tmp_path / "box.urdf"), "--density", "2.7 g/cm^3")
    assert "box: mass 16.2 kg, centre and inertia from 1 box of density 2.7 g/cm^3" in found
