"""`linkwright linkage`, and pictures of `kinematics` and `inverse`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linkwright as lw
from tests.commands import ok, run
from tests.linkages.linkage_files import FOLDER


def test_linkage_prints_what_engineers_ask(tmp_path: Path) -> None:
    words = ("linkage", "four-bar", "theta1=60deg", "--samples", "37", "--point", "coupler=1.5,1")
    text = ok(*words, "--balance", "0.5", "-o", "balanced.toml", cwd=tmp_path)
    for part in (
        "crank-rocker (GCRR)",
        "theta1 makes full turns",
        "transmission angle: 53.1301°, at theta1 = 0°",
        "dead centre of theta3 at theta1 = 38.2132°",
        "I24    pole",
        "closed curve of coupler_point",
        "crank: 2 kg at (-0.5, 0, 0) m",
        "rocker: 5 kg at (-0.5, 0, 0) m",
    ):
        assert part in text, part
    balanced = lw.load(tmp_path / "balanced.toml")
    assert "crank_counterweight" in balanced.bodies


@pytest.mark.slow
def test_linkage_as_json_with_pictures(tmp_path: Path) -> None:
    words = ("linkage", str(FOLDER / "geared-five-bar.toml"), "--samples", "13", "--json")
    files = ("--plot", "ratios.svg", "--plot-centers", "centers.svg", "--plot-shaking", "s.svg")
    found = json.loads(ok(*words, *files, "-o", "motion.csv", cwd=tmp_path))
    assert found["output"] == "right_crank"
    assert found["transmission_angle"] is None
    assert found["makes_full_turns"] is True
    assert len(found["instant_centers"]) == 10
    assert found["pictures"] == ["ratios.svg", "centers.svg", "s.svg"]
    for name in (*found["pictures"], "motion.csv"):
        assert (tmp_path / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("stewart",), "does not move in a plane"),
        (("five-bar",), "has 2 degrees of freedom"),
        (("four-bar", "--plot-curve", "a.svg"), "--plot-curve needs a point"),
        (("four-bar", "--share", "0.5"), "--share needs --balance"),
        (("four-bar", "--plot", "a.txt"), "'.txt' cannot be written"),
        (("four-bar", "--balance", "0.5", "-o", "a.csv"), "'.csv' cannot be written; use .toml"),
        (("four-bar", "--over", "1"), "is not a range"),
    ],
)
def test_wrong_questions_get_a_sentence(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    found = run("linkage", *words, cwd=tmp_path)
    assert found.returncode == 2
    assert message in found.stderr
    assert found.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_kinematics_draws_and_films(tmp_path: Path) -> None:
    words = ("kinematics", "four-bar", "--over", "theta1=0:1rev", "--samples", "25")
    pictures = ("--plot", "q,qd,motion.svg", "--cyclograph", "c.svg", "--animate", "film.html")
    text = ok(*words, *pictures, "-o", "motion.csv", cwd=tmp_path)
    assert "pictures: motion.svg, c.svg, film.html" in text
    assert "rad/rad" in (tmp_path / "motion.svg").read_text()
    assert (tmp_path / "motion.csv").is_file()
    found = run(*words, "--plot", "tau,motion.svg", cwd=tmp_path)
    assert found.returncode == 2
    assert "has no 'tau': it has no forces; use solve_inverse" in found.stderr


def test_inverse_prints_reactions_and_draws(tmp_path: Path) -> None:
    words = ("inverse", "slider-crank", "theta1=2*t", "-t", "0.5", "--samples", "9")
    text = ok(*words, "--plot", "tau,reactions", "-o", "forces.svg", cwd=tmp_path)
    assert "reaction at  largest force  at" in text
    assert "pictures: forces.svg" in text
    reactions = lw.solve_inverse(
        lw.gallery("slider-crank"), {"theta1": "2*t"}, 0.5, samples=9
    ).reactions
    largest = (reactions[:, 3, 3:] ** 2).sum(axis=1).max() ** 0.5
    row = next(line for line in text.splitlines() if line.startswith("pin "))
    assert f"{largest:.6g} N" in row
