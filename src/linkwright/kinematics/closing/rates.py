"""Velocities and accelerations that satisfy constraints: J q̇ = b and J q̈ = −γ."""

from __future__ import annotations

from collections.abc import Sequence

from ...types import Floats
from .steps import gauss_newton_step
from .tolerances import CLOSURE_TOLERANCES


def project_velocities(
    J: Floats,
    qd: Floats,
    violation: Floats,
    *,
    hold: Sequence[int] = (),
    rank_share: float = CLOSURE_TOLERANCES.rank_share,
    rank: int | None = None,
    metric: Floats | None = None,
) -> Floats:
    """Return the velocities (…, n) nearest to qd that satisfy the constraints.

    Parameters
    ----------
    violation
        J q̇ − b at qd, (…, m).
    hold
        Entries of qd that stay as they are.
    rank_share, rank, metric
        As for the least change in `steps`; nearest is meant in the metric.
    """
    return qd + _least_rate_correction(J, violation, hold, rank_share, rank, metric)


def project_accelerations(
    J: Floats,
    qdd: Floats,
    bias: Floats,
    *,
    hold: Sequence[int] = (),
    rank_share: float = CLOSURE_TOLERANCES.rank_share,
    rank: int | None = None,
    metric: Floats | None = None,
) -> Floats:
    """Return the accelerations (…, n) nearest to qdd with J q̈ + bias = 0, as for velocities."""
    violation = (J @ qdd[..., None])[..., 0] + bias
    return qdd + _least_rate_correction(J, violation, hold, rank_share, rank, metric)


def _least_rate_correction(
    J: Floats,
    violation: Floats,
    hold: Sequence[int],
    rank_share: float,
    rank: int | None,
    metric: Floats | None,
) -> Floats:
    """Return the smallest change (…, n) that removes the violation without touching the held
    entries."""
    free = [k for k in range(J.shape[-1]) if k not in hold] if len(hold) else None
    return gauss_newton_step(
        J, violation, free=free, rank_share=rank_share, rank=rank, metric=metric
    )
