"""The page about the checker: its blocks run, its command exists, its figures are true."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import linkwright as lw
from tests.commands import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "checker.md").read_text(encoding="utf-8")


def test_the_blocks_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.S):
        exec(compile(block, "checker.md", "exec"), names)
    assert "equation 2 becomes right when sin(q1 + q2) is cos" in capsys.readouterr().out


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
