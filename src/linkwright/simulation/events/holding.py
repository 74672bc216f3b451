"""Held gaps and speeds made zero, by the least change in the metric of the mass matrix."""

from __future__ import annotations

import numpy as np

from ...kinematics.mobility_analysis import ranks
from ...types import Floats
from ..projection import least
from .dynamics import Dynamics


def stopped(of: Dynamics, t: float, q: Floats, qd: Floats, rows: list[int]) -> Floats:
    """Speeds with those of some rows zero, and the mechanism's own constraints held."""
    if not rows:
        return qd
    now = of.at(t, q, qd, qd)
    A, wrong = now.R[rows], now.R[rows] @ qd
    rank = len(rows)
    if of.constrained:
        time = [t] if of.in_time else []
        rank += ranks(of.model.mechanism)[0]
        A = np.vstack([now.J, A])
        wrong = np.concatenate([of.model.constraint_velocity(q, qd, *time), wrong])
    found: Floats = qd - least(now.M, A, wrong, rank)
    return found


def touching(of: Dynamics, t: float, q: Floats, qd: Floats, barriers: list[int]) -> Floats:
    """q with the gaps of some barriers zero, and the mechanism's own constraints too."""
    model, position_rows = of.model, list(of.model.names.position_rows)
    time = [t] if of.in_time else []
    rank = len(barriers) + (ranks(model.mechanism)[1] if position_rows else 0)
    for _ in range(8 if barriers else 0):
        wrong = of.rows.gaps_and_speeds(q, qd)[0][barriers]
        if position_rows:
            wrong = np.concatenate([model.constraint_residual(q, *time), wrong])
        if np.abs(wrong).max() < 1e-15:
            break
        now = of.at(t, q, qd, qd)
        A = np.vstack([now.J[position_rows], now.R[barriers]])
        q = model.integrate(q, -least(now.M, A, wrong, rank))
    return q
