"""Projection of held gaps and velocities to zero, by the least change in the metric of the mass
matrix."""

from __future__ import annotations

import numpy as np

from ...kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_velocities,
)
from ...kinematics.mobility_analysis import constraint_ranks
from ...types import Floats
from .dynamics import Dynamics


def stop_rows(of: Dynamics, t: float, q: Floats, qd: Floats, rows: list[int]) -> Floats:
    """Return q̇ with zero velocity along some rows, and the mechanism's own constraints held."""
    if not rows:
        return qd
    now = of.at(t, q, qd, qd)
    A, wrong = now.R[rows], now.R[rows] @ qd
    rank = len(rows)
    if of.constrained:
        time = [t] if of.in_time else []
        rank += constraint_ranks(of.model.mechanism)[0]
        A = np.vstack([now.J, A])
        wrong = np.concatenate([of.model.constraint_velocity(q, qd, *time), wrong])
    return project_velocities(A, qd, wrong, rank=rank, metric=now.M)


def close_gaps(of: Dynamics, t: float, q: Floats, qd: Floats, unilaterals: list[int]) -> Floats:
    """Return q with some gaps zero, and the mechanism's own constraints closed."""
    model, position_rows = of.model, list(of.model.names.position_rows)
    time = [t] if of.in_time else []
    rank = len(unilaterals) + (constraint_ranks(model.mechanism)[1] if position_rows else 0)
    if not unilaterals:
        return q

    def residual(q: Floats) -> Floats:
        gaps = of.rows.gaps_and_speeds(q, qd)[0][unilaterals]
        return (
            np.concatenate([model.constraint_residual(q, *time), gaps]) if position_rows else gaps
        )

    def jacobian(q: Floats) -> Floats:
        now = of.at(t, q, qd, qd)
        return np.vstack([now.J[position_rows], now.R[unilaterals]])

    functions = PositionConstraints(residual, jacobian, model.integrate, model.mass_matrix)
    return close_positions(
        functions,
        q,
        tolerance=CLOSURE_TOLERANCES.rounding_residual,
        rank=rank,
        max_iterations=CLOSURE_TOLERANCES.max_corrections,
    ).q
