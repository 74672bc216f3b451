"""Along a motion, step by step: samples taken, constraints held, events met, why it ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats
from .diagnosis import OPEN, largest_gap, stopped
from .events import Hybrid, LostError, Outcome
from .faults import NEAR, check_drives, find_drive_fault
from .progress import RunProgress
from .run import FINISHED
from .solvers import Solver
from .system import System
from .wheels import FlatWheels


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
        self.driven: list[Floats] = []
        """τ at the samples, of a drive that is a function: nobody calls it again."""
        self.times: list[float] = []
        self.broken: str | None = None
        self.fastest, self._top = solver.y, 0.0
        self.wheels = FlatWheels(mending.system.equations.mechanism)
        self.last = solver.t, solver.y
        """The end of the last step that went well."""

    def along(self, times: Floats, watch: RunProgress | None = None) -> str:
        """Fills `found` with states at the times; says how it ended. Ctrl-C ends it too, and so
        does what a drive or an event complains of."""
        self._keep(times[0], self.solver.y)
        try:
            with np.errstate(all="ignore"):
                return self._along(times, watch)
        except KeyboardInterrupt:
            self._keep_reached()
            return f"interrupted at t = {self.last[0]:g} s"
        except LinkwrightError as error:
            self._keep_reached()
            return f"stopped at t = {self.last[0]:g} s: {error}"
        except np.linalg.LinAlgError:
            self._keep_reached()
            return self._stopped("its equations are no longer finite")

    def _along(self, times: Floats, watch: RunProgress | None) -> str:
        if not np.isfinite(self.mending.system.rates(self.solver.t, self.solver.y)).all():
            return self._stopped("its rates are not finite")
        while len(self.found) < len(times):
            status = self._step(times)
            if status is not None:
                return status
            if watch is not None:
                watch.step(self.solver.t)
        return FINISHED

    @property
    def states(self) -> Floats:
        """At the samples, one column a time."""
        return np.concatenate(self.found).reshape(len(self.found), -1).T

    def reactions(self) -> Floats | None:
        """Of joints and loops at the samples, where contacts press on bodies."""
        found = [x for x in self.borne if x is not None]
        return np.array(found) if found else None

    def _reach(self) -> float:
        """How far from the last state a step may have looked before it failed."""
        inner = getattr(self.solver, "inner", self.solver)
        wanted = getattr(getattr(inner, "solver", None), "h_abs", 0.0)
        tried = max(self.solver.t - self.last[0], getattr(inner, "spacing", 0.0), 2 * wanted)
        return max(tried, NEAR * max(1.0, abs(self.solver.t)))

    def _keep_reached(self) -> None:
        """The last state, behind the samples; Ctrl-C may have come while a sample was kept."""
        optional: tuple[list[Any], ...] = (self.pushes, self.borne, self.driven)
        histories: list[list[Any]] = [self.times, self.found, *(x for x in optional if x)]
        complete = min(map(len, histories))
        for history in histories:
            del history[complete:]
        if self.last[0] > self.times[-1] and self._holds_finite_drives(*self.last):
            t, y = self.last
            self._keep(t, self.mending(t, y))

    def _holds_finite_drives(self, t: float, y: Floats) -> bool:
        try:
            check_drives(self.mending.system, t, y)
        except LinkwrightError:
            return False
        return True

    def _stopped(self, reason: str) -> str:
        system, (t, y) = self.mending.system, self.last
        known = list(zip(self.times, self.found, strict=True))[:: 1 + len(self.times) // 16]
        fault = find_drive_fault(system, t, y, self._reach(), known)
        if fault is not None:
            return f"stopped at t = {t:.10g} s: {fault}"
        return stopped(system, self.solver.t, self.solver.y, reason)

    def _step(self, times: Floats) -> str | None:
        begin = self.solver.t
        reason = self.solver.step()
        if reason is None and not np.isfinite(self.solver.y).all():
            reason = "its rates are no longer finite"
        if reason is not None:
            return self._stopped(reason)
        if (
            wheel := self.wheels.find_fallen_wheel(self.mending.system.motion(self.solver.y)[0])
        ) is not None:
            return _fallen(begin, wheel)
        self.steps += 1
        self._compare_speeds()
        if self.events is not None:
            met = self._meet(times, begin)
            if met is not None:
                self._act(times[-1])
                self._remember()
                return met or None
        self._sample(times[times <= self.solver.t])
        if self.solver.one_step and self.mending.needed:
            self.solver.y = self.mending(self.solver.t, self.solver.y)
        if self.events is not None:
            self.events.refresh(self.solver.y)
        self._remember()
        self._act(times[-1])
        return self._stopped("its constraints no longer hold") if self.mending.failed else None

    def _remember(self) -> None:
        self.last = self.solver.t, self.solver.y.copy()

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
                state = self.mending(t, between(t))
                check_drives(self.mending.system, t, state)
                self._keep(t, state)

    def _keep(self, t: float, y: Floats) -> None:
        self.times.append(float(t))
        self.found.append(y)
        system = self.mending.system
        if system.drive.function is not None:
            self.driven.append(system.torque(t, y))
        if self.events is not None:
            self.pushes.append(self.events.push_at(t, y))
            self.borne.append(self.events.borne_at(t, y))

    def _keep_last(self, t: float, y: Floats) -> None:
        """Where a run ends, instead of a sample at the same time."""
        if t <= self.times[-1]:
            for history in (self.times, self.found, self.pushes, self.borne, self.driven):
                del history[-1:]
        self._keep(t, y)


def _fallen(t: float, wheel: str) -> str:
    return (
        f"stopped at t = {t:.10g} s: the wheel of '{wheel}' falls flat, and then rolls on no "
        "single point; end the run earlier, or hold the wheel up"
    )
