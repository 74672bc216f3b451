"""Runs in compiled code are the runs that Python makes step by step."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.readings.llvm.code_table import LOADED_CODES
from linkwright.simulation import Event, simulator
from linkwright.simulation.compiled_run import CompiledRun

FOUR_BAR = {"q0": {"theta1": 1.0}, "qd0": {"theta1": 2.0}}
SWING = {"q0": [1.0, 0.5, -0.3]}
TABLE = ([0, 0.3, 0.8, 2], [0, 1, -1, 0])

CASES: list[tuple[str, float, dict[str, Any]]] = [
    ("triple-pendulum", 2.0, SWING),
    ("triple-pendulum", 1.0, {**SWING, "integrator": "rk45", "rtol": 1e-7, "atol": 1e-8}),
    ("triple-pendulum", 0.5, {**SWING, "by": "hamilton"}),
    ("triple-pendulum", 0.5, {**SWING, "by": "newton_euler"}),
    ("triple-pendulum", 1.0, {**SWING, "max_step": 0.01}),
    ("four-bar", 2.0, FOUR_BAR),
    ("four-bar", 1.0, {**FOUR_BAR, "stabilization": "baumgarte"}),
    ("bricard", 2.0, {}),
    ("rolling-disk", 1.0, {}),
    ("elbow", 2.0, {"torque": {"q1": "2*sin(t) - 3*dq1", "q2": TABLE}}),
    ("elbow", 1.0, {"q0": {"q1": 1.0}, "torque": {"q1": (*TABLE, "cubic")}}),
]


def stepwise(monkeypatch: pytest.MonkeyPatch, *given: Any, **options: Any) -> lw.simulation.Run:
    """The same run, made by the loop in Python."""
    with monkeypatch.context() as patch:
        patch.setattr(simulator, "find_obstacle", lambda *_: "a test")
        return lw.simulate(*given, **options)


@pytest.mark.parametrize(("name", "t", "options"), CASES)
def test_compiled_runs_are_those_of_python(
    monkeypatch: pytest.MonkeyPatch, name: str, t: float, options: dict[str, Any]
) -> None:
    mechanism = lw.gallery(name)
    run = lw.simulate(mechanism, t, samples=51, **options)
    peer = stepwise(monkeypatch, mechanism, t, samples=51, **options)
    assert (run.statistics["compiled"], peer.statistics["compiled"]) == (1, 0)
    assert run.finished
    scale = 1 + np.abs(peer.qd).max()
    tolerance = 1e3 * options.get("rtol", 1e-9)
    np.testing.assert_allclose(run.q, peer.q, atol=0.1 * tolerance)
    np.testing.assert_allclose(run.qd, peer.qd, atol=tolerance * scale)
    np.testing.assert_allclose(run.work, peer.work, atol=tolerance * (1 + np.ptp(peer.work)))
    assert run.closure.max() <= max(1e-11, 2 * peer.closure.max())
    assert abs(run.statistics["steps"] - peer.statistics["steps"]) <= 1
    assert run.statistics["largest_kinetic_energy"] == pytest.approx(
        peer.statistics["largest_kinetic_energy"], rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize(
    "events",
    [
        {"low": "theta1 - 0.1", "turns": {"when": "dtheta2", "direction": "rising"}},
        {"low": {"when": "theta1 + 0.2", "action": "stop"}},
        {"wall": Event("theta1 - 0.5", {"dtheta1": "-0.8*dtheta1"}, "falling")},
        {"often": "sin(60*t) - 0.3", "dips": "(t - 0.7)*(t - 0.7) - 0.0000001"},
        {"one": "theta1 - 0.1", "same": "0.1 - theta1", "starts": "theta1 - 1", "begins": "t"},
    ],
)
def test_compiled_events_are_those_of_python(
    monkeypatch: pytest.MonkeyPatch, events: dict[str, Any]
) -> None:
    mechanism = lw.gallery("triple-pendulum")
    run = lw.simulate(mechanism, 2.0, events=events, samples=51, **SWING)
    peer = stepwise(monkeypatch, mechanism, 2.0, events=events, samples=51, **SWING)
    assert (run.statistics["compiled"], peer.statistics["compiled"]) == (1, 0)
    assert [(e.name, e.what) for e in run.events] == [(e.name, e.what) for e in peer.events]
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in peer.events], atol=1e-11)
    assert run.events
    assert len(run.t) == len(peer.t)
    assert run.status.split("t =")[0] == peer.status.split("t =")[0]
    np.testing.assert_allclose(run.q, peer.q, atol=1e-8)


def test_events_of_free_fall_have_their_closed_form() -> None:
    stone = lw.load(
        "name = 'stone'\ngravity = [0, 0, -9.81]\n[bodies.b]\nmass = 2\n[joints.z]\n"
        "type = 'prismatic'\nchild = 'b'\naxis = [0, 0, 1]\n"
    )
    heights = [0.3, 0.5, -2.0]
    events: dict[str, Any] = {f"at {h}": f"z - {h}" for h in heights}
    events |= {"ticks": "sin(200*t)", "ground": {"when": "z + 5", "action": "stop"}}
    run = lw.simulate(stone, 2.0, qd0={"z": 4.0}, events=events, max_step=0.005, samples=11)
    g, v = 9.81, 4.0
    end = (v + np.sqrt(v * v + 2 * g * 5)) / g
    for h in heights:
        roots = [(v + sign * np.sqrt(v * v - 2 * g * h)) / g for sign in (-1, 1)]
        found = [e.t for e in run.events if e.name == f"at {h}"]
        np.testing.assert_allclose(found, [t for t in roots if t > 0], rtol=1e-13)
    ticks = np.pi / 200 * np.arange(1, int(200 * end / np.pi) + 1)
    assert len(ticks) > 64  # more than the log of the program holds
    found = [e.t for e in run.events if e.name == "ticks"]
    np.testing.assert_allclose(found, ticks, rtol=1e-13)
    assert run.statistics["compiled"] == 1
    assert run.t[-1] == pytest.approx(end, rel=1e-13)
    assert [e.t for e in run.events] == sorted(e.t for e in run.events)


@pytest.mark.parametrize(
    "reference", [[0.3, -0.2], lambda t: ([0.3 * t, 0.1], [0.3, 0.0], [0.0, 0.0])]
)
def test_sampled_controllers_act_between_compiled_steps(
    monkeypatch: pytest.MonkeyPatch, reference: Any
) -> None:
    """Their reference may be a Python function: it is called only where they act."""
    arm = lw.gallery("elbow")
    law = lw.control.pid(arm, reference, 40, 30, 5, period=0.01)
    events = {"passes": "q1 - 0.1"}
    run = lw.simulate(arm, 0.5, torque=law, events=events, samples=26)
    peer = stepwise(monkeypatch, arm, 0.5, torque=law, events=events, samples=26)
    assert (run.statistics["compiled"], peer.statistics["compiled"]) == (1, 0)
    np.testing.assert_allclose(run.q, peer.q, atol=1e-11)
    np.testing.assert_allclose(run.tau, peer.tau, atol=1e-8)
    assert list(run.control) == list(peer.control)
    for name, states in peer.control.items():
        np.testing.assert_allclose(run.control[name], states, atol=1e-10)
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in peer.events], rtol=1e-10)


def test_a_sampled_controller_has_the_closed_form_of_its_recursion() -> None:
    """With a force that is held, a mass moves on a parabola from instant to instant."""
    slide = lw.load(
        "name = 'slide'\n[bodies.b]\nmass = 2\n[joints.x]\ntype = 'prismatic'\nchild = 'b'\n"
        "axis = [1, 0, 0]\n"
    )
    law, h = lw.control.pid(slide, [0.0], 9, 0, 3, period=0.05), 0.05
    run = lw.simulate(slide, 1.0, q0=[0.7], torque=law, samples=21)
    assert run.statistics["compiled"] == 1
    x, v = 0.7, 0.0
    for k in range(20):
        assert run.q[k, 0] == pytest.approx(x, abs=1e-12)
        a = (-9 * x - 3 * v) / 2
        x, v = x + h * v + h * h * a / 2, v + h * a


def test_limits_end_compiled_runs() -> None:
    limited = lw.load(
        "name = 'arm'\n[bodies.a]\nmass = 1\ncenter = [0.5, 0, 0]\n[joints.q]\ntype = 'revolute'\n"
        "child = 'a'\naxis = [0, 1, 0]\nlimits = { lower = -0.2, upper = 1.0 }\n"
    )
    run = lw.simulate(limited, 3.0)
    assert "the limit 'q upper' is reached" in run.status
    assert run.statistics["compiled"] == 1
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-9)


def test_what_needs_python_says_so() -> None:
    arm = lw.gallery("elbow")
    by_function = lw.simulate(arm, 0.1, torque=lambda t, q, qd: [0.0, 0.0], samples=3)
    by_event = lw.simulate(arm, 0.1, events={"up": lambda t, q, qd: q[0] - 1}, samples=3)
    assert by_function.statistics["compiled"] == by_event.statistics["compiled"] == 0


def test_singular_configurations_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    bars = lw.gallery("n-four-bar")
    first = lw.compile(bars).names.q[0]
    options: dict[str, Any] = {"q0": {first: 1.2}, "qd0": {first: -2.0}, "samples": 11}
    run = lw.simulate(bars, 2.0, **options)
    peer = stepwise(monkeypatch, bars, 2.0, **options)
    assert 0 < run.statistics["compiled"] < 1  # Python goes on from the first of them
    np.testing.assert_allclose(run.q, peer.q, atol=1e-7)
    assert run.singular == pytest.approx(peer.singular, abs=1e-3)  # other steps, to 1/200 of them


def test_ctrl_c_keeps_the_part_up_to_there(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, calls = CompiledRun.go_on, []

    def interrupted(self: CompiledRun) -> None:
        calls.append(self.t)
        if len(calls) == 3:
            raise KeyboardInterrupt
        go_on(self)

    monkeypatch.setattr(CompiledRun, "go_on", interrupted)
    monkeypatch.setattr("linkwright.simulation.trajectory_records.INSTRUCTIONS_PER_CALL", 0)
    run = lw.simulate(lw.gallery("triple-pendulum"), 50.0, samples=5001, **SWING)
    assert run.interrupted
    assert run.t[-1] == pytest.approx(calls[-1])
    assert 0 < run.t[-1] < 50
    assert run.audit < 1e-6


def test_later_runs_load_no_code() -> None:
    mechanism = lw.gallery("four-bar")
    lw.simulate(mechanism, 0.1, **FOUR_BAR)
    before = len(LOADED_CODES)
    for k in range(20):
        lw.simulate(mechanism, 0.1, q0={"theta1": 1 + 0.01 * k})
    assert len(LOADED_CODES) == before


def test_ctrl_c_behind_an_untreated_event_goes_back_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What lies behind an event that would have changed the state is not part of the motion."""

    def interrupted(self: CompiledRun) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(CompiledRun, "treat_event", interrupted)
    wall = Event("q1 - 0.2", {"dq1": "-dq1"}, "falling")
    run = lw.simulate(
        lw.gallery("elbow"), 1.0, q0={"q1": 0.5}, qd0={"q1": -3.0}, events={"wall": wall}
    )
    assert run.interrupted
    assert run.q[:, 0].min() >= 0.2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_many_runs_of_many_mechanisms_keep_no_code_images() -> None:
    """More mechanisms than stay prepared: their code is freed, and loaded again."""
    arm = lw.gallery("elbow")
    arms = [arm.with_parameters(m1=1 + k / 50) for k in range(50)]

    def simulate_all() -> int:
        for one in arms:
            lw.simulate(one, 0.01, q0={"q1": 0.3}, samples=3)
        gc.collect()
        return Path("/proc/self/maps").read_text().count("\n")

    simulate_all()
    first = simulate_all()
    assert max(simulate_all() for _ in range(3)) <= first + 5


def test_what_simulations_keep_is_bounded() -> None:
    arm = lw.gallery("elbow")
    for k in range(20):
        lw.simulate(arm, 0.01, events={"passes": f"q1 - {k}"}, samples=3)
    kept = simulator.prepare_simulation(arm, "recursive", None, "projection")
    assert len(kept.programs) <= 8
    assert len(kept.event_parts_by_settings) <= 8


def test_actuators_of_a_motion_without_inputs_do_nothing() -> None:
    run = lw.simulate(lw.gallery("stewart"), 0.05, samples=3)
    assert run.u is not None
    assert run.u.shape == (3, 6)
    assert not run.u.any()
