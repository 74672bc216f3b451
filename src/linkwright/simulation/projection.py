"""Back onto the constraints: positions by Gauss–Newton, speeds by one linear step.

Corrections are the least in the metric of the mass matrix, so that they do no more to the motion
than they must; near a solution each step squares the error.
"""

from __future__ import annotations

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


class Projection:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.in_time = model.names.is_time_dependent
        self.position_rows = list(model.names.position_rows)
        self.closure_error = 0.0
        self.rank, self.position_rank = constraint_ranks(model.mechanism)
        self.least_correction = compile_least_correction(model)
        self.usual = self.weakest(self._home())
        self.passed: list[tuple[float, float]] = []

    def __call__(
        self, t: float, q: Floats, qd: Floats, polished: bool = False
    ) -> tuple[Floats, Floats]:
        """(q, q̇) on the constraints; `polished` till rounding stops it, which counts near singular
        configurations: there an open loop of 1e-13 is a wrong place of 1e-10. Those are trials of
        a step, and are not noted."""
        time = [t] if self.in_time else []
        m = self.model
        if self.position_rows:
            q = self._closed(q, t, 0.0 if polished else CLOSURE_TOLERANCES.corrected_residual)
        J = m.constraint_jacobian(q, *time)
        if not polished:
            self.note(t, J)
        for _ in range(2 if polished else 1):
            wrong = m.constraint_velocity(q, qd, *time)
            change = self.least_correction and self.least_correction(t, q, wrong)
            if change is None:
                qd = project_velocities(J, qd, wrong, rank=self.rank, metric=m.mass_matrix(q))
            else:
                qd = qd + change
        return q, qd

    def _closed(self, q: Floats, t: float, tolerance: float) -> Floats:
        m, correct = self.model, self.least_correction
        time = [t] if self.in_time else []
        functions = PositionConstraints(
            lambda q: m.constraint_residual(q, *time),
            lambda q: m.constraint_jacobian(q, *time)[self.position_rows],
            m.integrate,
            m.mass_matrix,
            None if correct is None else lambda q, residual: correct(t, q, residual),
        )
        closure = close_positions(
            functions, q, tolerance=tolerance, rank=self.position_rank,
            max_iterations=CLOSURE_TOLERANCES.max_corrections,
        )  # fmt: skip
        self.closure_error = float(closure.residual)
        return closure.q

    def _home(self) -> Floats:
        time = [0.0] if self.in_time else []
        found: Floats = self.model.constraint_jacobian(self.model.home(), *time)
        return found

    def weakest(self, J: Floats) -> float:
        """The smallest singular value that counts, as a share of the largest."""
        if not np.isfinite(J).all():
            return 0.0
        return smallest_jacobian_singular_share(J, self.rank) if self.rank else 1.0

    def note(self, t: float, J: Floats) -> None:
        self.passed.append((float(t), self.weakest(J) / max(self.usual, 1e-300)))

    def singular(self) -> tuple[float, ...]:
        """Times of the least values below a hundredth of the usual, one a passage."""
        found: list[float] = []
        depth = np.inf
        for t, share in sorted(self.passed):
            if share >= _NEAR:
                depth = np.inf
            elif share < depth:
                if np.isinf(depth):
                    found.append(t)
                found[-1], depth = t, share
        return tuple(found)


_NEAR = 0.01
