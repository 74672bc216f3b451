"""Pictures on the command line."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from linkwright.cli import main

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """The program in an empty folder: its status, what it says, and its complaint."""
    monkeypatch.chdir(tmp_path)

    def run(words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["linkwright", *words.split(" ")])
        status = 0
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        return status, *capsys.readouterr()

    return run


def test_pictures_of_a_run(command: Command, tmp_path: Path) -> None:
    words = "simulate elbow -t 0.2 --plot q,energy -o run.nc --cyclograph c.png --animate a.html --pace 0.25"
    status, said, _ = command(words)
    assert status == 0
    assert "pictures: run.svg, c.png, a.html" in said
    assert {p.name for p in tmp_path.iterdir()} == {"run.nc", "run.svg", "c.png", "a.html"}
    assert '"0.25" selected' in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_a_picture_of_a_configuration(command: Command, tmp_path: Path) -> None:
    status, said, _ = command("draw four-bar theta1=60deg --names --dimensions -o p.svg --json")
    assert (status, json.loads(said)) == (0, {"file": "p.svg"})
    assert (tmp_path / "p.svg").read_text(encoding="utf-8").startswith("<?xml")
    for what in ("graph", "sparsity"):
        assert command(f"draw elbow --what {what} -o {what}.pdf")[:2] == (0, f"file: {what}.pdf\n")


def test_the_tree_shows_what_closes_loops(command: Command) -> None:
    assert "│   │   ├── pin revolute → rocker (closes a loop)" in command("info four-bar")[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("simulate elbow --plot q", "--plot needs a file; add -o picture.svg, .pdf or .png"),
        (
            "simulate elbow -o x.png",
            "'x.png' is a picture file, and --plot is missing; add --plot q,energy",
        ),
        (
            "simulate elbow --animate x.avi",
            "x.avi: '.avi' cannot be written; use .mp4, .gif or .html",
        ),
        (
            "simulate elbow --pace 0.5",
            "--pace 0.5 needs a film; give --animate, and a pace above 0",
        ),
        ("simulate elbow --plot qq -o x.svg", "a run has no 'qq' to draw; did you mean 'q'?"),
        *(
            (f"simulate elbow {words}", "no: is not a folder; create it, or name another")
            for words in ("-o no/x.nc", "--plot q -o no/x.svg", "--animate no/x.gif")
        ),
        ("draw elbow q3=1 -o x.svg", "unknown coordinate 'q3'; known: q1, q2"),
        (
            "draw elbow --what gras -o x.svg",
            "'gras' cannot be drawn; use picture, graph or sparsity",
        ),
        *(
            (
                f"draw elbow --view {view} -o x.svg",
                f"'{view}' is not a view; use xy, xz, yz, space, or azimuth and elevation in degrees: "
                "-30,40",
            )
            for view in ("1,2,3", "abc")
        ),
        *(
            (
                f"{words} {name}",
                f"{name}: no such file, nor a mechanism of this name in the gallery; {remedy}",
            )
            for words, name, remedy in (
                ("draw -o x.svg", "elbw", "did you mean 'elbow'?"),
                ("report -o x.html", "nope", "see linkwright gallery"),
            )
        ),
        ("draw nope.toml -o x.svg", "nope.toml: no such file; check the path"),
        ("draw elbow -o x.jpg", "x.jpg: '.jpg' is not a format for pictures; use .svg, .pdf, .png"),
    ],
)
def test_mistakes_are_one_line(
    words: str, message: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And found before anything is simulated."""
    monkeypatch.delattr("linkwright.simulation.simulate")
    assert command(words) == (2, "", f"linkwright: {message}\n")
    assert not list(tmp_path.iterdir())
