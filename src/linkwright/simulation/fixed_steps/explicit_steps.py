"""Explicit and semi-implicit steps as expressions.

The explicit methods are those of Munthe-Kaas: stages in a chart u with q = q₀ ⊕ u, so that
quaternions keep their length.
"""

from __future__ import annotations

import casadi as ca

from ...types import SX
from .step_equations import StepEquations
from .step_projection import StepProjection
from .step_states import SMALLEST_RELIABLE_PIVOT, StepEnd, StepStart, closure_doubt
from .tableaus import ButcherTableau

StageRates = tuple[SX, SX, SX]
"""Rates of u, q̇ and z at a stage, or the changes that they add up to."""


def explicit_step(tableau: ButcherTableau, equations: StepEquations, start: StepStart) -> StepEnd:
    """Return the state after an explicit Runge–Kutta step, not yet projected."""
    stages: list[StageRates] = []
    work, pivot = ca.SX(0), ca.SX(1)
    for c, row, b in zip(tableau.c, tableau.A, tableau.b, strict=True):
        u, velocity_change, z_change = _weighted_changes(start, row, stages)
        q = equations.move_coordinates(start.q, u) if row else start.q
        qd, t = start.qd + velocity_change, start.t + c * start.dt
        tau, z_rate = equations.forces_and_control_rate(
            q, qd, start.tau, t, z=start.z + z_change, share=c
        )
        qdd, own_pivot = equations.acceleration(q, qd, tau, t)
        stages.append((equations.chart_rate(u, qd) if row else qd, qdd, z_rate))
        work = work + start.dt * b * equations.power(q, qd, qdd, tau, t)
        pivot = ca.fmin(pivot, own_pivot)
    u, velocity_change, z_change = _weighted_changes(start, tableau.b, stages)
    return StepEnd(
        equations.move_coordinates(start.q, u),
        start.qd + velocity_change,
        start.z + z_change,
        work,
        SMALLEST_RELIABLE_PIVOT / pivot,
    )


def _weighted_changes(
    start: StepStart, weights: tuple[float, ...], stages: list[StageRates]
) -> StageRates:
    """Return dt · Σ weight · rates: the changes of u, q̇ and z."""
    u, qd, z = (
        ca.SX.zeros(*start.qd.shape),
        ca.SX.zeros(*start.qd.shape),
        ca.SX.zeros(*start.z.shape),
    )
    for weight, (u_rate, qdd, z_rate) in zip(weights, stages, strict=True):
        if weight:
            u, qd, z = u + weight * u_rate, qd + weight * qdd, z + weight * z_rate
    return start.dt * u, start.dt * qd, start.dt * z


def semi_implicit_step(equations: StepEquations, start: StepStart) -> StepEnd:
    """Return the state after a step in which the new velocities move the coordinates."""
    tau, z_rate = equations.forces_and_control_rate(
        start.q, start.qd, start.tau, start.t, z=start.z, share=0.0
    )
    qdd, pivot = equations.acceleration(start.q, start.qd, tau, start.t)
    qd = start.qd + start.dt * qdd
    return StepEnd(
        equations.move_coordinates(start.q, start.dt * qd),
        qd,
        start.z + start.dt * z_rate,
        start.dt * equations.power(start.q, qd, qdd, tau, start.t),
        SMALLEST_RELIABLE_PIVOT / pivot,
    )


def project_step(step: StepEnd, projection: StepProjection, start: StepStart) -> StepEnd:
    """Return the state after a step, projected onto the constraints."""
    t = start.t + start.dt
    q, position_pivot = projection.close_positions(step.q, t)
    qd, velocity_pivot = projection.project_velocities(q, step.qd, t)
    doubt = SMALLEST_RELIABLE_PIVOT / ca.fmin(position_pivot, velocity_pivot)
    doubt = ca.fmax(ca.fmax(step.doubt, doubt), closure_doubt(projection, q, t))
    return StepEnd(q, qd, step.z, step.work, doubt)
