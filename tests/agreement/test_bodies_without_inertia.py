"""Point masses and links without mass: all formulations, by closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from linkwright.formulations import FORMULATIONS
from tests.references.four_bar import FourBar

TREE_FORMULATIONS = [by for by in FORMULATIONS if by not in ("approximate", "multipliers")]
LOOP_FORMULATIONS = [by for by in FORMULATIONS if by != "approximate"]

MASSES, LENGTHS, G = np.array([1.0, 0.5, 2.0]), np.array([1.0, 0.7, 0.4]), 9.81

PENDULUM = lw.Mechanism(
    name="three point masses",
    gravity=[0, -G, 0],
    bodies={f"rod{i}": {"mass": m, "center": [length, 0, 0]}
            for i, (m, length) in enumerate(zip(MASSES, LENGTHS, strict=True))},
    joints={f"q{i}": {"type": "revolute", "child": f"rod{i}",
                      **({"parent": f"rod{i - 1}", "origin": [LENGTHS[i - 1], 0, 0]} if i else {})}
            for i in range(3)},
)  # fmt: skip


def point_mass_accelerations(q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """q̈ of three point masses on rods without mass, from the angles θ = T q to the level line."""
    T = np.tril(np.ones((3, 3)))
    theta, rate = T @ q, T @ qd
    beyond = np.cumsum(MASSES[::-1])[::-1]
    shared = beyond[np.maximum.outer(range(3), range(3))] * np.outer(LENGTHS, LENGTHS)
    between = theta[:, None] - theta
    M = shared * np.cos(between)
    right = -(shared * np.sin(between)) @ rate**2 - G * beyond * LENGTHS * np.cos(theta)
    return np.linalg.solve(T, np.linalg.solve(M, right + np.linalg.solve(T.T, tau)))


@pytest.mark.parametrize("by", TREE_FORMULATIONS)
def test_three_point_masses(by: str) -> None:
    model = lw.compile(lw.derive(PENDULUM, by=by, parameters="numeric"))
    for seed in range(3):
        q, qd, tau = np.random.default_rng(seed).uniform(-2, 2, (3, 3))
        wanted = point_mass_accelerations(q, qd, tau)
        np.testing.assert_allclose(model.forward_dynamics(q, qd, tau), wanted, rtol=1e-9)


# -- a crank with mass in a loop of links that have none ------------------------------------


def light_four_bar(**masses: float) -> lw.Mechanism:
    """The four-bar of the gallery with other masses."""
    whole = lw.gallery("four-bar").model_dump(exclude_unset=True)
    return lw.Mechanism(**{**whole, "parameters": {**whole["parameters"], **masses}})


@pytest.mark.parametrize("masses", [{"m2": 0.0, "m3": 0.0}, {"m1": 0.0, "m3": 0.0}], ids=str)
@pytest.mark.parametrize("by", LOOP_FORMULATIONS)
def test_four_bars_with_one_massive_link(by: str, masses: dict[str, float]) -> None:
    """M of the tree is singular, that of the closed linkage is not. Where the crank alone has mass,
    it is a pendulum, and the loop bears nothing."""
    reference = FourBar(**masses)
    model = lw.compile(lw.derive(light_four_bar(**masses), by=by, parameters="numeric"))
    for seed in range(2):
        theta1, rate, torque = np.random.default_rng(seed).uniform(0.5, 1.5, 3)
        theta = reference.angles(theta1)
        G, _ = reference.influence(theta)
        tau = np.array([torque, 0.0, 0.0])
        wanted = reference.accelerations(theta, rate, tau)
        state = theta, G * rate, tau
        np.testing.assert_allclose(model.forward_dynamics(*state), wanted, rtol=1e-9)
        if masses["m3"] == masses.get("m2"):
            np.testing.assert_allclose(model.multipliers(*state), 0, atol=1e-9)


@pytest.mark.parametrize("by", ["recursive", "hamilton", "newton_euler", "multipliers"])
def test_runs_with_links_without_mass(by: str) -> None:
    """The crank swings as a uniform rod, in the states of every formulation."""
    light = light_four_bar(m2=0.0, m3=0.0)
    run = lw.simulate(light, 1.0, q0={"theta1": 1.0}, by=by, samples=11)
    rod = lw.simulate(lw.gallery("chain-1"), 1.0, q0={"q1": 1.0}, samples=11)
    assert run.finished
    np.testing.assert_allclose(run.q[:, 0], rod.q[:, 0], atol=1e-8)


# -- links without mass between bodies -------------------------------------------------------


@pytest.mark.parametrize("by", TREE_FORMULATIONS)
def test_a_cross_without_mass_is_a_universal_joint(by: str) -> None:
    body = {"mass": 2, "center": [0.1, 0.2, -0.3], "inertia": [0.3, 0.2, 0.1]}
    cross = lw.Mechanism(
        gravity=[0, 0, -G],
        bodies={"cross": {}, "body": body},
        joints={"a": {"type": "revolute", "child": "cross", "axis": [1, 0, 0]},
                "b": {"type": "revolute", "parent": "cross", "child": "body", "axis": [0, 1, 0]}},
    )  # fmt: skip
    universal = lw.Mechanism(
        gravity=[0, 0, -G], bodies={"body": body},
        joints={"u": {"type": "universal", "child": "body", "axis": [1, 0, 0],
                      "axis2": [0, 1, 0]}},
    )  # fmt: skip
    found, wanted = (
        lw.compile(lw.derive(mechanism, by=formulation, parameters="numeric"))
        for mechanism, formulation in ((cross, by), (universal, "recursive"))
    )
    state = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    np.testing.assert_allclose(
        found.forward_dynamics(*state), wanted.forward_dynamics(*state), rtol=1e-9
    )


# -- where the whole is singular ---------------------------------------------------------------


@pytest.mark.parametrize("by", TREE_FORMULATIONS)
def test_what_moves_no_mass_is_named(by: str) -> None:
    ring = lw.Mechanism(
        bodies={"bob": {"mass": 2}, "ring": {}},
        joints={"z": {"type": "prismatic", "child": "bob", "axis": [0, 0, 1]},
                "ring": {"type": "revolute", "parent": "bob", "child": "ring"}},
    )  # fmt: skip
    model = lw.compile(lw.derive(ring, by=by, parameters="numeric"))
    with pytest.raises(UnsupportedError, match="singular: 'ring' can move without moving mass"):
        model.forward_dynamics  # noqa: B018


@pytest.mark.parametrize("by", LOOP_FORMULATIONS)
def test_a_loop_that_moves_no_mass_is_named(by: str) -> None:
    nothing = light_four_bar(m1=0.0, m2=0.0, m3=0.0)
    with pytest.raises(UnsupportedError, match="singular: 'theta1' can move without moving mass"):
        lw.compile(lw.derive(nothing, by=by, parameters="numeric")).forward_dynamics  # noqa: B018
