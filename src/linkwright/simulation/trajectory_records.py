"""The buffers of trajectories: the program changes them, and Python by methods alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from ..integrators import LEAST_MARGIN, Clock, EventColumn, Progress, Sizes, StopReason
from ..types import Booleans, Floats, Integers
from .compiled_motion import EVENT_CAPACITY, CompiledMotion
from .diagnosis import largest_gap
from .endless_steps import EndlessSteps
from .ensemble_inputs import EnsembleInputs, InputsOfRun

INSTRUCTIONS_PER_CALL = 100_000_000
"""The approximate number of tape instructions after which the program returns to Python: a few
hundredths of a second."""

NO_COLUMNS = np.zeros((0, len(EventColumn)), np.int64)
"""The event columns of a trajectory in which nothing is watched."""

RecordCopy = tuple[Floats | Integers, ...]
"""What a call of the program changes, as it was before the call."""


@dataclass(frozen=True, eq=False)
class WatchedEvents:
    """What the program watches in some trajectories, and the program that has the forces of their
    mode."""

    form: CompiledMotion
    columns: Integers

    def is_same(self, other: WatchedEvents) -> bool:
        """Whether trajectories of both can advance together."""
        return self.form is other.form and np.array_equal(self.columns, other.columns)


class TrajectoryRecords:
    """The buffers of many trajectories, one row each.

    `parameters` are values of the parameters that the program keeps, one row for each trajectory;
    `inputs` are those that differ between trajectories.
    """

    def __init__(
        self,
        motion: CompiledMotion,
        times: Floats,
        y: Floats,
        options: Mapping[str, float],
        parameters: Floats | None = None,
        inputs: EnsembleInputs | InputsOfRun | None = None,
    ) -> None:
        (rows, n), count = y.shape, len(times)
        self.motion, self.inputs, self.end = motion, inputs, float(times[-1])
        self.closed = largest_gap(motion.system)
        self.budget = max(50, INSTRUCTIONS_PER_CALL // (len(motion.rates_tape) * 16 * 13) + 1)
        self.clock = np.zeros((rows, len(Clock)))
        self.clock[:, Clock.RTOL], self.clock[:, Clock.ATOL] = options["rtol"], options["atol"]
        self.clock[:, Clock.MAX_STEP], self.clock[:, Clock.CLOSED] = (
            options["max_step"],
            self.closed,
        )
        self.progress = np.zeros((rows, len(Progress)), np.int64)
        self.progress[:, Progress.SAMPLE] = 1
        self.y, self.slopes = np.array(y, dtype=float), np.zeros((rows, n))
        self.parameters = np.zeros((rows, motion.parameter_count))
        if parameters is not None:
            first = motion.outer.count
            self.parameters[:, first : first + parameters.shape[1]] = parameters
        self.times = np.append(times, np.inf)
        self.samples = np.empty((rows, count, n))
        self.samples[:, 0] = y
        self.fastest = np.hstack([np.zeros((rows, 1)), y])
        self.passages = np.zeros((rows, 2, int(motion.sizes[Sizes.SIGNALS])))
        self.event_log = np.empty((rows, EVENT_CAPACITY if self.passages.size else 0, 2))
        self.endless = EndlessSteps(rows, float(times[0]))
        self._watched = [WatchedEvents(motion, NO_COLUMNS)]
        self._watched_by = np.zeros(rows, np.int64)
        self._ticket = np.zeros(1, np.int64)
        self._bound: dict[int, tuple[Integers, Callable[[], None]]] = {}
        self.begin_segment(slice(None), float(times[0]))

    def __len__(self) -> int:
        """Return the number of trajectories."""
        return len(self.y)

    # -- changes by Python -----------------------------------------------------------------------

    def begin_segment(self, rows: int | slice, t: float, held: Floats | None = None) -> None:
        """Restart trajectories at t; they stop at the next kink of a table, or where a sampled
        controller acts, which holds the forces `held` until then."""
        table_pieces = self.motion.outer.values(t, held)
        self.parameters[rows, : len(table_pieces)] = table_pieces
        if self.inputs is not None:
            runs = range(len(self.y)) if isinstance(rows, slice) else [rows]
            self.inputs.write_pieces(self.parameters[runs[0] : runs[-1] + 1], runs, t)
        self.clock[rows, Clock.TIME], self.clock[rows, Clock.STEP] = t, 0.0
        self.clock[rows, Clock.STOP] = self.motion.system.next_stop(t, self.end)

    def move(self, row: int, y: Floats) -> None:
        """Put a trajectory into another state."""
        self.y[row] = y

    def set_mode(self, row: int, numbers: Floats) -> None:
        """Set the numbers of a trajectory's mode."""
        self.parameters[row, self.motion.first_mode_number :][: len(numbers)] = numbers

    def watch(self, rows: int | slice, watched: WatchedEvents) -> None:
        """Set what the program watches in trajectories, and the program itself."""
        same = [k for k, known in enumerate(self._watched) if known.is_same(watched)]
        if not same:
            same = [len(self._watched)]
            self._watched.append(watched)
        self._watched_by[rows] = same[0]

    def state_before_call(self) -> RecordCopy:
        """Return a copy of what the next call of the program will change, but for samples and the
        log."""
        return tuple(buffer.copy() for buffer in self._changed)

    def restore(self, row: int, before: RecordCopy) -> None:
        """Put a trajectory back to where it was before a call of the program."""
        for buffer, old in zip(self._changed, before, strict=True):
            buffer[row] = old[row]

    @property
    def _changed(self) -> tuple[Floats | Integers, ...]:
        """What the program changes in a call, but for samples and the log."""
        return self.clock, self.progress, self.y, self.fastest, self.passages

    # -- calls of the program --------------------------------------------------------------------

    def advance(self, active: Integers, threads: int = 1) -> None:
        """Run the program on the active trajectories until each of them stops; those that watch
        the same events advance together."""
        self.progress[active, Progress.BUDGET] = self.budget
        watched_by = self._watched_by[active]
        for place in np.unique(watched_by) if len(active) > 1 else watched_by:
            rows = active if (watched_by == place).all() else active[watched_by == place]
            self._advance_together(int(place), rows, min(threads, -(-len(rows) // 8)))

    def _advance_together(self, place: int, rows: Integers, threads: int) -> None:
        """Run one program on some trajectories."""
        if place not in self._bound or self._bound[place][0] is not rows:
            self._bound[place] = rows, self._bind(self._watched[place], rows)
        self._ticket[0] = 0
        program = self._bound[place][1]
        if threads < 2:
            program()
            return
        with ThreadPoolExecutor(threads) as pool:  # all threads share one counter of trajectories
            for run in [pool.submit(program) for _ in range(threads)]:
                run.result()

    def _bind(self, watched: WatchedEvents, rows: Integers) -> Callable[[], None]:
        """Return the program with its arguments."""
        is_single, form = len(self.y) == 1, watched.form
        program, tapes = form.single_code if is_single else form.ensemble_code
        sizes = self.motion.sizes.copy()
        sizes[Sizes.EVENT_COLUMNS] = len(watched.columns)
        return program.bind(
            self._ticket, np.array([len(rows), len(self.times) - 1]), rows,
            self.clock, self.progress, self.y, self.slopes, self.parameters, self.times,
            self.samples, self.fastest, self.passages, self.event_log, watched.columns,
            sizes, *tapes,
        )  # fmt: skip

    def are_at_end(self, rows: Integers) -> Booleans:
        """Return which trajectories have reached their end and have nothing in their logs."""
        reason = self.progress[rows, Progress.REASON]
        is_empty = self.progress[rows, Progress.LOGGED] == 0
        at_end = self.clock[rows, Clock.TIME] >= self.end
        found: Booleans = (reason == StopReason.REACHED_STOP) & at_end & is_empty
        return found

    # -- states on the constraints ---------------------------------------------------------------

    def projected_state(self, row: int) -> Floats | None:
        """Return the state of a trajectory on the constraints; None where the program's projection
        fails."""
        parameters, t = self.parameters[row], self.clock[row, Clock.TIME]
        found = self.projected(self.motion, np.array([t]), self.y[row][None], parameters)[0]
        return found.copy() if np.isfinite(found).all() else None

    def projected_samples(self, rows: int | slice) -> Floats:
        """Return samples (rows, times, states) on the constraints; NaN where projection fails."""
        parameters = self.parameters[rows][..., None, :]
        return self.projected(self.motion, self.times[:-1], self.samples[rows], parameters)

    def projected(
        self, motion: CompiledMotion, times: Floats, samples: Floats, parameters: Floats
    ) -> Floats:
        """Return samples (…, times, states) on the constraints; NaN where projection fails."""
        if not motion.needs_projection:
            return samples
        with np.errstate(all="ignore"):
            projected, gap = motion.project(times[:, None], samples, parameters)
        is_sound = (gap[..., :1] <= self.closed) & (gap[..., 1:] >= LEAST_MARGIN)
        found: Floats = np.where(is_sound, projected, np.nan)
        return found
