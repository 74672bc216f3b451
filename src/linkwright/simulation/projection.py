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
from .compiled_correction import compile_least_correction


@dataclass(frozen=True)
class ProjectedMotion:
    """(q, q̇) on the constraints, the remaining residual of positions, and the Jacobian there."""

    q: Floats
    qd: Floats
    residual: float
    jacobian: Floats


class Projection:
    """Projects motions of a model onto its constraints."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.in_time = model.names.is_time_dependent
        self.position_rows = list(model.names.position_rows)
        self.rank, self.position_rank = constraint_ranks(model.mechanism)
        self.least_correction = compile_least_correction(model)
        self.usual = self.weakest(self._home())

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
        J = m.constraint_jacobian(q, *time)
        for _ in range(2 if is_polished else 1):
            violation = m.constraint_velocity(q, qd, *time)
            change = self.least_correction and self.least_correction(t, q, violation)
            if change is None:
                metric = m.mass_matrix(q, *m.names.position_time_arguments(t))
                qd = project_velocities(J, qd, violation, rank=self.rank, metric=metric)
            else:
                qd = qd + change
        return ProjectedMotion(q, qd, residual, J)

    def _close(self, q: Floats, t: float, tolerance: float) -> tuple[Floats, float]:
        """Return closed positions, and the residual that is left."""
        m, correct = self.model, self.least_correction
        time = [t] if self.in_time else []
        functions = PositionConstraints(
            lambda q: m.constraint_residual(q, *time),
            lambda q: m.constraint_jacobian(q, *time)[self.position_rows],
            m.integrate,
            lambda q: m.mass_matrix(q, *m.names.position_time_arguments(t)),
            None if correct is None else lambda q, residual: correct(t, q, residual),
        )
        closure = close_positions(
            functions,
            q,
            tolerance=tolerance,
            rank=self.position_rank,
            max_iterations=CLOSURE_TOLERANCES.max_corrections,
        )
        return closure.q, float(closure.residual)

    def _home(self) -> Floats:
        """Return the Jacobian at home."""
        time = [0.0] if self.in_time else []
        found: Floats = self.model.constraint_jacobian(self.model.home(), *time)
        return found

    def weakest(self, J: Floats) -> float:
        """Return the smallest singular value that counts, as a share of the largest."""
        if not np.isfinite(J).all():
            return 0.0
        return smallest_jacobian_singular_share(J, self.rank) if self.rank else 1.0

    def weakest_at(self, t: float, q: Floats) -> float:
        """Return the smallest singular value that counts at a configuration."""
        time = [t] if self.in_time else []
        return self.weakest(self.model.constraint_jacobian(q, *time))

    def time_to_singularity(self, t: float, q: Floats, qd: Floats, ahead: float) -> float:
        """Return the seconds until the constraints lose rank, by linear extrapolation from the
        values at t and `ahead` seconds later."""
        now = self.weakest_at(t, q)
        then = self.weakest_at(t + ahead, self.model.integrate(q, ahead * qd))
        return now * ahead / (now - then) if then < now else np.inf

    def share_of_usual(self, weakest: float) -> float:
        """Return a smallest singular value as a share of the usual one."""
        return weakest / max(self.usual, 1e-300)
