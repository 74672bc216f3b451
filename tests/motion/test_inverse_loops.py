"""Inverse kinematics of mechanisms with loops, in and out of reach: by hand, by SciPy, by rank."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import linkwright as lw
from linkwright.motion import InverseKinematics


def open_by(solver: InverseKinematics, q: np.ndarray) -> np.ndarray:
    return np.linalg.norm(np.atleast_2d(solver.model.constraint_residual(q)), axis=1)


def test_out_of_reach_a_slider_crank_is_stretched_or_folded() -> None:
    """Crank and rod of 0.3 and 1 m on the line y = 0: x is in 0.7 … 1.3, or in −1.3 … −0.7."""
    x = np.array([2, 1.31, 0.2, -0.1, -5, 1e6])
    targets = np.stack([x, np.zeros(6)], axis=1)
    solver = InverseKinematics(lw.gallery("slider-crank"), {"piston": "plane"})
    found = solver({"piston": targets})
    nearest = np.sign(x) * np.clip(np.abs(x), 0.7, 1.3)
    assert found.status.tolist() == ["nearest"] * 6
    np.testing.assert_allclose(found.distance, np.abs(x - nearest), rtol=1e-14, atol=1e-9)
    points = solver.model.placement("piston")(found.q)[:, :2, 3]
    np.testing.assert_allclose(points, np.stack([nearest, 0 * x], axis=1), atol=1e-7)
    assert open_by(solver, found.q).max() <= 1e-9


def five_bar_by_hand(target: np.ndarray) -> float:
    """How far the target is from where two rings overlap, in which either arm's end can be."""
    rings = [(0.0, 0.3), (0.0, 1.3), (0.6, 0.25), (0.6, 1.15)]  # centre on x, radius
    found = [target]
    for x, r in rings:
        away = target - [x, 0]
        found.append([x, 0] + r * away / np.linalg.norm(away))
    for r in (0.3, 1.3):
        for R in (0.25, 1.15):
            x = (r * r - R * R + 0.36) / 1.2
            found += [np.array([x, s * np.sqrt(r * r - x * x)]) for s in (1, -1) if r > abs(x)]
    inside = [
        p for p in found
        if 0.3 - 1e-9 <= np.hypot(*p) <= 1.3 + 1e-9
        and 0.25 - 1e-9 <= np.hypot(p[0] - 0.6, p[1]) <= 1.15 + 1e-9
    ]  # fmt: skip
    return min(float(np.linalg.norm(p - target)) for p in inside)


def test_five_bar_in_and_out_of_reach_by_hand() -> None:
    targets = np.random.default_rng(6).uniform([-2, -2], [2.5, 2], (200, 2))
    targets[0] = 0.3, 1.4
    solver = InverseKinematics(lw.gallery("five-bar"), {"tool": "plane"})
    found = solver({"tool": targets})
    by_hand = np.array([five_bar_by_hand(target) for target in targets])
    np.testing.assert_array_equal(found.reached, by_hand < 1e-12)
    np.testing.assert_allclose(found.distance, by_hand, atol=2e-9)
    assert open_by(solver, found.q).max() <= 1e-9
    assert 20 < found.reached.sum() < 100


def test_two_arms_out_of_reach_as_scipy_has_it() -> None:
    """SLSQP with the loops as constraints, from our answer and from random starts."""
    solver = InverseKinematics(lw.gallery("two-arms"), {"middle": "plane"})
    rng, model, bounds = np.random.default_rng(0), solver.model, solver.bounds
    place, push = model.placement("middle"), model.jacobian("middle")
    targets = np.array([[0.4, 0.4], [1.0, 0.5], [-0.3, 0.8]])
    found = solver({"middle": targets})
    low, high = np.maximum(bounds.lower, -np.pi), np.minimum(bounds.upper, np.pi)
    for q, target, distance in zip(found.q, targets, found.distance, strict=True):
        ends = [
            minimize(
                lambda q, to=target: ((place(q)[:2, 3] - to) ** 2).sum(), start, method="SLSQP",
                jac=lambda q, to=target: 2 * (place(q)[:2, 3] - to) @ push(q)[3:5], tol=1e-14,
                bounds=list(zip(bounds.lower, bounds.upper, strict=True)),
                constraints={"type": "eq", "fun": model.constraint_residual,
                             "jac": model.constraint_jacobian},
            )
            for start in (q, *rng.uniform(low, high, (8, model.nq)))
        ]  # fmt: skip
        closed = [np.sqrt(end.fun) for end in ends if open_by(solver, end.x)[0] < 1e-8]
        assert len(closed) > 4
        assert distance == pytest.approx(min(closed), abs=1e-7)
    assert found.distance[0] == pytest.approx(0.01202, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "frame", "kind"),
    [
        ("five-bar", "tool", "plane"),
        ("slider-crank", "piston", "plane"),
        ("3-rrr", "platform", "plane"),
        ("two-arms", "middle", "point"),
        ("bricard", "P3", "point"),
    ],
)
def test_loops_are_closed_and_nothing_nearer_is_beside(name: str, frame: str, kind: str) -> None:
    """The pull toward the target has no part along motions that keep the loops closed."""
    solver, size = InverseKinematics(lw.gallery(name), {frame: kind}), 2 if kind == "plane" else 3
    targets = np.random.default_rng(7).uniform(-2, 2, (50, size))
    found, model = solver({frame: targets}), solver.model
    assert set(found.status) <= {"reached", "nearest"}
    assert (found.status == "nearest").sum() > 10
    assert open_by(solver, found.q).max() <= 1e-9
    missed = targets - model.placement(frame)(found.q)[:, :size, 3]
    np.testing.assert_allclose(np.linalg.norm(missed, axis=1), found.distance, atol=1e-12)
    for q, e in zip(found.q[~found.reached], missed[~found.reached], strict=True):
        inside = (q > solver.bounds.lower) & (q < solver.bounds.upper)
        _, sizes, V = np.linalg.svd(model.constraint_jacobian(q)[:, inside])
        pull = V[(sizes > 1e-6).sum() :] @ (e @ model.jacobian(frame)(q)[3 : 3 + size, inside])
        assert np.abs(pull).max(initial=0) < 1e-5 * np.linalg.norm(e)


def test_whole_turns_leave_gears_in_mesh() -> None:
    """2 a = 3 b: with a turn less of either, nearer to the posture, teeth would have moved on."""
    joints = {
        "a": {"type": "revolute", "child": "u"},
        "b": {"type": "revolute", "parent": "u", "child": "v", "origin": [1, 0, 0]},
    }
    bodies = {"u": {"mass": 1}, "v": {"mass": 1}}
    gear = {"gear": {"type": "equation", "position": "2*a - 3*b"}}
    arm = lw.Mechanism(name="geared", bodies=bodies, joints=joints, constraints=gear)
    solver = InverseKinematics(arm, {"v": "plane"})
    found = solver({"v": [np.cos(5), np.sin(5)]}, start=[5, 10 / 3], posture=[0, 0])
    assert found.reached
    assert open_by(solver, found.q)[0] <= 1e-9
