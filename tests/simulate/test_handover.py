"""Where compiled code cannot go on, Python goes on from the last good state: nothing happens twice.

Windows in a row (IFToMM's A02) have a closed form, and are singular where they are flat.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

import linkwright as lw
from linkwright.integrators import Progress, StopReason
from linkwright.simulation import Event, compiled_part, simulator
from linkwright.simulation.compiled_run import CompiledRun
from linkwright.simulation.events.event_parts import EventParts
from linkwright.simulation.integration_loop import IntegrationLoop
from linkwright.simulation.trajectory_records import TrajectoryRecords
from tests.simulate.known import n_four_bar

WINDOWS = lw.gallery("n-four-bar-2")
FALLING: dict[str, Any] = {"qd0": {"theta0": -1.0}, "samples": 51}
FLAT = float(brentq(lambda t: n_four_bar(2, np.array([t]))[0, 1], 0.6, 0.8, xtol=1e-14))
"""When the windows are flat first, s."""

BOUNCER = lw.load(
    "name = 'bouncer'\ngravity = [0, 0, -9.81]\n[bodies.b]\nmass = 2\n[joints.z]\n"
    "type = 'prismatic'\nchild = 'b'\naxis = [0, 0, 1]\n"
    "limits = { lower = 0.0, restitution = 0.0 }\n"
)
SLIDE = lw.load(
    "name = 'slide'\n[bodies.b]\nmass = 2\n[joints.x]\ntype = 'prismatic'\nchild = 'b'\n"
    "axis = [1, 0, 0]\n"
)


def assert_exact(run: lw.simulation.Run, atol: float = 1e-8) -> None:
    """The windows move as their closed form."""
    tips = np.array([np.cos(run.q[:, ::2]), np.sin(run.q[:, ::2])])
    wanted = n_four_bar(2, run.t).T[:, :, None]
    np.testing.assert_allclose(tips, np.broadcast_to(wanted, tips.shape), atol=atol)


def stepwise(monkeypatch: pytest.MonkeyPatch, *given: Any, **options: Any) -> lw.simulation.Run:
    """The same run, made by the loop in Python."""
    with monkeypatch.context() as patch:
        patch.setattr(simulator, "find_obstacle", lambda *_: "a test")
        return lw.simulate(*given, **options)


def test_python_goes_on_at_a_singular_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    run = lw.simulate(WINDOWS, 1.0, **FALLING)
    peer = stepwise(monkeypatch, WINDOWS, 1.0, **FALLING)
    assert run.finished
    assert 0 < run.statistics["compiled"] < 1
    assert_exact(run)
    assert run.singular == pytest.approx([FLAT], abs=1e-3)
    assert np.ptp(run.energy) < 1e-8 * run.kinetic.max()
    assert abs(run.statistics["steps"] - peer.statistics["steps"]) <= 3
    assert run.statistics["largest_kinetic_energy"] >= run.kinetic.max()


def test_compiled_code_goes_on_after_every_singular_configuration() -> None:
    """Events before, between and after the crossings of three seconds are met once each."""
    run = lw.simulate(
        WINDOWS, 3.0, qd0={"theta0": -1.0}, samples=61, events={"level": "sin(theta0)"}
    )
    assert run.finished
    assert run.statistics["compiled"] > 0.8
    assert "singular configuration" in str(run.statistics["why_in_python"])
    assert_exact(run, 3e-8)
    heights = n_four_bar(2, np.linspace(0, 3, 3001))[:, 1]
    assert len(run.singular) == np.count_nonzero(np.diff(np.sign(heights)))
    np.testing.assert_allclose([event.t for event in run.events], run.singular, atol=1e-3)


def stuck(t: float, q: np.ndarray, qd: np.ndarray) -> list[float]:
    return [0.0]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"torque": stuck}, "an input is a Python function"),
        ({"integrator": "radau"}, "'radau' is not compiled"),
        ({"events": {"late": lambda t, q, qd: t - 0.5}}, "the event 'late' is a Python function"),
    ],
)
def test_statistics_say_why_a_run_was_made_in_python(options: dict[str, Any], reason: str) -> None:
    run = lw.simulate(SLIDE, 0.1, samples=3, **options)
    assert run.statistics["compiled"] == 0
    assert reason in str(run.statistics["why_in_python"])
    assert "why_in_python" not in lw.simulate(SLIDE, 0.1, samples=3).statistics


def test_actions_are_called_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before and after the singular configuration, in both parts of the run."""
    calls: list[float] = []

    def act(t: float, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        calls.append(t)
        return q, qd

    events = {
        "before": Event("theta0 - 1.2", act),
        "after": Event("theta0 + 0.4", act),
        "noted": "theta0 - 1",
    }
    run = lw.simulate(WINDOWS, 1.0, events=events, **FALLING)
    assert 0 < run.statistics["compiled"] < 1
    times = {event.name: event.t for event in run.events}
    assert [event.name for event in run.events] == ["before", "noted", "after"]
    assert calls == [times["before"], times["after"]]
    for name, angle in (("before", 1.2), ("noted", 1.0), ("after", -0.4)):
        x, y = n_four_bar(2, np.array([times[name]]))[0]
        assert np.arctan2(y, x) == pytest.approx(angle, abs=1e-8)
    assert_exact(run)


def test_an_action_that_fails_ends_the_run_at_its_first_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[float] = []

    def fail(t: float, q: np.ndarray, qd: np.ndarray) -> None:
        calls.append(t)
        raise lw.LinkwrightError("the brake is broken")

    options: dict[str, Any] = {"qd0": [1.0], "events": {"a": Event("x - 0.35", fail)}}
    run = lw.simulate(SLIDE, 1.0, samples=11, **options)
    assert calls == pytest.approx([0.35], rel=1e-13)
    peer = stepwise(monkeypatch, SLIDE, 1.0, samples=11, **options)
    assert run.status == peer.status
    assert "t = 0.35 s" in run.status
    np.testing.assert_allclose(run.t, peer.t, rtol=1e-13)
    np.testing.assert_allclose(run.q[:, 0], run.t, atol=1e-13)


def test_a_sampled_controller_acts_once_at_an_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[float] = []
    nv = lw.compile(WINDOWS).nv

    def reference(t: float) -> tuple[np.ndarray, ...]:
        calls.append(float(t))
        return np.zeros(nv), np.zeros(nv), np.zeros(nv)

    law = lw.control.pid(WINDOWS, reference, 0, 0, [0.5] + [0] * (nv - 1), period=0.1)
    calls.clear()
    run = lw.simulate(WINDOWS, 1.0, torque=law, **FALLING)
    assert 0 < run.statistics["compiled"] < 1
    np.testing.assert_allclose(calls, 0.1 * np.arange(10), atol=1e-12)
    peer = stepwise(monkeypatch, WINDOWS, 1.0, torque=law, **FALLING)
    np.testing.assert_allclose(run.q, peer.q, atol=1e-7)
    np.testing.assert_allclose(run.tau, peer.tau, atol=1e-6)


def test_a_sampled_controller_that_fails_ends_the_run_at_its_first_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[float] = []

    def reference(t: float) -> tuple[list[float], ...]:
        calls.append(float(t))
        if t > 0.25:
            raise lw.LinkwrightError("the sensor is lost")
        return [0.0], [0.0], [0.0]

    law = lw.control.pid(SLIDE, reference, 9, 0, 3, period=0.1)
    calls.clear()
    run = lw.simulate(SLIDE, 1.0, q0=[0.7], torque=law, samples=11)
    np.testing.assert_allclose(calls, [0.0, 0.1, 0.2, 0.3], rtol=1e-12)
    peer = stepwise(monkeypatch, SLIDE, 1.0, q0=[0.7], torque=law, samples=11)
    assert run.status == peer.status
    np.testing.assert_allclose(run.t, peer.t, rtol=1e-12)
    np.testing.assert_allclose(run.q, peer.q, atol=1e-12)
    np.testing.assert_allclose(run.tau, peer.tau, atol=1e-11)


@pytest.mark.parametrize("height", [0.5, 0.0])
def test_a_mode_without_expressions_is_left_to_python(
    monkeypatch: pytest.MonkeyPatch, height: float
) -> None:
    """What falls onto a stop rests there; the impact happens once, also if it is the start."""
    monkeypatch.setattr(EventParts, "mode_functions", None)
    options: dict[str, Any] = {"q0": [height], "events": {"low": "z - 0.1"}, "samples": 61}
    run = lw.simulate(BOUNCER, 0.6, **options)
    assert run.finished
    fall = np.sqrt(2 * height / 9.81)
    np.testing.assert_allclose(
        run.q[:, 0], np.where(run.t < fall, height - 9.81 / 2 * run.t**2, 0.0), atol=1e-12
    )
    assert run.pushes is not None
    np.testing.assert_allclose(run.pushes[:, 0], np.where(run.t < fall, 0.0, 2 * 9.81), atol=1e-9)
    if height:
        assert 0 < run.statistics["compiled"] < 1
        peer = stepwise(monkeypatch, BOUNCER, 0.6, **options)
        happened = [(event.name, event.what) for event in run.events]
        assert happened == [(event.name, event.what) for event in peer.events]
        assert [name for name, _ in happened] == ["low", "z lower", "z lower"]
        assert run.events[1].t == pytest.approx(fall, rel=1e-12)
    else:
        assert run.statistics["compiled"] == 0


@pytest.mark.parametrize("reason", [StopReason.NOT_CLOSED, StopReason.SIGNAL_LOST])
def test_an_unsound_step_is_not_part_of_the_motion(
    monkeypatch: pytest.MonkeyPatch, reason: StopReason
) -> None:
    """Python goes on from before the call that made it; what the call noted is noted once."""
    advance, calls = TrajectoryRecords.advance, []

    def spoiled(self: TrajectoryRecords, *given: Any) -> None:
        advance(self, *given)
        calls.append(self.y.copy())
        if len(calls) == 3:
            self.y += 1.0
            self.progress[:, Progress.REASON] = reason

    monkeypatch.setattr(TrajectoryRecords, "advance", spoiled)
    monkeypatch.setattr("linkwright.simulation.trajectory_records.INSTRUCTIONS_PER_CALL", 0)
    events = {"ticks": "sin(100*t)"}
    run = lw.simulate(
        SLIDE, 2.0, q0=[1.0], torque={"x": "-8*x"}, events=events, max_step=0.01, samples=41
    )
    assert len(calls) == 5  # compiled code goes on after eight steps in Python
    assert run.finished
    assert 0 < run.statistics["compiled"] < 1
    np.testing.assert_allclose(run.q[:, 0], np.cos(2 * run.t), atol=1e-9)
    ticks = np.pi / 100 * np.arange(1, 64)
    np.testing.assert_allclose([event.t for event in run.events], ticks, rtol=1e-11)


def test_ctrl_c_in_python_keeps_both_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    step, calls = IntegrationLoop._step, []

    def interrupted(self: IntegrationLoop, times: np.ndarray) -> str | None:
        calls.append(self.stepper.t)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return step(self, times)

    monkeypatch.setattr(IntegrationLoop, "_step", interrupted)
    run = lw.simulate(WINDOWS, 1.0, **FALLING)
    assert run.interrupted
    assert run.t[0] == 0
    assert run.t[-1] == calls[-1]
    assert (np.diff(run.t) > 0).all()
    assert_exact(run)


def test_samples_are_projected_by_singular_values_where_elimination_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trajectory = CompiledRun.trajectory

    def with_gaps(self: CompiledRun) -> Any:
        found = trajectory(self)
        found.states[:, 3:5] = np.nan
        return found

    monkeypatch.setattr(CompiledRun, "trajectory", with_gaps)
    run = lw.simulate(WINDOWS, 0.3, qd0={"theta0": -1.0}, samples=11)
    assert run.statistics["compiled"] == 1
    assert_exact(run)
    assert run.closure.max() < 1e-12


def test_an_input_that_is_not_finite_at_a_sample_ends_the_run_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options: dict[str, Any] = {"torque": {"x": "sin(t - 0.5)/(t - 0.5)"}, "samples": 5}
    run = lw.simulate(SLIDE, 1.0, events={"half": "t - 0.6"}, **options)
    peer = stepwise(monkeypatch, SLIDE, 1.0, events={"half": "t - 0.6"}, **options)
    assert run.status.split(": ", 1)[1] == peer.status.split(": ", 1)[1]
    assert run.t.tolist() == [0.0, 0.25]
    assert not run.events


def test_programs_without_sources_are_left_to_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: TrajectoryRecords, *_: Any) -> None:
        raise OSError("sources were removed")

    monkeypatch.setattr(compiled_part.TrajectoryRecords, "advance", lost)
    run = lw.simulate(SLIDE, 1.0, qd0=[1.0], samples=11)
    assert run.statistics["compiled"] == 0
    assert "cannot be read: sources were removed" in str(run.statistics["why_in_python"])
    np.testing.assert_allclose(run.q[:, 0], run.t, atol=1e-13)


def test_runs_of_an_ensemble_that_repeat_are_handed_over() -> None:
    """One of the runs stays upright, the other one becomes flat."""
    found = lw.simulate(WINDOWS, 1.0, qd0={"theta0": np.array([0.0, -1.0])}, samples=11)
    assert found["compiled"].values.tolist() == [True, False]
    assert set(found["status"].values) == {"finished"}
    q = found["q"].values[1]
    wanted = n_four_bar(2, np.linspace(0, 1, 11))
    np.testing.assert_allclose(np.cos(q[:, 0]), wanted[:, 0], atol=1e-8)
    np.testing.assert_allclose(np.sin(q[:, 0]), wanted[:, 1], atol=1e-8)
