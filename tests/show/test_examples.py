"""The scripts that make the papers' figures: short, and they make them all."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(("paper", "figures"), [("000", (7, 8)), ("001", range(1, 8))])
def test_figures_of_papers(
    paper: str, figures: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = EXAMPLES / f"paper_{paper}.py"
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 60
    runpy.run_path(str(script))["main"](tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert {f"paper-{paper}-figure-{k}.svg" for k in figures} <= made
    said = capsys.readouterr().out
    assert ("[0. 0. 1.] m" if paper == "000" else "energy over 5 s") in said
