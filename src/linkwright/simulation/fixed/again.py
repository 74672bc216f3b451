"""Steps stage by stage, on rates that are solved with pivoting and under any drive: where
a compiled step is not to be believed, or a Python function drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...types import Floats
from .tables import SEMI_IMPLICIT, TABLES

if TYPE_CHECKING:
    from ..run_context import RunContext


_ITERATIONS, _SETTLED = 60, 1e-13


def step_again(context: RunContext, method: str, t: float, y: Floats, dt: float) -> Floats:
    """y after a step, on the constraints."""
    if method == SEMI_IMPLICIT:
        return context.project(t + dt, _semi_implicit(context, t, y, dt))
    table, slopes = TABLES[method], list[Floats]()
    for c, row in zip(table.c, table.A, strict=True):
        stage = y + dt * sum((a * k for a, k in zip(row, slopes, strict=True)), np.zeros_like(y))
        slopes.append(context.rates(t + c * dt, stage))
    change = sum((b * k for b, k in zip(table.b, slopes, strict=True)), np.zeros_like(y))
    return context.project(t + dt, y + dt * change)


def midpoint_again(context: RunContext, t: float, y: Floats, dt: float) -> Floats | None:
    """The same by the midpoint rule, iterated; None where that does not settle."""
    slope = context.rates(t, y)
    for _ in range(_ITERATIONS):
        before, slope = slope, context.rates(t + dt / 2, y + dt / 2 * slope)
        if dt * np.abs(slope - before).max() <= _SETTLED * (1 + np.abs(y).max()):
            return context.project(t + dt, y + dt * slope)
    return None


def _semi_implicit(context: RunContext, t: float, y: Floats, dt: float) -> Floats:
    q, qd = context.space.motion(y)
    rates = context.rates(t, y)
    speeds = qd + dt * rates[context.names.nq : context.space.size]
    moved = context.space.with_motion(y, context.model.integrate(q, dt * speeds), speeds)
    moved[context.space.size :] += dt * rates[context.space.size :]
    return moved
