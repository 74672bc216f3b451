"""Along a motion, step by step: samples taken, constraints held, the reason why it ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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

    def __call__(self, t: float, y: Floats) -> Floats:
        return self.system.mended(t, y)


class March:
    """Steps of a solver from one sample to the next."""

    def __init__(self, solver: Solver, mending: Mending) -> None:
        self.solver, self.mending = solver, mending
        self.steps = 0
        self.found: list[Floats] = [solver.y]

    def along(self, times: Floats) -> str:
        """Fills `found` with states at the times; says how it ended."""
        with np.errstate(all="ignore"):
            while len(self.found) < len(times):
                try:
                    reason = self.solver.step()
                except KeyboardInterrupt:
                    return f"interrupted at t = {self.solver.t:g} s"
                if reason is None and not np.isfinite(self.solver.y).all():
                    reason = "its rates are no longer finite"
                if reason is not None:
                    return _stopped(self.solver.t, reason)
                self.steps += 1
                self._sample(times)
                if self.solver.one_step and self.mending.needed:
                    self.solver.y = self.mending(self.solver.t, self.solver.y)
        return FINISHED

    def _sample(self, times: Floats) -> None:
        """Samples that the last step has passed."""
        k = len(self.found)
        passed = times[k:][times[k:] <= self.solver.t]
        if passed.size:
            between = self.solver.between()
            self.found += [self.mending(t, between(t)) for t in passed]


def _stopped(t: float, reason: str) -> str:
    return f"stopped at t = {t:g} s: {reason}; try a stiff integrator, or look for a singular state"
