"""Trajectories against closed forms: polynomials, ramps, arcs, and the shortest times by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.motion import (
    Trajectory,
    accelerated,
    arc,
    at_limits,
    line,
    quintic,
    through,
    trapezoid,
)

ELBOW = lw.gallery("elbow")
SLIDER = lw.Mechanism(
    name="slider", gravity=[0, 0, 0], bodies={"b": {"mass": 2}},
    joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "b", "damping": 3, "friction": 1,
                  "limits": {"velocity": 4, "effort": 20}}},
)  # fmt: skip


def test_quintic() -> None:
    """10 u³ − 15 u⁴ + 6 u⁵, and any speeds and accelerations at the ends."""
    motion = quintic([1.0, -2.0], [3.0, 0.5], 4.0)
    t, q, qd, qdd = motion.sampled(33)
    u = t[:, None] / 4
    way = np.array([2.0, 2.5])
    start = np.array([1.0, -2.0])
    np.testing.assert_allclose(q, start + way * (10 * u**3 - 15 * u**4 + 6 * u**5), atol=1e-13)
    np.testing.assert_allclose(qd, way / 4 * 30 * u**2 * (1 - u) ** 2, atol=1e-13)
    np.testing.assert_allclose(qdd, way / 16 * (60 * u - 180 * u**2 + 120 * u**3), atol=1e-13)
    ends = quintic([0.0], [1.0], 2.0, velocities=(3.0, -1.0), accelerations=(0.5, 2.0))
    np.testing.assert_allclose(np.ravel(ends([0.0, 2.0])), [0, 1, 3, -1, 0.5, 2], atol=1e-12)
    np.testing.assert_allclose(np.ravel(ends(5.0)), [1, 0, 0], atol=1e-12)
    np.testing.assert_allclose(ends.at(1.3), np.concatenate(ends(1.3)), atol=1e-13)
    np.testing.assert_allclose(ends.at(9.0), [1, 0, 0], atol=1e-12)


def test_extremes() -> None:
    """By hand: 15/8 and ±10/√3 of the way; a full swing by 16 u²(1 − u)² within a piece."""
    motion = quintic([0.0, 1.0], [2.0, 1.0], 4.0)
    np.testing.assert_allclose(motion.extremes(), [[0, 1], [2, 1]], atol=1e-14)
    np.testing.assert_allclose(motion.extremes(1), [[0, 0], [15 / 8 * 2 / 4, 0]], atol=1e-14)
    top = 10 / np.sqrt(3) * 2 / 16
    np.testing.assert_allclose(motion.extremes(2), [[-top, 0], [top, 0]], atol=1e-14)
    swing = Trajectory(np.array([0.0, 1.0]), np.array([0.0, 0, 16, -32, 16]).reshape(1, 5, 1))
    np.testing.assert_allclose(swing.extremes(), [[0], [1]], atol=1e-14)


def test_through_points() -> None:
    """Cubic as SciPy's clamped spline; quintic with accelerations at the ends; both smooth."""
    rng = np.random.default_rng(0)
    points, times = rng.normal(size=(6, 3)), np.array([0, 0.5, 1.5, 1.8, 3, 4.0])
    t = np.linspace(0, 4, 301)
    cubic = through(points, times, velocities=(1.0, -2.0))
    theirs = CubicSpline(times, points, bc_type=((1, np.ones(3)), (1, np.full(3, -2.0))))
    for k, found in enumerate(cubic(t)):
        np.testing.assert_allclose(found, theirs(t, k), atol=1e-10)
    soft = through(points, times, accelerations=(0.0, 0.5))
    np.testing.assert_allclose(soft(times)[0], points, atol=1e-12)
    np.testing.assert_allclose(soft([0.0, 4.0])[1], 0, atol=1e-10)
    np.testing.assert_allclose(soft([0.0, 4.0])[2], [[0] * 3, [0.5] * 3], atol=1e-9)
    for inner in times[1:-1]:
        before, after = soft(inner - 1e-9), soft(inner + 1e-9)
        for a, b, bound in zip(before, after, (1e-6, 1e-5, 1e-4), strict=True):
            np.testing.assert_allclose(a, b, atol=bound)


def test_trapezoids() -> None:
    """1 m at 0.5 m/s and 1 m/s² takes 2.5 s; 0.16 m is a triangle of 0.8 s."""
    assert trapezoid([0.0], [1.0], 0.5, 1.0).duration == pytest.approx(2.5)
    assert trapezoid([0.0], [0.16], 0.5, 1.0).duration == pytest.approx(0.8)
    ends = [0.0, 1.0, 2.0], [1.0, 1.0, -2.0]
    both = trapezoid(*ends, 0.5, 1.0)
    assert both.duration == pytest.approx(8.5)  # 4 rad: 4/0.5 + 0.5
    t, q, qd, qdd = both.sampled(501)
    np.testing.assert_allclose(q[:, 2] - 2, -4 * q[:, 0], atol=1e-12)
    np.testing.assert_allclose([qd[:, 2].min(), qdd.max(), qdd.min()], [-0.5, 1, -1], atol=1e-12)
    alone = trapezoid(*ends, [0.5, 0.5, 1.0], [1.0, 1.0, 2.0], together=False)
    assert alone.duration == pytest.approx(4.5)  # 4/1 + 1/2
    np.testing.assert_allclose(alone.end, ends[1], atol=1e-12)
    np.testing.assert_allclose(alone(2.5 + 1e-6)[0][0], 1.0, atol=1e-12)
    np.testing.assert_allclose(alone(1.0)[0], [0.5 * 0.25 + 0.5 * 0.5, 1.0, 2 - 0.25 - 0.5])
    for motion in (both, alone):
        t, q, qd, _ = motion.sampled(4001)
        np.testing.assert_allclose(np.gradient(q, t, axis=0)[1:-1], qd[1:-1], atol=3e-3)


def test_parts_and_stretching() -> None:
    first, second = quintic([0.0], [1.0], 1.0), trapezoid([1.0], [0.0], 1.0, 2.0)
    both = first.then(second)
    assert both.duration == pytest.approx(first.duration + second.duration)
    np.testing.assert_allclose(both(1.7)[0], second(0.7)[0])
    slow = both.stretched(3.0)
    for k, (a, b) in enumerate(zip(slow(2.4), both(0.8), strict=True)):
        np.testing.assert_allclose(a, b / 3**k)
    with pytest.raises(LinkwrightError, match="begin where"):
        first.then(first)


def test_the_gripper_of_paper_000() -> None:
    """Straight up at 2 m/s² for 1 s, from the paper's joints."""
    arm = lw.gallery("vukobratovic-arm")
    start = np.array([np.pi, -np.pi / 2, -np.pi / 2])
    motion = line(arm, "gripper", start, [0, 0, 1], lambda way: accelerated(way, 2.0))
    assert motion.duration == pytest.approx(1.0)
    model = lw.compile(arm)
    t, q, qd, qdd = motion.sampled(201)
    point = model.placement("gripper")(q)[:, :3, 3]
    np.testing.assert_allclose(point - point[0], np.outer(t**2, [0, 0, 1]), atol=1e-8)
    up = model.frame_acceleration("gripper")(q, qd, qdd)[:, 3:]
    np.testing.assert_allclose(up, np.broadcast_to([0, 0, 2], up.shape), atol=1e-3)
    np.testing.assert_allclose(model.frame_velocity("gripper")(q[-1], qd[-1])[3:], [0, 0, 2], atol=1e-8)  # fmt: skip


def test_an_arc() -> None:
    """Half a circle of radius 0.5 about (1, 0) at constant speed but for the ramps."""
    start = np.array([-np.arccos(0.75), 2 * np.arccos(0.75)])
    motion = arc(
        ELBOW, "tool", start, [1, 0.5, 0], [0.5, 0, 0], lambda s: trapezoid([0], [s], 0.5, 2)
    )
    assert motion.duration == pytest.approx(0.5 * np.pi / 0.5 + 0.25)
    model = lw.compile(ELBOW)
    _, q, qd, qdd = motion.sampled(401)
    point = model.placement("tool")(q)[:, :3, 3]
    np.testing.assert_allclose(np.linalg.norm(point - [1, 0, 0], axis=1), 0.5, atol=1e-7)
    np.testing.assert_allclose(point[[200, -1]], [[1, 0.5, 0], [0.5, 0, 0]], atol=1e-7)
    inward = model.frame_acceleration("tool")(q[200], qd[200], qdd[200])[3:]
    np.testing.assert_allclose(inward, [0, -0.5, 0], atol=1e-4)  # v²/r


def test_a_redundant_arm_keeps_its_tool_on_the_line() -> None:
    arm, start = lw.gallery("seven-axis"), np.array([0.1, 0.5, 0.2, 0.9, 0.3, 0.4, 0.1])
    by = np.array([0, 0.2, -0.1])
    motion = line(arm, "tool", start, by, lambda s: trapezoid([0], [s], 0.5, 2), hold_rotation=True)
    T = lw.compile(arm).placement("tool")(motion.sampled(301)[1])
    moved = T[:, :3, 3] - T[0, :3, 3]
    along = moved @ by / (by @ by)
    np.testing.assert_allclose(moved, np.outer(along, by), atol=1e-6)
    np.testing.assert_allclose(T[:, :3, :3], np.broadcast_to(T[0, :3, :3], (301, 3, 3)), atol=1e-6)
    assert along[-1] == pytest.approx(1.0, abs=1e-9)


def test_the_shortest_time_without_friction() -> None:
    """τ = g + x d with x = (T₀/T)²: the largest x that every sample allows."""
    motion, most = quintic([0.2, 0.1], [1.2, -0.8], 1.0), np.array([30.0, 12.0])
    model = lw.compile(ELBOW)
    _, q, qd, qdd = motion.sampled(401)
    g = model.gravity(q)
    d = model.inverse_dynamics(q, qd, qdd) - g
    moving = np.abs(d) > 1e-9
    x = ((most - np.sign(d) * g)[moving] / np.abs(d)[moving]).min()
    for shape in (1e-5, 1.0, 1e12):  # whatever pace the way is given at
        found = at_limits(ELBOW, motion.stretched(shape), effort=most)
        assert found.duration == pytest.approx(1 / np.sqrt(x), rel=1e-9)


def test_the_shortest_time_with_friction_and_speeds() -> None:
    """By hand: 15/8 of the mean speed; with damping and friction by the roots of a square."""
    slow = at_limits(SLIDER, quintic([0.0], [2.0], 1.0), effort=1e9)
    assert slow.duration == pytest.approx(15 / 8 * 2 / 4, rel=1e-9)
    few = at_limits(SLIDER, quintic([0.0], [2.0], 1.0), effort=1e9, samples=8)
    assert few.duration == pytest.approx(slow.duration, rel=1e-9), "speeds hold between samples"
    found = at_limits(SLIDER, quintic([0.0], [2.0], 1.0), velocity=np.inf, samples=2001)
    _, _, qd, qdd = quintic([0.0], [2.0], 1.0).sampled(2001)
    a, b, rest = 2 * qdd[1:-1, 0], 3 * qd[1:-1, 0], 1.0  # a y² + b y + rest = ±20
    roots = [np.roots([u, v, rest - s]) for u, v in zip(a, b, strict=True) if u for s in (20, -20)]
    y = min(float(r.real) for pair in roots for r in pair if abs(r.imag) < 1e-12 and r.real > 0)
    assert found.duration == pytest.approx(1 / y, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: quintic([0.0], [1.0], 0.0), "the duration must be"),
        (lambda: quintic([np.nan], [1.0], 1.0), "finite"),
        (lambda: quintic([0], [1, 2], 1), "the start has 1 numbers, the end 2"),
        (lambda: quintic([0, 0], [1, 2], 1, velocities=([1, 2, 3], 0)), "1 or 2 finite numbers"),
        (lambda: quintic([0, 0], [1, 2], 1, velocities=1), "start and end"),
        (lambda: quintic("abc", [1, 2], 1), "finite"),
        (lambda: trapezoid([0, 0], [1, 2, 3], 1, 1), "the start has 2 numbers, the end 3"),
        (lambda: trapezoid([0, 0], [1, 2], [1, 2, 3], 1), "the speed must be 1 or 2"),
        (lambda: trapezoid([0, 0], [1, 2], 1, "x"), "the acceleration must be 1 or 2"),
        (lambda: at_limits(ELBOW, quintic([0, 0], [1, 1], 1), velocity=[1, 2, 3]), "velocity must be"),
        (lambda: at_limits(ELBOW, quintic([0, 0], [1, 1], 1), effort="x"), "effort must be"),
        (lambda: through("abc", [0, 1]), "at least 2 points"),
        (lambda: through([[0, 0], [1, 1]], [0, 1], velocities=([1, 2, 3], 0)), "1 or 2 finite numbers"),
        (lambda: line(ELBOW, "tool", "ab", [1, 0, 0], lambda s: accelerated(s, 1)), "elbow has no pose 'ab'"),
        (lambda: line(ELBOW, "tool", [0, 1], "x", lambda s: accelerated(s, 1)), "3 finite"),
        (lambda: arc(ELBOW, "tool", [0, 0], [1, 0], [0, 0, 0], lambda s: accelerated(s, 1)), "3 finite"),
        (lambda: through([[0.0], [1.0]], [1.0, 0.0]), "must increase"),
        (lambda: through([0.0, 1.0], [0.0, 1.0]), "at least 2 points"),
        (lambda: trapezoid([0.0], [1.0], 0.0, 1.0), "above 0"),
        (lambda: trapezoid([1.0], [1.0], 1.0, 1.0), "where it ends"),
        (lambda: accelerated(1.0, -1.0), "above 0"),
        (lambda: Trajectory(np.array([0.0]), np.zeros((0, 3, 1))), "do not fit"),
        (lambda: at_limits(ELBOW, quintic([0, 0], [1, 1], 1.0)), "no limit"),
        (lambda: at_limits(ELBOW, quintic([0], [1], 1.0), effort=1), "coordinates"),
        (lambda: at_limits(ELBOW, quintic([0, 0], [1, 1], 1.0), effort=5), "'q1' needs 19.62"),
        (lambda: line(ELBOW, "tool", [0.3, 1], [3, 0, 0], lambda s: accelerated(s, 1)), "follow"),
        (lambda: line(ELBOW, "tool", [0.0, 0], [-1, 0, 0], lambda s: accelerated(s, 1)), "singular"),
        (lambda: line(ELBOW, "tool", [0, 1.5], [0.1, 0, 0.5], lambda s: accelerated(s, 1)), "never"),
        (lambda: line(ELBOW, "tool", [0, 1.5], [0.1, 0, 0.5], lambda s: quintic([0], [s], 1)), "never"),
        (lambda: line(ELBOW, "tool", [0, 1.5], [0.1, 0, 0], lambda s: accelerated(s, 1), hold_rotation=True), "only in 2 of 6 directions"),
        (lambda: line(ELBOW, "tool", [0.0], [-1, 0, 0], lambda s: accelerated(s, 1)), "2 finite numbers; give 2: q1, q2"),
        (lambda: arc(ELBOW, "tool", [0, 0], [1, 0, 0], [0, 0, 0], lambda s: accelerated(s, 1)), "on a line"),
    ],
)  # fmt: skip
def test_mistakes(make: object, words: str) -> None:
    with pytest.raises(LinkwrightError, match=words):
        make()  # type: ignore[operator]


def test_quaternions_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="cardan"):
        at_limits(lw.gallery("quadruped"), quintic([0.0] * 19, [1.0] * 19, 1.0), effort=1.0)
