"""Paper 004 (Spong and Vidyasagar, chapter 6): its two-link arms, from the printed formulas."""

from __future__ import annotations

import numpy as np

import linkwright as lw


def test_planar_elbow() -> None:
    """Equations (6.4.18) to (6.4.24)."""
    p = {
        "m1": 1.3,
        "m2": 0.7,
        "l1": 0.9,
        "l2": 1.1,
        "lc1": 0.4,
        "lc2": 0.6,
        "I1": 0.21,
        "I2": 0.13,
        "g": 9.7,
    }
    model = lw.compile(lw.gallery("elbow").with_parameters(**p))
    m1, m2, l1, _, lc1, lc2, I1, I2, g = p.values()
    for seed in range(5):
        q, v = np.random.default_rng(seed).uniform(-3, 3, (2, 2))
        d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * np.cos(q[1])) + I1 + I2
        d12 = m2 * (lc2**2 + l1 * lc2 * np.cos(q[1])) + I2
        d22 = m2 * lc2**2 + I2
        np.testing.assert_allclose(model.mass_matrix(q), [[d11, d12], [d12, d22]], rtol=1e-13)
        h = -m2 * l1 * lc2 * np.sin(q[1])
        C = [[h * v[1], h * v[1] + h * v[0]], [-h * v[0], 0]]
        np.testing.assert_allclose(model.coriolis_matrix(q, v), C, rtol=1e-13, atol=1e-14)
        V = (m1 * lc1 + m2 * l1) * g * np.sin(q[0]) + m2 * lc2 * g * np.sin(q[0] + q[1])
        assert np.isclose(model.potential_energy(q), V, rtol=1e-13)
        phi2 = m2 * lc2 * g * np.cos(q[0] + q[1])
        phi1 = (m1 * lc1 + m2 * l1) * g * np.cos(q[0]) + phi2
        np.testing.assert_allclose(model.gravity(q), [phi1, phi2], rtol=1e-12)
        # velocity Jacobian of the tool, (6.4.13) with the whole second link
        J = model.jacobian("tool")(q)
        s1, s12 = np.sin(q[0]), np.sin(q[0] + q[1])
        np.testing.assert_allclose(J[3], [-l1 * s1 - 1.1 * s12, -1.1 * s12], atol=1e-14)
        np.testing.assert_allclose(J[:3], [[0, 0], [0, 0], [1, 1]])


def test_two_link_cartesian() -> None:
    """Equations (6.4.6) to (6.4.9): constant D, no Christoffel symbols, g(m1 + m2) on joint 1."""
    model = lw.compile(lw.gallery("cartesian").with_parameters(m1=3, m2=2, g=9.81))
    q, v, a = np.random.default_rng(0).uniform(-2, 2, (3, 2))
    np.testing.assert_allclose(model.mass_matrix(q), [[5, 0], [0, 2]])
    np.testing.assert_allclose(model.coriolis_matrix(q, v), np.zeros((2, 2)))
    np.testing.assert_allclose(model.inverse_dynamics(q, v, a), [5 * a[0] + 9.81 * 5, 2 * a[1]])
