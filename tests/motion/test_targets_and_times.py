"""Details of motions: rotations of targets, sample times, knots that coincide, sizes of robots."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.control import operational
from linkwright.errors import LinkwrightError
from linkwright.motion import inverse_kinematics, planned, quintic, trapezoid
from linkwright.motion.frame_targets import _target_rotation_of_quaternion
from linkwright.verification.kinetostatic import _kinetostatic_axial_vector


def test_rotations_of_targets() -> None:
    """Quaternions w, x, y, z of any length, against SciPy."""
    given = np.random.default_rng(1).normal(size=(20, 4))
    wanted = Rotation.from_quat(given[:, [1, 2, 3, 0]]).as_matrix()
    np.testing.assert_allclose(_target_rotation_of_quaternion(given, "tool"), wanted, atol=1e-15)


def test_axial_vectors() -> None:
    """ω of the matrix of ω ×; a symmetric part has none."""
    x, y, z = w = np.array([0.3, -0.7, 1.1])
    W = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    np.testing.assert_allclose(
        _kinetostatic_axial_vector(W + np.diag([1, 2, 3]) + np.ones((3, 3))), w, 1e-15
    )


def test_finer_times_have_equal_density_and_all_knots() -> None:
    motion = trapezoid([0.0], [10.0], speed=1.0, acceleration=1.0)  # knots 0, 1, 10, 11
    times = motion.finer(110)
    assert set(motion.knots) <= set(times.tolist())
    assert len(times) == 111
    np.testing.assert_allclose(np.diff(times), 0.1, rtol=1e-9)


@pytest.mark.parametrize(
    ("way", "speed", "acceleration", "share", "knots"),
    [(2.3, 0.9, 2.7, 0.2, 4), (2.6, 2.5, 1.1, 0.7, 3)],
)
def test_coordinates_that_keep_the_same_times_share_their_knots(
    way: float, speed: float, acceleration: float, share: float, knots: int
) -> None:
    """A share of the way at the same share of velocity takes the same time, up to rounding."""
    each = np.array([1.0, share])
    motion = trapezoid([0, 0], way * each, speed * each, acceleration * each, together=False)
    assert len(motion.knots) == knots
    _, q, qd, _ = motion.sampled(50)
    np.testing.assert_allclose(q[:, 1], share * q[:, 0], atol=1e-12)
    np.testing.assert_allclose(qd[:, 1], share * qd[:, 0], atol=1e-12)


def test_plans_have_at_most_a_million_samples() -> None:
    way = quintic([0.0, 0.0], [0.5, 0.4], 1.0)
    with pytest.raises(LinkwrightError, match=r"samples must be from 2 to 1000000 \(got 1000001\)"):
        planned(lw.gallery("elbow"), "tool", way, samples=1_000_001)


def chain(size: float) -> lw.Mechanism:
    """Four equal links in a plane."""
    return lw.Mechanism(
        name="chain",
        bodies={f"b{k}": {"mass": 1, "center": [size, 0, 0]} for k in range(4)},
        joints={
            f"q{k}": {"type": "revolute", "axis": [0, 0, 1], "child": f"b{k}"}
            | ({"parent": f"b{k - 1}", "origin": [size, 0, 0]} if k else {})
            for k in range(4)
        },
        frames={"tool": {"body": "b3", "origin": [size, 0, 0]}},
    )


def test_the_size_of_a_robot_does_not_matter() -> None:
    """A redundant chain of links of 1 mm takes the joint angles of one of 1 m."""
    posture, start = np.array([0.6, 0.1, 0.7, 0.4]), [0.1, 0.4, 0.3, 0.2]
    found = [
        inverse_kinematics(chain(s), {"tool": [1.0 * s, 2.2 * s]}, start=start, posture=posture).q
        for s in (1.0, 1e-3)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)


def test_a_posture_is_reached_with_5_rad_per_s_by_default() -> None:
    """Critical damping with the stiffness 25/s²."""
    arm, target = lw.gallery("seven-axis"), [0.3, 0.2, 0.5]
    laws = [
        operational(arm, "tool", target, 100.0, posture=np.zeros(7), **given).law
        for given in ({}, {"stiffness": 25.0})
    ]
    q, qd = np.linspace(0.1, 0.7, 7), np.linspace(-0.2, 0.3, 7)
    rest = [np.zeros(laws[0].size_in(k)) for k in range(3, laws[0].n_in())]
    one, other = (np.array(law(0.0, q, qd, *rest)[0]).ravel() for law in laws)
    np.testing.assert_allclose(one, other, rtol=1e-12)
