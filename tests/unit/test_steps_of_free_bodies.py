"""`integrate` and `difference` of a free body, against the exponential of its twist."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
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


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-4, 9e-4, 1.1e-3, 2e-2, 1.0, 3.0])
def test_a_step_is_the_exponential_of_the_twist(angle: float) -> None:
    """By a series below 1e-3, with all digits; then by (1 − cos x)/x², which loses some to x."""
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
    digits = 3e-15 if angle < 1e-3 else 3e-15 + 2e-16 / angle
    np.testing.assert_allclose(placement(found), placement(q) @ expm(twist), rtol=0, atol=digits)
    assert np.linalg.norm(found[3:]) == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(model.difference(q, found), step, rtol=0, atol=digits)
