"""Numbers of others: the PUMA 560 of Corke and Armstrong-Hélouvry, and hand-made closed forms."""

from __future__ import annotations

import numpy as np

import linkwright as lw

PUMA = lw.compile(lw.gallery("puma560"))
NOMINAL = np.array([0, np.pi / 4, np.pi, 0, np.pi / 4, 0])


def test_puma_gravity() -> None:
    wanted = [0, 31.6398804, 6.0351380, 0, 0.0282528, 0]
    np.testing.assert_allclose(PUMA.gravity(NOMINAL), wanted, atol=5e-8)


def test_puma_mass_matrix() -> None:
    M = PUMA.mass_matrix(NOMINAL)
    diagonal = [3.6593754, 4.4137419, 0.9378416, 0.1925317, 0.1713485, 0.1941045]
    wanted = np.diag(diagonal)
    for (i, j), value in {
        (1, 2): -0.4043612, (1, 3): 0.1006136, (1, 4): -0.0025170, (2, 3): 0.3508907,
        (2, 5): 0.0023595, (3, 5): 0.0014802, (4, 6): 0.0000283,
    }.items():  # fmt: skip
        wanted[i - 1, j - 1] = wanted[j - 1, i - 1] = value
    np.testing.assert_allclose(M, wanted, atol=5e-8)


def test_puma_inverse_dynamics() -> None:
    tau = PUMA.inverse_dynamics(NOMINAL, np.zeros(6), np.ones(6))
    wanted = [3.3531109, 36.0025112, 7.4259641, 0.1900430, 0.2034409, 0.1941328]
    np.testing.assert_allclose(tau, wanted, atol=5e-8)


def test_cart_pole_by_hand() -> None:
    """(mc + mp)ẍ + mp(l/2)(cos θ θ̈ − sin θ θ̇²) = f, and the pole about its hinge."""
    mc, mp, l, g = 1.0, 0.1, 1.0, 9.81
    model = lw.compile(lw.gallery("cart-pole"))
    for seed in range(4):
        (_, th), (xd, w), (xdd, wd) = np.random.default_rng(seed).uniform(-2, 2, (3, 2))
        force = (mc + mp) * xdd + mp * l / 2 * (np.cos(th) * wd - np.sin(th) * w**2)
        torque = mp * l / 2 * np.cos(th) * xdd + mp * l**2 / 3 * wd + mp * g * l / 2 * np.sin(th)
        found = model.inverse_dynamics([0.3, th], [xd, w], [xdd, wd])
        np.testing.assert_allclose(found, [force, torque], rtol=1e-12, atol=1e-13)


def test_free_spinning_top_keeps_its_momentum() -> None:
    """Euler's equations: I ω̇ = (I ω) × ω without torque, and v̇ = v × ω for a straight path."""
    inertia = np.diag([1.0, 2.0, 2.5])
    top = lw.Mechanism(
        gravity=[0, 0, 0],
        bodies={"top": {"mass": 3, "inertia": [1, 2, 2.5]}},
        joints={"j": {"type": "free", "child": "top"}},
    )
    model = lw.compile(top)
    w, v = np.array([0.3, -0.7, 1.1]), np.array([2.0, 1.0, -1.0])
    qdd = model.forward_dynamics(model.neutral(), np.r_[w, v], np.zeros(6))
    np.testing.assert_allclose(
        qdd[:3], np.linalg.solve(inertia, np.cross(inertia @ w, w)), atol=1e-15
    )
    np.testing.assert_allclose(qdd[3:], np.cross(v, w), atol=1e-15)


def test_screw_by_hand() -> None:
    """A nut of mass m on a vertical screw of pitch h: (I + m h²) φ̈ + m g h = τ."""
    m, inertia, h = 2.0, 0.3, 0.05
    nut = lw.Mechanism(
        bodies={"nut": {"mass": m, "inertia": [1, 1, inertia]}},
        joints={"phi": {"type": "helical", "child": "nut", "pitch": h}},
    )
    model = lw.compile(nut)
    assert np.isclose(model.mass_matrix([0.2])[0, 0], inertia + m * h**2)
    assert np.isclose(model.gravity([0.2])[0], m * 9.81 * h)
    np.testing.assert_allclose(model.placement("nut")([0.2])[:3, 3], [0, 0, 0.2 * h])
