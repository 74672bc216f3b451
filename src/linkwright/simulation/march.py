"""Along a motion, step by step: samples taken, constraints held, events met, why it ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .events import Hybrid, NoSolutionError
from .projection import Projection
from .run import FINISHED
from .solvers import Solver
from .system import System

Floats = NDArray[np.float64]


class Mending:
    """A state with the constraints, what events hold, and the lengths of quaternions exact."""

    def __init__(self, system: System, events: Hybrid | None = None) -> None:
        self.system, self.events = system, events
        constrained = bool(system.names.constraints) and system.equations.by != "approximate"
        self.projection = Projection(system.model) if constrained else None
        self.quaternions = system.names.nq != system.names.nv

    @property
    def needed(self) -> bool:
        holding = self.events is not None and self.events.holding
        return self.projection is not None or self.quaternions or holding

    def __call__(self, t: float, y: Floats) -> Floats:
        if not self.needed:
            return y
        q, qd = self.system.motion(y)
        model = self.system.model
        if self.quaternions:
            q = model.integrate(q, np.zeros(model.nv))
        if self.projection is not None:
            q, qd = self.projection(t, q, qd)
        if self.events is not None:
            q, qd = self.events.hold(t, q, qd)
        return np.append(self.system.start(q, qd)[:-1], y[-1])


class March:
    """Steps of a solver from one sample to the next, and from one event to the next."""

    def __init__(self, solver: Solver, mending: Mending) -> None:
        self.solver, self.mending, self.events = solver, mending, mending.events
        self.steps = 0
        self.found: list[Floats] = []
        self.pushes: list[Floats] = []
        self.times: list[float] = []
        self.broken: str | None = None

    def along(self, times: Floats) -> str:
        """Fills `found` with states at the times; says how it ended."""
        with np.errstate(all="ignore"):
            try:
                self._keep(times[0], self.solver.y)
                while len(self.found) < len(times):
                    status = self._step(times)
                    if status is not None:
                        return status
            except KeyboardInterrupt:
                return f"interrupted at t = {self.solver.t:g} s"
            except NoSolutionError as error:
                return f"stopped at t = {self.solver.t:g} s: {error}"
        return FINISHED

    def _step(self, times: Floats) -> str | None:
        begin = self.solver.t
        reason = self.solver.step()
        if reason is None and not np.isfinite(self.solver.y).all():
            reason = "its rates are no longer finite"
        if reason is not None:
            return _stopped(self.solver.t, reason)
        self.steps += 1
        if self.events is not None:
            met = self._meet(times, begin)
            if met is not None:
                return met or None
        self._sample(times[times <= self.solver.t])
        if self.solver.one_step and self.mending.needed:
            self.solver.y = self.mending(self.solver.t, self.solver.y)
        if self.events is not None:
            self.events.refresh(self.solver.y)
        return None

    def _meet(self, times: Floats, begin: float) -> str | None:
        """Events inside the last step, until one changes the motion: samples before it are kept,
        and the motion goes on from it (""), or ends (why)."""
        assert self.events is not None
        between = self.solver.between()
        while (event := self.events.next_event(begin, self.solver.t, between)) is not None:
            t, columns = event
            self._sample(times[times < t])
            outcome = self.events.handle(t, self.mending(t, between(t)), columns)
            if outcome.status is not None and outcome.y is not None:
                self._keep(t, outcome.y)
                self.broken = outcome.broken
                return outcome.status
            if outcome.y is not None:
                if t >= times[-1]:
                    self._keep(t, outcome.y)
                else:
                    self.solver.restart(t, outcome.y)
                return ""
            begin = t
        return None

    def _sample(self, passed: Floats) -> None:
        """Samples that the last step has passed, those up to the end of `passed`."""
        new = passed[len(self.found) :]
        if new.size:
            between = self.solver.between()
            for t in new:
                self._keep(t, self.mending(t, between(t)))

    def _keep(self, t: float, y: Floats) -> None:
        self.times.append(float(t))
        self.found.append(y)
        if self.events is not None:
            self.pushes.append(self.events.push_at(t, y))


def _stopped(t: float, reason: str) -> str:
    return f"stopped at t = {t:g} s: {reason}; try a stiff integrator, or look for a singular state"
