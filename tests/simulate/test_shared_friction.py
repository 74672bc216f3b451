"""Joints that bear a load together, as those of a loop: their mode against virtual power by hand."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import linkwright as lw
from linkwright.simulation.events.friction_problem import FrictionProblem
from linkwright.simulation.events.load_sharing import find_holders
from linkwright.types import Floats

SEEDS = range(12)


def test_entries_after_contacts_may_be_negative() -> None:
    """Independent entries are −u/w within their limits; one contact first, which stays open."""
    W, u = np.diag([1.0, 1.0, 1.0, 2.0, 2.0, 5.0]), np.array([1.0, 0, 0, 3.0, 3.0 - 1e-6, 40.0])
    W[3, 4] = W[4, 3] = 2.0 - 1e-6
    p = FrictionProblem(W, u, np.array([0.3]), np.array([10.0, 10.0, 1.0])).solve()
    pair = np.linalg.solve(W[3:5, 3:5], -u[3:5])
    np.testing.assert_allclose(p, [0, 0, 0, *pair, -1.0], atol=1e-6)


def test_stops_carry_what_they_can_before_friction() -> None:
    """A stop and friction of one coordinate: a push toward the stop is the stop's, one away from it
    is borne by friction."""
    R = np.array([[1.0], [0.0], [0.0], [1.0]])
    for push, expected in ((-3.0, [3.0, 0.0]), (3.0, [0.0, -3.0])):
        problem = FrictionProblem(R @ R.T, R[:, 0] * push, np.zeros(1), np.array([5.0]))
        p = problem.solve(problem.least_forces())
        np.testing.assert_allclose(p[[0, 3]], expected, atol=1e-9)


def test_holders_are_independent_and_have_most_room() -> None:
    """Rows of two freedoms: the second row has less room than the others, the last is held."""
    R = np.array([[1.0, 0], [1.0, 0], [1.0, 1.0], [0, 2.0]])
    assert find_holders(R @ R.T, [], {0: 0.5, 1: 0.2, 2: 0.9}) == [2, 0]
    assert find_holders(R @ R.T, [3], {0: 0.5, 1: 0.2, 2: 0.9}) == [2]


def four_bar(seed: int) -> tuple[lw.Mechanism, Floats]:
    """A four-bar with friction in its three joints, and the limits of these."""
    rng = np.random.default_rng(seed)
    lengths, origins = [0.3, 0.8, 0.6], [[0, 0, 0], [0.3, 0, 0], [0.9, 0, 0]]
    limits, sizes = rng.uniform(0.2, 4, 3), rng.uniform(0, 8, 3) * [1, rng.random() < 0.5, 1]
    gravity = [float(rng.normal()), -6.0, 0.0]
    bodies = {
        f"b{k}": {"mass": float(rng.uniform(0.3, 2)), "center": [lengths[k] / 2, 0, 0],
                  "inertia": [0.01, 0.02, 0.03]}
        for k in range(3)
    }  # fmt: skip
    joints = {
        f"j{k}": {"type": "revolute", "parent": parent, "child": f"b{k}", "axis": [0, 0, 1],
                  "origin": origins[k], "friction": float(limits[k])}
        for k, parent in enumerate(["ground", "b0", "ground"])
    }  # fmt: skip
    forces = {
        f"f{k}": {"type": "joint", "on": f"j{k}",
                  "force": f"{sizes[k]:.6g}*sin({rng.uniform(2, 9):.3g}*t + {rng.uniform(0, 3):.3g})"}
        for k in range(3)
    }  # fmt: skip
    loop = {"type": "revolute", "parent": "b1", "child": "b2",
            "origin": [0.8, 0, 0], "child_origin": [0.6, 0, 0]}  # fmt: skip
    mechanism = lw.Mechanism(
        name="four-bar", gravity=gravity, bodies=bodies, joints=joints, forces=forces,
        loops={"pin": loop}, assembly={"j0": 1.2, "j1": -0.7, "j2": 1.7},
    )  # fmt: skip
    return mechanism, limits


@pytest.mark.parametrize("seed", SEEDS)
def test_loops_slide_where_their_friction_cannot_bear_the_load(seed: int) -> None:
    """Along the only motion v that the loop allows, friction bears any power up to Σ limit |v|. At
    rest the load has less; where a slide begins from rest, the load has just that."""
    mechanism, limits = four_bar(seed)
    model = lw.compile(mechanism.without("friction"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = lw.simulate(mechanism, 1.5, samples=301, rtol=1e-10, atol=1e-11)
    assert run.finished
    assert run.audit < 1e-8

    def load(t: float, q: Floats) -> float:
        """The power of the load as a share of what friction can bear."""
        v = np.linalg.svd(np.asarray(model.constraint_jacobian(q, t)))[2][-1]
        return float(abs(model.bias(q, np.zeros(3), t) @ v) / (limits @ np.abs(v)))

    still = np.abs(run.qd).max(axis=1) < 1e-8
    still[0] = False  # it may begin to slide
    for t, q in zip(run.t[still], run.q[still], strict=True):
        assert load(t, q) <= 1 + 1e-6
    kinds: dict[float, set[str]] = {}
    for event in run.events:
        kinds.setdefault(event.t, set()).add(event.what)
    for t in (t for t, whats in kinds.items() if whats == {"slides"} and t > 0):
        k = int(np.searchsorted(run.t, t)) - 1
        if still[k]:
            assert load(t, run.q[k]) == pytest.approx(1, abs=1e-6)
