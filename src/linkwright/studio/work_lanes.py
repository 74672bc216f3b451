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
from ..processes.timed_worker import BudgetExceededError, TimedWorkerProcess

JobMessage = Mapping[str, object]


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
    """A thread with a worker process; `publish` is told the state of each job, from that
    thread."""

    def __init__(self, name: str, publish: Callable[[JobMessage], None]) -> None:
        self._publish = publish
        self._waiting: dict[str, StudioJob] = {}
        self._running: StudioJob | None = None
        self._cancelled: set[str] = set()
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
            runs = self._running is not None and self._running.key == key
            if runs:
                self._cancelled.add(key)
        for one in waiting:
            self._tell(one, "cancelled")
        if runs:
            self._worker.kill_process()

    def close(self) -> None:
        """End the lane and its process."""
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify()
        self._worker.kill_process()

    @property
    def worker_process_id(self) -> int | None:
        """The number of the worker process, if it runs."""
        return self._worker.process_id

    def _serve(self) -> None:
        with self._worker:
            while True:
                with self._changed:
                    self._running = None
                    self._changed.wait_for(lambda: self._waiting or self._is_closed)
                    if self._is_closed:
                        return
                    job = self._waiting.pop(next(iter(self._waiting)))
                    self._running = job
                self._do(job)

    def _do(self, job: StudioJob, is_second_try: bool = False) -> None:
        """Do one job and tell its result."""
        self._tell(job, "running", since=time.time())
        try:
            result = job.work(self._worker, lambda stage: self._report(job, stage))
        except (LinkwrightError, OSError, KeyboardInterrupt) as error:
            if self._is_closed:
                return
            if job.key in self._cancelled:
                self._cancelled.discard(job.key)
                self._tell(job, "cancelled")
                return
            died = isinstance(error, OSError) or "its process ended" in str(error)
            if died and job.retry and not is_second_try:
                self._do(job, is_second_try=True)
                return
            said = str(error)
            if died:
                said = "its worker process was ended from outside; ask again to repeat it"
            elif isinstance(error, BudgetExceededError):
                said = f"it {error.what}"
            self._tell(job, "failed", error=said)
        except Exception as error:  # a mistake of ours must not end the studio
            self._tell(job, "failed", error=f"{type(error).__name__}: {error}")
        else:
            self._cancelled.discard(job.key)
            self._tell(job, "done", **result)

    def _report(self, job: StudioJob, stage: str) -> None:
        """Tells the stage of a job; one that was cancelled goes no further."""
        if job.key in self._cancelled or self._is_closed:
            raise KeyboardInterrupt
        self._tell(job, "running", stage=stage)

    def _tell(self, job: StudioJob, state: str, **more: object) -> None:
        self._publish({"type": "job", "kind": job.kind, "key": job.key, "state": state, **more})
