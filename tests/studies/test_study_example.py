"""examples/studies.py makes its pictures, and says what it found."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples/studies.py"


@pytest.mark.slow
def test_the_example_makes_all_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE))["main"](tmp_path, "pdf")
    made = {one.name for one in tmp_path.iterdir()}
    kinds = ("pareto", "scatter", "parallel", "surface", "sobol", "correlations", "bands")
    assert {f"study-{kind}.pdf" for kind in kinds} | {"study.html"} == made
    said = capsys.readouterr().out
    assert "512 of 512 designs, 0 failed" in said
    assert "settles in" in said
