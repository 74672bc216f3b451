"""The integration of a run in turns: compiled code goes as far as it can, then Python goes on until
compiled code can take over again.

Nothing is made twice: each turn goes on from the last good state, with the samples, the inputs, the
mode and the events of the turns before it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..types import Floats
from .compiled_motion import CompiledMotion, CompiledTrajectory
from .compiled_part import contact_forces, integrate_compiled
from .ensemble_inputs import InputsOfRun
from .events.hybrid import Hybrid, Outcome
from .integration_loop import IntegrationLoop
from .progress import RunProgress
from .record import RunTrajectory
from .run_context import RunContext
from .run_energies import RunStatistics
from .settings import Settings
from .steppers.singularity_crossing import SingularityCrossing

FIRST_PYTHON_STEPS = 8
"""Steps after which Python hands a run back, if it has not crossed a singular configuration before.
There are twice as many whenever compiled code makes no step in its turn."""


@dataclass(frozen=True, eq=False)
class BegunRun:
    """A run at its first time: what changes during it, its state, its compiled program or why there
    is none, and how an event ends it there, if one does."""

    context: RunContext
    events: Hybrid | None
    y: Floats
    program: CompiledMotion | None = None
    obstacle: str | None = None
    """Why compiled code cannot make any part of the run."""
    ending: Outcome | None = None
    parameters: Floats | None = None
    """Values (1, count) of the parameters that the program keeps."""
    inputs: InputsOfRun | None = None
    """Inputs that the program takes from an ensemble in which they differ."""


class RunIntegration:
    """Integrates one run; compiled code may have made a part of it before."""

    def __init__(
        self,
        begun: BegunRun,
        settings: Settings,
        times: Floats,
        watch: RunProgress,
        part: CompiledTrajectory | None = None,
    ) -> None:
        self._first_part = part
        self.begun, self.settings, self.times, self.watch = begun, settings, times, watch
        self.context, self.events, self.program = begun.context, begun.events, begun.program
        self.broken: str | None = None
        """The member that broke, if that ended the run."""
        self._obstacles = [] if begun.obstacle is None else [begun.obstacle]
        self._counts: dict[str, float] = {"steps": 0, "rejected": 0, "evaluations": 0}
        """Counts of compiled code."""
        self._most_steps = FIRST_PYTHON_STEPS

    def run(self) -> RunTrajectory:
        """Return the trajectory of the run."""
        part = self._first_part
        if part is None:
            part = self._integrate_compiled(self.times, self.begun.y)
        else:
            self._count(part)
        if part is not None and part.handover is None:
            return self._compiled_trajectory(part)
        if part is not None:
            self._take_over(part)
        ending = self.begun.ending
        status = self._run_loop() if ending is None else self.loop.end_at_start(ending)
        while status is None:
            status = self._take_turn()
        self.broken = self.broken or self.loop.broken
        return self._loop_trajectory(status)

    # -- turns -----------------------------------------------------------------------------------

    def _integrate_compiled(self, times: Floats, y: Floats) -> CompiledTrajectory | None:
        """Return the part of a run that compiled code makes from the first time on."""
        if self.program is None:
            return None
        part = integrate_compiled(
            self.program,
            self.context,
            self.events,
            times,
            y,
            self.settings.tolerances,
            parameters=self.begun.parameters,
            inputs=self.begun.inputs,
            report=self.watch.step,
        )
        self._count(part)
        return part

    def _count(self, part: CompiledTrajectory) -> None:
        """Add the steps of a compiled part, and why it ended."""
        for name, count in part.statistics.items():
            self._counts[name] = self._counts.get(name, 0) + count
        if part.handover is not None and part.handover.reason not in self._obstacles:
            self._obstacles.append(part.handover.reason)

    @cached_property
    def loop(self) -> IntegrationLoop:
        """The loop in Python."""
        context, settings, t = self.context, self.settings, self.times[0]
        end = context.inputs.next_stop(t, self.times[-1])
        stepper = settings.make_stepper(context, t, self.begun.y, end, settings.step_options)
        return IntegrationLoop(
            stepper, context, self.events, has_fixed_steps=settings.has_fixed_steps
        )

    def _take_turn(self) -> str | None:
        """Let compiled code go on, then Python; return how the run ended, if it did."""
        loop = self.loop
        times = np.append(loop.t, self.times[len(loop.samples) :])
        part = self._integrate_compiled(times, loop.y)
        assert part is not None
        if part.handover is None:
            is_first = len(part.times) == 1 and loop.t > loop.samples.times[-1]
            self._add_samples(part, 0 if is_first else 1)
            self.broken = part.broken
            return part.status
        self._take_over(part)
        return self._run_loop()

    def _take_over(self, part: CompiledTrajectory) -> None:
        """Let the loop go on where compiled code has stopped."""
        handover = part.handover
        assert handover is not None
        if handover.is_lasting:
            self.program = None
        if not part.statistics["steps"]:
            self._most_steps *= 2
            return
        self._most_steps = FIRST_PYTHON_STEPS
        self._add_samples(part, min(1, len(self.loop.samples)))
        self.loop.go_on_from(handover.t, handover.y, float(self.times[-1]))
        if isinstance(self.loop.stepper, SingularityCrossing):
            self.loop.stepper.expect_length(handover.step)

    def _add_samples(self, part: CompiledTrajectory, first: int) -> None:
        """Add the samples of a compiled part, from one of them on, and its largest velocities."""
        pushes, reactions = contact_forces(self.events, part)
        self.loop.samples.extend(
            part.times[first:],
            part.states[:, first:],
            None if pushes is None else pushes[first:],
            None if reactions is None else reactions[first:],
        )
        self.loop.compare_velocities(part.fastest)

    def _run_loop(self) -> str | None:
        """Let Python go on; return how the run ended, or None if compiled code may go on."""
        if self.program is None:
            return self.loop.run(self.times, self.watch)
        stepper, last = self.loop.stepper, self.loop.steps + self._most_steps

        def is_ordinary() -> bool:
            has_crossed = isinstance(stepper, SingularityCrossing) and stepper.has_crossed
            return has_crossed or self.loop.steps >= last

        return self.loop.run(self.times, self.watch, is_ordinary)

    # -- results ---------------------------------------------------------------------------------

    def _compiled_trajectory(self, part: CompiledTrajectory) -> RunTrajectory:
        """Return the trajectory of a run that compiled code has made alone."""
        self.broken = part.broken
        pushes, reactions = contact_forces(self.events, part)
        return RunTrajectory(
            part.times,
            part.states,
            part.fastest,
            part.status,
            {**part.statistics, "compiled": 1},
            singular=self.context.singularities.times(),
            events=() if self.events is None else tuple(self.events.happened),
            pushes=pushes,
            reactions=reactions,
        )

    def _loop_trajectory(self, status: str) -> RunTrajectory:
        """Return the trajectory of a run that Python has made, or has made in turns."""
        samples, events = self.loop.samples, self.events
        return RunTrajectory(
            np.array(samples.times),
            samples.columns,
            self.loop.fastest,
            status,
            self._statistics(),
            reached=(self.loop.t, self.loop.y),
            singular=self.context.singularities.times(),
            events=() if events is None else tuple(events.happened),
            pushes=None if events is None else np.array(samples.pushes),
            reactions=samples.reactions,
            forces=samples.forces,
        )

    def _statistics(self) -> RunStatistics:
        """Return the counts of all turns, and why Python had to make some of them."""
        counts, compiled = self.context.counts, self._counts
        steps = self.loop.steps if counts.inner_steps is None else counts.inner_steps
        every = compiled["steps"] + steps
        jacobians = compiled.get("jacobians", 0) + counts.jacobians
        return {
            **compiled,
            **({"jacobians": jacobians} if jacobians else {}),
            "steps": every,
            "rejected": compiled["rejected"] + counts.rejected,
            "evaluations": compiled["evaluations"] + counts.evaluations,
            "compiled": compiled["steps"] / every if compiled["steps"] else 0,
            "why_in_python": "; ".join(self._obstacles),
        }
