"""Inverse kinematics against Pinocchio's placements, closed forms by hand, and known distances."""

from __future__ import annotations

import time

import numpy as np
import pinocchio as pin
import pytest
from scipy.optimize import least_squares, minimize

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.motion import InverseKinematics, bounds_of, inverse_kinematics
from tests.robots import Robot, path_of

ELBOW, SIX = lw.gallery("elbow"), lw.gallery("six-axis")
H, A, L2, L3, L6 = 0.45, 0.12, 0.60, 0.55, 0.09  # of the six-axis arm's file


def turn(axis: int, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.roll(np.roll([[1, 0, 0], [0, c, -s], [0, s, c]], axis, 0), axis, 1)


def six_axis_by_hand(T: np.ndarray) -> list[np.ndarray]:
    """All eight solutions of the arm with a spherical wrist, front and back, up and down."""
    R, w = T[:3, :3], T[:3, 3] - L6 * T[:3, 2]
    found = []
    for q1, side in ((np.arctan2(w[1], w[0]), 1), (np.arctan2(-w[1], -w[0]), -1)):
        r, z = side * np.hypot(w[0], w[1]) - A, w[2] - H
        c = (r * r + z * z - L2**2 - L3**2) / (2 * L2 * L3)
        for q3 in (np.arccos(c), -np.arccos(c)) if abs(c) <= 1 else ():
            q2 = np.arctan2(r, z) - np.arctan2(L3 * np.sin(q3), L2 + L3 * np.cos(q3))
            W = (turn(2, q1) @ turn(1, q2 + q3)).T @ R  # Rz(q4) Ry(q5) Rz(q6)
            for sign in (1, -1):
                q5 = sign * np.arccos(W[2, 2])
                q4, q6 = (
                    np.arctan2(sign * W[1, 2], sign * W[0, 2]),
                    np.arctan2(sign * W[2, 1], -sign * W[2, 0]),
                )
                found.append(np.array([q1, q2, q3, q4, q5, q6]))
    return found


def apart(q: np.ndarray, other: np.ndarray) -> float:
    return float(np.abs((q - other + np.pi) % (2 * np.pi) - np.pi).max())


def test_six_axis_arm_has_the_solutions_by_hand() -> None:
    bounds, rng = bounds_of(SIX), np.random.default_rng(3)
    place = lw.compile(SIX).placement("tool")
    T = place(rng.uniform(bounds.lower, bounds.upper, (100, 6)))
    found = inverse_kinematics(SIX, {"tool": T})
    assert found.reached.all()
    assert (found.q >= bounds.lower).all()
    assert (found.q <= bounds.upper).all()
    weakest = np.linalg.svd(lw.compile(SIX).jacobian("tool")(found.q))[1][:, -1]
    for q, pose, size in zip(found.q, T, weakest, strict=True):
        error = min(apart(q, other) for other in six_axis_by_hand(pose))
        assert error < 1e-7 + 5e-9 / size, "1e-9 of the tool is so much of the joints"


@pytest.mark.parametrize(
    "robot", ["ur5_robot.urdf", pytest.param("panda.urdf", marks=pytest.mark.slow)]
)
def test_poses_of_pinocchio(robot: str) -> None:
    """Where Pinocchio puts the last link, for joints that we find from where it had put it."""
    theirs = Robot(path_of(robot), free=False)
    bounds, rng = bounds_of(theirs.mechanism), np.random.default_rng(1)
    frame = "ee_link" if robot.startswith("ur5") else "panda_link8"
    index = theirs.pin.getFrameId(frame)

    def pose(q: np.ndarray) -> np.ndarray:
        pin.framesForwardKinematics(theirs.pin, theirs.data, theirs.configuration(q))
        return np.array(theirs.data.oMf[index].homogeneous)

    low, high = np.maximum(bounds.lower, -3), np.minimum(bounds.upper, 3)
    T = np.array([pose(q) for q in rng.uniform(low, high, (40, len(low)))])
    found = inverse_kinematics(theirs.mechanism, {frame: T})
    assert found.reached.all()
    np.testing.assert_allclose([pose(q) for q in found.q], T, atol=1e-8)


def in_a_ball(T: np.ndarray, inner: float, outer: float) -> np.ndarray:
    """The poses with their points moved into a shell of these shares of the reach."""
    rng, center, found = np.random.default_rng(2), T[:, :3, 3].mean(axis=0), T.copy()
    reach = np.linalg.norm(T[:, :3, 3] - center, axis=1).max()
    away = rng.normal(size=(len(T), 3))
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    radius = reach * np.cbrt(rng.uniform(inner**3, outer**3, (len(T), 1)))
    found[:, :3, 3] = center + radius * away
    return found


@pytest.mark.parametrize("shell", [None, (0, 1.2), (0.9, 1.1), (1, 2)])
def test_ten_thousand_targets_in_a_second(shell: tuple[float, float] | None) -> None:
    """Random poses within the joints' ranges, all reached from one start; and the same moved to
    where some or all are out of reach: 1 s of all cores together, which is not the machine's other
    work."""
    solver, bounds = InverseKinematics(SIX, {"tool": "pose"}), bounds_of(SIX)
    q = np.random.default_rng(1).uniform(bounds.lower, bounds.upper, (10_000, 6))
    T = solver.model.placement("tool")(q)
    T = T if shell is None else in_a_ball(T, *shell)
    solver({"tool": T[:10]})
    seconds = []
    for _ in range(8):
        begin = time.process_time()
        found = solver({"tool": T})
        seconds.append(time.process_time() - begin)
        if seconds[-1] < 1.0:
            break
    assert min(seconds) < 1.0
    assert shell or found.reached.all()
    assert set(found.status) <= {"reached", "nearest"}
    hit = found.reached
    np.testing.assert_allclose(solver.model.placement("tool")(found.q[hit]), T[hit], atol=2e-9)


def within(q: np.ndarray) -> bool:
    """Whether all joints have an angle in their ranges, whole turns aside."""
    bounds = bounds_of(SIX)
    low = q + 2 * np.pi * np.ceil((bounds.lower - q) / (2 * np.pi))
    return bool((low <= bounds.upper).all())


def test_near_the_reach_is_reached_what_can_be() -> None:
    """Of poses moved by 1.2 m just those are reached that have solutions by hand."""
    bounds = bounds_of(SIX)
    q = np.random.default_rng(5).uniform(bounds.lower, bounds.upper, (400, 6))
    T = lw.compile(SIX).placement("tool")(q)
    T[:, 0, 3] += 1.2
    found = inverse_kinematics(SIX, {"tool": T})
    by_hand = [any(within(q) for q in six_axis_by_hand(pose)) for pose in T]
    np.testing.assert_array_equal(found.reached, by_hand)
    assert 80 < sum(by_hand) < 120


def test_an_answer_does_not_depend_on_the_other_targets() -> None:
    bounds = bounds_of(SIX)
    q = np.random.default_rng(5).uniform(bounds.lower, bounds.upper, (40, 6))
    T = in_a_ball(lw.compile(SIX).placement("tool")(q), 0.8, 1.1)
    solver = InverseKinematics(SIX, {"tool": "pose"})
    together, alone = solver({"tool": T}), [solver({"tool": pose}) for pose in T]
    assert [str(one.status) for one in alone] == together.status.tolist()
    np.testing.assert_allclose([one.distance for one in alone], together.distance, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("six-axis", {"tool": "pose"}), ("chain-4", {"link3": "point", "tool": "point"})],
)
def test_nearest_is_as_near_as_scipy_finds_from_many_starts(
    name: str, kinds: dict[str, str]
) -> None:
    """Bounded least squares of SciPy from 12 random starts; some joints end at their limits."""
    solver, rng = InverseKinematics(lw.gallery(name), kinds), np.random.default_rng(8)
    bounds, place = solver.bounds, [solver.model.placement(frame) for frame in kinds]
    low, high = np.maximum(bounds.lower, -np.pi), np.minimum(bounds.upper, np.pi)
    T = [at(rng.uniform(low, high, (10, len(low)))) for at in place]
    T = [in_a_ball(pose, 1.0, 1.3) for pose in T]
    asked = {
        frame: pose if kind == "pose" else pose[:, :3, 3]
        for (frame, kind), pose in zip(kinds.items(), T, strict=True)
    }
    found = solver(asked)
    scale = np.ones((3, 4))
    scale[:, :3] = solver.iteration.length if "pose" in kinds.values() else 0
    for k in range(10):

        def missed(q: np.ndarray, k: int = k) -> np.ndarray:
            parts = [(at(q) - pose[k])[:3] * scale for at, pose in zip(place, T, strict=True)]
            return np.ravel(parts)

        starts = rng.uniform(low, high, (12, len(low)))
        ends = (bounds.lower, bounds.upper)
        theirs = min(least_squares(missed, q, bounds=ends, max_nfev=60).cost for q in starts)
        ours = (missed(found.q[k]) ** 2).sum() / 2
        assert ours < theirs * (1 + 1e-6) + 1e-12
    assert np.count_nonzero(found.status == "nearest") > 5
    limited = np.isclose(found.q, bounds.lower) | np.isclose(found.q, bounds.upper)
    assert limited.any() or name == "chain-4"


def test_points_inside_and_outside_of_the_elbow_by_hand() -> None:
    """Links of 1 and 0.4: the nearest point is on the ray, at 0.6 or at 1.4."""
    arm, rng = ELBOW.with_parameters(l2=0.4), np.random.default_rng(4)
    radius, angle = rng.uniform(0.01, 2.5, 400), rng.uniform(-np.pi, np.pi, 400)
    ray = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = inverse_kinematics(arm, {"tool": radius[:, None] * ray})
    nearest = np.clip(radius, 0.6, 1.4)
    np.testing.assert_array_equal(found.reached, nearest == radius)
    np.testing.assert_allclose(found.distance, np.abs(nearest - radius), atol=1e-9)
    points = lw.compile(arm).placement("tool")(found.q)[:, :2, 3]
    np.testing.assert_allclose(points, nearest[:, None] * ray, atol=1e-7)


def test_out_of_reach_free_joints_go_to_the_posture() -> None:
    """A stretched six-axis arm: turns of the wrist do not move its tool's point."""
    posture = np.array([0.1, 0.2, 0.3, 0.4, 0.1, 0.6])
    points = [3, 0, H] + np.random.default_rng(0).normal(size=(50, 3)) * 0.3
    found = inverse_kinematics(SIX, {"tool": points}, posture=posture)
    r, z = np.hypot(points[:, 0], points[:, 1]) - A, points[:, 2] - H
    np.testing.assert_allclose(found.distance, np.hypot(r, z) - L2 - L3 - L6, atol=1e-12)
    np.testing.assert_allclose(found.q[:, [3, 5]], np.tile(posture[[3, 5]], (50, 1)), atol=1e-5)


def test_elbow_by_hand() -> None:
    points = np.random.default_rng(0).uniform(-1.3, 1.3, (200, 2))
    points = points[np.linalg.norm(points, axis=1) < 1.95]
    found = inverse_kinematics(ELBOW, {"tool": points}, start=[0.3, 0.8])
    assert found.reached.all()
    q2 = np.arccos((points**2).sum(axis=1) / 2 - 1)
    q1 = np.arctan2(points[:, 1], points[:, 0]) - q2 / 2
    for q, branch in zip(found.q, zip(q1, q2, strict=True), strict=True):
        other = branch[0] + branch[1], -branch[1]
        assert min(apart(q, np.array(branch)), apart(q, np.array(other))) < 1e-6


def sliders() -> lw.Mechanism:
    limits = {"lower": 0, "upper": 1}
    joints = {
        name: {"type": "prismatic", "axis": axis, "child": child, "parent": parent, "limits": limits}
        for name, axis, parent, child in (("x", [1, 0, 0], "ground", "a"), ("y", [0, 1, 0], "a", "b"))
    }  # fmt: skip
    bodies = {"a": {"mass": 1}, "b": {"mass": 1}}
    return lw.Mechanism(name="sliders", bodies=bodies, joints=joints)


@pytest.mark.parametrize(
    ("mechanism", "frame", "target", "nearest"),
    [
        (ELBOW, "tool", [3, 0, 0], [2, 0, 0]),
        (ELBOW, "tool", [0, -50, 0], [0, -2, 0]),
        (ELBOW, "tool", [3, 4, 12], [1.2, 1.6, 0]),
        (ELBOW.with_parameters(l2=0.4), "tool", [0.3, 0, 0], [0.6, 0, 0]),
        (sliders(), "b", [2, 0.5, 0], [1, 0.5, 0]),
        (sliders(), "b", [-3, 7, 1], [0, 1, 0]),
        (SIX, "tool", [5, 0, H], [A + L2 + L3 + L6, 0, H]),
    ],
)
def test_out_of_reach_is_the_nearest_point(
    mechanism: lw.Mechanism, frame: str, target: list[float], nearest: list[float]
) -> None:
    found = inverse_kinematics(mechanism, {frame: target})
    assert found.status == "nearest"
    point = lw.compile(mechanism).placement(frame)(found.q)[:3, 3]
    np.testing.assert_allclose(point, nearest, atol=1e-7)
    assert found.distance == pytest.approx(np.linalg.norm(np.subtract(target, nearest)))


@pytest.mark.parametrize("far", [2 + 2e-9, 2 + 1e-8, 2 + 1e-6, 1e6, 1e12])
def test_nearest_is_certain_as_far_as_rounding_lets_it(far: float) -> None:
    """Two links of 1 m: the point is 2 m along the ray, however near or far the target is."""
    angle = np.linspace(0.01, 2 * np.pi, 400)
    ray = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    found = inverse_kinematics(ELBOW, {"tool": far * ray})
    assert set(found.status) == {"nearest"}
    np.testing.assert_allclose(found.distance, far - 2, rtol=1e-14, atol=4e-15)
    points = lw.compile(ELBOW).placement("tool")(found.q)[:, :2, 3]
    np.testing.assert_allclose(points, 2 * ray, atol=1e-7)


def test_singular_starts_and_hard_targets_stay_finite() -> None:
    """A straight arm cannot begin to move along itself; far, near and the centre itself."""
    points = [[1.5, 0], [0, 0], [2, 0], [1e90, 0], [-1.5, 0], [0, 1e-9]]
    found = inverse_kinematics(ELBOW, {"tool": points}, start=[0.0, 0.0])
    assert np.isfinite(found.q).all()
    assert found.status.tolist() == ["reached"] * 3 + ["nearest"] + ["reached"] * 2


def test_redundant_joints_go_to_the_posture() -> None:
    """The nearest joints to a posture, as SciPy's minimizer finds them."""
    chain, posture, point = lw.gallery("chain-4"), np.array([0.6, 0.1, 0.7, 0.4]), [1.0, 2.2]
    place = lw.compile(chain).placement("tool")
    found = inverse_kinematics(chain, {"tool": point}, start=[0.1, 0.4, 0.3, 0.2], posture=posture)
    theirs = minimize(
        lambda q: ((q - posture) ** 2).sum(), found.q, method="SLSQP", tol=1e-14,
        constraints={"type": "eq", "fun": lambda q: place(q)[:2, 3] - point},
    )  # fmt: skip
    assert found.reached
    np.testing.assert_allclose(found.q, theirs.x, atol=1e-5)
    near = inverse_kinematics(chain, {"tool": point}, start=found.q + 0.01)
    assert np.abs(near.q - found.q).max() < 0.02


def test_several_frames_loops_and_quaternions() -> None:
    chain = lw.gallery("chain-5")
    model, q = lw.compile(chain), np.array([0.4, 0.5, -0.3, 0.8, 0.2])
    targets = {frame: model.placement(frame)(q)[:3, 3] for frame in ("link4", "tool")}
    found = inverse_kinematics(chain, targets)
    for frame, point in targets.items():
        np.testing.assert_allclose(model.placement(frame)(found.q)[:3, 3], point, atol=2e-9)
    bar = lw.gallery("four-bar")
    q = lw.assemble(bar, {"theta1": 1.0}, ["theta1"])
    model = lw.compile(bar)
    found = inverse_kinematics(bar, {"B": model.placement("B")(q)[:3, 3]}, start=q + 0.1)
    assert found.reached
    assert np.abs(model.constraint_residual(found.q)).max() < 2e-9
    ball = lw.Mechanism(
        name="ball", bodies={"b": {"mass": 1}}, joints={"s": {"type": "spherical", "child": "b"}}
    )
    T = np.eye(4)
    T[:3, :3] = turn(2, 2.5) @ turn(0, 1.0)
    found = inverse_kinematics(ball, {"b": T})
    np.testing.assert_allclose(lw.compile(ball).placement("b")(found.q), T, atol=1e-8)
    w, z = np.cos(1.0), np.sin(1.0)  # the same by its quaternion
    by_words = inverse_kinematics(ball, {"b": [0, 0, 0, 2 * w, 0, 0, 2 * z]})
    np.testing.assert_allclose(
        lw.compile(ball).placement("b")(by_words.q)[:3, :3], turn(2, 2.0), atol=1e-8
    )


def test_limits_of_a_mimic_are_those_of_its_leader() -> None:
    joints = {
        "q": {"type": "revolute", "child": "a", "limits": {"lower": -3, "upper": 3}},
        "f": {"type": "revolute", "parent": "a", "child": "b", "mimic": {"joint": "q", "multiplier": -2},
              "limits": {"lower": -1, "upper": 2}},
    }  # fmt: skip
    arm = lw.Mechanism(name="m", bodies={"a": {"mass": 1}, "b": {"mass": 1}}, joints=joints)
    bounds = bounds_of(arm)
    assert (bounds.lower[0], bounds.upper[0]) == (-1.0, 0.5)
    joints["f"]["limits"] = {"lower": 7, "upper": 8}
    arm = lw.Mechanism(name="m", bodies={"a": {"mass": 1}, "b": {"mass": 1}}, joints=joints)
    with pytest.raises(LinkwrightError, match="nothing in common"):
        inverse_kinematics(arm, {"b": [0, 0, 0]})


def test_ranges_of_one_value() -> None:
    """A gripper of the PR2 may stand at 0 alone, by what it and its mimics say."""
    robot = Robot(path_of("pr2.urdf"), free=False).mechanism
    solver = InverseKinematics(robot, {"r_wrist_roll_link": "point"})
    place = solver.model.placement("r_wrist_roll_link")
    q = np.clip(solver.model.neutral() + 0.3, solver.bounds.lower, solver.bounds.upper)
    assert solver({"r_wrist_roll_link": place(q)[:3, 3]}).reached


@pytest.mark.parametrize(
    ("targets", "options", "words"),
    [
        ({"toll": [1, 1, 0]}, {}, "tool"),
        ({"tool": [1, 1, 0, 0]}, {}, "shape"),
        ({"tool": [1, np.nan, 0]}, {}, "finite"),
        ({"tool": "far"}, {}, "finite"),
        ({"tool": [1e200, 0, 0]}, {}, "too far"),
        ({"tool": [np.inf, 0, 0]}, {}, "finite"),
        ({}, {}, "no target"),
        ({"tool": np.diag([2.0, 1, 1, 1])}, {}, "rotation"),
        ({"tool": [0, 0, 0, 0, 0, 0, 0]}, {}, "quaternion"),
        ({"tool": [1, 1, 0]}, {"start": [1, 2, 3]}, "start"),
        ({"tool": [[1, 1, 0]] * 3}, {"start": [[1, 2]] * 2}, "shapes"),
        ({"tool": [1, 1, 0]}, {"start": "abc"}, "elbow has no pose 'abc'"),
    ],
)
def test_mistakes(targets: dict, options: dict, words: str) -> None:
    with pytest.raises(LinkwrightError, match=words):
        inverse_kinematics(ELBOW, targets, **options)
