"""The runs of an ensemble: they continue until each has ended, and become one dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkwrightError
from ..integrators import Clock, Progress, StopReason
from ..mechanism import Mechanism
from ..types import Booleans, Floats, Integers
from .compiled_motion import CompiledMotion
from .compiled_run import CannotContinueError, CompiledRun, TrajectoryRecords
from .ensemble_events import EnsembleEvents, EventsLike
from .ensemble_inputs import EnsembleInputs
from .ensemble_starts import EnsembleStart
from .run import FINISHED, Run

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class EnsembleRecipe:
    """What the runs of an ensemble are made from."""

    mechanism: Mechanism
    start: EnsembleStart
    inputs: EnsembleInputs
    times: Floats
    options: Mapping[str, float]
    events: EventsLike | None
    stops: str

    def simulate_run(self, run: int, integrator: str) -> Run:
        """Make one run by itself with `simulate`, which supports everything."""
        from . import simulate

        return simulate(
            self.start.mechanism_of(run),
            float(self.times[-1]),
            self.start.q[run],
            self.start.qd[run],
            torque=self.inputs.torque_of(run),
            integrator=integrator,
            samples=len(self.times),
            progress=False,
            events=self.events,
            stops=self.stops,
            rtol=self.options["rtol"],
            atol=self.options["atol"],
            max_step=self.options["max_step"],
        )


@dataclass(frozen=True)
class RepeatedRun:
    """A run that `simulate` has repeated: samples, where it ended, and counts."""

    states: Floats
    end_time: float
    end_state: Floats
    steps: float
    evaluations: float


class Ensemble:
    """The runs of an ensemble: their records, statuses and results."""

    def __init__(self, motion: CompiledMotion, recipe: EnsembleRecipe) -> None:
        self.motion, self.recipe, self.times = motion, recipe, recipe.times
        start = recipe.start
        y = start.states(motion.system)
        self.records = TrajectoryRecords(
            motion, self.times, y, recipe.options, start.parameters, recipe.inputs
        )
        failures = dict(start.failures)
        self.events = None
        if motion.events is not None:
            self.events = EnsembleEvents(motion.events, len(y))
            self.records.watch(self.events.columns)
            failures = self.events.start_failures(start.q, start.qd) | failures
        self.status = [failures.get(k, "") for k in range(len(y))]
        self.repeated: dict[int, RepeatedRun] = {}

    # -- going on --------------------------------------------------------------------------------

    def run(self, threads: int) -> None:
        """Integrate all runs; Ctrl-C keeps what was computed."""
        active = np.array([k for k, status in enumerate(self.status) if not status], np.int64)
        try:
            while len(active):
                with np.errstate(all="ignore"):
                    self.records.advance(active, min(threads, -(-len(active) // 8)))
                self._take_over_logs(active)
                active = np.array(
                    [k for k in self._unfinished(active) if self._go_on(int(k))], np.int64
                )
            self._repeat_unsound_runs()
        except KeyboardInterrupt:
            for k, status in enumerate(self.status):
                if not status:
                    self.status[k] = f"interrupted at t = {self.records.clock[k, Clock.TIME]:g} s"

    def _take_over_logs(self, active: Integers) -> None:
        """Add the events that the program has noted to the event logs."""
        if self.events is None:
            return
        for k in active[self.records.progress[active, Progress.LOGGED] > 0]:
            self.events.take_over_log(self.records, int(k))

    def _unfinished(self, active: Integers) -> Integers:
        """Return the runs that have not reached their end, and mark the others as finished."""
        reason = self.records.progress[active, Progress.REASON]
        at_end = self.records.clock[active, Clock.TIME] >= self.records.end
        done: Booleans = (reason == StopReason.REACHED_STOP) & at_end
        for k in active[done]:
            self.status[k] = FINISHED
        return active[~done]

    def _go_on(self, k: int) -> bool:
        """Handle the reason for which a run stopped; return whether it continues."""
        if self.records.progress[k, Progress.REASON] == StopReason.EVENT:
            return self._pass_event(k)
        run = CompiledRun(self.records, k, self.motion.system, None)
        try:
            run.go_on()
        except CannotContinueError:
            self._repeat(k)
            return False
        if run.status is not None:
            self.status[k] = run.status
        return run.status is None

    def _pass_event(self, k: int) -> bool:
        """End a run at an event, or resume it there if the event is only noted."""
        assert self.events is not None
        status = self.events.end_or_resume(self.records, k)
        t = float(self.records.clock[k, Clock.TIME])
        self.records.y[k] = self.records.projected_states(k)
        if status is None and t >= self.records.end:
            status = FINISHED
        if status is not None:
            self.status[k] = status
            return False
        self.records.begin_segment(k, t)
        return True

    # -- repeating -------------------------------------------------------------------------------

    def _repeat(self, k: int) -> None:
        """Make a run again by itself."""
        nothing = np.full((len(self.times), self.motion.state_count), np.nan)
        try:
            found = self.recipe.simulate_run(k, self.motion.method.name)
        except LinkwrightError as error:
            self.status[k] = f"cannot be made: {error}"
            self.repeated[k] = RepeatedRun(nothing, 0.0, nothing[0], 0, 0)
            return
        count = (
            int(np.searchsorted(found.t, self.times[-1], side="right"))
            if found.finished
            else len(found.t) - 1
        )
        size = found.q.shape[1] + found.qd.shape[1]
        rows = np.hstack([found.q, found.qd])
        nothing[:count, :size] = rows[:count]
        end = np.append(rows[-1], np.zeros(self.motion.state_count - size))
        self.repeated[k] = RepeatedRun(
            nothing,
            float(found.t[-1]),
            end,
            float(found.statistics["steps"]),
            float(found.statistics["evaluations"]),
        )
        self.status[k] = found.status
        if self.events is not None:
            self.events.happened[k] = list(found.events)
        if found.interrupted:
            raise KeyboardInterrupt

    def _repeat_unsound_runs(self) -> None:
        """Make runs again whose samples could not be put onto the constraints."""
        sound = np.isfinite(self.records.projected_samples(slice(None)))
        reached = self.records.progress[:, Progress.SAMPLE]
        sound |= (np.arange(len(self.times)) >= reached[:, None])[..., None]
        for k in np.flatnonzero(~sound.all(axis=(1, 2))):
            if self.status[k] == FINISHED and int(k) not in self.repeated:
                self._repeat(int(k))

    # -- the result ------------------------------------------------------------------------------

    def dataset(self, integrator: str) -> xarray.Dataset:
        """Return the result with named dimensions."""
        import xarray

        names, start = self.motion.system.names, self.recipe.start
        coordinates, speeds = slice(0, names.nq), slice(names.nq, names.nq + names.nv)
        states, ends, end_times = self._states()
        steps, evaluations = self._counts()
        variables: dict[str, Any] = {
            "q": (("run", "time", "coordinate"), states[..., coordinates], {"units": "rad or m"}),
            "qd": (("run", "time", "speed"), states[..., speeds], {"units": "rad/s or m/s"}),
            "status": ("run", np.array(self.status)),
            "steps": ("run", steps),
            "evaluations": ("run", evaluations),
            "compiled": ("run", np.array([k not in self.repeated for k in range(len(states))])),
            "end_time": ("run", end_times, {"units": "s"}),
            "q_end": (("run", "coordinate"), ends[:, coordinates], {"units": "rad or m"}),
            "qd_end": (("run", "speed"), ends[:, speeds], {"units": "rad/s or m/s"}),
            **self._event_variables(),
        }
        for name, values in zip(start.parameter_names, start.parameters.T, strict=True):
            variables[name] = ("run", values.copy())
        labels = {
            "time": ("time", self.times, {"units": "s"}),
            "coordinate": list(names.q),
            "speed": list(names.qd),
        }
        attributes = {
            "mechanism": self.recipe.mechanism.name,
            "integrator": integrator,
            **self.recipe.options,
        }
        return xarray.Dataset(variables, labels, attributes)

    def _states(self) -> tuple[Floats, Floats, Floats]:
        """Return the samples of all runs, NaN where none was reached, and where each run ended."""
        records = self.records
        states = records.projected_samples(slice(None)).copy()
        reached = records.progress[:, Progress.SAMPLE]
        states[np.arange(len(self.times)) >= reached[:, None]] = np.nan
        ends, end_times = records.y.copy(), records.clock[:, Clock.TIME].copy()
        no_start = list(self.recipe.start.failures)
        states[no_start], ends[no_start] = np.nan, np.nan
        for k, found in self.repeated.items():
            states[k], ends[k], end_times[k] = found.states, found.end_state, found.end_time
        return states, ends, end_times

    def _counts(self) -> tuple[Integers, Integers]:
        """Return the numbers of steps and evaluations of all runs."""
        counts = self.records.progress
        steps, evaluations = (
            counts[:, column].copy() for column in (Progress.STEPS, Progress.EVALUATIONS)
        )
        for k, found in self.repeated.items():
            steps[k], evaluations[k] = found.steps, found.evaluations
        return steps, evaluations

    def _event_variables(self) -> dict[str, Any]:
        """Return the events of all runs, run by run, those of each run in order of time."""
        if self.events is None:
            return {}
        rows = [(k, event) for k, some in enumerate(self.events.happened) for event in some]
        return {
            "event_run": ("event", np.array([k for k, _ in rows], np.int64)),
            "event_time": ("event", np.array([e.t for _, e in rows], float), {"units": "s"}),
            "event_name": ("event", np.array([e.name for _, e in rows], dtype=str)),
            "event_note": ("event", np.array([e.what for _, e in rows], dtype=str)),
        }
