"""Virgala et al. (2016), section 4: six links of 1 m go from q = 0 to the point (1, 2) in 60 s."""

from __future__ import annotations

import numpy as np

import linkwright as lw

GOAL = np.array([1.0, 2.0])
MODEL = lw.compile(lw.derive(lw.gallery("chain-6"), by="lagrange"))


def goal_of_the_joints() -> np.ndarray:
    """Inverse kinematics by damped least squares."""
    place, jacobian = MODEL.placement("tool"), MODEL.jacobian("tool")
    q = np.zeros(6)
    np.testing.assert_allclose(place(q)[:2, 3], [6, 0])
    for _ in range(200):
        J, error = jacobian(q)[3:5], GOAL - place(q)[:2, 3]
        q = q + J.T @ np.linalg.solve(J @ J.T + 0.1 * np.eye(2), error)
    np.testing.assert_allclose(place(q)[:2, 3], GOAL, atol=1e-9)
    return q


def test_the_example() -> None:
    """Quintic polynomials, then drives; all at rest at both ends, and a shorter time needs more."""
    end = goal_of_the_joints()
    quintic = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])
    u = np.linspace(0, 1, 61)
    swing = {}
    for duration in (60.0, 30.0, 10.0):
        q, v, a = (
            np.outer(quintic.deriv(k)(u) / duration**k, end) if k else np.outer(quintic(u), end)
            for k in range(3)
        )
        np.testing.assert_allclose([v[0], v[-1], a[0], a[-1]], 0, atol=1e-15)
        torques, weight = MODEL.inverse_dynamics(q, v, a), MODEL.gravity(q)
        np.testing.assert_allclose(torques[[0, -1]], weight[[0, -1]], rtol=1e-12, atol=1e-12)
        swing[duration] = np.abs(torques - weight).max(axis=0)
    np.testing.assert_allclose(swing[30.0], 4 * swing[60.0], rtol=1e-9)
    np.testing.assert_allclose(swing[10.0], 36 * swing[60.0], rtol=1e-9)
    assert (swing[60.0] > 0).all()
