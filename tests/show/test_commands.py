"""Pictures on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ..commands import ok, run


def test_pictures_of_a_run(tmp_path: Path) -> None:
    said = ok(
        "simulate",
        "elbow",
        "-t",
        "0.2",
        "--plot",
        "q,energy",
        "-o",
        "run.nc",
        "--cyclograph",
        "c.png",
        "--animate",
        "a.html",
        cwd=tmp_path,
    )
    assert "pictures: run.svg, c.png, a.html" in said
    assert {p.name for p in tmp_path.iterdir()} == {"run.nc", "run.svg", "c.png", "a.html"}


def test_a_picture_of_a_configuration(tmp_path: Path) -> None:
    said = ok(
        "draw",
        "four-bar",
        "theta1=60deg",
        "--names",
        "--dimensions",
        "-o",
        "p.svg",
        "--json",
        cwd=tmp_path,
    )
    assert json.loads(said) == {"file": "p.svg"}
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<?xml")
    for what in ("graph", "sparsity"):
        ok("draw", "elbow", "--what", what, "-o", f"{what}.pdf", cwd=tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("simulate elbow --plot q", "--plot needs a file; add -o picture.svg, .pdf or .png"),
        ("simulate elbow -o x.png", "'x.png' is a picture, but of what?; add --plot q,energy"),
        ("simulate elbow --animate x.avi", "'x.avi' is no .mp4, .gif, .html; name such a file"),
        ("draw elbow q3=1 -o x.svg", "there is no coordinate 'q3'; known: q1, q2"),
        (
            "draw elbow --what gras -o x.svg",
            "'gras' is nothing to draw; use picture, graph or sparsity",
        ),
        ("draw elbow --view 1,2,3 -o x.svg", "'1,2,3' is no view; write -60,20"),
        ("draw elbow -o x.jpg", "x.jpg: '.jpg' is no format of pictures; use .svg, .pdf, .png"),
    ],
)
def test_mistakes_are_one_line(words: str, message: str, tmp_path: Path) -> None:
    done = run(*words.split(" "), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"linkwright: {message}\n"
    assert not list(tmp_path.iterdir())
