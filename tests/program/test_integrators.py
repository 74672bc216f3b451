"""Integrators as programs: against closed forms, against SciPy, in Python and on lanes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from math import sin

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate
from scipy.integrate import RK45, solve_ivp

from linkwright.integrators import (
    DOP853,
    DORMAND_PRINCE,
    Clock,
    Progress,
    RungeKuttaPair,
    StopReason,
    integrate_trajectories,
    step_record_size,
)
from linkwright.integrators.explicit_steps import dense_rows, passes_zero
from linkwright.program import Procedure, read_program
from linkwright.readings.llvm import compile_procedure, compile_program, compile_tape
from linkwright.tape import Tape, record_expression_tape

PAIRS = (DOP853, DORMAND_PRINCE)


def pendulum_tape() -> Tape:
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 1)
    rates = ca.vertcat(y[1], -p * ca.sin(y[0]))
    return record_expression_tape(
        "pendulum",
        [("t", t, (1,)), ("y", y, (2,)), ("p", p, (1,))],
        [("rate", rates, (2,)), ("margin", ca.SX(1), (1,))],
    )


@dataclass
class Batch:
    """The buffers of pendulums with given starts."""

    starts: NDArray[np.float64]
    stop: float
    rtol: float = 1e-9
    samples: int = 11

    def __post_init__(self) -> None:
        count = len(self.starts)
        self.clock = np.zeros((count, len(Clock)))
        self.clock[:, Clock.STOP] = self.stop
        self.clock[:, Clock.RTOL], self.clock[:, Clock.ATOL] = self.rtol, self.rtol / 10
        self.clock[:, Clock.MAX_STEP] = np.inf
        self.progress = np.zeros((count, len(Progress)), np.int64)
        self.progress[:, Progress.SAMPLE], self.progress[:, Progress.BUDGET] = 1, 10**9
        self.times = np.append(np.linspace(0.0, self.stop, self.samples), np.inf)
        self.found = np.zeros((count, self.samples, 2))
        self.found[:, 0] = self.starts

    def run(self, program: object, code: object, pair: RungeKuttaPair) -> Batch:
        count = len(self.starts)
        arrays = (
            np.zeros(1, np.int64), np.array([count, self.samples]), np.arange(count), self.clock.reshape(-1),
            self.progress.reshape(-1), self.starts.copy().reshape(-1), np.zeros(2 * count),
            np.ones(count), self.times, self.found.reshape(-1), np.zeros(3 * count),
            np.zeros(count * step_record_size(pair, 2)), np.array([2, 1, 0, 1, 2]),
        )  # fmt: skip
        program(*arrays, code)  # type: ignore[operator]
        return self


def compiled(pair: RungeKuttaPair) -> object:
    given = {"pair": pair, "project": None, "signals": None}
    return compile_program(
        lambda: read_program(integrate_trajectories, **given), ("test", pair.name)
    )


def in_python(pair: RungeKuttaPair) -> object:
    def run(*arguments: object) -> None:
        names = signature(integrate_trajectories).parameters
        given = dict(zip(names, (*arguments, None, None, pair), strict=True))
        integrate_trajectories(**given)  # type: ignore[arg-type]

    return run


def test_the_tables_are_those_of_hairer_norsett_and_wanner() -> None:
    for pair, peer in ((DOP853, integrate.DOP853), (DORMAND_PRINCE, RK45)):
        for row, theirs in zip(pair.A, peer.A, strict=False):
            np.testing.assert_array_equal(row, theirs[: len(row)])
        np.testing.assert_array_equal(pair.b, peer.B)
    np.testing.assert_array_equal(DOP853.errors, [integrate.DOP853.E5, integrate.DOP853.E3])
    np.testing.assert_array_equal(DOP853.dense_weights, integrate.DOP853.D)
    np.testing.assert_array_equal(DORMAND_PRINCE.errors[0], RK45.E)
    np.testing.assert_array_equal(DORMAND_PRINCE.dense_weights, RK45.P)
    for pair in PAIRS:
        for c, row in zip(pair.c, pair.A, strict=True):
            assert sum(row) == pytest.approx(c, abs=1e-14)
        assert sum(pair.b) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_small_swings_have_their_closed_form(pair: RungeKuttaPair) -> None:
    a = 1e-5  # θ = a cos t, but for a³/192
    batch = Batch(np.array([[a, 0.0]]), 10.0, rtol=1e-11)
    batch.clock[:, Clock.ATOL] = 1e-17
    batch.run(compiled(pair), compile_procedure(pendulum_tape()), pair)
    t = batch.times[:-1]
    exact = a * np.column_stack([np.cos(t), -np.sin(t)])
    np.testing.assert_allclose(batch.found[0], exact, rtol=0, atol=1e-9 * a)
    assert batch.progress[0, Progress.REASON] == StopReason.REACHED_STOP


def test_a_separatrix_has_its_closed_form() -> None:
    # E = 1: θ = 2 atan(sinh t), θ̇ = 2 / cosh t
    batch = Batch(np.array([[0.0, 2.0]]), 6.0, rtol=1e-12)
    batch.run(compiled(DOP853), compile_procedure(pendulum_tape()), DOP853)
    t = batch.times[:-1]
    np.testing.assert_allclose(batch.found[0, :, 0], 2 * np.arctan(np.sinh(t)), rtol=1e-9)
    np.testing.assert_allclose(batch.found[0, :, 1], 2 / np.cosh(t), rtol=1e-7)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_steps_are_those_of_scipy(pair: RungeKuttaPair) -> None:
    method = {"dop853": "DOP853", "rk45": "RK45"}[pair.name]
    batch = Batch(np.array([[2.0, 0.3]]), 20.0)
    batch.progress[:, Progress.SAMPLE] = 0  # SciPy evaluates the first sample too
    batch.run(compiled(pair), compile_procedure(pendulum_tape()), pair)
    peer = solve_ivp(
        lambda t, y: [y[1], -sin(y[0])], (0, 20.0), [2.0, 0.3], method, batch.times[:-1],
        rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    assert batch.progress[0, Progress.EVALUATIONS] == peer.nfev
    np.testing.assert_allclose(batch.found[0], peer.y.T, atol=1e-11)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_python_runs_the_same_program(pair: RungeKuttaPair) -> None:
    tape = pendulum_tape()
    start = np.array([[1.0, 0.5]])
    code = Procedure(tape, compile_tape(tape, threads=1))
    by_python = Batch(start, 3.0).run(in_python(pair), code, pair)
    by_lanes = Batch(start, 3.0).run(compiled(pair), compile_procedure(tape), pair)
    np.testing.assert_array_equal(by_python.progress, by_lanes.progress)
    np.testing.assert_allclose(by_python.found, by_lanes.found, atol=1e-13)


def test_a_lane_of_many_is_the_run_alone_bit_for_bit() -> None:
    starts = np.random.default_rng(3).uniform(-3, 3, (37, 2))
    program, code = compiled(DOP853), compile_procedure(pendulum_tape())
    together = Batch(starts, 5.0).run(program, code, DOP853)
    for k in (0, 7, 8, 36):
        alone = Batch(starts[k : k + 1], 5.0).run(program, code, DOP853)
        np.testing.assert_array_equal(alone.found[0], together.found[k])
        np.testing.assert_array_equal(alone.progress[0], together.progress[k])


def test_a_budget_that_is_spent_can_be_renewed() -> None:
    start = np.array([[1.0, 0.0]])
    program, code = compiled(DOP853), compile_procedure(pendulum_tape())
    whole = Batch(start, 5.0).run(program, code, DOP853)
    parts = Batch(start, 5.0)
    states, slopes, fastest = start.copy().reshape(-1), np.zeros(2), np.zeros(3)
    for _ in range(1000):
        parts.progress[:, Progress.BUDGET] = 3
        program(
            np.zeros(1, np.int64), np.array([1, parts.samples]), np.zeros(1, np.int64), parts.clock.reshape(-1),
            parts.progress.reshape(-1), states, slopes, np.ones(1), parts.times,
            parts.found.reshape(-1), fastest, np.zeros(step_record_size(DOP853, 2)),
            np.array([2, 1, 0, 1, 2]), code,
        )  # type: ignore[operator]  # fmt: skip
        if parts.progress[0, Progress.REASON] != StopReason.BUDGET_SPENT:
            break
    np.testing.assert_array_equal(parts.found, whole.found)
    assert parts.progress[0, Progress.STEPS] == whole.progress[0, Progress.STEPS]


def test_rates_that_are_not_finite_stop_a_trajectory() -> None:
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 1)
    rates = ca.vertcat(ca.sqrt(1 - t), y[0])  # NaN behind t = 1
    tape = record_expression_tape(
        "root",
        [("t", t, (1,)), ("y", y, (2,)), ("p", p, (1,))],
        [("rate", rates, (2,)), ("margin", ca.SX(1), (1,))],
    )
    batch = Batch(np.array([[0.0, 0.0]]), 2.0)
    batch.run(compiled(DOP853), compile_procedure(tape), DOP853)
    assert batch.progress[0, Progress.REASON] == StopReason.STEP_TOO_SMALL
    assert batch.clock[0, Clock.TIME] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
@pytest.mark.parametrize(
    ("signal", "passes"),
    [
        (lambda y: 0.5 - y, True),
        (lambda y: y - 0.95, True),  # in the last part of the step alone
        (lambda y: 1 + y, False),
        (lambda y: -1 - y, False),
        (lambda y: (y - 0.3) ** 2 - 1e-3, True),  # there and back between two evaluations
        (lambda y: 1e-3 - (y - 0.3) ** 2, True),
        (lambda y: (y - 0.3) ** 2 + 1, False),
        (lambda y: 1e-10 + y, True),  # begins at zero, but for rounding
        (lambda y: 1e-6 + y, False),
        (lambda y: 1 / (y - 0.5) if y != 0.5 else np.nan, True),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_steps_in_which_a_signal_passes_zero_are_found(
    pair: RungeKuttaPair, signal: Callable[[float], float], passes: bool, place: int
) -> None:
    """A step of y = x from 0 to 1, and of time from 3 to 5; the other of two signals stays."""
    dense = np.zeros((dense_rows(pair), 1))
    dense[0] = 1.0

    def signals(t: float, y: np.ndarray, p: np.ndarray, value: np.ndarray) -> None:
        assert t == pytest.approx(3 + 2 * y[0])
        value[:] = p
        value[place] = signal(y[0])

    for other in (1.0, -1.0):
        found = passes_zero(
            signals, pair, 1, 2, t=3.0, h=2.0, y=np.zeros(1), p=np.array([other]), dense=dense,
            state=np.zeros(1),
        )  # fmt: skip
        assert found == passes
