"""Rosenbrock steps: order conditions, factors of matrices, stiff problems against SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from linkwright.integrators import (
    RODAS5P,
    Clock,
    MotionFunctions,
    Progress,
    RosenbrockMethod,
    RosenbrockTableau,
    StopReason,
    TrajectoryBuffers,
    integrate_trajectories,
)
from linkwright.integrators.matrix_factors import factorize_matrix, solve_factorized
from linkwright.program import (
    Buffer,
    IntBuffer,
    Procedure,
    Size,
    read_buffer_row,
    read_program,
    scratch,
    scratch_matrix,
    take_ticket,
    write_buffer_row,
)
from linkwright.readings.llvm import compile_procedure, compile_program, compile_tape
from linkwright.tape import Tape, record_expression_tape

RNG = np.random.default_rng(16)

# -- the table -------------------------------------------------------------------------------------

Tree = tuple["Tree", ...]
"""A rooted tree: the trees that grow from its root, in a canonical order."""


@cache
def trees(order: int) -> tuple[Tree, ...]:
    """All rooted trees with so many nodes."""
    return tuple(sorted(set(forests(order - 1))))


@cache
def forests(order: int) -> tuple[Tree, ...]:
    if order == 0:
        return ((),)
    return tuple(
        tuple(sorted((first, *rest)))
        for size in range(1, order + 1)
        for first in trees(size)
        for rest in forests(order - size)
    )


def size_of(tree: Tree) -> int:
    return 1 + sum(map(size_of, tree))


def density(tree: Tree) -> int:
    return size_of(tree) * math.prod(map(density, tree))


def elementary_weights(tree: Tree, alpha: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """Hairer and Wanner IV.7: α where branches meet, β = α + γ along a single branch."""
    if len(tree) == 1:
        return beta @ elementary_weights(tree[0], alpha, beta)
    parts = [alpha @ elementary_weights(branch, alpha, beta) for branch in tree]
    return np.prod(parts, axis=0) if parts else np.ones(len(alpha))


def lower(rows: tuple[tuple[float, ...], ...]) -> np.ndarray:
    return np.array([[*row, *[0.0] * (len(rows) - len(row))] for row in rows])


def in_first_form(table: RosenbrockTableau) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """α, the matrix Γ, and Γ⁻¹ from which A and C were made."""
    inverse = np.eye(table.stages) / table.gamma - lower(table.C)
    Gamma = np.linalg.inv(inverse)
    return lower(table.A) @ Gamma, Gamma, inverse


def test_the_number_of_trees_is_known() -> None:
    assert [len(trees(order)) for order in range(1, 6)] == [1, 1, 2, 4, 9]


@pytest.mark.parametrize(
    ("weights", "order"), [((1.0,) * 8, 5), ((1.0,) * 7 + (0.0,), 4)], ids=["new state", "embedded"]
)
def test_order_conditions_hold(weights: tuple[float, ...], order: int) -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    m = np.array([*RODAS5P.A[7], 1.0]) * weights
    b = m @ Gamma
    for tree in (tree for size in range(1, order + 1) for tree in trees(size)):
        found = b @ elementary_weights(tree, alpha, alpha + Gamma)
        assert found == pytest.approx(1 / density(tree), abs=2e-13)
    missed = [
        abs(b @ elementary_weights(tree, alpha, alpha + Gamma) - 1 / density(tree))
        for tree in trees(order + 1)
    ]
    assert max(missed) > 1e-5, "the order is no higher"


@pytest.mark.parametrize("x", [0.2, 0.5, 0.9])
def test_dense_output_has_order_four(x: float) -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    m = np.array([*RODAS5P.A[7], 1.0])
    h2, h3, h4 = np.array(RODAS5P.dense_weights)
    b = x * (m + (1 - x) * (h2 + x * (h3 + x * h4))) @ Gamma
    for order in range(1, 5):
        for tree in trees(order):
            found = b @ elementary_weights(tree, alpha, alpha + Gamma)
            assert found == pytest.approx(x**order / density(tree), abs=2e-13)


def test_the_method_is_stiffly_accurate_and_its_times_are_sums() -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    np.testing.assert_allclose(alpha.sum(axis=1), RODAS5P.c, atol=1e-13)
    np.testing.assert_allclose(Gamma.sum(axis=1), RODAS5P.d, atol=2e-13)
    b = np.array([*RODAS5P.A[7], 1.0]) @ Gamma
    np.testing.assert_allclose((alpha + Gamma)[-1], b, atol=1e-13)


def test_the_method_is_stable_in_the_left_half_plane() -> None:
    alpha, Gamma, _ = in_first_form(RODAS5P)
    b = np.array([*RODAS5P.A[7], 1.0]) @ Gamma

    def growth(z: complex) -> float:
        return abs(1 + z * b @ np.linalg.solve(np.eye(8) - z * (alpha + Gamma), np.ones(8)))

    assert max(growth(1j * y) for y in np.geomspace(1e-3, 1e6, 200)) <= 1 + 1e-12
    assert growth(-1e9) < 1e-7


# -- factors ---------------------------------------------------------------------------------------


def solve_systems(
    ticket: IntBuffer, count: IntBuffer, sizes: IntBuffer, matrices: Buffer, sides: Buffer
) -> None:
    """Solve one system of equations in each lane."""
    n: Size = sizes[0]
    while True:
        k = take_ticket(ticket)
        if k >= count[0]:
            break
        a = scratch_matrix(n, n)
        x = scratch(n)
        pivots = scratch(n)
        read_buffer_row(matrices, n * n * k, a)
        read_buffer_row(sides, n * k, x)
        factorize_matrix(n, a, pivots)
        solve_factorized(n, a, pivots, x)
        write_buffer_row(sides, n * k, x)


@pytest.mark.parametrize("is_compiled", [False, True], ids=["python", "lanes"])
def test_each_lane_pivots_by_itself(is_compiled: bool) -> None:
    n, count = 6, 11
    matrices = RNG.normal(size=(count, n, n))
    matrices[::2, 0, 0] = 0.0  # needs an exchange of rows
    sides = RNG.normal(size=(count, n))
    run = solve_systems
    if is_compiled:
        run = compile_program(lambda: read_program(solve_systems), ("test", "systems"))
    found = sides.copy().reshape(-1)
    run(np.zeros(1, np.int64), np.array([count]), np.array([n]), matrices.copy().reshape(-1), found)
    expected = np.linalg.solve(matrices, sides[..., None])[..., 0]
    np.testing.assert_allclose(found.reshape(count, n), expected, rtol=1e-11)


# -- steps -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Problem:
    """ẏ = F(t, y) as expressions, with a start and a duration."""

    t: ca.SX
    y: ca.SX
    rates: ca.SX
    start: tuple[float, ...]
    stop: float

    def tapes(self) -> tuple[Tape, Tape]:
        """The rates with a margin, and the Jacobian with ∂F/∂t."""
        n, p = len(self.start), ca.SX.sym("p", 1)
        inputs = [("t", self.t, (1,)), ("y", self.y, (n,)), ("p", p, (1,))]
        rates = [("rate", self.rates, (n,)), ("margin", ca.SX(1), (1,))]
        by_state = ca.vec(ca.densify(ca.jacobian(self.rates, self.y)).T)
        by_time = ca.jacobian(self.rates, self.t)
        slopes = [("by_state", by_state, (n * n,)), ("by_time", by_time, (n,))]
        return (
            record_expression_tape("rates", inputs, rates),
            record_expression_tape("jacobian", inputs, slopes),
        )

    def by_radau(self, times: np.ndarray, rtol: float = 1e-10, atol: float = 1e-12) -> np.ndarray:
        """SciPy's Radau on the same expressions."""
        n, p = len(self.start), np.ones(1)
        rates, slopes = (compile_tape(tape, threads=1) for tape in self.tapes())
        found = solve_ivp(
            lambda t, y: rates(np.array([t]), y, p)[0], (0, self.stop), self.start, "Radau", times,
            jac=lambda t, y: slopes(np.array([t]), y, p)[0].reshape(n, n), rtol=rtol, atol=atol,
        )  # fmt: skip
        return found.y.T


METHOD = RosenbrockMethod(RODAS5P)


def compiled_method() -> Callable[..., object]:
    absent = {"project": None, "signals": None, "margins": None}
    return compile_program(
        lambda: read_program(integrate_trajectories, method=METHOD, functions=absent),
        ("test", METHOD),
    )


def integrate_problem(
    problem: Problem, times: np.ndarray, rtol: float, atol: float, *,
    in_python: bool = False, max_step: float = np.inf, first: float = 0.0,
    starts: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """The states at the times, and the counts, of one lane or of one for each start."""
    starts = np.array([problem.start]) if starts is None else starts
    (count, n), samples = starts.shape, len(times)
    clock = np.zeros((count, len(Clock)))
    clock[:, Clock.STOP], clock[:, Clock.STEP] = problem.stop, first
    clock[:, Clock.RTOL], clock[:, Clock.ATOL] = rtol, atol
    clock[:, Clock.MAX_STEP] = max_step
    clock[:, Clock.MARGIN] = clock[:, Clock.MARGIN_BEFORE] = 1.0
    progress = np.zeros((count, len(Progress)), np.int64)
    progress[:, Progress.BUDGET] = 10**9
    found = np.zeros((count, samples, n))
    rates, slopes = problem.tapes()
    slope = np.zeros((count, n))
    if first:
        evaluate = compile_tape(rates, threads=1)
        slope[:] = [evaluate(np.zeros(1), y, np.ones(1))[0] for y in starts]
    arrays = (
        np.zeros(1, np.int64), np.array([count, samples]), np.arange(count), clock.reshape(-1),
        progress.reshape(-1), starts.copy().reshape(-1), slope.reshape(-1), np.ones(count),
        np.append(times, np.inf), found.reshape(-1), np.zeros((n + 1) * count),
        np.zeros(0), np.zeros(0), np.zeros(0, np.int64), np.array([n, 1, 0, 0, n, 0, 0]),
    )  # fmt: skip
    if in_python:
        codes = [Procedure(tape, compile_tape(tape, threads=1)) for tape in (rates, slopes)]
        functions = MotionFunctions(rates=codes[0], project=None, signals=None, jacobian=codes[1])
        integrate_trajectories(TrajectoryBuffers(*arrays), functions, METHOD)
    else:
        compiled_method()(*arrays, compile_procedure(rates), compile_procedure(slopes))
    assert (progress[:, Progress.REASON] == StopReason.REACHED_STOP).all()
    return found, progress


def van_der_pol(mu: float, stop: float) -> Problem:
    t, y = ca.SX.sym("t"), ca.SX.sym("y", 2)
    return Problem(t, y, ca.vertcat(y[1], mu * ((1 - y[0] ** 2) * y[1] - y[0])), (2.0, 0.0), stop)


def robertson(stop: float) -> Problem:
    t, y = ca.SX.sym("t"), ca.SX.sym("y", 3)
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return Problem(t, y, ca.vertcat(b - a, a - b - c, c), (1.0, 0.0, 0.0), stop)


def prothero_robinson(rate: float) -> Problem:
    """ẏ = λ (y − sin t) + cos t: y = sin t, whatever λ."""
    t, y = ca.SX.sym("t"), ca.SX.sym("y", 1)
    return Problem(t, y, rate * (y - ca.sin(t)) + ca.cos(t), (0.0,), 2.0)


def test_errors_fall_with_the_fifth_power_of_the_step() -> None:
    t, y = ca.SX.sym("t"), ca.SX.sym("y", 2)
    swing = Problem(t, y, ca.vertcat(y[1], -ca.sin(y[0]) + 0.3 * ca.cos(t)), (1.0, 0.5), 2.0)
    times = np.linspace(0, 2, 41)
    exact = solve_ivp(
        lambda t, y: [y[1], -np.sin(y[0]) + 0.3 * np.cos(t)], (0, 2), [1.0, 0.5], "DOP853", times,
        rtol=1e-13, atol=1e-14,
    ).y.T  # fmt: skip
    ends, samples = [], []
    for steps in (40, 80):
        h = 2 / steps
        found, counts = integrate_problem(swing, times, 1.0, 1.0, max_step=h, first=h)
        assert counts[0, Progress.STEPS] == steps
        ends.append(np.abs(found[0, -1] - exact[-1]).max())
        samples.append(np.abs(found[0] - exact).max())
    assert ends[0] / ends[1] > 24  # order 5
    assert samples[0] / samples[1] > 14  # order 4 between the steps


@pytest.mark.parametrize("rate", [-1.0, -1e3, -1e6])
def test_prothero_robinson_has_its_closed_form(rate: float) -> None:
    times = np.linspace(0, 2, 21)
    found, counts = integrate_problem(prothero_robinson(rate), times, 1e-8, 1e-10)
    np.testing.assert_allclose(found[0, :, 0], np.sin(times), atol=2e-8)
    assert counts[0, Progress.STEPS] < 200


def test_van_der_pol_has_its_published_end() -> None:
    # Mazzia and Magherini, Test Set for IVP Solvers: problem VDPOL
    found, counts = integrate_problem(van_der_pol(1e6, 2.0), np.array([0.0, 2.0]), 1e-8, 1e-8)
    np.testing.assert_allclose(found[0, -1], [1.706167732170483, -0.8928097010247975], rtol=1e-6)
    assert counts[0, Progress.STEPS] < 4000


@pytest.mark.parametrize(
    ("problem", "atol"),
    [(van_der_pol(100.0, 0.8), 1e-10), (robertson(1e4), 1e-13)],
    ids=["van der pol", "robertson"],
)
def test_stiff_problems_agree_with_radau_at_their_samples(problem: Problem, atol: float) -> None:
    times = np.linspace(0, problem.stop, 11)
    found, counts = integrate_problem(problem, times, 1e-8, atol)
    peer = problem.by_radau(times, atol=atol / 100)
    np.testing.assert_allclose(found[0], peer, rtol=2e-7, atol=10 * atol)
    assert counts[0, Progress.STEPS] < 400


def test_python_and_lanes_make_the_same_steps() -> None:
    problem, times = van_der_pol(50.0, 1.0), np.linspace(0, 1, 4)
    by_lanes, counts = integrate_problem(problem, times, 1e-6, 1e-8)
    by_python, others = integrate_problem(problem, times, 1e-6, 1e-8, in_python=True)
    np.testing.assert_allclose(by_lanes, by_python, atol=1e-11)
    np.testing.assert_array_equal(counts, others)


def test_a_lane_of_many_is_the_trajectory_alone_bit_for_bit() -> None:
    problem, times = van_der_pol(1e3, 1.0), np.linspace(0, 1, 4)
    starts = RNG.uniform(-2, 2, (13, 2))
    together, counts = integrate_problem(problem, times, 1e-6, 1e-8, starts=starts)
    for k in (0, 7, 12):
        alone, own = integrate_problem(problem, times, 1e-6, 1e-8, starts=starts[k : k + 1])
        np.testing.assert_array_equal(alone[0], together[k])
        np.testing.assert_array_equal(own[0], counts[k])
