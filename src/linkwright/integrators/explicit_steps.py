"""Steps of explicit Runge–Kutta pairs as programs: slopes, error norm, dense output."""

from __future__ import annotations

import math

from ..program import Procedure, Size, Vector, unroll, vector
from .tableaus import RungeKuttaPair


def compute_stages(
    rates: Procedure,
    pair: RungeKuttaPair,
    n: Size,
    t: float,
    h: float,
    *,
    y: Vector,
    p: Vector,
    f: Vector,
    k: Vector,
    y_new: Vector,
    margin: Vector,
) -> tuple[float, float]:
    """Fill the slopes k and the new state of a step from (t, y) with slope f.

    Return the smallest margin during the step, and the margin at its end.
    """
    for i in range(n):
        k[0, i] = f[i]
    least = margin[0]
    for s in unroll(range(1, pair.stages)):
        for i in range(n):
            slope = 0.0
            for j in unroll(range(s)):
                if pair.A[s][j] != 0.0:
                    slope = slope + pair.A[s][j] * k[j, i]
            y_new[i] = y[i] + h * slope
        rates(t + pair.c[s] * h, y_new, p, k[s], margin)
        least = least if margin[0] >= least else margin[0]  # NaN is the least of all
    for i in range(n):
        slope = 0.0
        for j in unroll(range(pair.stages)):
            if pair.b[j] != 0.0:
                slope = slope + pair.b[j] * k[j, i]
        y_new[i] = y[i] + h * slope
    rates(t + h, y_new, p, k[pair.stages], margin)
    least = least if margin[0] >= least else margin[0]
    return least, margin[0]


def error_norm(
    pair: RungeKuttaPair,
    n: Size,
    h: float,
    *,
    y: Vector,
    y_new: Vector,
    k: Vector,
    rtol: float,
    atol: float,
) -> float:
    """Return the RMS error of a step in units of its tolerance; ∞ if the state is not finite."""
    total = 0.0
    second = 0.0
    reach = 0.0
    for i in range(n):
        scale = atol + rtol * max(abs(y[i]), abs(y_new[i]))
        error = 0.0
        for j in unroll(range(pair.stages + 1)):
            if pair.errors[0][j] != 0.0:
                error = error + pair.errors[0][j] * k[j, i]
        error = error / scale
        total = total + error * error
        reach = reach + abs(y_new[i])
        if len(pair.errors) > 1:
            other = 0.0
            for j in unroll(range(pair.stages + 1)):
                if pair.errors[1][j] != 0.0:
                    other = other + pair.errors[1][j] * k[j, i]
            other = other / scale
            second = second + other * other
    norm = h * math.sqrt(total / n)
    if len(pair.errors) > 1:
        size = total + 0.01 * second
        norm = 0.0 if size == 0.0 else h * total / math.sqrt(size * n)
    return norm if math.isfinite(reach) else math.inf


def power_of_error(error: float, order: Size) -> float:
    """Return error^(1/(order + 1)) by square roots and Newton's method; no target needs `pow`."""
    root = 0.0
    if order == 7:
        root = math.sqrt(math.sqrt(math.sqrt(error)))
    else:
        assert order == 4
        x = math.sqrt(math.sqrt(error)) if error < 1.0 else math.sqrt(error)
        x = max(x, 1e-60)
        for _ in range(
            40
        ):  # from above the root, each step goes down; from below, the first goes up
            x4 = x * x * x * x
            x = x - (x - error / x4) / 5.0
        root = x
    return root


def prepare_dense_output(
    rates: Procedure,
    pair: RungeKuttaPair,
    n: Size,
    t: float,
    h: float,
    *,
    y: Vector,
    y_new: Vector,
    p: Vector,
    k: Vector,
    dense: Vector,
    stage: Vector,
    margin: Vector,
) -> float:
    """Fill the coefficients of the polynomial over a step; return the least margin on the way."""
    least = math.inf
    for extra in unroll(range(len(pair.dense_c))):
        for i in range(n):
            slope = 0.0
            for j in unroll(range(pair.stages + 1 + extra)):
                if pair.dense_A[extra][j] != 0.0:
                    slope = slope + pair.dense_A[extra][j] * k[j, i]
            stage[i] = y[i] + h * slope
        rates(t + pair.dense_c[extra] * h, stage, p, k[pair.stages + 1 + extra], margin)
        least = least if margin[0] >= least else margin[0]
    for i in range(n):
        if len(pair.dense_c) > 0:
            change = y_new[i] - y[i]
            dense[0, i] = change
            dense[1, i] = h * k[0, i] - change
            dense[2, i] = 2.0 * change - h * (k[pair.stages, i] + k[0, i])
            for row in unroll(range(len(pair.dense_weights))):
                weighted = 0.0
                for j in unroll(range(pair.slopes)):
                    if pair.dense_weights[row][j] != 0.0:
                        weighted = weighted + pair.dense_weights[row][j] * k[j, i]
                dense[3 + row, i] = h * weighted
        else:
            for power in unroll(range(len(pair.dense_weights[0]))):
                weighted = 0.0
                for j in unroll(range(pair.slopes)):
                    if pair.dense_weights[j][power] != 0.0:
                        weighted = weighted + pair.dense_weights[j][power] * k[j, i]
                dense[power, i] = h * weighted
    return least


def dense_rows(pair: RungeKuttaPair) -> int:
    """Return the number of dense-output coefficients for each entry of the state."""
    return 3 + len(pair.dense_weights) if pair.dense_c else len(pair.dense_weights[0])


def evaluate_dense_output(
    pair: RungeKuttaPair, n: Size, x: float, y: Vector, dense: Vector, state: Vector
) -> None:
    """Fill the state at the fraction x of a step (0: its start, 1: its end)."""
    for i in range(n):
        value = 0.0
        if len(pair.dense_c) > 0:
            for row in unroll(range(dense_rows(pair) - 1, -1, -1)):
                value = (value + dense[row, i]) * (x if row % 2 == 0 else 1.0 - x)
        else:
            for row in unroll(range(dense_rows(pair) - 1, -1, -1)):
                value = (value + dense[row, i]) * x
        state[i] = y[i] + value


PIECES = 8
"""Number of equal parts of a step; signals are evaluated at the ends of each part."""

NEAR_PASSAGE = 0.1
"""A dip of a signal is examined if the minimum of its parabola is below this fraction of its
lowest evaluated value."""


JUST_PASSED = 1e-9
"""A signal that begins this close to zero may be on either side of it, so it is examined."""


def passes_zero(
    signals: Procedure,
    pair: RungeKuttaPair,
    n: Size,
    signal_count: Size,
    *,
    t: float,
    h: float,
    y: Vector,
    p: Vector,
    dense: Vector,
    state: Vector,
) -> bool:
    """Whether a signal changes sign in a step, or may do so between two evaluations."""
    earlier = vector(signal_count)
    before = vector(signal_count)
    value = vector(signal_count)
    passes = False
    for piece in range(PIECES + 1):
        x = float(piece) / PIECES
        evaluate_dense_output(pair, n, x, y, dense, state)
        signals(t + x * h, state, p, value)
        for i in range(signal_count):
            if piece == 0 and not abs(value[i]) > JUST_PASSED:
                passes = True
            if piece > 0 and not before[i] * value[i] > 0.0:
                passes = True
            if piece > 1:
                side = 1.0 if before[i] > 0.0 else -1.0
                bend = side * (earlier[i] - 2.0 * before[i] + value[i])
                lean = earlier[i] - value[i]
                height = side * before[i]
                is_dip = height < side * earlier[i] and height < side * value[i]
                if is_dip and height - lean * lean / (8.0 * bend) < NEAR_PASSAGE * height:
                    passes = True
            earlier[i] = before[i]
            before[i] = value[i]
    return passes


def choose_first_step(
    rates: Procedure,
    order: Size,
    n: Size,
    t: float,
    duration: float,
    *,
    y: Vector,
    p: Vector,
    f: Vector,
    rtol: float,
    atol: float,
    stage: Vector,
    slope: Vector,
    margin: Vector,
) -> float:
    """Return the length of the first step (Hairer, Nørsett and Wanner, II.4)."""
    size = 0.0
    speed = 0.0
    for i in range(n):
        scale = atol + rtol * abs(y[i])
        size = size + (y[i] / scale) * (y[i] / scale)
        speed = speed + (f[i] / scale) * (f[i] / scale)
    size = math.sqrt(size / n)
    speed = math.sqrt(speed / n)
    trial = 1e-6
    if size >= 1e-5 and speed >= 1e-5:
        trial = 0.01 * size / speed
    trial = min(trial, duration)
    for i in range(n):
        stage[i] = y[i] + trial * f[i]
    rates(t + trial, stage, p, slope, margin)
    bend = 0.0
    for i in range(n):
        change = (slope[i] - f[i]) / (atol + rtol * abs(y[i]))
        bend = bend + change * change
    bend = math.sqrt(bend / n) / trial
    largest = max(speed, bend)
    step = max(1e-6, trial * 1e-3)
    if largest > 1e-15:
        step = power_of_error(0.01 / largest, order)
    return min(min(100.0 * trial, step), duration)
