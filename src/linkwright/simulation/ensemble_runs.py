"""The runs of an ensemble that one program makes, each with its own steps, events and mode."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..errors import LinkwrightError
from ..integrators import Progress
from ..types import Floats, Integers
from .compiled_part import begin_compiled_run, finish_compiled_part
from .compiled_run import CompiledRun
from .ensemble_events import find_starts_beyond_limits, has_modes_at_start
from .ensemble_inputs import EnsembleInputs, InputsOfRun
from .ensemble_results import EnsembleResults, RunSummary, summary_of_run
from .ensemble_starts import EnsembleRuns, EnsembleStart
from .events.event_parts import EventParts
from .events.signals import event_column_table, hand_passages_to_python
from .preparation import Preparation
from .progress import RunProgress
from .record import RunTrajectory
from .run import FINISHED
from .run_integration import BegunRun, RunIntegration
from .settings import Settings
from .simulator import GivenParameters, RunStart, Simulator, begin_run
from .state_space import WORK_COUNT
from .trajectory_loop import TrajectoryLoop
from .trajectory_records import TrajectoryRecords, WatchedEvents


@dataclass(frozen=True, eq=False)
class EnsembleRecipe:
    """What the runs of an ensemble are made from: what they share, and what differs."""

    settings: Settings
    runs: EnsembleRuns
    inputs: EnsembleInputs
    prepared: Preparation
    """The equations; parameters that differ are inputs of the program."""

    @cached_property
    def parts(self) -> EventParts | None:
        """What may happen during a run; None if nothing can."""
        return self.settings.find_event_parts(self.prepared, self.runs.mechanism)

    def simulator_of(self, run: int, *, shares: bool = True) -> Simulator:
        """Return what makes one run by itself, with the same program or with one of its own."""
        runs, given = self.runs, None
        if runs.parameter_names and shares:
            given = GivenParameters(runs.mechanism, self.prepared, runs.parameters[run])
        torque = self.inputs.torque_of(run)
        settings = replace(self.settings, q0=None, qd0=None)
        return Simulator(runs.mechanism_of(run), settings, torque, progress=False, given=given)


class Ensemble:
    """The runs of an ensemble that one program makes."""

    def __init__(self, recipe: EnsembleRecipe, results: EnsembleResults) -> None:
        self.recipe, self.results, self.times = recipe, results, recipe.settings.times
        self.rhs = recipe.prepared.rhs
        self.start = EnsembleStart(recipe.runs, self.rhs.model)
        self.failures = dict(self.start.failures)
        self.others = self._runs_with_other_parts()
        """Runs that the program cannot make."""
        self.begun_runs: dict[int, BegunRun] = {}
        """Runs with a context and events of their own, by their number."""
        y = self._starting_states()
        for run, why in self.failures.items():
            results.status[run] = why
        program = recipe.prepared.program(recipe.settings.integrator, recipe.parts)
        parameters = recipe.runs.parameters
        self.records = TrajectoryRecords(
            program, self.times, y, recipe.settings.tolerances, parameters, recipe.inputs
        )
        begin = weakref.WeakMethod(self._begin_compiled_run)
        # a cycle would keep all trajectories until the garbage collector runs
        self.loop = TrajectoryLoop(self.records, lambda run: begin()(run))  # type: ignore[misc]

    # -- the start -------------------------------------------------------------------------------

    def _runs_with_other_parts(self) -> list[int]:
        """Return the runs without some friction or stops that others have."""
        parts, runs = self.recipe.parts, self.recipe.runs
        if parts is None or not runs.parameter_names:
            return []
        lacking = np.flatnonzero(parts.code.rows.lacks_parts(runs.parameters))
        return [run for run in lacking.tolist() if run not in self.failures]

    def _starting_states(self) -> Floats:
        """Return the states that are integrated, one row per run."""
        parts, start, space = self.recipe.parts, self.start, self.rhs.space
        if parts is not None:
            rows, parameters = parts.code.rows, self.recipe.runs.parameters
            beyond = find_starts_beyond_limits(rows, start.q, start.qd, parameters)
            beyond = {run: why for run, why in beyond.items() if run not in self.others}
            self.failures = beyond | self.failures
        z = [self.recipe.inputs.start_of_controller(k, self.rhs) for k in range(len(self.results))]
        works = np.zeros((len(z), WORK_COUNT))
        if space.equations.state is None:
            y = np.hstack([start.q, start.qd, np.array(z).reshape(len(z), -1), works])
        else:
            pairs = zip(start.q, start.qd, strict=True)
            y = np.array([space.start(q, qd) for q, qd in pairs])
        if has_modes_at_start(parts) or self.rhs.force_law.is_sampled:
            for run in range(len(y)):
                y[run] = self._begin_mode(run, y[run])
        return y

    def _begin_mode(self, run: int, y: Floats) -> Floats:
        """Return the state in which a run begins; note a failure if it cannot."""
        if run not in self.failures and run not in self.others:
            try:
                return self.begun(run).y
            except LinkwrightError as error:
                self.failures[run] = f"cannot start: {error}"
        return y

    def begun(self, run: int) -> BegunRun:
        """Return a run at its first time, with the context and the events of its own."""
        if run not in self.begun_runs:
            rhs = self.recipe.inputs.right_hand_side_of(run, self.rhs)
            values, start = self.recipe.runs.parameters[run], self._run_start(run)
            rhs = rhs.with_values(values) if len(values) else rhs
            self.begun_runs[run] = begin_run(rhs, self.recipe.parts, start, values)
        return self.begun_runs[run]

    def _run_start(self, run: int) -> RunStart:
        return RunStart(self.times, self.start.q[run], self.start.qd[run])

    def _begin_compiled_run(self, run: int) -> CompiledRun:
        begun = self.begun(run)
        return begin_compiled_run(self.records, run, begun.context, begun.events)

    def _watch_events(self, active: Integers) -> Integers:
        """Let the program watch the events of all runs; return the runs that it can begin."""
        parts = self.recipe.parts
        if not self.begun_runs:  # all runs are in the same mode
            if parts is not None:
                events = parts.begin_run(self.rhs)
                columns = event_column_table(events, events.event_functions())
                self.records.watch(slice(None), WatchedEvents(self.records.motion, columns))
            return active
        return np.array([k for k in active if self.loop.run_of(int(k)).status is None], np.int64)

    # -- going on --------------------------------------------------------------------------------

    def run(self, threads: int, watch: RunProgress) -> None:
        """Make all runs; Ctrl-C keeps what was computed."""
        count = len(self.results)
        apart = {*self.failures, *self.others}
        active = np.array([k for k in range(count) if k not in apart], np.int64)
        try:
            self.loop.run(self._watch_events(active), threads=threads, report=watch.step)
            was_interrupted = self.loop.was_interrupted
        except KeyboardInterrupt:
            was_interrupted = True
        self._count_steps(active)
        for run, found in self.loop.runs.items():
            if found.status == "" and not was_interrupted and self._changes_mode:
                was_interrupted = self._make_alone(run)
            elif found.status == "" and not was_interrupted:
                summary = self._complete(run, found)
                self.results.set_run(run, summary)
                was_interrupted = summary.status.startswith("interrupted")
            elif found.status in (None, ""):
                found.interrupt()
        self._collect(active)
        for run in self.others:
            self.results.status[run] = "interrupted at t = 0 s"
            if not was_interrupted:
                was_interrupted = self._make_alone(run)

    def _make_alone(self, run: int) -> bool:
        """Make a run with equations of its own; return whether Ctrl-C ended it."""
        simulator = self.recipe.simulator_of(run, shares=run not in self.others)
        try:
            self.results.set_run(run, summary_of_run(simulator.run(self._run_start(run))))
        except LinkwrightError as error:
            self.results.status[run] = f"cannot start: {error}"
        return self.results.status[run].startswith("interrupted")

    @property
    def _changes_mode(self) -> bool:
        """Whether runs have other parameters, and modes that equations of one run cannot take
        over."""
        return bool(self.recipe.runs.parameter_names) and has_modes_at_start(self.recipe.parts)

    def _complete(self, run: int, found: CompiledRun) -> RunSummary:
        """Go on in turns with a run that the program cannot continue with the others."""
        recipe, begun = self.recipe, self.begun(run)
        if recipe.runs.parameter_names:  # Python has equations of this run alone
            own = recipe.simulator_of(run).begin(self._run_start(run))
            own.context.inputs.take_held_forces(begun.context.inputs)
            if own.events is not None and begun.events is not None:
                own.events.happened[:] = begun.events.happened
                hand_passages_to_python(own.events, found.passages)
            begun = own
        else:
            begun = replace(begun, program=self.records.motion)
        begun = replace(begun, inputs=InputsOfRun(recipe.inputs, run))
        part = finish_compiled_part(begun.context, begun.events, found)
        watch = RunProgress(recipe.runs.mechanism.name, recipe.settings.t, wanted=False)
        trajectory = RunIntegration(begun, recipe.settings, self.times, watch, part).run()
        return self._summary(begun, trajectory)

    def _summary(self, begun: BegunRun, found: RunTrajectory) -> RunSummary:
        """Return the results of a trajectory."""
        space = begun.context.space
        q, qd = space.motion(found.states)
        end = None
        if found.reached is not None and found.reached[0] > found.times[-1]:
            t, y = found.reached
            end = float(t), *space.motion(y)
        controls = space.controller_states(found.states).T
        return RunSummary(
            found.times, q, qd, found.status, found.statistics, found.events, controls, end
        )

    # -- the results -----------------------------------------------------------------------------

    def _count_steps(self, active: Integers) -> None:
        """Set the counts of the program; `set_run` replaces those of runs that Python completes."""
        progress, results = self.records.progress, self.results
        results.steps[active] = progress[active, Progress.STEPS]
        results.evaluations[active] = progress[active, Progress.EVALUATIONS]

    def _collect(self, active: Integers) -> None:
        """Put the results of all runs that the program made into those of the ensemble."""
        results = self.results
        plain = np.array([k for k in active if self._is_plain(int(k))], np.int64)
        states = self.records.projected_samples(slice(None))
        plain = plain[np.isfinite(states[plain]).all(axis=(1, 2))]
        if len(plain):
            q, qd = self._motions(states[plain])
            z = states[plain][..., self.rhs.space.size : states.shape[-1] - WORK_COUNT]
            is_driven = self.rhs.force_law.are_finite(self.times, q, qd, z).all(axis=1)
            results.set_finished(plain[is_driven], q[is_driven], qd[is_driven])
            if results.controls is not None:
                results.controls[plain[is_driven]] = z[is_driven]
        for run in active:
            if not results.status[int(run)]:
                results.set_run(int(run), self._summary_of_program(int(run)))

    def _is_plain(self, run: int) -> bool:
        """Whether a run has finished, and nothing happened in it."""
        found = self.loop.runs.get(run)
        return found is None or (found.status == FINISHED and found.events is None)

    def _motions(self, states: Floats) -> tuple[Floats, Floats]:
        """Return q and q̇ of states (runs, times, states)."""
        columns = states.reshape(-1, states.shape[-1]).T
        q, qd = self.rhs.space.motion(columns)
        shape = states.shape[:2]
        return q.reshape(*shape, -1), qd.reshape(*shape, -1)

    def _summary_of_program(self, run: int) -> RunSummary:
        """Return the results of a run that the program made."""
        found, begun = self.loop.run_of(run), self.begun(run)
        found.status = found.status or FINISHED
        context, events = begun.context, begun.events
        is_sound = np.isfinite(found.trajectory().states).all()
        if self.recipe.runs.parameter_names and not is_sound:  # only Python can project them
            context = self.recipe.simulator_of(run).begin(self._run_start(run)).context
        part = finish_compiled_part(context, events, found)
        q, qd = context.space.motion(part.states)
        happened = () if events is None else tuple(events.happened)
        controls = context.space.controller_states(part.states).T
        return RunSummary(part.times, q, qd, part.status, part.statistics, happened, controls)
