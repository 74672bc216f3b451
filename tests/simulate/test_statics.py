"""Rest, frequencies and linear models against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.simulation.statics import equilibria, equilibrium, linearize

G = 9.81


def test_pendulum_hangs_and_stands() -> None:
    """A uniform rod: ω² = 3g/2l hanging, and runs away at the same rate standing."""
    found = equilibria(lw.gallery("chain-1"))
    assert sorted(one.is_stable for one in found) == [False, True]
    rate = np.sqrt(1.5 * G)
    for one in found:
        assert one.frequencies == pytest.approx([rate if one.is_stable else -rate], rel=1e-12)


def test_double_pendulum() -> None:
    """Two equal point masses on equal rods: ω² = (2 ± √2) g/l."""
    point = {"mass": 1, "center": [1, 0, 0]}
    arm = lw.Mechanism(
        gravity=[0, -9.81, 0], bodies={"a": point, "b": point},
        joints={"q1": {"type": "revolute", "child": "a"},
                "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": [1, 0, 0]}},
    )  # fmt: skip
    rest = equilibrium(arm, [-1.4, 0.1])
    assert rest.is_stable
    np.testing.assert_allclose(rest.q, [-np.pi / 2, 0], atol=1e-12)
    np.testing.assert_allclose(
        rest.frequencies, np.sqrt((2 + np.array([-1, 1]) * np.sqrt(2)) * G), rtol=1e-12
    )
    absolute = np.cumsum(rest.modes, axis=0)
    np.testing.assert_allclose(absolute[1] / absolute[0], [np.sqrt(2), -np.sqrt(2)], rtol=1e-10)
    assert len(equilibria(arm)) == 4


def test_four_bar_rests_where_its_potential_is_flat() -> None:
    linkage = lw.gallery("four-bar")
    model, rest = lw.compile(linkage), equilibrium(linkage)
    here = model.independent_map(rest.q)[0][:, 0]
    slope = model.gravity(rest.q) @ here
    assert abs(slope) < 1e-9
    h = 1e-4
    around = [model.close(rest.q + s * h * np.eye(3)[0]) for s in (-1, 0, 1)]
    V = [float(model.potential_energy(q)) for q in around]
    second = (V[0] - 2 * V[1] + V[2]) / h**2
    np.testing.assert_allclose(rest.stiffness[0, 0], second, rtol=1e-4)
    assert rest.is_stable is bool(second > 0)


def test_linear_model_of_the_cart_pole() -> None:
    """About the pole upright: the textbook's matrix, by Lagrange's equations by hand."""
    arm = lw.gallery("cart-pole")
    model = lw.compile(arm)
    standing = next(one for one in equilibria(arm) if one.frequencies[0] < -1)
    found = linearize(arm, standing.q)
    M, h = model.mass_matrix(standing.q), 1e-6
    K = np.column_stack(
        [(model.gravity(standing.q + h * e) - model.gravity(standing.q - h * e)) / (2 * h)
         for e in np.eye(2)]
    )  # fmt: skip
    np.testing.assert_allclose(found.A[2:, :2], -np.linalg.solve(M, K), atol=1e-6)
    np.testing.assert_allclose(found.B[2:], np.linalg.solve(M, model.input_matrix(standing.q)))
    assert found.eigenvalues.real.max() > 0


def test_linear_model_of_a_loop() -> None:
    """Its eigenvalues are the frequencies of the equilibrium; a small motion swings at them."""
    linkage = lw.gallery("four-bar")
    rest = next(one for one in equilibria(linkage, starts=12) if one.is_stable)
    found = linearize(linkage, rest.q)
    np.testing.assert_allclose(
        np.abs(found.eigenvalues.imag), rest.frequencies[0] * np.ones(2), rtol=1e-9
    )
    period = 2 * np.pi / rest.frequencies[0]
    q0 = lw.compile(linkage).close(rest.q + 1e-5 * np.eye(3)[0])
    run = lw.simulate(linkage, period, q0=q0, samples=3, rtol=1e-11, atol=1e-14)
    swing = run.q[:, 0] - rest.q[0]
    np.testing.assert_allclose(swing, [1e-5, -1e-5, 1e-5], rtol=2e-3)


def test_where_nothing_rests() -> None:
    slide = lw.Mechanism(
        bodies={"b": {"mass": 1}}, joints={"s": {"type": "prismatic", "child": "b"}}
    )
    with pytest.raises(LinkwrightError, match="no rest was found"):
        equilibrium(slide)
    held = equilibrium(slide, torque=[9.81])
    assert held.frequencies == pytest.approx([0])
