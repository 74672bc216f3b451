"""The pages of the papers: what their Python blocks print is what stands below them."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
run_page = runpy.run_path(str(ROOT / "tools/write_paper_pages.py"))["run_page"]
PAGES = sorted((ROOT / "docs/papers").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_printed_blocks_are_true(page: Path) -> None:
    """`make golden` writes the blocks anew; its difference is read before it is committed."""
    text = page.read_text(encoding="utf-8")
    assert text.count("```python") >= 1
    assert run_page(text, page.name) == text


def test_the_output_of_a_block_is_written_below_it() -> None:
    """A false line is replaced, a missing block is added."""
    code = "```python\nprint(1 + 1)\n```"
    assert run_page(f"{code}\n\n```text\n3\n```\n") == f"{code}\n\n```text\n2\n```\n"
    assert run_page(f"{code}\n") == f"{code}\n\n```text\n2\n```\n"


def test_the_arms_of_paper_004(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The script prints every set of the book, and draws its arms."""
    runpy.run_path(str(ROOT / "examples/paper_004.py"))["main"](tmp_path)
    printed = capsys.readouterr().out
    for line in (
        "M[1,1] = m1*lc1^2 + m2*(l1^2 + lc2^2 + 2*l1*lc2*cos(q2)) + I1 + I2",
        "Report on elbow: 97 of 97 equations right",
        "theorem 6.3.1: proved",
        "elbow: rank 5 of 9 columns",
    ):
        assert line in printed
    assert len(list(tmp_path.glob("paper-004-figure-*.svg"))) == 3
