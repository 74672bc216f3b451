"""Step control as programs: the first step, and the factor of the next one."""

from __future__ import annotations

import math

from ..program import Size, Vector
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt, StepMethod

SAFETY, MIN_FACTOR, MAX_FACTOR = 0.9, 0.2, 10.0
"""Step control of Hairer, Nørsett and Wanner, as in SciPy."""


def power_of_error(error: float, order: Size) -> float:
    """Return error^(1/(order + 1)) by square roots and Newton's method; no target needs `pow`."""
    root = 0.0
    if order == 7:
        root = math.sqrt(math.sqrt(math.sqrt(error)))
    elif order == 3:
        root = math.sqrt(math.sqrt(error))
    else:
        assert order == 4
        x = math.sqrt(math.sqrt(error)) if error < 1.0 else math.sqrt(error)
        x = max(x, 1e-60)
        for _ in range(40):  # each step goes down from above the root; from below, one goes up
            x4 = x * x * x * x
            x = x - (x - error / x4) / 5.0
        root = x
    return root


def scaled_norm(n: Size, lane: LaneTrajectory, values: Vector) -> float:
    """Return the RMS norm of a vector in units of the tolerance at the state of a trajectory."""
    total = 0.0
    for i in range(n):
        share = values[i] / (lane.atol + lane.rtol * abs(lane.y[i]))
        total = total + share * share
    return math.sqrt(total / n)


def choose_first_step(
    functions: MotionFunctions,
    method: StepMethod,
    sizes: MotionSizes,
    lane: LaneTrajectory,
    step: StepAttempt,
) -> float:
    """Return the length of the first step (Hairer, Nørsett and Wanner, II.4)."""
    n: Size = sizes.states
    duration = lane.stop - lane.t
    size = scaled_norm(n, lane, lane.y)
    speed = scaled_norm(n, lane, lane.f)
    trial = 1e-6
    if size >= 1e-5 and speed >= 1e-5:
        trial = 0.01 * size / speed
    trial = min(trial, duration)
    for i in range(n):
        step.stage[i] = lane.y[i] + trial * lane.f[i]
    functions.rates(lane.t + trial, step.stage, lane.p, step.y_new, step.margin)
    for i in range(n):
        step.y_new[i] = step.y_new[i] - lane.f[i]
    bend = scaled_norm(n, lane, step.y_new)
    bend = bend / trial
    largest = max(speed, bend)
    first = max(1e-6, trial * 1e-3)
    if largest > 1e-15:
        first = power_of_error(0.01 / largest, method.error_order)
    return min(min(100.0 * trial, first), duration)
