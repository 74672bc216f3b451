"""Mechanisms on one task, against calculations by hand."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.comparison import TaskComparison, compare_on_task
from linkwright.errors import LinkwrightError
from tests.commands import ok, run

LENGTH, DURATION = 0.5, 0.8
G, PEAK_SPEED = 9.81, 15 / 8 * LENGTH / DURATION
"""A quintic from rest to rest has its largest speed in the middle."""


@pytest.fixture(scope="module")
def lift() -> TaskComparison:
    """The gripper goes up by 0.5 m at y = 1.2 m: by a slide, and by two turns."""
    upright = {"gravity": [0, 0, -G], "name": "upright elbow"}
    turned = {"parent": "ground", "origin": {"rpy": ["90 deg", 0, "90 deg"]}}
    elbow = lw.gallery("elbow")
    joints = {"q1": {**elbow.joints["q1"].model_dump(exclude_unset=True), **turned}}
    elbow = elbow.model_copy(update={**upright, "joints": {**elbow.joints, **joints}})
    arms = [lw.gallery("cartesian"), elbow]
    return compare_on_task(arms, [[0, 1.2, 0.3], [0, 1.2, 0.3 + LENGTH]], DURATION)


def test_the_cartesian_arm_by_hand(lift: TaskComparison) -> None:
    """Only q1 moves, and carries 3 kg: F = m(g + a), P = F v, the work is m g h. Braking is weaker
    than gravity, so all power is positive."""
    row, m = lift.rows[0], 3.0
    u = np.linspace(0, 1, 100001)
    s = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6]) * LENGTH
    speed, acceleration = s.deriv(1)(u) / DURATION, s.deriv(2)(u) / DURATION**2
    force = m * (G + acceleration)
    assert force.min() > 0
    assert row.energy == pytest.approx(m * G * LENGTH, rel=1e-5)
    assert row.net_work == pytest.approx(m * G * LENGTH, rel=1e-5)
    assert row.peak_power == pytest.approx((force * speed).max(), rel=1e-5)
    assert row.peak_velocities == pytest.approx({"q1": PEAK_SPEED, "q2": 0.0}, abs=1e-9)
    assert row.peak_efforts["q1"] == pytest.approx(force.max(), rel=1e-5)
    assert row.peak_efforts["q2"] == pytest.approx(0.0, abs=1e-9)
    assert (row.mass, row.dof) == (pytest.approx(3.0), 2)


def test_the_elbow_by_hand(lift: TaskComparison) -> None:
    """The net work is the rise of both centres of mass; angles by the law of cosines, torques at
    the ends by statics; elbow up and elbow down are both tried."""
    row, plan = lift.rows[1], lift.plans[1]
    options = []
    for sign in (1, -1):
        heights = []
        for z in (0.3, 0.3 + LENGTH):
            q2 = sign * np.arccos((1.2**2 + z**2 - 2) / 2)
            q1 = np.arctan2(z, 1.2) - q2 / 2  # links of 1 m
            heights.append(np.array([np.sin(q1) / 2, np.sin(q1) + np.sin(q1 + q2) / 2]))
            torques = G * np.array([np.cos(q1) * 1.5 + np.cos(q1 + q2) / 2, np.cos(q1 + q2) / 2])
        options.append((G * (heights[1] - heights[0]).sum(), torques))
    work, torques = min(options, key=lambda option: abs(option[0] - row.net_work))
    assert work == min(option[0] for option in options), "the one that takes less"
    assert row.net_work == pytest.approx(work, rel=1e-5)
    assert row.energy >= row.net_work
    np.testing.assert_allclose(plan.tau[-1], torques, rtol=1e-6)
    tool = np.linalg.norm(np.diff(plan.point, axis=0), axis=1).max() / (plan.t[1] - plan.t[0])
    assert tool == pytest.approx(PEAK_SPEED, rel=1e-4)


def test_a_path_of_two_pieces_and_a_payload(lift: TaskComparison) -> None:
    """Up and along: the pieces take times in proportion; the payload is lifted with the arm."""
    points = [[0, 1.0, 0], [0, 1.0, 0.3], [0, 1.6, 0.3]]
    (row,) = compare_on_task([lw.gallery("cartesian")], points, 3.0, payload=2.0).rows
    assert row.peak_velocities == pytest.approx(
        {"q1": 15 / 8 * 0.3 / 1.0, "q2": 15 / 8 * 0.6 / 2.0}, rel=1e-4
    )
    across = 3.0 * row.peak_velocities["q2"] ** 2 / 2  # kinetic energy, lost in braking
    assert row.energy == pytest.approx(5.0 * G * 0.3 + across, rel=1e-4)
    assert row.net_work == pytest.approx(5.0 * G * 0.3, rel=1e-4)
    assert row.mass == pytest.approx(5.0)


def test_files_and_pictures(lift: TaskComparison, tmp_path: Path) -> None:
    for name in ("task.md", "task.csv", "task.svg"):
        lift.save(tmp_path / name)
    with (tmp_path / "task.csv").open() as file:
        assert [row["mechanism"] for row in csv.DictReader(file)] == ["cartesian", "upright elbow"]
    assert "| upright elbow q1 |" in (tmp_path / "task.md").read_text(encoding="utf-8")
    assert "upright elbow" in (tmp_path / "task.svg").read_text(encoding="utf-8")


def test_who_cannot_do_it_is_named() -> None:
    arms = [lw.gallery("cartesian"), lw.gallery("elbow"), lw.gallery("cartesian")]
    found = compare_on_task(arms, [[0, 1.2, 0.3], [0, 1.2, 0.4]], 1.0)
    assert [row.mechanism for row in found.rows] == ["cartesian", "cartesian (2)"]
    assert "elbow: cannot perform the task, 'tool' cannot reach (0, 1.2, 0.3)" in str(found)
    with pytest.raises(LinkwrightError, match="the path has no length"):
        compare_on_task(arms, [[1.2, 0.3]], 1.0)
    with pytest.raises(LinkwrightError, match="cannot reach"):
        compare_on_task(arms[:1], [[5, 0], [6, 0]], 1.0)


def test_command(tmp_path: Path) -> None:
    task = ("--task", "0,1,0", "--task", "0,1,0.5")
    data = json.loads(ok("compare", "cartesian", "cartesian", *task, "--json"))
    assert [row["net_work"] for row in data["rows"]] == pytest.approx([1.5 * G] * 2, rel=1e-5)
    failed = run("compare", "elbow", "cartesian", cwd=tmp_path)
    assert failed.returncode == 2
    assert "several mechanisms can be compared only on a task; give the points" in failed.stderr
