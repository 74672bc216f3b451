"""Runs whose steps have become so short that they would not end, as where an input chatters."""

from __future__ import annotations

import numpy as np

CHECKED_STEPS = 300_000
"""Steps over which progress is measured: about a second of compiled code for a small mechanism."""

MAX_STEPS = 1e9
"""Steps that a run may still take at its present rate: about an hour for a small mechanism."""

CHECKED_STEPS_IN_PYTHON = 5_000
"""The same for steps that Python makes, which take about 0.4 ms each: two seconds."""

MAX_STEPS_IN_PYTHON = 1e7
"""The same for steps that Python makes: about an hour."""


class EndlessSteps:
    """Measures the progress of each trajectory over its last steps."""

    def __init__(self, rows: int, start: float, *, is_compiled: bool = True) -> None:
        self._times, self._steps = np.full(rows, start), np.zeros(rows, np.int64)
        self._checked = CHECKED_STEPS if is_compiled else CHECKED_STEPS_IN_PYTHON
        self._max = MAX_STEPS if is_compiled else MAX_STEPS_IN_PYTHON

    def status(self, row: int, t: float, steps: int, end: float) -> str | None:
        """Return the status of a run that would not end; None if it goes on."""
        taken = steps - int(self._steps[row])
        if taken < self._checked:
            return None
        length = (t - float(self._times[row])) / taken
        self._times[row], self._steps[row] = t, steps
        if length * self._max >= end - t:
            return None
        return (
            f"stopped at t = {t:.10g} s: steps are {length:.2g} s long, and the run would not end; "
            "smooth what jumps or chatters in forces (tanh instead of sign), or use "
            "integrator='rodas' for a stiff system"
        )
