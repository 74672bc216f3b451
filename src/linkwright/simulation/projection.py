"""Projection onto the constraints: positions by Gauss–Newton, velocities by one linear step.

Corrections are the least in the metric of the mass matrix, so that they change the motion no more
than they must; near a solution each step squares the error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_velocities,
    smallest_jacobian_singular_share,
)
from ..kinematics.mobility_analysis import constraint_ranks
from ..model.model import Model
from ..types import Floats
from .compiled_correction import compile_correction


@dataclass(frozen=True)
class ProjectedMotion:
    """(q, q̇) on the constraints, and the remaining residual of positions."""

    q: Floats
    qd: Floats
    residual: float


class Projection:
    """Projects motions of a model onto its constraints."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.in_time = model.names.is_time_dependent
        self.position_rows = list(model.names.position_rows)
        self.rank, self.position_rank = constraint_ranks(model.mechanism)
        self.correction = compile_correction(model)
        self.usual = self.weakest_at(0.0, model.home())

    def project(
        self, t: float, q: Floats, qd: Floats, *, is_polished: bool = False
    ) -> ProjectedMotion:
        """Return the nearest motion on the constraints.

        A polished motion is closed down to rounding. This matters near singular configurations,
        where a residual of 1e-13 means a position error of 1e-10.
        """
        time = [t] if self.in_time else []
        m, residual = self.model, 0.0
        if self.position_rows:
            tolerance = 0.0 if is_polished else CLOSURE_TOLERANCES.corrected_residual
            q, residual = self._close(q, t, tolerance)
        for _ in range(2 if is_polished else 1):
            violation = m.constraint_velocity(q, qd, *time)
            correction = self.correction
            change = None if correction is None else correction.correct(t, q, violation)
            if change is None:
                J = m.constraint_jacobian(q, *time)
                metric = m.mass_matrix(q, *m.names.position_time_arguments(t))
                qd = project_velocities(J, qd, violation, rank=self.rank, metric=metric)
            else:
                qd = qd + change
        return ProjectedMotion(q, qd, residual)

    def _close(self, q: Floats, t: float, tolerance: float) -> tuple[Floats, float]:
        """Return closed positions, and the residual that is left."""
        m, correction = self.model, self.correction
        time = [t] if self.in_time else []
        functions = PositionConstraints(
            lambda q: m.constraint_residual(q, *time),
            lambda q: m.constraint_jacobian(q, *time)[self.position_rows],
            m.integrate,
            lambda q: m.mass_matrix(q, *m.names.position_time_arguments(t)),
            None if correction is None else lambda q, residual: correction.correct(t, q, residual),
        )
        closure = close_positions(
            functions,
            q,
            tolerance=tolerance,
            rank=self.position_rank,
            max_iterations=CLOSURE_TOLERANCES.max_corrections,
        )
        return closure.q, float(closure.residual)

    def weakest_at(self, t: float, q: Floats) -> float:
        """Return the smallest singular value that counts at a configuration, as a share of the
        largest; with many constraints, an estimate by pivots."""
        if self.correction is not None:
            return self.correction.weakest(t, q)
        J = self.model.constraint_jacobian(q, *([t] if self.in_time else []))
        if not np.isfinite(J).all():
            return 0.0
        return smallest_jacobian_singular_share(J, self.rank) if self.rank else 1.0

    def time_to_singularity(self, t: float, q: Floats, qd: Floats, ahead: float) -> float:
        """Return the seconds until the constraints lose rank, by linear extrapolation from the
        values at t and `ahead` seconds later."""
        now = self.weakest_at(t, q)
        then = self.weakest_at(t + ahead, self.model.integrate(q, ahead * qd))
        return now * ahead / (now - then) if then < now else np.inf

    def share_of_usual(self, weakest: float) -> float:
        """Return a smallest singular value as a share of the usual one."""
        return weakest / max(self.usual, 1e-300)
