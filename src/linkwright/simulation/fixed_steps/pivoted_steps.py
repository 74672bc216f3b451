"""Steps stage by stage, with rates that are solved with pivoting.

They replace compiled steps near singular configurations, and where a Python function or a
controller gives the forces.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...types import Floats
from .tableaus import SEMI_IMPLICIT, TABLEAUS

if TYPE_CHECKING:
    from ..run_context import RunContext


_MIDPOINT_ITERATIONS = 60
"""Fixed-point iterations of a midpoint step: enough wherever each one at least halves the error."""

_MIDPOINT_TOLERANCE = 1e-13
"""Share of the state by which the last iteration may change it: a few rounding errors."""


def step_with_pivoting(context: RunContext, method: str, t: float, y: Floats, dt: float) -> Floats:
    """Return y after an explicit or semi-implicit step, projected onto the constraints."""
    if method == SEMI_IMPLICIT:
        return context.project(t + dt, _semi_implicit_step(context, t, y, dt))
    tableau, rates = TABLEAUS[method], list[Floats]()
    for c, row in zip(tableau.c, tableau.A, strict=True):
        rates.append(context.rates(t + c * dt, y + dt * _weighted_sum(row, rates, y)))
    return context.project(t + dt, y + dt * _weighted_sum(tableau.b, rates, y))


def midpoint_step_with_pivoting(
    context: RunContext, t: float, y: Floats, dt: float
) -> Floats | None:
    """Return y after an iterated midpoint step; None where the iteration does not converge."""
    rate = context.rates(t, y)
    for _ in range(_MIDPOINT_ITERATIONS):
        previous, rate = rate, context.rates(t + dt / 2, y + dt / 2 * rate)
        if dt * np.abs(rate - previous).max() <= _MIDPOINT_TOLERANCE * (1 + np.abs(y).max()):
            return context.project(t + dt, y + dt * rate)
    return None


def _weighted_sum(weights: tuple[float, ...], rates: list[Floats], y: Floats) -> Floats:
    """Return Σ weight · rate, of the size of y."""
    return sum((w * rate for w, rate in zip(weights, rates, strict=True)), np.zeros_like(y))


def _semi_implicit_step(context: RunContext, t: float, y: Floats, dt: float) -> Floats:
    """Return y after a step in which the new velocities move the coordinates."""
    q, qd = context.space.motion(y)
    rates = context.rates(t, y)
    size = context.space.size
    velocities = qd + dt * rates[context.names.nq : size]
    moved = context.model.integrate(q, dt * velocities)
    after = context.space.with_motion(y, moved, velocities, t + dt)
    after[size:] += dt * rates[size:]
    return after
