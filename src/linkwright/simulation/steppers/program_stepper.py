"""The step methods of compiled code, run step by step in Python on rates that Python computes.

The programs of `integrators` run here as Python functions. Runs that compiled code cannot make
(with Python functions, friction that depends on reactions, members that break, singular
configurations) are made in this way, more slowly.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from ...integrators import MotionFunctions, StepMethod, StopReason
from ...integrators.step_method import LaneTrajectory, MotionSizes, StepAttempt
from ...integrators.trajectories import accept_step, plan_step, reject_step, start_trajectory
from ...program import Procedure
from ...types import Floats
from ..run_context import RunContext
from .singularity_crossing import cross_singularities
from .stepper import DenseOutput, MakeStepper, StepOptions, Stepper

STATE_DIFFERENCE = 1e-7
"""Step of differences with respect to the state, as a share of its size: about the square root of
rounding errors."""

TIME_DIFFERENCE = 1e-4
"""Step of differences with respect to time, as a share of the step's length: their error is 1e-8 of
it."""

LEAST_SHARE = 1e-16
"""The smallest step as a share of the remaining time."""


def program_stepper(method: StepMethod) -> MakeStepper:
    """Return the function that makes a stepper of a step method."""

    def make(context: RunContext, t: float, y: Floats, end: float, options: StepOptions) -> Stepper:
        return cross_singularities(
            ProgramStepper(method, context, t, y, end, options), context, end, options
        )

    return make


class ProgramStepper:
    """One integration by a step method."""

    has_no_memory = True

    def __init__(
        self,
        method: StepMethod,
        context: RunContext,
        t: float,
        y: Floats,
        end: float,
        options: StepOptions,
    ) -> None:
        self.method, self.context, self.options = method, context, options
        self.functions = MotionFunctions(
            rates=cast(Procedure, self._fill_rates),
            project=None,
            signals=None,
            jacobian=cast(Procedure, self._fill_jacobian),
        )
        self.restart(t, y, end)

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y) with a new first step."""
        n = len(y)
        self.sizes = MotionSizes(
            states=n,
            parameters=1,
            signals=0,
            first_speed=0,
            end_speed=0,
            event_columns=0,
            event_capacity=0,
            first_hold=0,
        )
        self.lane = LaneTrajectory(
            index=0,
            is_running=True,
            reason=StopReason.RUNNING,
            t=t,
            stop=end,
            h=0.0,
            rtol=self.options.rtol,
            atol=self.options.atol,
            max_step=self.options.max_step,
            closed=np.inf,
            least_step=LEAST_SHARE * (end - t),
            margin=1.0,
            margin_before=1.0,
            step_before=0.0,
            top_speed=0.0,
            sample=0,
            budget=1,
            quiet=0,
            was_rejected=False,
            steps=0,
            rejected=0,
            evaluations=0,
            jacobians=0,
            logged=0,
            event_mask=0,
            y=np.array(y, dtype=float),
            f=np.zeros(n),
            p=np.zeros(1),
            passed_at=np.zeros(0),
            passed_side=np.zeros(0),
        )
        self.step_start, self._first = t, self.lane.y.copy()
        self._attempt = self._new_attempt()
        if end > t:
            start_trajectory(self.functions, self.method, self.sizes, self.lane, self._attempt)

    def _new_attempt(self) -> StepAttempt:
        n, method = self.sizes.states, self.method
        return StepAttempt(
            length=0.0,
            t_new=0.0,
            error=0.0,
            least_margin=0.0,
            end_margin=0.0,
            has_dense_output=False,
            may_have_events=False,
            needs_forces=False,
            is_resolved=True,
            t_event=np.inf,
            y_new=np.zeros(n),
            stage=np.zeros(n),
            margin=np.ones(1),
            dense=np.zeros((method.dense_rows, n)),
            work=np.zeros((method.work_rows + method.work_matrices * n, n)),
        )

    # -- functions -------------------------------------------------------------------------------

    def _fill_rates(self, t: float, y: Floats, p: Floats, rate: Floats, margin: Floats) -> None:
        rate[:] = self.context.rates(float(t), np.array(y))
        margin[0] = 1.0

    def _fill_jacobian(
        self, t: float, y: Floats, p: Floats, by_state: Floats, by_time: Floats
    ) -> None:
        """Fill ∂ẏ/∂y, exact where the forces are expressions, and ∂ẏ/∂t by differences."""
        rates, now = self.context.rates, self.lane.f
        found = self._exact_slope(t, y)
        if found is None:
            sizes = STATE_DIFFERENCE * np.maximum(1.0, np.abs(y))
            found = np.array([(rates(t, y + h) - now) / h.max() for h in np.diag(sizes)]).T
        by_state[:] = found
        h = TIME_DIFFERENCE * self._length
        by_time[:] = (4 * rates(t + h, y) - rates(t + 2 * h, y) - 3 * now) / (2 * h)

    def _exact_slope(self, t: float, y: Floats) -> Floats | None:
        """Return ∂ẏ/∂y; None where Python's functions or events add forces."""
        if self.context.force_law.function is not None or self.context.has_mode_forces:
            return None
        found = self.context.jacobian(t, np.array(y))
        return found if np.isfinite(found).all() else None

    # -- steps -----------------------------------------------------------------------------------

    @property
    def t(self) -> float:
        """The time that was reached."""
        return float(self.lane.t)

    @property
    def y(self) -> Floats:
        """A copy of the state that was reached: steps write into the lane's own."""
        found: Floats = self.lane.y.copy()
        return found

    def correct(self, y: Floats) -> None:
        """Replace the state at t, and the rates there."""
        self.lane.y = np.array(y, dtype=float)
        self.lane.f = self.context.rates(self.t, self.lane.y)

    @property
    def planned_step(self) -> float:
        """The length of the next step, s."""
        return float(self.lane.h)

    @property
    def look_ahead(self) -> float:
        """How far a step that failed may have looked, s."""
        return 2 * max(self.planned_step, self._length)

    @property
    def _length(self) -> float:
        return float(self._attempt.length)

    def advance(self) -> str | None:
        """Make one step; return the reason if that is impossible."""
        lane, method = self.lane, self.method
        while True:
            attempt = self._attempt = self._new_attempt()
            lane.reason = StopReason.RUNNING
            plan_step(self.sizes, lane, attempt)
            if lane.reason != StopReason.RUNNING:
                return "the step became too small"
            method.attempt(self.functions, self.sizes, lane, attempt)
            if attempt.error < 1.0:
                break
            reject_step(method, lane, attempt)
            self.context.counts.add(rejected=1)
        method.prepare_dense_output(self.functions, self.sizes, lane, attempt)
        self.step_start, self._first = self.t, lane.y.copy()
        accept_step(self.functions, method, self.sizes, lane, attempt)
        return None

    def dense_output(self) -> DenseOutput:
        """Return the polynomial of the last step."""
        begin, first, length = self.step_start, self._first, self._length
        dense, method = self._attempt.dense, self.method

        def state(t: float) -> Floats:
            found = np.empty(len(first))
            share = (t - begin) / length if length else 0.0
            method.evaluate_dense_output(len(first), share, first, dense, found)
            return found

        return state
