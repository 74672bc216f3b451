"""Plans of mechanisms with loops, against closed forms of their inverse kinematics and energy."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.integrate import simpson

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.motion import MotionPlan, line, plan_to, planned, quintic

from ..commands import ok, run

FIVE, STEWART = lw.gallery("five-bar"), lw.gallery("stewart")


def angles(x: np.ndarray, y: np.ndarray, near: float, far: float, side: int) -> np.ndarray:
    """The inner angle of an arm of two links that reaches (x, y), by the law of cosines."""
    r = np.hypot(x, y)
    return np.arctan2(y, x) + side * np.arccos((near**2 + r**2 - far**2) / (2 * near * r))


def check_five_bar(plan: MotionPlan) -> None:
    """Both cranks are where two arms that reach the tool have theirs."""
    x, y, _ = plan.point.T
    np.testing.assert_allclose(plan.q[:, 0], angles(x, y, 0.5, 0.8, 1), atol=1e-9)
    np.testing.assert_allclose(plan.q[:, 2], angles(x - 0.6, y, 0.45, 0.7, -1), atol=1e-9)


def check_work(plan: MotionPlan) -> None:
    """What the drives do is what the energy gains."""
    model = lw.compile(plan.mechanism)
    energy = model.kinetic_energy(plan.q, plan.qd) + model.potential_energy(plan.q)
    power = (plan.tau * plan.qd).sum(axis=1)
    gained = energy[-1] - energy[0]
    assert abs(gained) > 1e-3
    assert simpson(power, x=plan.t) == pytest.approx(gained, rel=1e-6, abs=1e-7)


def test_targets_of_a_five_bar() -> None:
    """Passes all, at rest at the ends; only the drives on ground have torques."""
    targets = [[0.45, 1.05], [0.3, 1.0], [0.35, 0.9]]
    plan = plan_to(FIVE, "tool", targets, 1.5, samples=901)
    for t, target in zip((0.5, 1.0, 1.5), targets, strict=True):
        place = lw.compile(FIVE).placement("tool")(plan.trajectory(t)[0])[:2, 3]
        np.testing.assert_allclose(place, target, atol=1e-8)
    np.testing.assert_allclose(plan.qd[[0, -1]], 0, atol=1e-9)
    np.testing.assert_allclose(plan.tau[:, [1, 3]], 0, atol=1e-9)
    check_five_bar(plan)
    check_work(plan)


def test_a_line_of_a_five_bar() -> None:
    """The tool stays on the line while both loops' arms follow."""
    start = lw.assemble(FIVE)
    way = line(FIVE, "tool", start, [0.1, 0.05, 0], lambda length: quintic([0], [length], 1.0))
    plan = planned(FIVE, "tool", way, 301)
    off = np.cross(plan.point - plan.point[0], [0.1, 0.05, 0])
    np.testing.assert_allclose(off, 0, atol=1e-10)
    np.testing.assert_allclose(plan.point[-1] - plan.point[0], [0.1, 0.05, 0], atol=1e-9)
    check_five_bar(plan)


def test_a_platform_on_six_legs() -> None:
    """Legs are as long as their ends are apart, drawn from the file's circles by hand."""
    plan = plan_to(STEWART, "platform", [[0.1, 0.05, 1.0, 0.99, 0, 0.1, 0]], 1.0, samples=201)
    placed = lw.compile(STEWART).placement("platform")(plan.q)
    base, top = np.deg2rad([10, -10]), np.deg2rad([60 - 12, -60 + 12])
    ends = zip(*(np.concatenate([pair + k * 2 * np.pi / 3 for k in range(3)]) for pair in (base, top)), strict=True)  # fmt: skip
    lengths = []
    for b, p in ends:
        foot, head = (
            0.8 * np.array([np.cos(b), np.sin(b), 0]),
            0.5 * np.array([np.cos(p), np.sin(p), 0]),
        )
        lengths.append(np.linalg.norm(placed[:, :3, :3] @ head + placed[:, :3, 3] - foot, axis=1))
    legs = [lw.compile(STEWART).names.q.index(f"d{k}") for k in range(1, 7)]
    np.testing.assert_allclose(np.sort(plan.q[:, legs]), np.sort(np.array(lengths).T), atol=1e-9)
    check_work(plan)


def test_as_fast_as_the_drives_allow() -> None:
    """Without a duration one drive is at its limit and none beyond; twice as fast is too much."""
    weak = lw.Mechanism.model_validate(FIVE.model_dump(exclude_unset=True) | {
        "joints": {n: j.model_dump(exclude_unset=True) | ({"limits": {"effort": 8}} if n in ("q1", "q2") else {})
                   for n, j in FIVE.joints.items()}})  # fmt: skip
    plan = plan_to(weak, "tool", [[0.45, 1.05]], samples=401)
    assert np.abs(plan.tau).max() == pytest.approx(8, rel=1e-4)
    hurried = plan_to(weak, "tool", [[0.45, 1.05]], plan.trajectory.duration / 2)
    assert any("the drive of q" in words for words in hurried.exceeded)


def test_what_cannot_be_planned() -> None:
    with pytest.raises(LinkwrightError, match=r"loops are open at the start by 0\.45"):
        plan_to(FIVE, "tool", [[0.45, 1.05]], 1.0, start=np.zeros(4))
    with pytest.raises(LinkwrightError, match="cannot reach"):
        plan_to(FIVE, "tool", [[3.0, 1.05]], 1.0)
    with pytest.raises(UnsupportedError, match="do not support constraints of velocities"):
        plan_to(lw.gallery("bicycle"), "B", [[1.0, 0.0]], 1.0)


def test_no_way_over_a_dead_centre() -> None:
    """Driven at the rocker of a crank-rocker, the crank cannot be led over the rocker's turning
    point; driven at the crank, it can."""
    four = lw.gallery("four-bar")
    start, away = (lw.assemble(four, {"theta1": angle}, hold=["theta1"]) for angle in (0.6, 2.6))
    rocker = lw.Mechanism.model_validate(
        four.model_dump(exclude_unset=True) | {"actuators": {"tau": {"moves": "theta3"}}}
    )
    target = lw.compile(four).placement("A")(away)[:2, 3]
    with pytest.raises(LinkwrightError, match="dead centres block the path"):
        plan_to(rocker, "A", [target], 1.0, start=start)
    plan = plan_to(four, "A", [target], 1.0, start=start)
    np.testing.assert_allclose(plan.point[-1, :2], target, atol=1e-8)


@pytest.mark.parametrize("angle", [-0.5, -0.77, -0.9, -1.0, -1.3])
def test_the_change_point_of_a_parallelogram_is_found(angle: float) -> None:
    """Where its cranks lie flat, branches meet: no plan goes through, wherever its knots are."""
    data = lw.gallery("four-bar").model_dump(exclude_unset=True)
    even = data["parameters"] | {"l1": 1, "l2": 2, "l3": 1, "l4": 2}
    linkage = lw.Mechanism.model_validate(data | {"parameters": even})
    start = lw.assemble(linkage, {"theta1": 1.0}, hold=["theta1"])
    with pytest.raises(LinkwrightError, match="dead centres block the path"):
        plan_to(linkage, "A", [[np.cos(angle), np.sin(angle)]], 1.0, start=start)


@pytest.mark.parametrize("target", [[0.79, -0.2277], [0.656, -0.5255]])
def test_a_target_that_is_reached_by_a_turn_or_another_assembly(target: list[float]) -> None:
    """A passive joint ends a turn away from what inverse kinematics says; and of two ways to be
    there, the one that the loops lead to is taken."""
    plan = plan_to(FIVE, "tool", [target], 1.0, samples=51)
    np.testing.assert_allclose(plan.point[-1, :2], target, atol=1e-8)
    assert np.abs(lw.compile(FIVE).constraint_residual(plan.q)).max() < 2e-9


def test_command_plans_with_loops() -> None:
    found = json.loads(ok("plan", "five-bar", "q1=2", "--to", "0.4,1.0", "--time", "1", "--json"))
    assert found["start"][0] == pytest.approx(2)
    np.testing.assert_allclose(found["point"], [0.4, 1.0, 0], atol=1e-8)
    done = run("plan", "bicycle", "--frame", "B", "--to", "1,0", "--time", "1")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
