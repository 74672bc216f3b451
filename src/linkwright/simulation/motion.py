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
from .checked import MOST_SAMPLES
from .compiled_motion import can_compile
from .events import FailureError, events_of
from .events.breaking import broken, carried_over
from .fixed.tables import FIXED
from .march import March, Mending
from .onward import held_forces, remaining_drive
from .preparation import Preparation, prepare_simulation
from .progress import Watch
from .record import prepare_recording, recorded
from .run import FINISHED, Run
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
            crosses_kinks=self.settings["integrator"] in FIXED,
        )  # fmt: skip

    def run(
        self, mechanism: Mechanism, prepared: Preparation, torque: Any, times: Floats, q: Floats,
        qd: Floats, held: Floats | None = None,
    ) -> Run:  # fmt: skip
        """`held` is what a sampled controller has set before."""
        begin = time.perf_counter()
        system = prepared.system()
        _check_period(system, float(times[-1] - times[0]))
        watch = events_of(
            mechanism, system, self.events, self.settings["stops"], self.settings["impacts"]
        )
        mending = Mending(system, watch)
        y = system.start(q, qd)
        y = system.sample(times[0], y, held)
        broken = None
        if watch is not None:
            try:
                y = watch.begin(times[0], y)
            except FailureError as failure:
                broken = watch.failed(times[0], y, failure)
        end = system.next_stop(times[0], times[-1])
        if watch is None and broken is None:
            compiled = self._compiled(mechanism, prepared, times, y, begin)
            if compiled is not None:
                return compiled
        watched = Watch(mechanism.name, times[-1], self.progress)
        with np.errstate(all="ignore"), watched as progress:
            prepare_recording(system)
            march = March(self.make(system, times[0], y, end, self.options), mending)
            status = march.along(times, progress) if broken is None else march.ended(broken)
        statistics = {
            "steps": march.steps if system.inner_steps is None else system.inner_steps,
            "rejected": system.rejected, "evaluations": system.evaluations,
            "seconds": time.perf_counter() - begin,
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

    def _compiled(
        self, mechanism: Mechanism, prepared: Preparation, times: Floats, y: Floats, begin: float
    ) -> Run | None:
        """The run in compiled code, where that is possible and nothing special happens."""
        integrator, system = self.settings["integrator"], prepared.template
        if self.settings["coordinates"] != "all" or not can_compile(system, integrator):
            return None
        with np.errstate(all="ignore"), Watch(mechanism.name, times[-1], self.progress) as watch:
            found = prepared.program(integrator).integrate(times, y, self.options, watch.step)
        if found is None:
            return None
        status = f"interrupted at t = {found.times[-1]:g} s" if found.is_interrupted else FINISHED
        return recorded(
            mechanism, system, found.times, found.states, status=status, fastest=found.fastest,
            statistics={**found.statistics, "seconds": time.perf_counter() - begin},
            settings={**self.settings, **system.drive.kept}, singular=(),
        )  # fmt: skip

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
