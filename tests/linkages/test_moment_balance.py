"""Balance of the shaking moment: Berkof's closed form for four-bars, and what is left of others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import linkwright as lw
from tests.commands import ok, run
from tests.linkages.linkage_files import FOLDER

SPEED = 10.0


def four_bar(**parameters: float) -> lw.Mechanism:
    return lw.gallery("four-bar").with_parameters(**parameters)


@pytest.mark.parametrize(
    ("parameters", "radius", "disk_radius", "ratio"),
    [({}, 0.5, 1.0, 1.0), ({"m1": 2.0, "m2": 0.7, "l2": 2.8, "m3": 3.0}, 0.3, 0.8, 2.5)],
)
def test_the_closed_form_of_uniform_rods(
    parameters: dict[str, float], radius: float, disk_radius: float, ratio: float
) -> None:
    """A rod needs m l²/6 more to act like halves of its mass at both ends. Then the crank with its
    load and its counterweight has the inertia J about its pin, which its counter-rotor cancels."""
    bars = four_bar(**parameters)
    p = {"m1": 1.0, "m2": 1.0, "m3": 1.0, "l1": 1.0, "l2": 3.0, "l3": 2.5} | parameters
    found = lw.linkages.balance_moments(bars, radius, disk_radius=disk_radius, ratio=ratio)
    disk = p["m2"] * p["l2"] ** 2 / 6
    load = 2 * disk / disk_radius**2
    wanted = {("coupler", 1.0): disk}
    for name, m, l, extra in (("crank", "m1", "l1", load), ("rocker", "m3", "l3", 0.0)):
        carried = p["m2"] / 2 + extra
        weight = (p[m] * p[l] / 2 + carried * p[l]) / radius
        J = p[m] * p[l] ** 2 / 3 + carried * p[l] ** 2 + weight * radius**2
        wanted[name, -ratio] = J / ratio
    assert {(one.body, one.ratio): one.inertia for one in found.disks} == pytest.approx(wanted)
    assert found.is_full
    before = lw.linkages.shaking_forces(bars, speed=SPEED)
    after = lw.linkages.shaking_forces(found.mechanism, speed=SPEED)
    assert after.largest_force < 1e-10 * before.largest_force
    assert after.largest_moment < 1e-10 * before.largest_moment


@pytest.mark.parametrize("name", ["watt-six-bar", "geared-five-bar"])
def test_other_linkages(name: str) -> None:
    linkage = lw.load(FOLDER / f"{name}.toml")
    found = lw.linkages.balance_moments(linkage, 0.2)
    assert found.is_full
    after = lw.linkages.shaking_forces(found.mechanism, speed=SPEED)
    before = lw.linkages.shaking_forces(linkage, speed=SPEED)
    assert after.largest_moment < 1e-9 * before.largest_moment


def test_what_is_left_is_said() -> None:
    """The rod of a slider-crank carries a counterweight, and no gear on ground turns against it."""
    found = lw.linkages.balance_moments(lw.gallery("slider-crank"), 0.2)
    assert not found.is_full
    assert "0.234 of the angular momentum is left" in str(found)


def test_a_balanced_linkage_takes_only_disks() -> None:
    once = lw.linkages.balance_moments(four_bar(), 0.5, disk_radius=1.0)
    assert lw.linkages.balance_moments(once.mechanism, 0.5).counterweights == ()


def test_the_command_line(tmp_path: Path) -> None:
    words = ("linkage", "four-bar", "--balance", "0.5", "--balance-moment", "1", "--samples", "31")
    found = json.loads(ok(*words, "--json", "-o", "quiet.toml", cwd=tmp_path))
    assert found["balance"]["shaking"]["largest_moment"] < 1e-12
    assert [one["body"] for one in found["balance"]["disks"]] == ["coupler", "crank", "rocker"]
    assert "crank_counterrotor" in lw.load(tmp_path / "quiet.toml").bodies
    done = run("linkage", "four-bar", "--balance-moment", "1")
    assert done.returncode == 2
    assert "--balance-moment needs --balance" in done.stderr
