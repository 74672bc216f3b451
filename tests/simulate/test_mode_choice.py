"""What rests, sticks and slides at an instant, against Coulomb's law by hand."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import linkwright as lw
from linkwright.simulation.events.choice import ModeCase, choose_mode
from linkwright.simulation.events.dynamics import Dynamics
from linkwright.simulation.events.modes import Mode, NoSolutionError, solve_mode_forces
from linkwright.types import Floats
from tests.simulate.test_mode_forces import G, dynamics_of, ladder

LADDER_MASS, LADDER_INERTIA = 5.0, 0.4
FRICTIONS = [(0.4, 0.3), (0.2, 0.1), (0.3, 0.0), (0.1, 0.5), (0.05, 0.8), (0.6, 0.6)]


def sliding_ladder(angle: float, floor: float, wall: float) -> tuple[float, Floats]:
    """The angular acceleration of a ladder of length 2 that slides from rest, and its normal
    forces: three equations of momentum with −μ₁ N₁ at its foot and μ₂ N₂ at its head."""
    c, s, m = np.cos(angle), np.sin(angle), LADDER_MASS
    equations = [
        [-m * s, floor, -1],
        [m * c, -1, -wall],
        [LADDER_INERTIA, c - s * floor, -s - c * wall],
    ]
    found = np.linalg.solve(equations, [0, -m * G, 0])
    return float(found[0]), found[1:]


@pytest.mark.parametrize(("floor", "wall"), FRICTIONS)
def test_a_ladder_at_rest_stays_or_slides(floor: float, wall: float) -> None:
    """It stays if tan θ ≥ (1 − μ₁ μ₂)/(2 μ₁), and slides by the equations of momentum if not."""
    dynamics = dynamics_of(ladder(floor, wall))
    for angle in (0.3, 0.6, 0.8, 1.0, 1.2, 1.4):
        q = np.array([np.cos(angle), np.sin(angle), np.pi - angle])
        now = dynamics.at(0.0, q, np.zeros(3), np.zeros(3))
        mode = choose_mode(now, ModeCase((0, 1)))
        stays = bool(np.tan(angle) >= (1 - floor * wall) / (2 * floor))
        frictional = [i for i in (0, 1) if dynamics.rows.unilaterals[i].slip]
        assert mode.resting == (0, 1)
        assert sorted(mode.grip) == (frictional if stays else [])
        found = solve_mode_forces(now, mode)
        turns, normal = sliding_ladder(angle, floor, wall)
        c, s = np.cos(angle), np.sin(angle)
        expected = np.zeros(3) if stays else turns * np.array([-s, c, -1])
        np.testing.assert_allclose(found.held.qdd, expected, atol=1e-10)
        if not stays:
            assert [found.normal[i] for i in (0, 1)] == pytest.approx(normal)


def test_a_ladder_slides_from_rest() -> None:
    run = lw.simulate(ladder(0.2, 0.1), 0.1, q0=[np.cos(0.8), np.sin(0.8), np.pi - 0.8], samples=3)
    assert run.finished
    assert run.statistics["compiled"] == 1
    assert -run.qdd[0, 2] == pytest.approx(sliding_ladder(0.8, 0.2, 0.1)[0])
    assert run.audit < 1e-9


FEET = [(x, y) for x in (0.5, -0.5) for y in (0.3, -0.3)]
HEIGHT, INERTIA = 1.0, (0.4, 0.5, 0.6)


@cache
def high_table(mu: float, ratio: float = 1.0) -> Dynamics:
    """A table of 3 kg whose centre of mass is 1 m above the floor."""
    mechanism = lw.Mechanism(
        name="high table", bodies={"top": {"mass": 3, "inertia": list(INERTIA)}},
        joints={"f": {"type": "free", "child": "top", "origin": [0, 0, HEIGHT]}},
        frames={f"l{k}": {"body": "top", "origin": [*at, -HEIGHT]} for k, at in enumerate(FEET)},
        contacts={f"c{k}": {"point": f"l{k}", "friction": mu, "restitution": 0,
                            "static_ratio": ratio} for k in range(4)},
    )  # fmt: skip
    return dynamics_of(mechanism)


def pushed_table(mu: float, force: tuple[float, float], ratio: float = 1.0) -> Mode:
    """The mode of a table at rest that is pushed at its centre of mass, in the joint's axes."""
    dynamics = high_table(mu, ratio)
    tau = np.zeros(6)
    tau[3:5] = force
    q = dynamics.model.home()
    return choose_mode(dynamics.at(0.0, q, np.zeros(6), tau), ModeCase((0, 1, 2, 3)))


@pytest.mark.parametrize(
    ("force", "resting"), [((14.7, 0), 4), ((14.72, 0), 2), ((0, 8.82), 4), ((0, 8.84), 2)]
)
def test_a_pushed_table_tips(force: tuple[float, float], resting: int) -> None:
    """At its centre of mass, 1 m up, it tips if the force exceeds its weight times 0.5 or 0.3."""
    mode = pushed_table(0.8, force)
    assert len(mode.resting) == resting
    assert mode.grip == frozenset(mode.resting)


@pytest.mark.parametrize(("share", "slides"), [(0.999, False), (1.001, True)])
def test_a_pushed_table_slides(share: float, slides: bool) -> None:
    """Static friction is 1.2 · 0.2 of its weight; all four feet slide along the force."""
    size = share * 1.2 * 0.2 * 3 * G
    mode = pushed_table(0.2, (0.6 * size, 0.8 * size), 1.2)
    assert mode.resting == (0, 1, 2, 3)
    assert not mode.grip if slides else mode.grip == {0, 1, 2, 3}
    for _, direction in mode.toward:
        assert direction == pytest.approx((0.6, 0.8), abs=1e-9)


def test_friction_tips_a_sliding_table() -> None:
    """It slides along y on its front feet, with N (1/m + y²/I − μ y h/I) = g. At μ = 0.8 the left
    side is negative, and there is no solution: Painlevé's paradox."""
    qd = np.zeros(6)
    qd[4] = 2.0
    for mu in (0.6, 0.8):
        dynamics = high_table(mu)
        now = dynamics.at(0.0, dynamics.model.home(), qd, np.zeros(6))
        softness = 1 / 3 + (0.3**2 - mu * 0.3 * HEIGHT) / INERTIA[0]
        if softness < 0:
            with pytest.raises(NoSolutionError, match="no solution"):
                choose_mode(now, ModeCase((0, 1, 2, 3)))
            continue
        mode = choose_mode(now, ModeCase((0, 1, 2, 3)))
        assert mode.resting == (0, 2)
        found = solve_mode_forces(now, mode)
        assert sum(found.normal.values()) == pytest.approx(G / softness)
        assert found.held.qdd[4] == pytest.approx(-mu * G / softness / 3)
