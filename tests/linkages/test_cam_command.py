"""`linkwright cam`: motions from tables in files, profiles, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from tests.commands import ok, run

HEIGHT = 0.01
DEGREES = np.arange(0, 360, 10)


def write_table(path: Path, heading: str, scale: float, separator: str = ",") -> Path:
    """A harmonic lift of 10 mm up and down, in the units of the heading."""
    lifts = HEIGHT * (1 - np.cos(np.radians(DEGREES))) * scale
    lines = [f"{a}{separator}{x!r}" for a, x in zip(DEGREES, lifts.tolist(), strict=True)]
    path.write_text("\n".join(["# made by hand", heading, *lines]), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("heading", "scale", "separator"),
    [
        ("angle (deg), lift (mm)", 1000, ","),
        ("phi [°];s [m]", 1, ";"),
        ("angle / deg\tlift / cm", 100, "\t"),
    ],
)
def test_units_come_from_the_heading(
    tmp_path: Path, heading: str, scale: float, separator: str
) -> None:
    motion = lw.linkages.read_cam_motion(write_table(tmp_path / "t.csv", heading, scale, separator))
    at = np.linspace(0, 7, 50)
    np.testing.assert_allclose(motion(at), HEIGHT * (1 - np.cos(at)), atol=1e-8)
    np.testing.assert_allclose(motion(at, 2), HEIGHT * np.cos(at), atol=1e-6)


def test_the_command_prints_rates_and_writes_the_profile(tmp_path: Path) -> None:
    """Harmonic motion h (1 − cos φ) at ω: v = h ω, a = h ω², j = h ω³; the pressure angle of a
    centred roller follower is atan(s'/(r + s))."""
    write_table(tmp_path / "t.csv", "angle (deg), lift (mm)", 1000)
    words = ("cam", "t.csv", "--base-radius", "30mm", "--roller-radius", "10mm", "--rate", "20")
    found = json.loads(
        ok(
            *words,
            "-o",
            "p.csv",
            "--plot",
            "m.svg",
            "--plot-profile",
            "c.svg",
            "--json",
            cwd=tmp_path,
        )
    )
    for k, name in enumerate(("velocity", "acceleration", "jerk"), 1):
        assert found[name]["most"] == pytest.approx(HEIGHT * 20**k, rel=1e-4)
    phi = np.linspace(0, 2 * np.pi, 7201)
    wanted = np.arctan2(HEIGHT * np.sin(phi), 0.04 + HEIGHT * (1 - np.cos(phi))).max()
    assert found["profile"]["largest_pressure_angle"] == pytest.approx(wanted, rel=1e-4)
    table = np.genfromtxt(tmp_path / "p.csv", delimiter=",", names=True)
    assert len(table) == 721
    radius = np.hypot(table["profile_x_m"], table["profile_y_m"])
    assert radius.min() == pytest.approx(0.03, abs=1e-9)
    assert radius.max() == pytest.approx(0.05, abs=1e-9)
    assert all((tmp_path / name).stat().st_size > 1000 for name in ("m.svg", "c.svg"))


def test_the_picture_has_the_rates_and_units_of_the_speed(tmp_path: Path) -> None:
    motion = lw.linkages.read_cam_motion(
        write_table(tmp_path / "t.csv", "angle (deg), lift (mm)", 1000)
    )
    axes = motion.plot(rate=20.0).axes
    assert [ax.get_ylabel().split(" / ")[1] for ax in axes] == ["m", "m/s", "m/s²", "m/s³"]
    for k, ax in enumerate(axes[1:], 1):
        assert ax.lines[0].get_ydata().max() == pytest.approx(HEIGHT * 20**k, rel=1e-4)
    assert motion.plot(unit="rad").axes[1].get_ylabel() == "velocity / rad/rad"


def test_the_expression_drives_a_mechanism(tmp_path: Path) -> None:
    write_table(tmp_path / "t.csv", "angle (deg), lift (mm)", 1000)
    text = ok("cam", "t.csv", "--coordinate", "phi", cwd=tmp_path).splitlines()[-1]
    valve = lw.Mechanism(
        name="valve",
        bodies={"cam": {"mass": 1.0, "inertia": {"zz": 0.01}}, "valve": {"mass": 0.5}},
        joints={
            "phi": {"type": "revolute", "child": "cam"},
            "s": {"type": "prismatic", "axis": [0, 1, 0], "child": "valve"},
        },
        constraints={"lift": {"type": "equation", "position": f"s - ({text})"}},
    )
    q = lw.compile(valve).close([1.1, 0.0])
    assert q[1] == pytest.approx(HEIGHT * (1 - np.cos(q[0])), abs=1e-8)


def test_an_undercut_cam_fails_a_check(tmp_path: Path) -> None:
    """A flat face needs r > −(s + s'') = −h: every harmonic cam; with 4 lobes it does not."""
    lifts = 0.01 * (1 - np.cos(4 * np.radians(DEGREES)))
    rows = "\n".join(f"{a},{x!r}" for a, x in zip(DEGREES, lifts.tolist(), strict=True))
    (tmp_path / "t.csv").write_text("angle (deg),lift (m)\n" + rows)
    done = run("cam", "t.csv", "--follower", "flat", "--base-radius", "50mm", cwd=tmp_path)
    assert done.returncode == 1
    assert "undercut" in done.stderr
    ok("cam", "t.csv", "--follower", "flat", "--base-radius", "200mm", cwd=tmp_path)


@pytest.mark.parametrize(
    ("text", "words", "says"),
    [
        ("0,0\n90,1\n180,2\n270,1\n300,0.5\n330,0.1", (), "more than a turn; head the columns"),
        ("angle (deg),lift (kg)\n0,0", (), "'kg' is neither an angle nor a length"),
        ("angle (foo),lift (mm)\n0,0", (), "'foo' is not a unit"),
        ("angle (mm),lift (mm)\n0,0", (), "the cam angle is in mm"),
        ("0,0\n1,x", (), "row 2 is not an angle and a lift: 1,x"),
        ("0,0\n1,1", (), "the table has 2 angles and 2 values"),
        ("", (), "the table has 0 angles"),
        (None, ("--follower", "egg", "--base-radius", "1"), "'egg' is not a follower"),
        (None, ("--follower", "flat", "--base-radius", "1", "--arm", "2"), "has no --arm"),
        (None, ("--follower", "swinging", "--base-radius", "1"), "needs its arm"),
        (None, ("--plot-profile", "x.svg"), "--plot-profile needs a base circle"),
        (None, ("--base-radius", "-1"), "base_radius"),
        (None, ("--base-radius", "30kg"), "'30kg' has the wrong unit; give it in m"),
        (None, ("-o", "x.txt"), "x.txt"),
    ],
)
def test_mistakes_get_a_sentence(
    tmp_path: Path, text: str | None, words: tuple[str, ...], says: str
) -> None:
    path = tmp_path / "t.csv"
    if text is None:
        write_table(path, "angle (deg), lift (mm)", 1000)
    else:
        path.write_text(text)
    done = run("cam", "t.csv", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(LinkwrightError, match="cannot be read: No such file"):
        lw.linkages.read_cam_motion(tmp_path / "none.csv")
