"""Back onto the constraints: positions by Gauss–Newton, speeds by one linear step.

Corrections are the least in the metric of the mass matrix, so that they do no more to the motion
than they must; near a solution each step squares the error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..model import Model

Floats = NDArray[np.float64]

STEPS = 8


class Projection:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.in_time = model.names.in_time
        self.positions = model.names.positions
        self.closure_error = 0.0

    def __call__(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        time = [t] if self.in_time else []
        m = self.model
        for _ in range(STEPS if self.positions else 0):
            residual = m.constraint_residual(q, *time)
            self.closure_error = float(np.abs(residual).max())
            if self.closure_error < 1e-13:
                break
            J = m.constraint_jacobian(q, *time)[: self.positions]
            q = m.integrate(q, -least(m.mass_matrix(q), J, residual))
        J = m.constraint_jacobian(q, *time)
        qd = qd - least(m.mass_matrix(q), J, m.constraint_velocity(q, qd, *time))
        return q, qd


def least(M: Floats, J: Floats, wanted: Floats) -> Floats:
    """x with J x = wanted and xᵀM x least; rows that depend on others are left out."""
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:  # some coordinate moves no mass: all alike then
        L = np.eye(len(M))
    back = np.linalg.solve(L, J.T).T
    found: Floats = np.linalg.solve(L.T, np.linalg.pinv(back, rcond=1e-9) @ wanted)
    return found
