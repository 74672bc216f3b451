"""`linkwright study` as a person uses it: results, pages, mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import ok, run

BEGIN = (
    "study", "elbow", "q1=0.2", "--vary", "m2=0.5..1.5", "--measure", "peak=max(abs(dq1))",
    "-t", "0.1", "--samples", "11",
)  # fmt: skip


@pytest.mark.slow
def test_a_study_its_resume_and_its_page(tmp_path: Path) -> None:
    said = ok(*BEGIN, "-n", "20", "--block", "8", "-o", "arm", cwd=tmp_path)
    assert "20 of 20 designs, 0 failed" in said
    (tmp_path / "arm/peak/c/0").write_bytes(b"damage")
    damaged = run("study", "report", "arm", cwd=tmp_path)
    assert damaged.returncode == 2
    wanted = "arm: 1 of 3 blocks are damaged; 'linkwright study resume arm' makes them again"
    assert wanted in damaged.stderr
    (tmp_path / "arm/blocks/1.json").unlink()
    again = json.loads(ok("study", "resume", "arm", "--json", cwd=tmp_path))
    assert again["designs"] == again["count"] == 20
    found = ok("study", "report", "arm", "-o", "page.html", cwd=tmp_path)
    assert "output: page.html" in found
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Study of elbow" in page
    assert "default-src &#39;none&#39;" in page


@pytest.mark.slow
def test_a_page_without_a_folder(tmp_path: Path) -> None:
    ok(*BEGIN, "-n", "6", "--design", "latin", "-o", "page.html", cwd=tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_a_dry_run_makes_nothing(tmp_path: Path) -> None:
    said = json.loads(ok(*BEGIN, "-n", "100000", "--dry-run", "--json", "-o", "arm", cwd=tmp_path))
    assert said["count"] == 100_000
    assert said["blocks"] == -(-100_000 // said["block"])
    assert said["size"] >= 100_000 * 25
    assert said["seconds"] > 0
    assert not list(tmp_path.iterdir())


def test_tables_controllers_and_failures(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_text("control.kp,m2\n50,1\n80,-1\n")
    (tmp_path / "c.toml").write_text('controller = "pid"\nreference = [0.5, 0]\nkp = 10\nkd = 5\n')
    words = ["study", "elbow", "--table", "d.csv", "--control", "c.toml", "-t", "0.1"]
    said = ok(*words, "--measure", "effort=max(abs(tau1))", cwd=tmp_path)
    assert "2 of 2 designs, 1 failed" in said
    assert "design 1 failed: cannot start: " in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["study", "elbow"], "study needs --vary, or --table; write --vary m2=0.5..1.5"),
        (["study", "elbow", "--vary", "m2=1..2"], "study needs --measure"),
        ([*BEGIN, "--table", "d.csv"], "--vary and --table exclude each other; give one"),
        ([*BEGIN, "--vary", "m1"], "'m1' is not an input; write NAME=VALUE: q=0.1,0.2"),
        ([*BEGIN, "--control", "c.toml"], "c.toml: no such file; check the path"),
        ([*BEGIN[:3], "--vary", "m2=1,2", "--measure", "p=max(q"], "measure 'p': "),
        (["study", "resume", "nothing"], "holds no study: study.json is missing"),
        (["study", "resume"], "study resume takes one folder"),
        (["study", "report", "x", "-o", "y.pdf"], "'y.pdf' is not a page; write -o page.html"),
        (["study", "resume", "x", "--vary", "m2=1..2"], "takes a folder, not factors or measures"),
        ([*BEGIN, "-n", "4", "-o", "p.html", "--workers", "2"], "workers need a folder"),
        ([*BEGIN, "-n", "0"], "count cannot be 0"),
        ([*BEGIN, "--cluster", "tcp://127.0.0.1:9", "-n", "4"], "workers need a store"),
    ],
)
def test_mistakes_are_one_line(words: list[str], message: str, tmp_path: Path) -> None:
    found = run(*words, cwd=tmp_path)
    assert found.returncode == 2
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
