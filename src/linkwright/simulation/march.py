"""Along a motion, step by step: samples taken, constraints held, events met, why it ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError
from .diagnosis import OPEN, largest_gap, stopped
from .events import Hybrid, LostError, Outcome
from .progress import Watch
from .run import FINISHED
from .solvers import Solver
from .system import System
from .wheels import FlatWheels

Floats = NDArray[np.float64]


class Mending:
    """A state with the constraints, what events hold, joints of free bodies, and the lengths of
    quaternions exact."""

    def __init__(self, system: System, events: Hybrid | None = None) -> None:
        self.system, self.events = system, events
        self.projection = system.projection

    @property
    def needed(self) -> bool:
        holding = self.events is not None and self.events.holding
        return self.projection is not None or self.system.drifts or holding

    @property
    def failed(self) -> bool:
        """Whether the last state could not be brought back onto the constraints."""
        error = 0.0 if self.projection is None else self.projection.closure_error
        return not error <= OPEN and not error <= largest_gap(self.system)

    def __call__(self, t: float, y: Floats) -> Floats:
        y = self.system.mended(t, y)
        if self.events is None or not self.events.holding:
            return y
        return self.system.moved(y, *self.events.hold(t, *self.system.motion(y)))


class March:
    """Steps of a solver from one sample to the next, and from one event to the next."""

    def __init__(self, solver: Solver, mending: Mending) -> None:
        self.solver, self.mending, self.events = solver, mending, mending.events
        self.steps = 0
        self.found: list[Floats] = []
        self.pushes: list[Floats] = []
        self.borne: list[Floats | None] = []
        self.times: list[float] = []
        self.broken: str | None = None
        self.fastest, self._top = solver.y, 0.0
        self.wheels = FlatWheels(mending.system.equations.mechanism)

    def along(self, times: Floats, watch: Watch | None = None) -> str:
        """Fills `found` with states at the times; says how it ended. Ctrl-C ends it too, and so
        does what a drive or an event complains of."""
        self._keep(times[0], self.solver.y)
        try:
            with np.errstate(all="ignore"):
                return self._along(times, watch)
        except KeyboardInterrupt:
            return f"interrupted at t = {self.solver.t:g} s"
        except LinkwrightError as error:
            return f"stopped at t = {self.solver.t:g} s: {error}"
        except np.linalg.LinAlgError:
            return self._stopped("its equations are no longer finite")

    def _along(self, times: Floats, watch: Watch | None) -> str:
        if not np.isfinite(self.mending.system.rates(self.solver.t, self.solver.y)).all():
            return self._stopped("its rates are not finite")
        while len(self.found) < len(times):
            status = self._step(times)
            if status is not None:
                return status
            if watch is not None:
                watch.step(self.solver.t)
        return FINISHED

    def reactions(self) -> Floats | None:
        """Of joints and loops at the samples, where contacts press on bodies."""
        found = [x for x in self.borne if x is not None]
        return np.array(found) if found else None

    def _stopped(self, reason: str) -> str:
        return stopped(self.mending.system, self.solver.t, self.solver.y, reason)

    def _step(self, times: Floats) -> str | None:
        begin = self.solver.t
        reason = self.solver.step()
        if reason is None and not np.isfinite(self.solver.y).all():
            reason = "its rates are no longer finite"
        if reason is not None:
            return self._stopped(reason)
        if (wheel := self.wheels.fallen(self.mending.system.motion(self.solver.y)[0])) is not None:
            return _fallen(begin, wheel)
        self.steps += 1
        self._compare_speeds()
        if self.events is not None:
            met = self._meet(times, begin)
            if met is not None:
                self._act(times[-1])
                return met or None
        self._sample(times[times <= self.solver.t])
        if self.solver.one_step and self.mending.needed:
            self.solver.y = self.mending(self.solver.t, self.solver.y)
        if self.events is not None:
            self.events.refresh(self.solver.y)
        self._act(times[-1])
        return self._stopped("its constraints no longer hold") if self.mending.failed else None

    def _compare_speeds(self) -> None:
        """Keeps the state of the largest speeds, which may lie between samples."""
        qd = self.mending.system.motion(self.solver.y)[1]
        top = float(qd @ qd)
        if top > self._top:
            self.fastest, self._top = self.solver.y.copy(), top

    def _act(self, end: float) -> None:
        """Where a table has a kink, or a sampled controller acts, the motion begins anew."""
        t = self.solver.t
        if t < self.solver.end or t >= end:
            return
        y = self.mending.system.sample(t, self.mending(t, self.solver.y))
        if self.events is not None:
            y = self.events.pushed_anew(t, y)
            self._push_again(t, y)
        self.solver.end = self.mending.system.next_stop(t, end)
        self.solver.restart(t, y)

    def _push_again(self, t: float, y: Floats) -> None:
        """A sample at the instant at which a drive jumps has the forces behind it."""
        assert self.events is not None
        if t - self.times[-1] <= 1e-12 * max(1.0, t):
            self.pushes[-1] = self.events.push_at(t, y)
            self.borne[-1] = self.events.borne_at(t, y)

    def _meet(self, times: Floats, begin: float) -> str | None:
        """Events inside the last step, until one changes the motion: samples before it are kept,
        and the motion goes on from it (""), or ends (why)."""
        assert self.events is not None
        between = self.solver.between()
        while True:
            try:
                event = self.events.next_event(begin, self.solver.t, between)
            except LostError as error:
                return self._lost(times, error.t, error)
            if event is None:
                return None
            t, columns = event
            self._sample(times[times < t])
            try:
                outcome = self.events.handle(t, self.mending(t, between(t)), columns)
            except LinkwrightError as error:
                return self._lost(times, t, error)
            if outcome.status is not None:
                return self._ended(t, outcome)
            if outcome.y is not None:
                if t >= times[-1]:
                    self._keep(t, outcome.y)
                else:
                    self.solver.restart(t, outcome.y)
                return ""
            begin = t

    def ended(self, outcome: Outcome) -> str:
        """Where a motion ends as it begins."""
        self._keep(self.solver.t, self.solver.y)
        return self._ended(self.solver.t, outcome)

    def _ended(self, t: float, outcome: Outcome) -> str:
        assert outcome.y is not None
        assert outcome.status is not None
        self._keep_last(t, outcome.y)
        self.broken = outcome.broken
        return outcome.status

    def _lost(self, times: Floats, t: float, error: LinkwrightError) -> str:
        """An event cannot be treated: the part before it is kept."""
        self._sample(times[times < t])
        self._keep_last(t, self.mending(t, self.solver.between()(t)))
        return f"stopped at t = {t:.12g} s: {error}"

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
            self.borne.append(self.events.borne_at(t, y))

    def _keep_last(self, t: float, y: Floats) -> None:
        """Where a run ends, instead of a sample at the same time."""
        if t <= self.times[-1]:
            del self.times[-1], self.found[-1], self.pushes[-1:], self.borne[-1:]
        self._keep(t, y)


def _fallen(t: float, wheel: str) -> str:
    return (
        f"stopped at t = {t:.10g} s: the wheel of '{wheel}' falls flat, and then rolls on no "
        "single point; end the run earlier, or hold the wheel up"
    )
