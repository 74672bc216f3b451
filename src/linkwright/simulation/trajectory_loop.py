"""The one loop over calls of the compiled program, for single runs, ensembles and sensitivities.

The program advances trajectories until each of them stops. Python then handles the reason for which
it stopped (`CompiledRun.go_on`), and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import LinkwrightError
from ..integrators import Clock
from ..processes.interrupts import lost_interrupts
from ..types import Booleans, Integers
from .compiled_run import CannotContinueError, CompiledRun
from .run import FINISHED
from .trajectory_records import RecordCopy, TrajectoryRecords


class TrajectoryLoop:
    """Advances trajectories to their ends, each with its own events.

    `begin_run` makes the run of a trajectory; it is called where Python must handle something in
    it, and then once.
    """

    def __init__(self, records: TrajectoryRecords, begin_run: Callable[[int], CompiledRun]) -> None:
        self.records, self._begin_run = records, begin_run
        self.runs: dict[int, CompiledRun] = {}
        """Runs in which Python had something to do, by row."""
        self.was_interrupted = False

    def run_of(self, row: int) -> CompiledRun:
        """Return the run of a trajectory."""
        if row not in self.runs:
            self.runs[row] = self._begin_run(row)
        return self.runs[row]

    def status_of(self, row: int) -> str | None:
        """Return how a trajectory ended; None if it has not ended, "" if Python must go on."""
        if row in self.runs:
            return self.runs[row].status
        return FINISHED if self.records.are_at_end(np.array([row]))[0] else None

    def run(
        self,
        active: Integers,
        *,
        threads: int = 1,
        report: Callable[[float], None] = lambda t: None,
    ) -> None:
        """Advance the active trajectories until each of them has ended; Ctrl-C ends all."""
        try:
            with lost_interrupts() as raise_lost:
                while len(active):
                    active = self._advance(active, threads)
                    report(self._earliest_time(active))
                    raise_lost()
        except KeyboardInterrupt:
            self.was_interrupted = True
            for row in active:
                run = self.run_of(int(row))
                if run.status is None:
                    run.interrupt()

    def _earliest_time(self, active: Integers) -> float:
        """Return the time that all active trajectories have reached; the end if none is active."""
        return float(self.records.clock[active, Clock.TIME].min(initial=self.records.end))

    def _advance(self, active: Integers, threads: int) -> Integers:
        """Call the program once, handle what stopped trajectories, and return those that go on."""
        before = self.records.state_before_call()
        try:
            with np.errstate(all="ignore"):
                self.records.advance(active, threads)
        except OSError as error:  # the sources, of which programs are made, are not there
            reason = CannotContinueError(f"the program cannot be read: {error}", is_lasting=True)
            for row in active:
                self.run_of(int(row)).hand_over(reason, before)
            return active[:0]
        stopped = active[~self._have_finished(active)]
        for row in stopped:
            self._go_on(self.run_of(int(row)), before)
        goes_on = np.array([self.runs[int(row)].status is None for row in stopped], bool)
        return active if goes_on.sum() == len(active) else stopped[goes_on]

    def _have_finished(self, active: Integers) -> Booleans:
        """Return which trajectories have reached their end without anything left to do."""
        has_run = np.array([int(row) in self.runs for row in active])
        found: Booleans = self.records.are_at_end(active) & ~has_run
        return found

    def _go_on(self, run: CompiledRun, before: RecordCopy) -> None:
        """Handle the reason for which the program stopped. What a user's own function raises ends
        a single run, but only its own run in an ensemble."""
        try:
            run.go_on()
        except CannotContinueError as error:
            run.hand_over(error, before)
        except LinkwrightError as error:
            run.stop_with(str(error))
        except Exception as error:
            if len(self.records.clock) == 1:
                raise
            run.stop_with(f"{type(error).__name__}: {error}")
