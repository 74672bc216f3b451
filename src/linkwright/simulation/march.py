"""Along a motion, step by step: samples taken, constraints held, the reason why it ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .diagnosis import OPEN, stopped
from .progress import Watch
from .run import FINISHED
from .solvers import Solver
from .system import System

Floats = NDArray[np.float64]


class Mending:
    """A state with the constraints and the lengths of quaternions exact."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.projection = system.projection
        self.quaternions = system.names.nq != system.names.nv

    @property
    def needed(self) -> bool:
        return self.projection is not None or self.quaternions

    @property
    def failed(self) -> bool:
        """Whether the last state could not be brought back onto the constraints."""
        return self.projection is not None and not self.projection.closure_error <= OPEN

    def __call__(self, t: float, y: Floats) -> Floats:
        return self.system.mended(t, y)


class March:
    """Steps of a solver from one sample to the next."""

    def __init__(self, solver: Solver, mending: Mending) -> None:
        self.solver, self.mending = solver, mending
        self.steps = 0
        self.found: list[Floats] = [solver.y]

    def along(self, times: Floats, watch: Watch | None = None) -> str:
        """Fills `found` with states at the times; says how it ended. Ctrl-C ends it too."""
        try:
            with np.errstate(all="ignore"):
                reason = self._along(times, watch)
        except KeyboardInterrupt:
            return f"interrupted at t = {self.solver.t:g} s"
        if reason is None:
            return FINISHED
        return stopped(self.mending.system, self.solver.t, self.solver.y, reason)

    def _along(self, times: Floats, watch: Watch | None) -> str | None:
        if not np.isfinite(self.mending.system.rates(self.solver.t, self.solver.y)).all():
            return "its rates are not finite"
        while len(self.found) < len(times):
            reason = self.solver.step()
            if reason is None and not np.isfinite(self.solver.y).all():
                reason = "its rates are no longer finite"
            if reason is not None:
                return reason
            self.steps += 1
            if watch is not None:
                watch.step(self.solver.t)
            self._sample(times)
            if self.solver.one_step and self.mending.needed:
                self.solver.y = self.mending(self.solver.t, self.solver.y)
            if self.mending.failed:
                return "its constraints no longer hold"
        return None

    def _sample(self, times: Floats) -> None:
        """Samples that the last step has passed."""
        k = len(self.found)
        passed = times[k:][times[k:] <= self.solver.t]
        if passed.size:
            between = self.solver.between()
            self.found += [self.mending(t, between(t)) for t in passed]
