"""Integrators as programs: against closed forms, against SciPy, in Python and on lanes."""

from __future__ import annotations

from dataclasses import dataclass
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
    ExplicitMethod,
    MotionFunctions,
    Progress,
    StepMethod,
    StopReason,
    TrajectoryBuffers,
    integrate_trajectories,
)
from linkwright.program import Procedure, read_program
from linkwright.readings.llvm import compile_procedure, compile_program, compile_tape
from linkwright.readings.llvm.code_loader import load_object_code
from linkwright.readings.llvm.program_code import (
    CompiledProgram,
    assemble_procedure,
    assemble_program,
)
from linkwright.readings.llvm.target import generic_x86_target, host_target
from linkwright.tape import Tape, record_expression_tape

PAIRS = (DOP853, DORMAND_PRINCE)
METHODS = tuple(map(ExplicitMethod, PAIRS))
EIGHTH_ORDER = METHODS[0]


def pendulum_tape() -> Tape:
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 1)
    rates = ca.vertcat(y[1], -p * ca.sin(y[0]))
    return record_expression_tape(
        "pendulum",
        [("t", t, (1,)), ("y", y, (2,)), ("p", p, (1,))],
        [("rate", rates, (2,)), ("margin", ca.SX(1), (1,))],
    )


def signals_tape() -> Tape:
    """Angle, speed, and a signal with several roots in a step."""
    t, y, p = ca.SX.sym("t"), ca.SX.sym("y", 2), ca.SX.sym("p", 1)
    values = ca.vertcat(y[0] - 0.2, y[1], ca.sin(9 * t) - 0.5)
    inputs = [("t", t, (1,)), ("y", y, (2,)), ("p", p, (1,))]
    return record_expression_tape("signals", inputs, [("signals", values, (3,))])


COLUMNS = np.array(
    [
        # signal, sign, leaves, is gap, repeats, is overload
        [0, -1, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],
        [2, -1, 0, 0, 0, 0, 0],
        [2, 1, 0, 0, 0, 0, 0],
    ]
)
"""Events that are noted when the pendulum passes an angle, turns back, or time passes."""


@dataclass
class Batch:
    """The buffers of pendulums with given starts, and with events if there are columns."""

    starts: NDArray[np.float64]
    stop: float
    rtol: float = 1e-9
    samples: int = 11
    columns: NDArray[np.int64] | None = None

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
        columns = [] if self.columns is None else self.columns
        self.signals, self.log = 3 if len(columns) else 0, np.zeros((count, 40, 2))
        self.sizes = np.array([2, 1, self.signals, 1, 2, len(columns), 40])

    def run(self, program: object, code: object, method: StepMethod) -> Batch:
        count = len(self.starts)
        columns = np.zeros(0, np.int64) if self.columns is None else self.columns.reshape(-1)
        arrays = (
            np.zeros(1, np.int64), np.array([count, self.samples]), np.arange(count), self.clock.reshape(-1),
            self.progress.reshape(-1), self.starts.copy().reshape(-1), np.zeros(2 * count),
            np.ones(count), self.times, self.found.reshape(-1), np.zeros(3 * count),
            np.zeros(2 * self.signals * count), self.log.reshape(-1), columns, self.sizes,
        )  # fmt: skip
        codes = code if isinstance(code, tuple) else (code,)
        program(*arrays, *codes)  # type: ignore[operator]
        return self

    def events(self, row: int) -> NDArray[np.float64]:
        """The times and columns that were noted."""
        return self.log[row, : self.progress[row, Progress.LOGGED]]


def compiled(method: StepMethod, *, is_single: bool = False, watches: bool = False) -> object:
    absent = {"project": None, "jacobian": None, "margins": None}
    absent |= {} if watches else {"signals": None}
    return compile_program(
        lambda: read_program(integrate_trajectories, method=method, functions=absent),
        ("test", method.name, watches),
        is_single=is_single,
    )


def in_python(method: StepMethod) -> object:
    def run(*arguments: object) -> None:
        arrays = [x for x in arguments if not isinstance(x, Procedure)]
        codes = [x for x in arguments if isinstance(x, Procedure)]
        buffers = TrajectoryBuffers(*arrays)  # type: ignore[arg-type]
        signals = codes[1] if len(codes) > 1 else None
        functions = MotionFunctions(rates=codes[0], project=None, signals=signals, jacobian=None)
        integrate_trajectories(buffers, functions, method)

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


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_small_swings_have_their_closed_form(method: StepMethod) -> None:
    a = 1e-5  # θ = a cos t, but for a³/192
    batch = Batch(np.array([[a, 0.0]]), 10.0, rtol=1e-11)
    batch.clock[:, Clock.ATOL] = 1e-17
    batch.run(compiled(method), compile_procedure(pendulum_tape()), method)
    t = batch.times[:-1]
    exact = a * np.column_stack([np.cos(t), -np.sin(t)])
    np.testing.assert_allclose(batch.found[0], exact, rtol=0, atol=1e-9 * a)
    assert batch.progress[0, Progress.REASON] == StopReason.REACHED_STOP


def test_a_separatrix_has_its_closed_form() -> None:
    # E = 1: θ = 2 atan(sinh t), θ̇ = 2 / cosh t
    batch = Batch(np.array([[0.0, 2.0]]), 6.0, rtol=1e-12)
    batch.run(compiled(EIGHTH_ORDER), compile_procedure(pendulum_tape()), EIGHTH_ORDER)
    t = batch.times[:-1]
    np.testing.assert_allclose(batch.found[0, :, 0], 2 * np.arctan(np.sinh(t)), rtol=1e-9)
    np.testing.assert_allclose(batch.found[0, :, 1], 2 / np.cosh(t), rtol=1e-7)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_steps_are_those_of_scipy(method: StepMethod) -> None:
    theirs = {"dop853": "DOP853", "rk45": "RK45"}[method.name]
    batch = Batch(np.array([[2.0, 0.3]]), 20.0)
    batch.progress[:, Progress.SAMPLE] = 0  # SciPy evaluates the first sample too
    batch.run(compiled(method), compile_procedure(pendulum_tape()), method)
    peer = solve_ivp(
        lambda t, y: [y[1], -sin(y[0])], (0, 20.0), [2.0, 0.3], theirs, batch.times[:-1],
        rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    assert batch.progress[0, Progress.EVALUATIONS] == peer.nfev
    np.testing.assert_allclose(batch.found[0], peer.y.T, atol=1e-11)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_python_runs_the_same_program(method: StepMethod) -> None:
    tape = pendulum_tape()
    start = np.array([[1.0, 0.5]])
    code = Procedure(tape, compile_tape(tape, threads=1))
    by_python = Batch(start, 3.0).run(in_python(method), code, method)
    by_lanes = Batch(start, 3.0).run(compiled(method), compile_procedure(tape), method)
    np.testing.assert_array_equal(by_python.progress, by_lanes.progress)
    np.testing.assert_allclose(by_python.found, by_lanes.found, atol=1e-13)


def test_a_lane_of_many_is_the_run_alone_bit_for_bit() -> None:
    starts = np.random.default_rng(3).uniform(-3, 3, (37, 2))
    program, code = compiled(EIGHTH_ORDER), compile_procedure(pendulum_tape())
    together = Batch(starts, 5.0).run(program, code, EIGHTH_ORDER)
    for k in (0, 7, 8, 36):
        alone = Batch(starts[k : k + 1], 5.0).run(program, code, EIGHTH_ORDER)
        np.testing.assert_array_equal(alone.found[0], together.found[k])
        np.testing.assert_array_equal(alone.progress[0], together.progress[k])


def test_one_lane_has_the_bits_of_many() -> None:
    """Scalar code for one trajectory and vector code for many compute the same numbers."""
    starts = np.random.default_rng(4).uniform(-3, 3, (11, 2))
    codes, single_codes = (
        tuple(compile_procedure(tape(), is_single=single) for tape in (pendulum_tape, signals_tape))
        for single in (False, True)
    )
    many = compiled(EIGHTH_ORDER, watches=True)
    single = compiled(EIGHTH_ORDER, watches=True, is_single=True)
    together = Batch(starts, 5.0, columns=COLUMNS).run(many, codes, EIGHTH_ORDER)
    for k in range(len(starts)):
        alone = Batch(starts[k : k + 1], 5.0, columns=COLUMNS).run(
            single, single_codes, EIGHTH_ORDER
        )
        np.testing.assert_array_equal(alone.found[0], together.found[k])
        np.testing.assert_array_equal(alone.progress[0], together.progress[k])
        np.testing.assert_array_equal(alone.events(0), together.events(k))


@pytest.mark.slow
@pytest.mark.parametrize("level", ["sse2", "avx2", "avx512"])
def test_one_lane_has_the_bits_of_many_at_every_vector_width(
    monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    target = generic_x86_target(level)
    host = host_target()
    if "x86" not in host.triple or host.vector_bytes < target.vector_bytes:
        pytest.skip("this processor has no such vectors")
    monkeypatch.setattr("linkwright.readings.llvm.target.host_target", lambda: target)
    absent = {"project": None, "margins": None}
    program = read_program(integrate_trajectories, method=EIGHTH_ORDER, functions=absent)
    starts, found = np.random.default_rng(3).uniform(-3, 3, (13, 2)), []
    for is_single in (True, False):
        code = CompiledProgram(load_object_code(assemble_program(program, is_single=is_single)))
        tapes = tuple(
            load_object_code(assemble_procedure(tape(), is_single=is_single))
            for tape in (pendulum_tape, signals_tape)
        )
        found.append(Batch(starts, 5.0, columns=COLUMNS).run(code, tapes, EIGHTH_ORDER))
    np.testing.assert_array_equal(found[0].found, found[1].found)
    np.testing.assert_array_equal(found[0].progress, found[1].progress)
    np.testing.assert_array_equal(found[0].log, found[1].log)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_noted_events_have_their_closed_form(method: StepMethod) -> None:
    """The ticks are known; at E = 1, θ = 2 atan(sinh t) passes 0.2 at asinh(tan 0.1)."""
    single = compiled(method, watches=True, is_single=True)
    tapes = pendulum_tape(), signals_tape()
    start = np.array([[0.0, 2.0]])
    codes = tuple(compile_procedure(tape, is_single=True) for tape in tapes)
    run = Batch(start, 3.0, rtol=1e-12, columns=COLUMNS).run(single, codes, method)
    ticks = [(np.pi / 6 + 2 * np.pi * k) / 9 for k in range(5)]
    ticks = sorted([*ticks, *((np.pi * 5 / 6 + 2 * np.pi * k) / 9 for k in range(5))])
    times, columns = run.events(0).T
    np.testing.assert_allclose(times[columns >= 3], [t for t in ticks if t < 3], rtol=1e-13)
    np.testing.assert_array_equal(columns[columns >= 3][:4], [4, 3, 4, 3])
    np.testing.assert_allclose(times[columns == 1], np.arcsinh(np.tan(0.1)), rtol=1e-11)


def test_python_finds_the_same_events() -> None:
    tapes = pendulum_tape(), signals_tape()
    start = np.array([[1.0, -0.5]])
    codes = tuple(Procedure(tape, compile_tape(tape, threads=1)) for tape in tapes)
    by_python = Batch(start, 1.5, columns=COLUMNS).run(in_python(EIGHTH_ORDER), codes, EIGHTH_ORDER)
    single = compiled(EIGHTH_ORDER, watches=True, is_single=True)
    codes = tuple(compile_procedure(tape, is_single=True) for tape in tapes)
    by_code = Batch(start, 1.5, columns=COLUMNS).run(single, codes, EIGHTH_ORDER)
    np.testing.assert_allclose(by_python.events(0), by_code.events(0), atol=1e-13)
    assert len(by_code.events(0)) >= 5


def test_a_budget_that_is_spent_can_be_renewed() -> None:
    start = np.array([[1.0, 0.0]])
    program, code = compiled(EIGHTH_ORDER), compile_procedure(pendulum_tape())
    whole = Batch(start, 5.0).run(program, code, EIGHTH_ORDER)
    parts = Batch(start, 5.0)
    states, slopes, fastest = start.copy().reshape(-1), np.zeros(2), np.zeros(3)
    for _ in range(1000):
        parts.progress[:, Progress.BUDGET] = 3
        program(
            np.zeros(1, np.int64), np.array([1, parts.samples]), np.zeros(1, np.int64), parts.clock.reshape(-1),
            parts.progress.reshape(-1), states, slopes, np.ones(1), parts.times,
            parts.found.reshape(-1), fastest, np.zeros(0), np.zeros(0), np.zeros(0, np.int64),
            parts.sizes, code,
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
    batch.run(compiled(EIGHTH_ORDER), compile_procedure(tape), EIGHTH_ORDER)
    assert batch.progress[0, Progress.REASON] == StopReason.STEP_TOO_SMALL
    assert batch.clock[0, Clock.TIME] == pytest.approx(1.0, abs=1e-6)
