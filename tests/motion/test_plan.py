"""`linkwright plan`: the pipelines of papers 003 and 000, its files and its mistakes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright import show
from linkwright.cli.main import app
from linkwright.errors import LinkwrightError
from linkwright.motion import bounds_of, plan_to, through
from linkwright.show.figure_style import line_color
from tests.commands import ok, run

VUKOBRATOVIC = ("vukobratovic-arm", "phi1=180deg", "phi2=-90deg", "phi3=-90deg")


def test_six_links_of_paper_003(tmp_path: Path) -> None:
    """From q = 0 to (1, 2) in 60 s, at rest at both ends; half the time needs more."""
    text = ok("plan", "chain-6", "--to", "1,2", "--time", "60", "--samples", "61", "-o", "p.csv",
              "-o", "p.npz", "-o", "p.png", cwd=tmp_path)  # fmt: skip
    assert text.startswith("tool to (1, 2, 0) m in 60 s")
    rows = np.genfromtxt(tmp_path / "p.csv", delimiter=",", names=True)
    arrays = np.load(tmp_path / "p.npz")
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    model = lw.compile(lw.gallery("chain-6"))
    assert rows.dtype.names[:2] == ("t", "q1")
    np.testing.assert_allclose(rows["tau_q3"], arrays["tau"][:, 2])
    np.testing.assert_allclose(arrays["q"][0], 0, atol=0)
    np.testing.assert_allclose(model.placement("tool")(arrays["q"][-1])[:2, 3], [1, 2], atol=1e-8)
    np.testing.assert_allclose(arrays["qd"][[0, -1]], 0, atol=1e-12)
    np.testing.assert_allclose(arrays["qdd"][[0, -1]], 0, atol=1e-12)
    np.testing.assert_allclose(
        arrays["tau"], model.inverse_dynamics(arrays["q"], arrays["qd"], arrays["qdd"])
    )
    weight = model.gravity(arrays["q"])
    fast = plan_to(lw.gallery("chain-6"), "tool", [[1, 2]], 30.0, samples=61)
    np.testing.assert_allclose(fast.tau - weight, 4 * (arrays["tau"] - weight), atol=1e-9)


def test_both_ends_and_the_way_are_drawn() -> None:
    """Of an elbow, by hand: the way ends at the target, the goal's links meet there."""
    plan = plan_to(lw.gallery("elbow"), "tool", [[1.0, 1.0]], 1.0, samples=5)
    paths = [line.get_xydata() for line in plan.draw().axes[0].lines]
    (way,) = [path for path in paths if len(path) == 5]
    np.testing.assert_allclose(way[[0, -1]], [[2, 0], [1, 1]], atol=1e-8)
    ends = [path[-1] for path in paths if len(path) == 2]
    assert any(np.allclose(end, [2, 0]) for end in ends)
    assert any(np.allclose(end, [1, 1]) for end in ends)


def test_plans_with_quaternions_are_refused() -> None:
    for target in (["--to", "0.3,0.2,0.1"], ["--line", "0,0,0.1"]):
        failed = run("plan", "quadruped", "--frame", "lf_foot", *target)
        assert failed.returncode == 2
        assert failed.stderr.strip() == (
            "linkwright: quadruped: trajectories need coordinates whose rates are the velocities; "
            'give the ball or free joint rotation = "cardan"'
        )


def test_the_gripper_of_paper_000() -> None:
    found = json.loads(
        ok("plan", *VUKOBRATOVIC, "--line", "0,0,1", "--acceleration", "2", "--json")
    )
    assert found["duration"] == pytest.approx(1.0)
    np.testing.assert_allclose(found["point"], [1.6, 0, 3.1], atol=1e-8)
    assert found["largest_efforts"][0] < 1e-9, "nothing turns the column"


def test_several_targets_and_limits() -> None:
    """Poses are passed at equal times; without a time the arm is at one of its limits."""
    arm = lw.gallery("six-axis")
    model = lw.compile(arm)
    joints = np.array([[0.2, 0.3, 0.4, 0.1, 0.5, 0], [0.4, 0.5, 0.3, -0.2, 0.6, 0.3]])
    found = plan_to(arm, "tool", list(model.placement("tool")(joints)), start=joints[0] * 0.1)
    T = model.placement("tool")(found.trajectory([found.trajectory.duration / 2])[0])
    np.testing.assert_allclose(T[0], model.placement("tool")(joints[0]), atol=1e-8)
    speeds = np.radians([180, 160, 190, 260, 260, 400])
    shares = np.r_[np.abs(found.qd).max(0) / speeds,
                   np.abs(found.tau).max(0) / [600, 600, 320, 60, 60, 30]]  # fmt: skip
    assert shares.max() == pytest.approx(1.0, abs=2e-3)


OVERSHOOTING = [[0.52, 0.4, 1.28], [-0.22, -0.41, 0.74], [0.77, -0.08, -0.37], [-0.46, -0.32, 1.28]]


def test_no_joint_leaves_its_range_between_targets() -> None:
    """A plain spline takes q2 to 2.9 rad here, of 2.356: the plan stops where that would happen."""
    arm = lw.gallery("six-axis")
    found, bounds = plan_to(arm, "tool", OVERSHOOTING, samples=2001), bounds_of(arm)
    assert (found.q > bounds.lower - 1e-9).all()
    assert (found.q < bounds.upper + 1e-9).all()
    times = np.linspace(0, found.trajectory.duration, 5)
    q = found.trajectory(times)[0]
    point = lw.compile(arm).placement("tool")(q)[1:, :3, 3]
    np.testing.assert_allclose(point, OVERSHOOTING, atol=1e-8)
    plain = through(q, times, accelerations=(0.0, 0.0))
    assert plain.extremes()[1][1] > 2.9
    assert found.exceeded == ()


def test_a_time_that_is_too_short(tmp_path: Path) -> None:
    """The plan is written all the same; what is exceeded is said, by the hand's 15/8 Δq / T."""
    words = ("six-axis", "--to", "0.52,0.4,1.28", "-o", "p.csv", "--json")
    done = run("plan", *words, "-t", "0.1", cwd=tmp_path)
    assert done.returncode == 1
    assert (tmp_path / "p.csv").exists()
    found = json.loads(done.stdout)
    top = 15 / 8 * abs(found["goal"][0]) / 0.1
    said = f"the speed of q1 is up to {top:.5g} rad/s, its limit 3.1416"
    assert found["exceeded"][0] == said
    assert said in done.stderr
    assert json.loads(ok("plan", *words, "-t", "2", cwd=tmp_path))["exceeded"] == []


def test_units_are_said_and_not_mixed() -> None:
    """The Stanford arm turns and slides: rad, N·m and m, N in panels of their own."""
    text = ok("plan", "stanford", "q3=0.4", "--to", "0.3,0.2,0.5", "-t", "2", "--frame", "link6")
    row = next(line for line in text.splitlines() if line.startswith("q3 "))
    assert re.findall(r"\S+ ([^\s\d]\S*)", row.split(maxsplit=1)[1]) == [
        "m",
        "m",
        "m/s",
        "m/s²",
        "N",
    ]
    plan = plan_to(
        lw.gallery("stanford"), "link6", [[0.3, 0.2, 0.5]], 2.0, start=[0, 0, 0.4, 0, 0, 0]
    )
    whole = show.plan_figure(plan)
    lines = {axes.get_ylabel().replace("\n", ""): len(axes.lines) for axes in whole.axes[1:]}
    assert lines == {
        "angle / rad": 5, "displacement / m": 1, "angular velocity / rad/s": 5, "velocity / m/s": 1,
        "angular acceleration / rad/s²": 5, "acceleration / m/s²": 1, "torque / N·m": 5, "force / N": 1,
    }  # fmt: skip
    (slide,) = plan.plot("q", only=["q3"]).axes[0].lines
    assert slide.get_color() == line_color(2), "a joint has its colour in all pictures"
    with pytest.raises(LinkwrightError, match="a plan has no 'energy' to draw"):
        plan.plot("energy")


def test_plans_are_saved(tmp_path: Path) -> None:
    found = plan_to(lw.gallery("elbow"), "tool", [[1.0, 1.0]], 1.0, samples=5)
    for name in ("p.csv", "p.npz", "p.svg"):
        found.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    for name in ("p.txt", "nowhere/p.csv"):
        with pytest.raises(LinkwrightError, match="cannot be written"):
            found.save(tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 3


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["elbow", "--to", "3,0,0", "-t", "1"], "cannot reach (3, 0, 0): the nearest point is (2, 0, 0), 1 m off"),
        (["elbow", "--to", "1,x", "-t", "1"], "is not a list of numbers"),
        (["elbow", "--to", "1", "-t", "1"], "is not a target"),
        (["elbow", "--to", "1,1"], "--time"),
        (["elbow", "--to", "1,1", "-t", "0"], "the duration must be"),
        (["elbow"], "nothing to do"),
        (["elbow", "--to", "1,1", "-t", "1", "--frame", "toll"], "did you mean 'tool'"),
        (["elbow", "q9=1", "--to", "1,1", "-t", "1"], "unknown coordinate 'q9'"),
        (["elbow", "--to", "1,1", "-t", "1", "--speed", "3"], "--speed applies to"),
        (["elbow", "--line", "1,0,0", "-t", "1"], "--time"),
        (["elbow", "--to", "1,1", "-t", "1", "-o", "x.txt"], "'.txt' cannot be written"),
        (["elbow", "--to", "1,1", "-t", "1", "--samples", "1"], "samples"),
        (["elbow", "--to", "1,1", "-t", "1", "--samples", "1000000000000"], "samples must be from 2 to 1000000"),
        (["six-axis", "q2=3", "--to", "0.52,0.4,1.28"], "the start has q2 = 3, outside its range from -1.5708"),
        (["six-axis", "q2=3", "q5=1", "--line", "0,0,0.1"], "the start has q2 = 3, outside its range"),
        (["four-bar", "--to", "1,1", "-t", "1"], "--frame"),
        (["bicycle", "--frame", "B", "--to", "1,1", "-t", "1"], "do not support constraints of velocities"),
    ],
)  # fmt: skip
def test_mistakes(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LinkwrightError, match=re.escape(says)):
        app(["plan", *words], standalone_mode=False)
    assert not list(tmp_path.iterdir())


def test_a_mistake_is_one_line(tmp_path: Path) -> None:
    done = run("plan", "elbow", "--to", "3,0,0", "-t", "1", "-o", "x.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot reach" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_largest_figures_do_not_depend_on_the_samples() -> None:
    """Two samples, at rest at both ends, show the tops of the quintic between: 15/8 of the mean
    speed, and 10/√3 of way over time squared."""
    few, many = (
        json.loads(ok("plan", "elbow", "--to", "1,1", "--time", "2", "--samples", n, "--json"))
        for n in ("2", "301")
    )
    way = np.abs(np.subtract(few["goal"], few["start"]))
    np.testing.assert_allclose(few["largest_velocities"], 15 / 8 * way / 2, rtol=1e-9)
    np.testing.assert_allclose(few["largest_accelerations"], 10 / np.sqrt(3) * way / 4, rtol=1e-9)
    assert few["largest_efforts"] == many["largest_efforts"]


def test_units_of_chosen_coordinates_are_said() -> None:
    """The triple pendulum's are angles from the horizon."""
    text = ok("plan", "triple-pendulum", "--frame", "link3", "--to", "1,1", "--time", "1")
    assert text.count(" rad/s²") == 3
    assert text.count(" N·m") == 3
