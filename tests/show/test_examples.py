"""The scripts that make the papers' figures: short, and they make them all."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


SAID = {"000": "[0. 0. 1.] m", "001": "energy over 5 s", "003": "N·m: [176.6"}
"""What each says: the straight arm of paper 003 weighs (1 + 3 + … + 11) m g l/2 at its root."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("paper", "figures"), [("000", (7, 8)), ("001", range(1, 8)), ("003", range(3, 8))]
)
def test_figures_of_papers(
    paper: str, figures: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = EXAMPLES / f"paper_{paper}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 110
    runpy.run_path(str(script))["main"](tmp_path, "pdf")
    made = {path.name for path in tmp_path.iterdir()}
    assert {f"paper-{paper}-figure-{k}.pdf" for k in figures} <= made
    assert SAID[paper] in capsys.readouterr().out
