"""The line of a file that an error is about."""

from __future__ import annotations

from pathlib import Path

import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.studio.error_lines import find_error_line
from linkwright.studio.studio_tasks import StudioFile, StudioProblem, read_studio_file

GOOD = """name = "x"

[bodies.a]
mass = 1
[bodies."b c"]
mass = 2
inertia = { zz = 1 }

[joints.q]
type = "revolute"
child = "a"
[joints.p]
type = "revolute"
parent = "a"
child = "b c"
"""


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("mass = 1", "mas = 1", 4),
        ("mass = 2", "mass = -2", 6),
        ('type = "revolute"\nparent', 'type = "revolut"\nparent', 13),
        ('child = "b c"', 'child = "b"', 15),
        ("mass = 2", "mass = 2 kg", 6),
        ("inertia = { zz = 1 }", "inertia = { zz = 1", 7),
        ("[joints.q]", "[jonts.q]", 9),
    ],
)
def test_errors_of_toml_have_their_line(before: str, after: str, line: int, tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    assert before in GOOD
    file.write_text(GOOD.replace(before, after, 1))
    found = read_studio_file(str(file), None, None)
    assert isinstance(found, StudioProblem)
    assert found.line is not None
    assert abs(found.line - line) <= (1 if "zz" in before else 0), found
    assert any(number == found.line for number, _ in found.excerpt)
    assert str(tmp_path) not in found.where


def test_a_good_file_has_a_scene_and_facts(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    file.write_text(GOOD)
    found = read_studio_file(str(file), None, None)
    assert isinstance(found, StudioFile)
    assert found.facts["summary"] == "2 bodies, 2 joints, 2 degrees of freedom, 3 kg"


def test_errors_of_xml_have_their_line() -> None:
    text = '<robot name="x">\n<link name="a">\n</robot>'
    with pytest.raises(LinkwrightError) as caught:
        lw.load(text)
    assert find_error_line(text, caught.value) == 3
    named = '<robot name="x">\n<link name="a"/>\n<joint\n name="j7" type="revolute"/></robot>'
    said = LinkwrightError("has no parent", where="x.urdf: joint j7")
    assert find_error_line(named, said) == 4
    assert find_error_line(named, LinkwrightError("'j7' has no parent", where="x.urdf")) == 4


def test_an_unknown_place_has_no_line() -> None:
    assert find_error_line("a = 1\n", LinkwrightError("loops do not close", where="x.toml")) is None
