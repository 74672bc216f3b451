"""Steps of Rosenbrock methods as programs: each step has one factorization and several linear
solves.

In very stiff systems the end of a step is much more accurate than its dense output. The error of a
step is therefore the larger of two: that of its end (the last u), and that of the dense output at
its middle, (I/(γ h) − J)⁻¹ (ẏ − F) with the polynomial's y and ẏ. Samples and events are then as
accurate as the steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..program import Size, Vector, scratch, scratch_matrix, unroll
from .matrix_factors import factorize_matrix, solve_factorized
from .rosenbrock_tableaus import RosenbrockTableau
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt


@dataclass(frozen=True)
class RosenbrockMethod:
    """The step method (see `StepMethod`) of a Rosenbrock table; its work rows are the u of the
    stages, the rates at the end of the step, and the error of the dense output."""

    table: RosenbrockTableau
    work_matrices: int = 0

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.table.name

    @property
    def error_order(self) -> int:
        """The order of the embedded method."""
        return self.table.error_order

    @property
    def needs_jacobian(self) -> bool:
        """True: a Rosenbrock method needs the exact Jacobian of the rates."""
        return True

    @property
    def work_rows(self) -> int:
        """The number of stages, plus one row for the rates at the end and one for the error of the
        dense output."""
        return self.table.stages + 2

    @property
    def end_slope_row(self) -> int:
        """The row of the rates at the end of a step, after those of the stages."""
        return self.table.stages

    @property
    def dense_rows(self) -> int:
        """The number of coefficients of the dense output for each entry of the state."""
        return 1 + len(self.table.dense_weights)

    def attempt(
        self,
        functions: MotionFunctions,
        sizes: MotionSizes,
        lane: LaneTrajectory,
        step: StepAttempt,
    ) -> None:
        """Factorize the matrix of the step, solve its stages, and estimate the error."""
        matrix = scratch_matrix(sizes.states, sizes.states)
        by_time = scratch(sizes.states)
        pivots = scratch(sizes.states)
        assert functions.jacobian is not None
        functions.jacobian(lane.t, lane.y, lane.p, matrix, by_time)
        shift = 1.0 / (self.table.gamma * step.length)
        for i in range(sizes.states):
            for j in range(sizes.states):
                matrix[i, j] = -matrix[i, j]
            matrix[i, i] = matrix[i, i] + shift
        factorize_matrix(sizes.states, matrix, pivots)
        solve_stages(
            self.table, functions, sizes, lane, step, matrix=matrix, pivots=pivots, by_time=by_time
        )
        fill_dense_coefficients(self.table, sizes.states, lane, step)
        compute_middle_error(self.table, functions, sizes, lane, step, matrix=matrix, pivots=pivots)
        functions.rates(step.t_new, step.y_new, lane.p, step.work[self.table.stages], step.margin)
        step.end_margin = step.margin[0]
        step.least_margin = (
            step.least_margin if step.margin[0] >= step.least_margin else step.margin[0]
        )
        end_error = work_row_norm(self.table.stages - 1, sizes.states, lane, step)
        middle_error = work_row_norm(self.table.stages + 1, sizes.states, lane, step)
        step.error = max(end_error, middle_error)
        lane.evaluations += self.table.stages + 1
        lane.jacobians += 1

    def prepare_dense_output(
        self,
        functions: MotionFunctions,
        sizes: MotionSizes,
        lane: LaneTrajectory,
        step: StepAttempt,
    ) -> None:
        """Do nothing: an attempt fills the coefficients, with which it estimates its error."""

    def evaluate_dense_output(
        self, n: Size, x: float, y: Vector, dense: Vector, state: Vector
    ) -> None:
        """Fill the state at the fraction x of a step: y + x (d0 + (1 − x) (d1 + x (d2 + x d3)))."""
        for i in range(n):
            value = 0.0
            for row in unroll(range(self.dense_rows - 1, 1, -1)):
                value = (value + dense[row, i]) * x
            value = dense[0, i] + (1.0 - x) * (dense[1, i] + value)
            state[i] = y[i] + x * value


def solve_stages(
    table: RosenbrockTableau,
    functions: MotionFunctions,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    *,
    matrix: Vector,
    pivots: Vector,
    by_time: Vector,
) -> None:
    """Fill the u of all stages and the new state, and the smallest margin at the stages."""
    step.least_margin = lane.margin
    for s in unroll(range(table.stages)):
        for i in range(sizes.states):
            place = lane.y[i]
            for j in unroll(range(s)):
                place = place + table.A[s][j] * step.work[j, i]
            step.y_new[i] = place
        if s == 0:
            for i in range(sizes.states):
                step.stage[i] = lane.f[i]
        else:
            functions.rates(
                lane.t + table.c[s] * step.length, step.y_new, lane.p, step.stage, step.margin
            )
            step.least_margin = (
                step.least_margin if step.margin[0] >= step.least_margin else step.margin[0]
            )
        for i in range(sizes.states):
            known = 0.0
            for j in unroll(range(s)):
                known = known + table.C[s][j] * step.work[j, i]
            right = step.stage[i] + known / step.length
            step.work[s, i] = right + table.d[s] * step.length * by_time[i]
        solve_factorized(sizes.states, matrix, pivots, step.work[s])
    for i in range(sizes.states):
        step.y_new[i] = step.y_new[i] + step.work[table.stages - 1, i]


def fill_dense_coefficients(
    table: RosenbrockTableau, n: Size, lane: LaneTrajectory, step: StepAttempt
) -> None:
    """Fill the coefficients of the dense output."""
    for i in range(n):
        step.dense[0, i] = step.y_new[i] - lane.y[i]
        for row in unroll(range(len(table.dense_weights))):
            weighted = 0.0
            for j in unroll(range(table.stages)):
                weighted = weighted + table.dense_weights[row][j] * step.work[j, i]
            step.dense[1 + row, i] = weighted


def compute_middle_error(
    table: RosenbrockTableau,
    functions: MotionFunctions,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    *,
    matrix: Vector,
    pivots: Vector,
) -> None:
    """Fill the last work row with the error of the dense output in the middle of a step."""
    assert len(table.dense_weights) == 3
    for i in range(sizes.states):
        inner = step.dense[1, i] + 0.5 * step.dense[2, i] + 0.25 * step.dense[3, i]
        step.stage[i] = lane.y[i] + 0.5 * step.dense[0, i] + 0.25 * inner
    middle = lane.t + 0.5 * step.length
    functions.rates(middle, step.stage, lane.p, step.work[table.stages + 1], step.margin)
    step.least_margin = step.least_margin if step.margin[0] >= step.least_margin else step.margin[0]
    for i in range(sizes.states):
        slope = step.dense[0, i] + 0.25 * (step.dense[2, i] + step.dense[3, i])
        rate = step.work[table.stages + 1, i]
        step.work[table.stages + 1, i] = slope / step.length - rate
    solve_factorized(sizes.states, matrix, pivots, step.work[table.stages + 1])


def work_row_norm(row: Size, n: Size, lane: LaneTrajectory, step: StepAttempt) -> float:
    """Return the RMS norm of a work row in units of the tolerance; ∞ if it or the new state is not
    finite."""
    total = 0.0
    reach = 0.0
    for i in range(n):
        scale = lane.atol + lane.rtol * max(abs(lane.y[i]), abs(step.y_new[i]))
        share = step.work[row, i] / scale
        total = total + share * share
        reach = reach + abs(step.y_new[i])
    norm = math.sqrt(total / n)
    return norm if math.isfinite(reach + total) else math.inf
