"""What a step method provides, and the records that it shares with the loop over steps."""

from __future__ import annotations

from typing import Protocol

from ..program import Procedure, Size, Vector, record

UNKNOWN_RATE = 1e300
"""The rate of a signal that may change as it likes within a step, such as a force that holds the
motion against one that depends on time: what stands still does not shorten steps."""


@record
class MotionFunctions:
    """The tapes of a motion; the inputs of all are t, y and p."""

    rates: Procedure
    """→ ẏ and the margin."""
    project: Procedure | None
    """→ y on the constraints, and (largest residual, smallest pivot)."""
    signals: Procedure | None
    """→ the values of the event functions."""
    jacobian: Procedure | None
    """→ ∂ẏ/∂y and ∂ẏ/∂t, for methods that need them."""
    margins: Procedure | None = None
    """t, y, p, ẏ → the event functions that cost little, and their rates, by which steps far from
    events are told. Of forces that hold the motion the values are 1, and the rates zero, or
    `UNKNOWN_RATE` if the step control does not resolve them."""


@record
class MotionSizes:
    """Sizes that all trajectories share."""

    states: Size
    parameters: Size
    signals: Size
    first_speed: Size
    end_speed: Size
    event_columns: Size
    event_capacity: Size
    first_hold: Size
    """Where p has what each row does, if there are `margins`."""


@record
class LaneTrajectory:
    """The trajectory that a lane integrates: its last accepted state, its step control, counts."""

    index: int
    is_running: bool
    reason: int
    t: float
    stop: float
    h: float
    rtol: float
    atol: float
    max_step: float
    closed: float
    least_step: float
    margin: float
    margin_before: float
    step_before: float
    top_speed: float
    sample: int
    budget: int
    quiet: int
    was_rejected: bool
    steps: int
    rejected: int
    evaluations: int
    jacobians: int
    logged: int
    """The number of events in the log."""
    event_mask: int
    """The columns of the event at which the trajectory stopped: bit k is 1 for column k."""
    y: Vector
    f: Vector
    """ẏ at (t, y)."""
    p: Vector
    passed_at: Vector
    """The times at which the signals last crossed zero."""
    passed_side: Vector
    """The sides of zero on which they have been since then: 1 or -1; 0 if their values show it."""


@record
class StepAttempt:
    """A step from the last accepted state of a trajectory; its vectors are valid in one attempt."""

    length: float
    t_new: float
    error: float
    """The error norm in units of the tolerance; the step is accepted below 1."""
    least_margin: float
    """The smallest margin at the stages."""
    end_margin: float
    has_dense_output: bool
    may_have_events: bool
    needs_forces: bool
    """Whether forces that hold the motion may have events in this step."""
    is_resolved: bool
    """Whether signals are known well enough between the times at which they are evaluated."""
    t_event: float
    """The time of the event at which the trajectory stops; ∞ if there is none in this step."""
    y_new: Vector
    stage: Vector
    margin: Vector
    work: Vector
    """Rows of n numbers for the method: slopes, or factorized matrices."""
    dense: Vector
    """Coefficients of the polynomial over the step, rows of n numbers."""


class StepMethod(Protocol):
    """A one-step method with an error estimate and dense output, whose methods are programs.

    The loop in `trajectories` is the same for all methods. A method has these constants and three
    programs, in each of which y is the last accepted state and `step.length` the length h:

    - `attempt` fills `step.y_new`, the row `end_slope_row` of `step.work` (the rates at the end of
      the step), `step.error`, `step.least_margin` and `step.end_margin`. It adds the number of
      evaluated rates to `lane.evaluations`. It must not change y or f: the step may be rejected.
    - `prepare_dense_output` fills `step.dense` after an attempt that is accepted; it may evaluate
      more rates and lower `step.least_margin`.
    - `evaluate_dense_output` fills the state at the fraction x of the step.
    """

    def __hash__(self) -> int:
        """Methods are frozen data, from which the key of the compiled code is made."""

    @property
    def name(self) -> str:
        """The name of the method, as in `simulate(integrator=…)`."""

    @property
    def error_order(self) -> int:
        """The error grows as h^(error_order + 1): 3, 4 or 7."""

    @property
    def work_rows(self) -> int:
        """The number of rows of n numbers that the method needs."""

    @property
    def work_matrices(self) -> int:
        """The number of n × n matrices that the method needs, after these rows."""

    @property
    def needs_jacobian(self) -> bool:
        """Whether the method needs the Jacobian of the rates."""

    @property
    def end_slope_row(self) -> int:
        """The row of `step.work` with the rates at the end of the step."""

    @property
    def dense_rows(self) -> int:
        """The number of coefficients of the dense output for each entry of the state."""

    def attempt(
        self,
        functions: MotionFunctions,
        sizes: MotionSizes,
        lane: LaneTrajectory,
        step: StepAttempt,
    ) -> None:
        """Attempt a step of the given length."""

    def prepare_dense_output(
        self,
        functions: MotionFunctions,
        sizes: MotionSizes,
        lane: LaneTrajectory,
        step: StepAttempt,
    ) -> None:
        """Fill the coefficients of the polynomial over the step."""

    def evaluate_dense_output(
        self, n: Size, x: float, y: Vector, dense: Vector, state: Vector
    ) -> None:
        """Fill the state at the fraction x of a step (0: its start, 1: its end)."""
