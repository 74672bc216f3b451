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


@pytest.mark.slow
def test_the_arm_of_paper_000(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The iterations, the model of an instant, and both problems: the lift comes back."""
    runpy.run_path(str(ROOT / "examples/paper_000.py"))["main"](tmp_path)
    printed = capsys.readouterr().out
    for line in (
        "Iteration 3, fore",
        "W = Σ Z_i",
        "direct problem: these torques move the gripper by [0. 0. 1.] m",
        "2 mechanisms on a path of 1 m in 1 s",
    ):
        assert line in printed
    assert len(list(tmp_path.glob("paper-000-figure-*.svg"))) == 3


@pytest.mark.slow
def test_the_chain_of_paper_003(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The model by the algorithm's steps, the time, and the torques. The checker's verdicts are
    tested in tests/check/test_gallery.py, and take 15 s."""
    main = runpy.run_path(str(ROOT / "examples/paper_003.py"))["main"]
    main.__globals__["check_equations"] = lambda: None
    main(tmp_path)
    printed = capsys.readouterr().out
    for line in (
        "M[1,2] = M[2,1] = m2*(lc2^2 + l1*lc2*cos(q2)) + I2",
        "theirs: 0.0191n³ − 0.1025n² + 0.3757n − 0.3647 s, R² = 0.9996",
        "largest torques in 60 s / N·m: [176.63 122.67  78.51  44.17  19.63   4.91]",
    ):
        assert line in printed
    assert len(list(tmp_path.glob("paper-003-figure-*.svg"))) == 6


@pytest.mark.slow
def test_the_methods_of_paper_002(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The script prints both examples of Agrawal, Freeman and Tesar's arrays and their transfer."""
    runpy.run_path(str(ROOT / "examples/paper_002.py"))["main"](tmp_path)
    printed = capsys.readouterr().out
    for line in (
        "p = [ 0.1755  0.3    -0.0959]; error ",
        "  V_B     z_B ",
        "  u2      eps*z_c1   eps*sin(c2.phi)*x_c2 + eps*cos(c2.phi)*y_c2",
        "Report on stanford-rrp: 63 of 63 equations right",
        "Report on sharp-edged-disk: 39 of 39 equations right",
        "equation 53 becomes right when the sign of the term omega^2*sin(q3)*q1 is changed",
        "K[1,1] = k_rope*(Gs11^2 + Hs111*u1) + k_q1",
        "[[1.21398781 0.55040908]",
    ):
        assert line in printed
    assert len(list(tmp_path.glob("paper-002-*.svg"))) == 4
