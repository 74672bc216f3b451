"""Event functions along a step, as programs."""

from __future__ import annotations

from ..program import vector
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt, StepMethod

PIECES = 8
"""Number of equal parts of a step; signals are evaluated at the ends of each part."""

NEAR_PASSAGE = 0.1
"""A dip of a signal is examined if the minimum of its parabola is below this fraction of its
lowest evaluated value."""


JUST_PASSED = 1e-9
"""A signal that begins this close to zero may be on either side of it, so it is examined."""


def passes_zero(
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> bool:
    """Whether a signal changes sign in a step, or may do so between two evaluations."""
    assert functions.signals is not None
    earlier = vector(sizes.signals)
    before = vector(sizes.signals)
    value = vector(sizes.signals)
    passes = False
    for piece in range(PIECES + 1):
        x = float(piece) / PIECES
        method.evaluate_dense_output(sizes.states, x, lane.y, step.dense, step.stage)
        functions.signals(lane.t + x * step.length, step.stage, lane.p, value)
        for i in range(sizes.signals):
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
