"""Complementarity between bounds: forces that push but never pull, friction that is limited.

Find x between its bounds such that each entry of w = A x + b is zero, or at least zero where x is
at its lower bound, or at most zero at its upper bound. A is symmetric and has no negative
eigenvalue, so that x minimizes ½ xᵀA x + bᵀx. For bounds 0 and ∞ it is the linear complementarity
problem.
"""

from __future__ import annotations

import numpy as np

from ...types import Floats
from .event_tolerances import FORCE_SOLVER


def solve_box_complementarity(
    A: Floats, b: Floats, low: Floats, high: Floats, start: Floats | None = None
) -> Floats:
    """Return x: Gauss–Seidel finds which bounds hold, a linear solve makes the rest exact."""
    x: Floats = np.clip(np.zeros(len(b)) if start is None else start, low, high)
    for _ in range(FORCE_SOLVER.box_rounds):
        for _ in range(FORCE_SOLVER.box_sweeps):
            _sweep(A, b, low, high, x)
        exact = _exact(A, b, low, high, x)
        if exact is not None:
            return exact
    return x


def _sweep(A: Floats, b: Floats, low: Floats, high: Floats, x: Floats) -> None:
    """Improve all entries of x one after another, in place (Gauss–Seidel)."""
    for i in range(len(b)):
        if A[i, i] > 0:
            x[i] = min(max(x[i] - (A[i] @ x + b[i]) / A[i, i], low[i]), high[i])


def _exact(A: Floats, b: Floats, low: Floats, high: Floats, x: Floats) -> Floats | None:
    """Return the solution with the bounds that x is at; None if other bounds hold."""
    near = 1e-12 * max(np.abs(x).max(initial=0.0), 1e-300)
    at_low, at_high = x <= low + near, x >= high - near
    free = ~(at_low | at_high) & (np.diag(A) > 0)
    found = np.where(at_low, low, np.where(at_high, high, 0.0))
    rest = b + A @ found
    found[free] = np.linalg.lstsq(A[np.ix_(free, free)], -rest[free], rcond=1e-12)[0]
    w = A @ found + b
    small = FORCE_SOLVER.box_residual_share * max(np.abs(b).max(initial=0.0), 1e-300)
    room = 1e-10 * max(np.abs(found).max(initial=0.0), 1e-300)
    inside = (found >= low - room).all() and (found <= high + room).all()
    moves = np.diag(A) > 0
    right = np.where(at_low & ~at_high, w >= -small, np.where(at_high & ~at_low, w <= small, True))
    right &= ~free | (np.abs(w) <= small)
    return np.clip(found, low, high) if inside and right[moves].all() else None
