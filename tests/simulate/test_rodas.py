"""The compiled stiff integrator: closed forms, SciPy's Radau, loops, events, ensembles."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from linkwright.simulation import Run
from tests.random_trees import random_tree

STIFF = lw.Mechanism(
    name="stiff", parameters={"k": 1e6, "c": 2e3}, gravity=[0, "-9.81", 0],
    bodies={"a": {"mass": 1.0, "center": [0.5, 0, 0], "inertia": [0, 0, 0.1]},
            "b": {"mass": 0.5, "center": [0.5, 0, 0], "inertia": [0, 0, 0.05]}},
    joints={"q1": {"type": "revolute", "child": "a"},
            "q2": {"type": "revolute", "parent": "a", "child": "b", "origin": [1, 0, 0],
                   "stiffness": "k", "damping": "c"}},
)  # fmt: skip
"""A pendulum whose rod is nearly rigid: rates of 1e5 1/s beside those of a swing."""


def simulate_rodas(arm: lw.Mechanism, t: float, *start: object, **options: object) -> Run:
    return lw.simulate(arm, t, *start, integrator="rodas", **options)  # type: ignore[arg-type]


def test_an_overdamped_oscillator_has_its_closed_form() -> None:
    m, k, c = 1.0, 4e4, 1e4
    arm = lw.Mechanism(
        name="overdamped", gravity=[0, 0, 0], bodies={"b": {"mass": m}},
        joints={"x": {"type": "prismatic", "child": "b", "stiffness": k, "damping": c}},
    )  # fmt: skip
    run = simulate_rodas(arm, 1.0, [0.1], samples=11)
    root = np.sqrt(c * c / 4 - k * m)
    fast, slow = (-c / 2 - root) / m, k / (-c / 2 - root)
    exact = 0.1 * (fast * np.exp(slow * run.t) - slow * np.exp(fast * run.t)) / (fast - slow)
    np.testing.assert_allclose(run.q[:, 0], exact, atol=1e-9)
    assert run.statistics["compiled"] == 1
    assert run.statistics["steps"] < 300
    assert run.accounted


def test_a_stiff_pendulum_agrees_with_radau_in_few_steps() -> None:
    options = {"samples": 11, "rtol": 1e-8, "atol": 1e-10}
    run = simulate_rodas(STIFF, 1.0, [0.2, 0.0], **options)
    peer = lw.simulate(
        STIFF, 1.0, [0.2, 0.0], integrator="radau", samples=11, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(run.q, peer.q, atol=2e-8)
    np.testing.assert_allclose(run.qd, peer.qd, atol=2e-7)
    statistics = run.statistics
    assert statistics["jacobians"] == statistics["steps"] + statistics["rejected"]
    explicit = lw.simulate(STIFF, 0.1, [0.2, 0.0], samples=2, rtol=1e-6)
    assert 10 * explicit.statistics["steps"] > 20 * statistics["steps"]
    assert run.accounted


@pytest.mark.parametrize("seed", [3, 11])
def test_random_stiff_trees_agree_with_radau(seed: int) -> None:
    rng = np.random.default_rng(seed)
    kinds = [str(kind) for kind in rng.choice(["revolute", "prismatic", "universal", "ball"], 2)]
    arm = random_tree(seed, kinds, [0, 1], motors=False).mechanism
    joints = {
        name: joint.model_dump(exclude_unset=True)
        | (
            {}
            if joint.by_quaternion
            else {"stiffness": 1e4, "damping": float(rng.uniform(1e2, 1e3))}
        )
        for name, joint in arm.joints.items()
    }
    stiff = replace_part_fields(arm, joints=joints).without("friction")
    start = lw.compile(stiff).neutral()
    run = simulate_rodas(stiff, 0.5, start, samples=6, rtol=1e-8, atol=1e-9)
    peer = lw.simulate(stiff, 0.5, start, integrator="radau", samples=6, rtol=1e-9, atol=1e-11)
    assert run.statistics["compiled"] == 1
    np.testing.assert_allclose(run.q, peer.q, atol=1e-6)


def test_a_stiff_loop_stays_closed_and_agrees_with_radau() -> None:
    bars = lw.gallery("four-bar")
    joints = {name: joint.model_dump(exclude_unset=True) for name, joint in bars.joints.items()}
    joints["q2"] |= {"damping": 1e4}
    stiff = replace_part_fields(bars, joints=joints)
    run = simulate_rodas(stiff, 1.0, {"theta1": 1.0}, {"theta1": 2.0}, samples=11, rtol=1e-8)
    peer = lw.simulate(
        stiff, 1.0, {"theta1": 1.0}, {"theta1": 2.0}, integrator="radau", samples=11, rtol=1e-9
    )
    np.testing.assert_allclose(run.q, peer.q, atol=1e-7)
    assert run.closure.max() < 1e-12
    assert run.statistics["compiled"] == 1


def test_inputs_and_events_are_those_of_dop853() -> None:
    arm, options = lw.gallery("elbow"), {"samples": 11, "events": {"low": "q1 - 0.2"}}
    torque = {"q1": "2*sin(3*t) - dq1", "q2": ([0, 0.2, 0.5], [0.0, 1.0, 0.0])}
    run, peer = (
        lw.simulate(arm, 1.0, {"q1": 0.5}, torque=torque, integrator=name, **options)  # type: ignore[arg-type]
        for name in ("rodas", "dop853")
    )
    assert run.statistics["compiled"] == peer.statistics["compiled"] == 1
    np.testing.assert_allclose(run.q, peer.q, atol=1e-8)
    assert len(run.events) == len(peer.events) > 0
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in peer.events], atol=1e-9)


def test_functions_run_step_by_step() -> None:
    arm = lw.gallery("elbow")
    by_function = simulate_rodas(
        arm, 0.3, {"q1": 0.5}, torque=lambda t, q, qd: [2 * np.sin(t) - 3 * qd[0], 0.0], samples=4
    )
    by_text = simulate_rodas(arm, 0.3, {"q1": 0.5}, torque={"q1": "2*sin(t) - 3*dq1"}, samples=4)
    assert by_function.statistics["compiled"] == 0
    np.testing.assert_allclose(by_function.q, by_text.q, atol=1e-9)


def test_a_ball_bounces_step_by_step() -> None:
    run, peer = (
        lw.simulate(lw.gallery("bouncing-ball"), 1.0, integrator=name, samples=5)
        for name in ("rodas", "dop853")
    )
    np.testing.assert_allclose(run.q, peer.q, atol=1e-9)
    assert [e.name for e in run.events] == [e.name for e in peer.events]


def test_an_ensemble_of_stiff_runs_is_the_runs_alone() -> None:
    stiffness, angles = np.array([1e4, 1e5, 1e6]), np.array([0.1, 0.2, 0.3])
    found = lw.simulate(
        STIFF, 0.3, {"q1": angles, "q2": 0.0}, parameters={"k": stiffness}, integrator="rodas",
        samples=3,
    )  # fmt: skip
    assert set(found["status"].values) == {"finished"}
    for k in range(3):
        alone = simulate_rodas(
            STIFF.with_parameters(k=stiffness[k]), 0.3, [angles[k], 0.0], samples=3
        )
        np.testing.assert_allclose(found["q"].values[k], alone.q, atol=1e-10)


def test_a_run_of_an_ensemble_is_the_run_alone_bit_for_bit() -> None:
    starts = np.array([[0.1, 0.0], [0.2, 1e-3], [0.3, 0.0]])
    found = lw.simulate(STIFF, 0.3, starts, integrator="rodas", samples=3)
    for k in range(3):
        alone = simulate_rodas(STIFF, 0.3, starts[k], samples=3)
        np.testing.assert_array_equal(found["q"].values[k], alone.q)


def test_sensitivities_of_a_stiff_system() -> None:
    m, k, c = 1.0, 4e4, 1e4
    arm = lw.Mechanism(
        name="overdamped", parameters={"k": k}, gravity=[0, 0, 0], bodies={"b": {"mass": m}},
        joints={"x": {"type": "prismatic", "child": "b", "stiffness": "k", "damping": c}},
    )  # fmt: skip
    run = simulate_rodas(arm, 1.0, [0.1], samples=5, sensitivity=["k"])

    def motion(k: float) -> np.ndarray:
        root = np.sqrt(c * c / 4 - k * m)
        fast, slow = (-c / 2 - root) / m, k / (-c / 2 - root)
        return 0.1 * (fast * np.exp(slow * run.t) - slow * np.exp(fast * run.t)) / (fast - slow)

    exact = (motion(k + 1) - motion(k - 1)) / 2
    assert run.sensitivity is not None
    np.testing.assert_allclose(run.sensitivity["q"].values[:, 0, 0], exact, atol=1e-10)
