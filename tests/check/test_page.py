"""The guides about the checker: their blocks run, the command exists, the figures are true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import linkwright as lw
from tests.commands import run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def names(request: pytest.FixtureRequest) -> dict[str, Any]:
    """The names that the blocks of a guide define."""
    page = (ROOT / f"docs/how-to/{request.param}.md").read_text(encoding="utf-8")
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, re.S):
        exec(compile(block, request.param, "exec"), found)
    return found


@pytest.mark.parametrize("names", ["check-equations"], indirect=True)
def test_the_guide_finds_the_misprint(names: dict[str, Any]) -> None:
    report = names["report"]
    assert "equation 2 becomes right when sin(q1 + q2) is cos" in str(report)


@pytest.mark.parametrize("names", ["name-symbols"], indirect=True)
def test_the_guide_names_symbols(names: dict[str, Any]) -> None:
    assert names["report"].passed


@pytest.mark.parametrize("names", ["mark-homework"], indirect=True)
def test_the_guide_marks_homework(names: dict[str, Any]) -> None:
    marks = names["marks"]
    assert [text.name for text in marks] == ["bob.tex", "carl.md"]
    bob, carl = marks
    assert bob.mark == 0
    assert bob.with_repair == 1
    assert bob.solution == ("missing", "wrong")
    assert carl.mark == 0
    assert not marks.passed


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("d22 = m2*lc2^2 + I2", 0, "identical, proved"),
        ("! d22 = m2*lc2 + I2", 0, "when lc2 is squared"),
        ("d22 = m2*lc2 + I2", 1, "when lc2 is squared"),
        (r"\phi_2 = m_2 l_{c2} g \cos(\alpha_1 + \alpha_2)", 0, "alpha1 is taken for q1"),
    ],
)
def test_the_command(text: str, status: int, said: str, tmp_path: Path) -> None:
    (tmp_path / "e.tex").write_text(text, encoding="utf-8")
    names = ["--names", "alpha1=q1,alpha2=q2"] if "alpha" in text else []
    done = run("check", "elbow", "e.tex", *names, cwd=tmp_path)
    assert done.returncode == status, done.stderr
    assert names or said in done.stdout
    if status:
        assert done.stderr == "linkwright: wrong or undecided: 1\n"
    data = json.loads(run("check", "elbow", "e.tex", "--json", *names, cwd=tmp_path).stdout)
    assert data["passed"] is (status == 0)
    assert len(data["findings"]) == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("none.txt",), "none.txt: cannot be read"),
        (("e.txt", "--names", "a"), "--names has 'a'"),
        (("e.txt",), "'tauu1' has no meaning for elbow"),
    ],
)
def test_mistakes_are_one_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("tauu1 = ddq1", encoding="utf-8")
    done = run("check", "elbow", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_errata_are_those_of_the_tests() -> None:
    from tests.check.test_gallery import REPAIRS

    page = (ROOT / "docs" / "reference" / "errata.md").read_text(encoding="utf-8").replace("\\", "")
    for (_, number), what in REPAIRS.items():
        assert f"({number})" in page or f"{number} " in page
        assert number == "table 1" or what.removeprefix("is ") in page


def test_it_is_quick() -> None:
    """A right and a wrong equation of the elbow; the derivation is a third of it."""
    import time

    text = "phi2 = m2*lc2*g*cos(q1 + q2)\nd22 = m2*lc2 + I2"
    lw.check(lw.gallery("elbow"), text)
    start = time.process_time()
    lw.check(lw.gallery("elbow"), text)
    assert time.process_time() - start < 0.3
