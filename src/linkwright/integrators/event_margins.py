"""Which steps may have events at all, as a program: values and rates at both ends tell."""

from __future__ import annotations

from ..program import scratch
from .step_method import LaneTrajectory, MotionFunctions, MotionSizes, StepAttempt

REACH = 4.0
"""A gap is far from zero over a step if this many times its largest rate at the ends does not
close it, and a force if it changes by less than its value."""


def is_near_events(
    functions: MotionFunctions, sizes: MotionSizes, lane: LaneTrajectory, step: StepAttempt
) -> bool:
    """Return whether a signal may cross zero in a step, as its values and rates at both ends tell:
    steps without events need no dense output."""
    assert functions.margins is not None
    first = scratch(sizes.signals)
    last = scratch(sizes.signals)
    first_rates = scratch(sizes.signals)
    last_rates = scratch(sizes.signals)
    functions.margins(lane.t, lane.y, lane.p, first, first_rates)
    functions.margins(step.t_new, step.y_new, lane.p, last, last_rates)
    is_near = False
    for i in range(sizes.signals):
        least = min(first[i], last[i])
        way = REACH * step.length * max(abs(first_rates[i]), abs(last_rates[i]))
        if not least > max(way, abs(last[i] - first[i])):
            is_near = True
    return is_near
