"""`integrate` and `difference` of a free body, against the exponential of its twist in mpmath."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwright as lw

BODY = lw.Mechanism(
    name="body", bodies={"b": {"mass": 1, "inertia": [1, 1, 1]}},
    joints={"free": {"type": "free", "child": "b"}},
)  # fmt: skip


def placement(q: np.ndarray) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = q[:3]
    T[:3, :3] = Rotation.from_quat(q[[4, 5, 6, 3]]).as_matrix()
    return T


def exponential_in_40_digits(matrix: np.ndarray) -> np.ndarray:
    with mpmath.workdps(40):
        return np.array(mpmath.expm(mpmath.matrix(matrix.tolist())).tolist(), dtype=float)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 9e-4, 1.001e-3, 1.1e-3, 5e-3, 2e-2, 1.0, 3.0])
def test_a_step_is_the_exponential_of_the_twist(angle: float) -> None:
    """All digits at all angles: below 1e-3 by series, above by forms without cancellation."""
    model = lw.compile(BODY)
    rng = np.random.default_rng(3)
    w, v = rng.normal(size=3), rng.normal(size=3)
    w *= angle / np.linalg.norm(w)
    q = np.array([0.3, -0.2, 0.5, 0.5, 0.5, -0.5, 0.5])
    twist = np.zeros((4, 4))
    twist[:3, :3] = [[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]]
    twist[:3, 3] = v
    step = np.concatenate([w, v])
    found = model.integrate(q, step)
    expected = placement(q) @ exponential_in_40_digits(twist)
    np.testing.assert_allclose(placement(found), expected, rtol=0, atol=3e-15)
    assert np.linalg.norm(found[3:]) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(model.difference(q, found), step, rtol=0, atol=3e-15)
