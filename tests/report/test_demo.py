"""`make demo`: short, and it makes both pages and says where."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_makes_its_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a budget that leaves out what takes long; `make demo` itself has time."""
    assert len(DEMO.read_text(encoding="utf-8").splitlines()) <= 60
    runpy.run_path(str(DEMO))["main"](tmp_path, budget=0.05)
    said = capsys.readouterr().out
    for name in ("triple-pendulum", "six-axis"):
        assert str(tmp_path / f"{name}.html") in said
        assert (tmp_path / f"{name}.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "M[1,1]" in said
