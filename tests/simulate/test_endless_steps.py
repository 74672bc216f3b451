"""An input that chatters ends a run in bounded time, with a status."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.simulation import endless_steps
from linkwright.simulation.steppers import sundials_stepper

CHATTER = {"q1": "-10*sign(dq1)"}


def test_a_chattering_input_ends_a_run_and_the_runs_of_an_ensemble(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(endless_steps, "CHECKED_STEPS", 20_000)
    arm = lw.gallery("elbow")
    run = lw.simulate(arm, 1.0, torque=CHATTER, samples=11)
    assert "the run would not end; smooth what jumps or chatters" in run.status
    assert run.statistics["compiled"] == 1
    assert 0 < run.t[-1] < 1e-3
    found = lw.simulate(arm, 1.0, q0={"q1": [0.0, 0.1]}, torque=CHATTER)
    assert all("the run would not end" in status for status in found["status"].values)
    assert np.isfinite(found["q_end"].values).all()
    assert (found["end_time"].values > 0).all()


def slide(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """A sliding mode in Python: no state near q̇₁ = 0 can follow it."""
    return np.array([-10 * np.sign(qd[0]), 0.0])


@pytest.mark.parametrize("integrator", ["dop853", "rk45", "rodas", "cvodes"])
def test_a_python_function_that_chatters_ends_a_run(
    monkeypatch: pytest.MonkeyPatch, integrator: str
) -> None:
    for module in (endless_steps, sundials_stepper):
        monkeypatch.setattr(module, "CHECKED_STEPS_IN_PYTHON", 200)
    arm = lw.gallery("elbow")
    run = lw.simulate(arm, 1.0, torque=slide, samples=11, integrator=integrator)
    assert run.status.startswith("stopped at t = ")
    assert ("smooth forces" if integrator == "cvodes" else "would not end; smooth") in run.status
    assert run.statistics["compiled"] == 0
    assert 0 <= run.t[-1] < 1e-3
    assert np.isfinite(run.q).all()


def test_fixed_steps_are_as_short_as_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless_steps, "CHECKED_STEPS_IN_PYTHON", 100)
    monkeypatch.setattr(endless_steps, "MAX_STEPS_IN_PYTHON", 100)
    options = {"torque": slide, "integrator": "euler", "step": 1e-3}
    assert lw.simulate(lw.gallery("elbow"), 0.5, samples=11, **options).finished


def test_many_steps_of_a_long_run_are_no_chatter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endless_steps, "CHECKED_STEPS", 1000)
    run = lw.simulate(lw.gallery("elbow"), 1000.0, q0={"q1": 0.5}, samples=3)
    assert run.status == "finished"
    assert run.statistics["steps"] > 10_000
