"""The progress of a closing iteration: when it is done, and which iterate is kept.

A single state is followed with Python's own numbers, many states with arrays and masks. The rules
are the same. Python's numbers are several times as fast for single states, and a simulation closes
thousands of these.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...types import Floats
from .tolerances import CLOSURE_TOLERANCES

Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ClosureResult:
    """Coordinates q (…, nq), the largest residual of each state, and whether it converged.

    Nearly redundant rows may leave a residual where a state converged: callers compare it with
    what their mechanism allows.
    """

    q: Floats
    residual: Floats
    has_converged: Bools


class ClosureIterate:
    """One state: its current and previous coordinates, and its best iterate so far."""

    def __init__(self, q: Floats) -> None:
        self.q = self.previous = self.best = q
        self.residual_size = self.closable_residual = self.least_residual = np.inf
        self.has_converged = False

    def record_closure_residual(self, residual: Floats, tolerance: float) -> bool:
        """Record the residual of q and return whether the iteration is done; a state that rounding
        has made worse goes back."""
        size = float(np.abs(residual).max(initial=0.0))
        if (
            not size < self.residual_size
            and self.residual_size <= CLOSURE_TOLERANCES.corrected_residual
        ):
            self.q, self.has_converged = self.previous, True
            return True
        self.residual_size = size
        if size < self.least_residual or np.isinf(self.least_residual):
            self.best, self.least_residual = self.q, size
        self.has_converged = size <= tolerance
        return self.has_converged or not np.isfinite(size)

    def record_closure_step(self, closed: Floats, tolerance: float) -> bool:
        """Record how the next step changes the residual (m), and return whether the iteration is
        done: a step that hardly changes residuals ends it."""
        closable = float(np.abs(closed).max(initial=0.0))
        stalled = (
            not closable < self.closable_residual
            and self.closable_residual <= CLOSURE_TOLERANCES.corrected_residual
        )
        self.closable_residual = closable
        if closable <= tolerance or stalled:
            self.best, self.least_residual, self.has_converged = self.q, self.residual_size, True
        return self.has_converged or not np.isfinite(closable)

    def move_to(self, q: Floats) -> None:
        """Make q the current iterate."""
        self.q, self.previous = q, self.q

    def result(self) -> ClosureResult:
        """Return the best iterate with its residual."""
        return ClosureResult(
            self.best, np.asarray(self.least_residual), np.asarray(self.has_converged)
        )


class BatchClosureIterate:
    """The same for many states at once (…, nq); states that are done no longer move."""

    def __init__(self, q: Floats) -> None:
        self.q = self.previous = self.best = q
        self.residual_size = self.closable_residual = self.least_residual = np.full(
            q.shape[:-1], np.inf
        )
        self.has_converged = self.is_done = np.zeros(q.shape[:-1], dtype=bool)

    def record_closure_residual(self, residual: Floats, tolerance: float) -> bool:
        """Record the residuals (…, m) of all states and return whether all of them are done."""
        size = np.abs(residual).max(axis=-1, initial=0.0)
        stalled = (
            ~(size < self.residual_size)
            & (self.residual_size <= CLOSURE_TOLERANCES.corrected_residual)
            & ~self.is_done
        )
        self.q = select_closure_states(stalled, self.previous, self.q)
        self.residual_size = np.where(stalled, self.residual_size, size)
        better = (
            (self.residual_size < self.least_residual) | np.isinf(self.least_residual)
        ) & ~self.is_done
        self._keep_best(better, stalled | (better & (size <= tolerance)), self.residual_size)
        return bool(self.is_done.all())

    def record_closure_step(self, closed: Floats, tolerance: float) -> bool:
        """Record how the next steps change the residuals (…, m), and return whether all states are
        done."""
        closable = np.abs(closed).max(axis=-1, initial=0.0)
        stalled = ~(closable < self.closable_residual) & (
            self.closable_residual <= CLOSURE_TOLERANCES.corrected_residual
        )
        self.closable_residual = closable
        converged = ((closable <= tolerance) | stalled) & ~self.is_done
        self._keep_best(converged, converged, closable)
        return bool(self.is_done.all())

    def _keep_best(self, best: Bools, converged: Bools, value: Floats) -> None:
        self.best = select_closure_states(best, self.q, self.best)
        self.least_residual = np.where(best, self.residual_size, self.least_residual)
        self.has_converged = self.has_converged | converged
        self.is_done = self.is_done | converged | ~np.isfinite(value)

    def move_to(self, q: Floats) -> None:
        """Make q the current iterate of the states that are not done."""
        self.q, self.previous = select_closure_states(self.is_done, self.q, q), self.q

    def result(self) -> ClosureResult:
        """Return the best iterate of each state with its residual."""
        return ClosureResult(self.best, self.least_residual, self.has_converged)


def select_closure_states(mask: Bools, q: Floats, other: Floats) -> Floats:
    """Return the rows of q where the mask holds, and those of `other` elsewhere."""
    if not mask.any():
        return other
    return q if mask.all() else np.where(mask[..., None], q, other)
