"""Runs whose steps have become so short that they would not end, as where an input chatters."""

from __future__ import annotations

import numpy as np

CHECKED_STEPS = 300_000
"""Steps over which progress is measured: about a second of compiled code for a small mechanism."""

MAX_STEPS = 1e9
"""Steps that a run may still take at its present rate: about an hour for a small mechanism."""


class EndlessSteps:
    """Measures the progress of each trajectory over its last steps."""

    def __init__(self, rows: int, start: float) -> None:
        self._times, self._steps = np.full(rows, start), np.zeros(rows, np.int64)

    def status(self, row: int, t: float, steps: int, end: float) -> str | None:
        """Return the status of a run that would not end; None if it goes on."""
        taken = steps - int(self._steps[row])
        if taken < CHECKED_STEPS:
            return None
        length = (t - float(self._times[row])) / taken
        self._times[row], self._steps[row] = t, steps
        if length * MAX_STEPS >= end - t:
            return None
        return (
            f"stopped at t = {t:.10g} s: steps are {length:.2g} s long, and the run would not end; "
            "smooth what jumps or chatters in forces (tanh instead of sign), or use "
            "integrator='rodas' for a stiff system"
        )
