"""From a start to a run; where a member breaks, on from there with what is left."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..mechanism import Mechanism
from ..types import Floats
from .argument_checks import MOST_SAMPLES
from .compiled_motion import can_compile
from .compiled_run import integrate_compiled
from .events import EventParts, FailureError
from .events.breaking import broken, carried_over
from .fixed_steps.tableaus import FIXED_STEP_METHODS
from .march import March, Mending
from .onward import held_forces, remaining_drive
from .preparation import Preparation, prepare_simulation
from .progress import RunProgress
from .record import prepare_recording, recorded
from .run import Run
from .solvers import Maker
from .system import System


@dataclass(frozen=True)
class Motion:
    """How a motion is made: an integrator with its options, and the user's events."""

    make: Maker
    options: Mapping[str, float]
    settings: Mapping[str, Any]
    events: Mapping[str, Any] | None = None
    progress: bool | None = None

    def prepare(self, mechanism: Mechanism, torque: Any) -> Preparation:
        """Equations and code, which runs with the same inputs share."""
        return prepare_simulation(
            mechanism, self.settings["by"], torque, self.settings["stabilization"],
            crosses_kinks=self.settings["integrator"] in FIXED_STEP_METHODS,
        )  # fmt: skip

    def run(
        self, mechanism: Mechanism, prepared: Preparation, torque: Any, times: Floats, q: Floats,
        qd: Floats, held: Floats | None = None,
    ) -> Run:  # fmt: skip
        """The run in compiled code; where that cannot be, step by step. `held` is what a sampled
        controller has set before."""
        begin = time.perf_counter()
        _check_period(prepared.template, float(times[-1] - times[0]))
        parts = prepared.event_parts(
            mechanism, self.events, self.settings["stops"], self.settings["impacts"]
        )
        found = self._run_compiled(mechanism, prepared, parts, times, (q, qd), begin)
        if found is not None:
            return found
        return self._run_stepwise(mechanism, prepared, parts, torque, times, (q, qd), held, begin)

    def _run_compiled(
        self, mechanism: Mechanism, prepared: Preparation, parts: EventParts | None,
        times: Floats, motion: tuple[Floats, Floats], begin: float,
    ) -> Run | None:  # fmt: skip
        """The run in compiled code, where that is possible and nothing special happens."""
        integrator, system = self.settings["integrator"], prepared.system()
        events = None if parts is None else parts.events(system)
        if self.settings["coordinates"] != "all" or not can_compile(system, integrator, events):
            return None
        y = system.start(*motion)
        if events is not None:
            y = events.begin(times[0], y)
            if not events.mode.plain:
                return None
        with (
            np.errstate(all="ignore"),
            RunProgress(mechanism.name, times[-1], self.progress) as watch,
        ):
            prepare_recording(system)
            program = prepared.program(integrator, parts)
            try:
                found = integrate_compiled(
                    program, system, events, times, y, self.options, watch.step
                )
            except OSError:  # the sources, of which programs are made, are not there
                return None
            if found is None or not np.isfinite(system.torques(found.times, found.states)).all():
                return None
        statistics = {**found.statistics, "seconds": time.perf_counter() - begin, "compiled": 1}
        return recorded(
            mechanism, system, found.times, found.states, status=found.status,
            fastest=found.fastest, statistics=statistics,
            settings={**self.settings, **system.drive.kept}, singular=(),
            events=() if events is None else tuple(events.happened),
            pushes=None if events is None else np.zeros((len(found.times), system.names.nv)),
        )  # fmt: skip

    def _run_stepwise(
        self, mechanism: Mechanism, prepared: Preparation, parts: EventParts | None, torque: Any,
        times: Floats, motion: tuple[Floats, Floats], held: Floats | None, begin: float,
    ) -> Run:  # fmt: skip
        """The run step by step, in Python."""
        system = prepared.system()
        watch = None if parts is None else parts.events(system)
        mending = Mending(system, watch)
        y = system.sample(times[0], system.start(*motion), held)
        broken = None
        if watch is not None:
            try:
                y = watch.begin(times[0], y)
            except FailureError as failure:
                broken = watch.failed(times[0], y, failure)
        end = system.next_stop(times[0], times[-1])
        watched = RunProgress(mechanism.name, times[-1], self.progress)
        with np.errstate(all="ignore"), watched as progress:
            prepare_recording(system)
            march = March(self.make(system, times[0], y, end, self.options), mending)
            status = march.along(times, progress) if broken is None else march.ended(broken)
        statistics = {
            "steps": march.steps if system.inner_steps is None else system.inner_steps,
            "rejected": system.rejected, "evaluations": system.evaluations,
            "seconds": time.perf_counter() - begin, "compiled": 0,
        }  # fmt: skip
        found = recorded(
            mechanism, system, np.array(march.times), march.states, status=status,
            fastest=march.fastest, statistics=statistics, driven=march.driven,
            settings={**self.settings, **system.drive.kept},
            singular=() if mending.projection is None else mending.projection.singular(),
            events=() if watch is None else tuple(watch.happened),
            pushes=None if watch is None else np.array(march.pushes), borne=march.reactions(),
        )  # fmt: skip
        return found if march.broken is None else self._onward(found, march.broken, torque, times)

    def _onward(self, found: Run, member: str, torque: Any, times: Floats) -> Run:
        """The same motion in the coordinates of the mechanism that is left."""
        rest = times[times > found.t[-1]]
        if not len(rest):
            return found
        later = np.concatenate([found.t[-1:], rest])
        try:
            left = broken(found.mechanism, member)
            q, qd = carried_over(found.mechanism, left, member, found.q[-1], found.qd[-1])
            drive = remaining_drive(torque, found, left)
            held = held_forces(drive, found, left)
            motion = replace(self, settings={**self.settings, "after": member})
            going_on = motion.run(left, motion.prepare(left, drive), drive, later, q, qd, held)
        except LinkwrightError as error:
            return replace(found, status=f"{found.status}; it cannot go on: {error}")
        return replace(found, next=going_on)


def _check_period(system: System, duration: float) -> None:
    """A controller that acts at more instants than a run can have is refused."""
    law = system.drive.feedback
    if law is None or law.period is None or duration / law.period <= MOST_SAMPLES:
        return
    raise LinkwrightError(
        f"the controller's period of {law.period:g} s makes {duration / law.period:.2g} steps",
        where=system.equations.mechanism.name,
        remedy=f"give a period of at least {duration / MOST_SAMPLES:.2g} s, or none",
    )
