"""Statistics of runs: evaluations, Jacobians, rejected steps, counted by functions that count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.integrators import MotionFunctions, Progress, integrate_trajectories
from linkwright.integrators.trajectory_records import TrajectoryBuffers
from linkwright.readings.llvm import compile_tape
from linkwright.simulation.compiled_motion import METHODS, CompiledMotion
from linkwright.simulation.preparation import prepare_simulation
from linkwright.simulation.right_hand_side import RightHandSide
from linkwright.simulation.steppers import taylor_stepper
from linkwright.simulation.trajectory_records import NO_COLUMNS, TrajectoryRecords

JUMP = {"q1": "20*tanh(1000*(t - 0.1))"}
"""A drive that costs trials."""


@dataclass
class Counter:
    """A function that counts its calls."""

    function: Callable[..., Any]
    calls: int = 0

    def method(self) -> Callable[..., Any]:
        """The function as a method of a class."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.calls += 1
            return self.function(*arguments, **named)

        return call


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, Counter]:
    """Counters of all rates and Jacobians that Python evaluates."""
    found = {}
    for name in ("rates", "jacobian"):
        found[name] = Counter(getattr(RightHandSide, name))
        monkeypatch.setattr(RightHandSide, name, found[name].method())
    return found


@pytest.mark.parametrize(
    "integrator",
    ["dop853", "rk45", "radau", "bdf", "lsoda", "rodas", "rk4", "heun", "euler", "semi-implicit"],
)
def test_python_counts_what_it_evaluates(integrator: str, counted: dict[str, Counter]) -> None:
    """A Python function as drive keeps the run in Python; an event restarts it."""
    run = lw.simulate(
        lw.gallery("elbow"), 0.2, torque=lambda t, q, qd: [20 * np.tanh(1000 * (t - 0.1)), 0],
        integrator=integrator, samples=5, rtol=1e-5, atol=1e-6,
        events={"pass": lw.simulation.Event("q1 + 0.05", "record")},
    )  # fmt: skip
    found = run.statistics
    assert run.finished
    assert found["compiled"] == 0
    assert found["evaluations"] == counted["rates"].calls > 0
    assert found.get("jacobians", 0) == counted["jacobian"].calls


def test_minimal_coordinates_count_what_they_evaluate(counted: dict[str, Counter]) -> None:
    run = lw.simulate(lw.gallery("four-bar"), 0.1, coordinates="minimal", samples=3)
    assert run.statistics["evaluations"] == counted["rates"].calls > 0


@pytest.mark.parametrize("name", ["elbow", "four-bar"])
@pytest.mark.parametrize("integrator", METHODS)
def test_compiled_code_counts_what_it_evaluates(name: str, integrator: str) -> None:
    """The same program, run by Python on functions that count; a loop is projected."""
    arm = lw.gallery(name)
    drive = JUMP if name == "elbow" else {"tau1": JUMP["q1"]}
    rhs = prepare_simulation(arm, "recursive", drive, "projection").rhs
    motion, times = CompiledMotion(rhs, integrator, None), np.linspace(0, 0.15, 4)
    start = lw.assemble(arm) if name == "four-bar" else np.zeros(2)
    y = rhs.space.start(start, np.zeros(rhs.names.nv))
    options = {"rtol": 1e-5, "atol": 1e-6, "max_step": np.inf}
    records, only = TrajectoryRecords(motion, times, y[None], options), np.zeros(1, np.int64)
    tapes = {"rates": motion.rates_tape, "jacobian": motion.jacobian_tape}
    tapes |= {"project": motion.projection_tape} if motion.needs_projection else {}
    counters = {key: Counter(filled_by(tape)) for key, tape in tapes.items()}
    functions = MotionFunctions(
        **{key: counters[key].method() if key in counters else None
           for key in ("rates", "project", "signals", "jacobian")}
    )  # fmt: skip
    records.progress[:, Progress.BUDGET] = 10**6
    arrays = (
        np.zeros(1, np.int64), np.array([1, len(times)]), only, records.clock, records.progress,
        records.y, records.slopes, records.parameters, records.times, records.samples,
        records.fastest, records.passages, records.event_log, NO_COLUMNS, motion.sizes,
    )  # fmt: skip
    buffers = TrajectoryBuffers(*(array.reshape(-1).copy() for array in arrays))
    integrate_trajectories(buffers, functions, motion.method)
    records.advance(only)
    found = records.progress[0]
    assert found[Progress.EVALUATIONS] == buffers.progress[Progress.EVALUATIONS]
    assert found[Progress.EVALUATIONS] == counters["rates"].calls
    assert found[Progress.JACOBIANS] == counters["jacobian"].calls
    assert found[Progress.REJECTED] > 0
    if "project" in counters:
        assert found[Progress.STEPS] == counters["project"].calls


def filled_by(tape: Any) -> Callable[..., None]:
    """A procedure (t, y, p, outputs …) that fills the outputs of a tape."""
    compiled = compile_tape(tape, threads=1)

    def fill(t: float, y: Any, p: Any, *outputs: Any) -> None:
        for output, value in zip(outputs, compiled([t], y, p), strict=True):
            np.asarray(output).reshape(-1)[:] = value.reshape(-1)

    return fill


def test_recorded_events_cost_their_dense_output() -> None:
    """Twelve evaluations a trial, three for the dense output of each step, two at the start."""
    found = lw.simulate(
        lw.gallery("elbow"), 0.3, samples=2, events={"pass": "q1 + 0.05"}, torque=JUMP
    ).statistics
    assert found["compiled"] == 1
    assert found["evaluations"] == 2 + 15 * found["steps"] + 12 * found["rejected"]


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_sundials_evaluates_what_it_says(integrator: str) -> None:
    """A Python function as drive is called at every evaluation, and for the Jacobians."""
    calls = Counter(lambda t, q, qd: [1.0 + t, 0.0])
    found = lw.simulate(
        lw.gallery("elbow"), 0.1, torque=calls.method(), integrator=integrator, samples=3
    ).statistics
    assert found["steps"] < found["evaluations"] <= calls.calls
    assert 0 < found["jacobians"] < found["steps"]


def test_taylor_counts_its_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that are computed again because the first one does not reach so far."""
    pytest.importorskip("heyoka")
    steppers: list[CountedSeries] = []

    def make(*arguments: Any) -> CountedSeries:
        steppers.append(CountedSeries(taylor_integrator(*arguments)))
        return steppers[-1]

    taylor_integrator = taylor_stepper._taylor_integrator
    monkeypatch.setattr(taylor_stepper, "_taylor_integrator", make)
    monkeypatch.setattr(taylor_stepper.TaylorStepper, "trusted_length", lambda _: 0.01)
    run = lw.simulate(lw.gallery("elbow"), 0.1, integrator="taylor", samples=2)
    assert run.statistics["evaluations"] == sum(one.series for one in steppers) + 1
    assert sum(one.series for one in steppers) > run.statistics["steps"] >= 10


class CountedSeries:
    """heyoka's integrator, which counts its series."""

    def __init__(self, inner: Any) -> None:
        self.__dict__.update(inner=inner, series=0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.inner, name, value)

    def step(self, **options: Any) -> Any:
        """Compute one series."""
        self.__dict__["series"] += 1
        return self.inner.step(**options)
