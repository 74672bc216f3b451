"""The instantaneous screw axis: poles by Kennedy's theorem, screws by hand, translation and rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.agreement.moving_mechanisms import HOOP

SCREW = lw.Mechanism(
    name="screw", bodies={"nut": {"mass": 1, "inertia": [1, 1, 1]}},
    joints={"q": {"type": "helical", "child": "nut", "axis": [0, 1, 0], "pitch": 0.02,
                  "origin": [0.3, 0, 0.1]}},
)  # fmt: skip
GANTRY = lw.Mechanism(
    name="gantry", bodies={"bridge": {"mass": 2}, "hand": {"mass": 1}},
    joints={"x": {"type": "prismatic", "child": "bridge", "axis": [1, 0, 0]},
            "y": {"type": "prismatic", "parent": "bridge", "child": "hand", "axis": [0, 1, 0]}},
)  # fmt: skip


def intersection(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """The point on the lines ab and cd of a plane."""
    s = np.linalg.solve(np.column_stack([b - a, c - d]), c - a)
    return np.asarray(a + s[0] * (b - a))


def test_pole_of_a_coupler_is_where_crank_and_rocker_meet() -> None:
    """Kennedy's theorem: the three poles of three bodies lie on a line."""
    bar = lw.gallery("four-bar")
    q = lw.assemble(bar)
    qd = lw.assemble_velocities(bar, q, {"theta1": 2.0})
    model = lw.compile(bar)
    A, B = (model.placement(name)(q)[:2, 3] for name in ("A", "B"))
    O, C = (model.placement(name)(q)[:2, 3] for name in ("crank", "rocker"))
    found = lw.motion.screw_axis(bar, "coupler", q, qd)
    assert found.kind == "rotation"
    np.testing.assert_allclose(found.point[:2], intersection(O, A, C, B), atol=1e-9)
    assert abs(found.direction[2]) == pytest.approx(1)
    relative = lw.motion.screw_axis(bar, "rocker", q, qd, relative_to="crank")
    np.testing.assert_allclose(relative.point[:2], intersection(O, C, A, B), atol=1e-9)


def test_a_joint_is_the_axis_of_its_relative_motion() -> None:
    arm = lw.gallery("six-axis")
    q, qd = np.linspace(0.2, 1.2, 6), np.linspace(-1, 2, 6)
    found = lw.motion.screw_axis(arm, "wrist1", q, qd, relative_to="forearm")
    assert found.angular_speed == pytest.approx(abs(qd[3]))
    assert found.kind == "rotation"
    free = lw.motion.screw_axis(arm, "flange", q, qd)
    twist = lw.compile(arm).frame_velocity("flange")(q, qd)
    at = lw.compile(arm).placement("flange")(q)[:3, 3]
    on_axis = twist[3:] + np.cross(twist[:3], free.point - at)
    np.testing.assert_allclose(on_axis, free.pitch * twist[:3], atol=1e-12)
    assert free.kind == "screw"
    assert np.dot(free.point - at, free.direction) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("speed", [3.0, -3.0])
def test_a_nut_has_the_pitch_of_its_joint(speed: float) -> None:
    found = lw.motion.screw_axis(SCREW, "nut", [0.7], [speed])
    assert (found.kind, found.pitch) == ("screw", pytest.approx(0.02))
    np.testing.assert_allclose(found.direction, [0, np.sign(speed), 0], atol=1e-15)
    np.testing.assert_allclose(found.point[[0, 2]], [0.3, 0.1], atol=1e-15)
    assert found.sliding_speed == pytest.approx(0.06)
    assert "pitch 0.02 m/rad" in str(found)


def test_translation_and_rest_have_no_axis() -> None:
    found = lw.motion.screw_axis(GANTRY, "hand", [0.3, 0.4], [3.0, 4.0])
    assert (found.kind, found.sliding_speed, found.pitch) == ("translation", 5.0, np.inf)
    np.testing.assert_allclose(found.direction, [0.6, 0.8, 0])
    assert "translates at 5 m/s along (0.6, 0.8, 0)" in str(found)
    for state, other in (([0.0, 0.0], "ground"), ([3.0, 0.0], "bridge")):
        rest = lw.motion.screw_axis(GANTRY, "hand", [0.3, 0.4], state, relative_to=other)
        assert rest.kind == "rest"
        assert "rests" in str(rest)


def test_a_driven_hoop_turns_at_any_coordinate() -> None:
    found = lw.motion.screw_axis(HOOP, "hoop", [0.3], [0.0], t=0.4)
    assert found.angular_speed == pytest.approx(7)
    np.testing.assert_allclose(found.direction, [0, 0, 1], atol=1e-15)


def test_the_picture_shows_every_axis(tmp_path: Path) -> None:
    bar = lw.gallery("four-bar")
    q = lw.assemble(bar)
    qd = lw.assemble_velocities(bar, q, {"theta1": 2.0})
    figure = lw.show.screw_axes(bar, q, qd, path=tmp_path / "poles.svg")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert sum("rad/s" in text for text in texts) == 3
    assert (tmp_path / "poles.svg").stat().st_size > 1000
    arm, joints = lw.gallery("six-axis"), np.linspace(0.2, 1.2, 6)
    spatial = lw.show.screw_axes(arm, joints, joints, bodies=["forearm", "flange"])
    assert any("m/rad" in text.get_text() for text in spatial.axes[0].texts)
    slide = lw.show.screw_axes(GANTRY, [0.3, 0.4], [3.0, 4.0])
    assert any("5 m/s" in text.get_text() for text in slide.axes[0].texts)


def test_motions_that_are_not_numbers() -> None:
    """NaN is no rest."""
    with pytest.raises(lw.LinkwrightError, match="entries that are not finite"):
        lw.motion.screw_axis(SCREW, "nut", [0.0], [np.nan])
