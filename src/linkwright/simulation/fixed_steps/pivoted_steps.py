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
    from ..system import System


_MIDPOINT_ITERATIONS = 60
"""Fixed-point iterations of a midpoint step: enough wherever each one at least halves the error."""

_MIDPOINT_TOLERANCE = 1e-13
"""Share of the state by which the last iteration may change it: a few roundings."""


def step_with_pivoting(system: System, method: str, t: float, y: Floats, dt: float) -> Floats:
    """Return y after an explicit or semi-implicit step, projected onto the constraints."""
    if method == SEMI_IMPLICIT:
        return system.mended(t + dt, _semi_implicit_step(system, t, y, dt))
    tableau, rates = TABLEAUS[method], list[Floats]()
    for c, row in zip(tableau.c, tableau.A, strict=True):
        rates.append(system.rates(t + c * dt, y + dt * _weighted_sum(row, rates, y)))
    return system.mended(t + dt, y + dt * _weighted_sum(tableau.b, rates, y))


def midpoint_step_with_pivoting(system: System, t: float, y: Floats, dt: float) -> Floats | None:
    """Return y after an iterated midpoint step; None where the iteration does not converge."""
    rate = system.rates(t, y)
    for _ in range(_MIDPOINT_ITERATIONS):
        previous, rate = rate, system.rates(t + dt / 2, y + dt / 2 * rate)
        if dt * np.abs(rate - previous).max() <= _MIDPOINT_TOLERANCE * (1 + np.abs(y).max()):
            return system.mended(t + dt, y + dt * rate)
    return None


def _weighted_sum(weights: tuple[float, ...], rates: list[Floats], y: Floats) -> Floats:
    """Return Σ weight · rate, of the size of y."""
    return sum((w * rate for w, rate in zip(weights, rates, strict=True)), np.zeros_like(y))


def _semi_implicit_step(system: System, t: float, y: Floats, dt: float) -> Floats:
    """Return y after a step in which the new velocities move the coordinates."""
    q, qd = system.motion(y)
    rates = system.rates(t, y)
    velocities = qd + dt * rates[system.names.nq : system.size]
    after = system.moved(y, system.model.integrate(q, dt * velocities), velocities)
    after[system.size :] += dt * rates[system.size :]
    return after
