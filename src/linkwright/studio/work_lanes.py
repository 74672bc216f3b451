"""Lanes of work: a thread with one worker process that does jobs one after the other.

A job that waits is replaced by a newer one of its kind, so that a thousand saves make few jobs. A
running job can be cancelled: its process is ended, and the next job gets a new one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..errors import LinkwrightError
from ..processes.timed_worker import BudgetExceededError, TimedWorkerEndedError, TimedWorkerProcess

JobMessage = Mapping[str, object]
_REST_SECONDS = 1.0
"""How often a lane that rests looks whether its process has ended."""


@dataclass(frozen=True)
class StudioJob:
    """A piece of work: its kind and key, and a function of the worker that returns its result.

    `work` is called with the worker process and a function that reports the present stage. `retry`
    tells whether to try once more if the process is killed from outside.
    """

    kind: str
    key: str
    work: Callable[[TimedWorkerProcess, Callable[[str], None]], Mapping[str, object]]
    retry: bool = False


class WorkLane:
    """A thread with a worker process; it calls `publish` with the state of each job, from that
    thread."""

    def __init__(self, name: str, publish: Callable[[JobMessage], None]) -> None:
        self._publish = publish
        self._waiting: dict[str, StudioJob] = {}
        self._running: StudioJob | None = None
        self._is_cancelled = False
        self._is_closed = False
        self._changed = threading.Condition()
        self._worker = TimedWorkerProcess()
        self._thread = threading.Thread(target=self._serve, name=f"studio-{name}", daemon=True)
        self._thread.start()

    def ask(self, job: StudioJob) -> None:
        """Queue a job; one of the same kind that still waits is dropped."""
        with self._changed:
            if self._running is not None and self._running.key == job.key:
                return
            self._waiting[job.kind] = job
            self._changed.notify()
        self._tell(job, "waiting")

    def cancel(self, key: str) -> None:
        """End the job with this key, whether it runs or waits."""
        with self._changed:
            waiting = [one for one in self._waiting.values() if one.key == key]
            for one in waiting:
                del self._waiting[one.kind]
            if self._running is not None and self._running.key == key:
                self._is_cancelled = True
                self._worker.give_up_calls()
        for one in waiting:
            self._tell(one, "cancelled")

    def close(self) -> None:
        """End the work of the lane and its process."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._worker.give_up_calls()
            self._changed.notify()

    def join(self, seconds: float) -> None:
        """Wait until a closed lane has ended, for some seconds at most."""
        self._thread.join(seconds)

    def _serve(self) -> None:
        with self._worker:
            while (job := self._next_job()) is not None:
                self._do(job)

    def _next_job(self) -> StudioJob | None:
        """Waits for a job; None when the lane is closed."""
        with self._changed:
            self._running = None
            while not (self._waiting or self._is_closed):
                self._worker.reap_ended_process()
                self._changed.wait(_REST_SECONDS)
            if self._is_closed:
                return None
            self._running = self._waiting.pop(next(iter(self._waiting)))
            self._is_cancelled = False
            self._worker.take_calls()
            return self._running

    def _do(self, job: StudioJob) -> None:
        """Do one job and tell its result."""
        self._tell(job, "running", since=time.time())
        try:
            try:
                result = job.work(self._worker, lambda stage: self._report(job, stage))
            except TimedWorkerEndedError:
                if not job.retry:
                    raise
                result = job.work(self._worker, lambda stage: self._report(job, stage))
            state, told = "done", dict(result)
        except KeyboardInterrupt:
            state, told = "cancelled", {}
        except TimedWorkerEndedError:
            said = "its worker process was ended from outside; ask again to repeat it"
            state, told = "failed", {"error": said}
        except BudgetExceededError as error:
            state, told = "failed", {"error": f"it {error.what}"}
        except (LinkwrightError, OSError) as error:
            state, told = "failed", {"error": str(error)}
        except Exception as error:  # our own mistake must not end the studio
            state, told = "failed", {"error": f"{type(error).__name__}: {error}"}
        if self._is_cancelled:
            state, told = "cancelled", {}
        if not self._is_closed:
            self._tell(job, state, **told)

    def _report(self, job: StudioJob, stage: str) -> None:
        """Tells the stage of a job; one that was cancelled goes no further."""
        if self._is_cancelled or self._is_closed:
            raise KeyboardInterrupt
        self._tell(job, "running", stage=stage)

    def _tell(self, job: StudioJob, state: str, **more: object) -> None:
        self._publish({"type": "job", "kind": job.kind, "key": job.key, "state": state, **more})
