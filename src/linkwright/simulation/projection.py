"""Back onto the constraints: positions by Gauss–Newton, speeds by one linear step.

Corrections are the least in the metric of the mass matrix, so that they do no more to the motion
than they must; near a solution each step squares the error.
"""

from __future__ import annotations

import numpy as np

from ..kinematics.mobility_analysis import ranks
from ..model import Model
from ..types import Floats

STEPS = 8


class Projection:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.in_time = model.names.in_time
        self.position_rows = list(model.names.position_rows)
        self.closure_error = 0.0
        self.rank, self.position_rank = ranks(model.mechanism)
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
            q = self._closed(q, time, 0.0 if polished else 1e-13)
        J = m.constraint_jacobian(q, *time)
        if not polished:
            self.note(t, J)
        for _ in range(2 if polished else 1):
            wrong = m.constraint_velocity(q, qd, *time)
            qd = qd - least(m.mass_matrix(q), J, wrong, self.rank)
        return q, qd

    def _closed(self, q: Floats, time: list[float], enough: float) -> Floats:
        m, best, size = self.model, q, np.inf
        for _ in range(STEPS):
            residual = m.constraint_residual(q, *time)
            left = float(np.abs(residual).max())
            if not left < size and size < 1e-13:
                break
            best, size = q, left
            if size <= enough:
                break
            J = m.constraint_jacobian(q, *time)[self.position_rows]
            step = least(m.mass_matrix(q), J, residual, self.position_rank)
            if np.abs(J @ step).max() <= enough:  # the rest is left by nearly redundant rows
                break
            q = m.integrate(q, -step)
        self.closure_error = size
        return best

    def _home(self) -> Floats:
        time = [0.0] if self.in_time else []
        found: Floats = self.model.constraint_jacobian(self.model.home(), *time)
        return found

    def weakest(self, J: Floats) -> float:
        """The smallest singular value that counts, as a share of the largest."""
        if not np.isfinite(J).all():
            return 0.0
        sizes = np.linalg.svd(J, compute_uv=False)
        return float(sizes[self.rank - 1] / max(sizes[0], 1e-300)) if self.rank else 1.0

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


def least(M: Floats, J: Floats, wanted: Floats, rank: int) -> Floats:
    """x with J x = wanted and xᵀM x least; in the sense of least squares where rows depend on
    others, exactly or nearly: `rank` says how many do not."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:  # some coordinate moves no mass: all alike then
        L = np.eye(len(M))
    back = np.linalg.solve(L, J.T).T
    if not np.isfinite(back).all():
        return np.full(J.shape[1], np.nan)
    left, sizes, right = np.linalg.svd(back, full_matrices=False)
    kept = min(rank, int((sizes > 1e-9 * sizes.max(initial=1e-300)).sum()))
    solved = right[:kept].T @ ((left[:, :kept].T @ wanted) / sizes[:kept])
    found: Floats = np.linalg.solve(L.T, solved)
    return found
