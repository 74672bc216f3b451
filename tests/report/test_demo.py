"""`make demo`: short, and it makes both pages and says where."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_makes_its_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(DEMO.read_text(encoding="utf-8").splitlines()) <= 60
    main = runpy.run_path(str(DEMO))["main"]
    main.__globals__["page"] = lambda mechanism, *_, **__: f"<!doctype html>{mechanism.name}"
    main(tmp_path)
    said = capsys.readouterr().out
    for name in ("triple-pendulum", "six-axis"):
        assert str(tmp_path / f"{name}.html") in said
        assert (tmp_path / f"{name}.html").read_text(encoding="utf-8").endswith(name)
    assert "M[1,1]" in said
    assert "lw-live" in (tmp_path / "live-stewart.html").read_text(encoding="utf-8")
    main.__globals__["page"] = lambda *_, **__: "1 of 17 checks failed"
    with pytest.raises(SystemExit, match="a check failed"):
        main(tmp_path)
