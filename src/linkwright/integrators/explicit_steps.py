"""Steps of explicit Runge–Kutta pairs as programs: slopes, error norm, dense output."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..program import Size, Vector, unroll
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt
from .tableaus import RungeKuttaPair


@dataclass(frozen=True)
class ExplicitMethod:
    """The step method (see `StepMethod`) of an explicit embedded pair; its work rows are slopes."""

    pair: RungeKuttaPair
    work_matrices: int = 0

    @property
    def name(self) -> str:
        """The name of the pair."""
        return self.pair.name

    @property
    def error_order(self) -> int:
        """The order of the error estimate."""
        return self.pair.error_order

    @property
    def needs_jacobian(self) -> bool:
        """False: explicit methods need rates only."""
        return False

    @property
    def work_rows(self) -> int:
        """The number of slopes."""
        return self.pair.slopes

    @property
    def end_slope_row(self) -> int:
        """The row of the slope at the end of a step, after those of the stages."""
        return self.pair.stages

    @property
    def dense_rows(self) -> int:
        """The number of coefficients of the dense output for each entry of the state."""
        pair = self.pair
        return 3 + len(pair.dense_weights) if pair.dense_c else len(pair.dense_weights[0])

    def attempt(
        self,
        functions: MotionFunctions,
        sizes: MotionSizes,
        lane: LaneTrajectory,
        step: StepAttempt,
    ) -> None:
        """Fill the slopes, the new state, its error and the margins."""
        compute_stages(self.pair, functions, sizes, lane, step)
        step.error = error_norm(self.pair, sizes.states, lane, step)
        lane.evaluations += self.pair.stages

    def prepare_dense_output(
        self,
        functions: MotionFunctions,
        sizes: MotionSizes,
        lane: LaneTrajectory,
        step: StepAttempt,
    ) -> None:
        """Evaluate the slopes that only the dense output needs, and fill its coefficients."""
        compute_dense_slopes(self.pair, functions, sizes, lane, step)
        lane.evaluations += len(self.pair.dense_c)
        if len(self.pair.dense_c) > 0:
            fill_nested_coefficients(self.pair, sizes.states, lane, step)
        else:
            fill_power_coefficients(self.pair, sizes.states, step)

    def evaluate_dense_output(
        self, n: Size, x: float, y: Vector, dense: Vector, state: Vector
    ) -> None:
        """Fill the state at the fraction x of a step (0: its start, 1: its end)."""
        for i in range(n):
            value = 0.0
            if len(self.pair.dense_c) > 0:
                for row in unroll(range(self.dense_rows - 1, -1, -1)):
                    value = (value + dense[row, i]) * (x if row % 2 == 0 else 1.0 - x)
            else:
                for row in unroll(range(self.dense_rows - 1, -1, -1)):
                    value = (value + dense[row, i]) * x
            state[i] = y[i] + value


def compute_stages(
    pair: RungeKuttaPair,
    functions: MotionFunctions,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Fill the slopes and the new state of a step, and the margins at its stages and its end."""
    n: Size = sizes.states
    for i in range(n):
        step.work[0, i] = lane.f[i]
    least = lane.margin
    for s in unroll(range(1, pair.stages)):
        for i in range(n):
            slope = 0.0
            for j in unroll(range(s)):
                if pair.A[s][j] != 0.0:
                    slope = slope + pair.A[s][j] * step.work[j, i]
            step.y_new[i] = lane.y[i] + step.length * slope
        functions.rates(
            lane.t + pair.c[s] * step.length, step.y_new, lane.p, step.work[s], step.margin
        )
        least = least if step.margin[0] >= least else step.margin[0]  # NaN is the least of all
    for i in range(n):
        slope = 0.0
        for j in unroll(range(pair.stages)):
            if pair.b[j] != 0.0:
                slope = slope + pair.b[j] * step.work[j, i]
        step.y_new[i] = lane.y[i] + step.length * slope
    functions.rates(lane.t + step.length, step.y_new, lane.p, step.work[pair.stages], step.margin)
    step.end_margin = step.margin[0]
    step.least_margin = least if step.end_margin >= least else step.end_margin


def error_norm(pair: RungeKuttaPair, n: Size, lane: LaneTrajectory, step: StepAttempt) -> float:
    """Return the RMS error of a step in units of its tolerance; ∞ if the state is not finite."""
    total = 0.0
    second = 0.0
    reach = 0.0
    for i in range(n):
        share = 1.0 / (lane.atol + lane.rtol * max(abs(lane.y[i]), abs(step.y_new[i])))
        error = 0.0
        for j in unroll(range(pair.stages + 1)):
            if pair.errors[0][j] != 0.0:
                error = error + pair.errors[0][j] * step.work[j, i]
        error = error * share
        total = total + error * error
        reach = reach + abs(step.y_new[i])
        if len(pair.errors) > 1:
            other = 0.0
            for j in unroll(range(pair.stages + 1)):
                if pair.errors[1][j] != 0.0:
                    other = other + pair.errors[1][j] * step.work[j, i]
            other = other * share
            second = second + other * other
    norm = step.length * math.sqrt(total / n)
    if len(pair.errors) > 1:
        size = total + 0.01 * second
        norm = 0.0 if size == 0.0 else step.length * total / math.sqrt(size * n)
    return norm if math.isfinite(reach) else math.inf


def compute_dense_slopes(
    pair: RungeKuttaPair,
    functions: MotionFunctions,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> None:
    """Evaluate the slopes that only the dense output needs."""
    for extra in unroll(range(len(pair.dense_c))):
        for i in range(sizes.states):
            slope = 0.0
            for j in unroll(range(pair.stages + 1 + extra)):
                if pair.dense_A[extra][j] != 0.0:
                    slope = slope + pair.dense_A[extra][j] * step.work[j, i]
            step.stage[i] = lane.y[i] + step.length * slope
        functions.rates(
            lane.t + pair.dense_c[extra] * step.length,
            step.stage,
            lane.p,
            step.work[pair.stages + 1 + extra],
            step.margin,
        )
        step.least_margin = (
            step.least_margin if step.margin[0] >= step.least_margin else step.margin[0]
        )


def fill_nested_coefficients(
    pair: RungeKuttaPair, n: Size, lane: LaneTrajectory, step: StepAttempt
) -> None:
    """Fill the coefficients of Hairer's nested polynomial in x and 1 - x (DOP853)."""
    for i in range(n):
        change = step.y_new[i] - lane.y[i]
        ends = step.work[pair.stages, i] + step.work[0, i]
        step.dense[0, i] = change
        step.dense[1, i] = step.length * step.work[0, i] - change
        step.dense[2, i] = 2.0 * change - step.length * ends
        for row in unroll(range(len(pair.dense_weights))):
            weighted = 0.0
            for j in unroll(range(pair.slopes)):
                if pair.dense_weights[row][j] != 0.0:
                    weighted = weighted + pair.dense_weights[row][j] * step.work[j, i]
            step.dense[3 + row, i] = step.length * weighted


def fill_power_coefficients(pair: RungeKuttaPair, n: Size, step: StepAttempt) -> None:
    """Fill the coefficients of a polynomial in powers of x."""
    for i in range(n):
        for power in unroll(range(len(pair.dense_weights[0]))):
            weighted = 0.0
            for j in unroll(range(pair.slopes)):
                if pair.dense_weights[j][power] != 0.0:
                    weighted = weighted + pair.dense_weights[j][power] * step.work[j, i]
            step.dense[power, i] = step.length * weighted
