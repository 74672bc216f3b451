"""Values of the signals at a time within a step, as a program."""

from __future__ import annotations

from ..program import Vector, scratch
from .hold_choice import Hold
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt, StepMethod

ALL_ROWS = -1
"""Stands for all rows, where one may be given."""


def evaluate_signals(
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
    t: float,
    *,
    row: int,
    signals: Vector,
) -> None:
    """Fill the signals at a time within a step; only that of a row needs to be right, or all that
    may have events (`ALL_ROWS`)."""
    assert functions.signals is not None
    x = (t - lane.t) / step.length
    method.evaluate_dense_output(sizes.states, x, lane.y, step.dense, step.stage)
    if functions.margins is None:
        functions.signals(t, step.stage, lane.p, signals)
    else:
        rates = scratch(sizes.signals)
        is_force = step.needs_forces
        if row >= 0:
            is_force = lane.p[sizes.first_hold + row] == Hold.HOLDS
        if is_force:
            functions.signals(t, step.stage, lane.p, signals)
        else:
            functions.margins(t, step.stage, lane.p, lane.f, signals, rates)
