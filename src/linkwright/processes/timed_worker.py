"""Work that may take too long: done in a process of its own, which is ended at its budget.

A budget is seconds of the processor, so that a busy machine does not stop what is quick; where a
system cannot count these, and for what only waits, it is time by the clock.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeVar

from ..errors import LinkwrightError
from .forked_process import ForkedProcess, can_fork_safely

Result = TypeVar("Result")


_WORKER_PROGRAM = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from linkwright.processes import end_with_parent; end_with_parent(); "
    "from linkwright.processes.timed_worker import serve_timed_work; serve_timed_work()"
)
_MAX_IMPORT_SECONDS = 60.0
"""Seconds that a process may take until it answers at all."""
_HAS_CPU_TIMER = hasattr(signal, "setitimer")
_CLOCK_PER_BUDGET = 10.0 if _HAS_CPU_TIMER else 1.0
"""Seconds by the clock for each of a budget."""


class BudgetExceededError(LinkwrightError):
    """Work was ended because it exceeded its budget."""


class TimedWorkerEndedError(LinkwrightError):
    """The process of a worker ended while it worked: it was killed, or had no memory."""


class TimedWorkerProcess:
    """A process that calls functions of this package one after the other, and is started again
    after one that was ended, or that ended while it rested. Use it in `with`."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | ForkedProcess | None = None
        self._starting = threading.Lock()
        self._is_given_up = False
        self.spent_seconds = 0.0
        """Seconds that its calls took."""

    def __enter__(self) -> TimedWorkerProcess:
        _ACTIVE_WORKERS.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        _ACTIVE_WORKERS.discard(self)
        self._end_process()

    def start_as_copy(self) -> None:
        """Start the process now as a copy of this one, which saves it a second of imports, where
        that is safe; elsewhere the first call starts it."""
        if self._process is None and can_fork_safely():
            self._process = ForkedProcess(serve_timed_work)

    def call_within(
        self, function: Callable[..., Result], *arguments: object, seconds: float
    ) -> Result:
        """Return function(*arguments), or raise `BudgetExceededError` after that many seconds."""
        if self._process is not None:  # it may have ended while it rested
            with contextlib.suppress(TimedWorkerEndedError):
                self._await_worker_answer(bool, (), _MAX_IMPORT_SECONDS)
        if self._process is None:
            with self._starting:
                self._raise_if_given_up()
                self._process = _start_worker_process()
            self._await_worker_answer(bool, (), _MAX_IMPORT_SECONDS)
        answer: Result = self._await_worker_answer(function, arguments, seconds)
        return answer

    def _raise_if_given_up(self) -> None:
        if self._is_given_up or _IS_CANCELLED.is_set():
            raise KeyboardInterrupt

    def _await_worker_answer(
        self, function: Callable[..., Any], arguments: Any, seconds: float
    ) -> Any:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        found: list[Any] = []
        try:
            self._raise_if_given_up()
            message = pickle.dumps((function, arguments, seconds))
            with contextlib.suppress(BrokenPipeError):  # it ended, and cannot answer
                process.stdin.write(message)
                process.stdin.flush()
            reader = threading.Thread(
                target=_read_worker_answer, args=(process.stdout, found), daemon=True
            )
            reader.start()
            reader.join(seconds * _CLOCK_PER_BUDGET)
            late = reader.is_alive()
        except BaseException:
            self._end_process()
            raise
        if self._is_given_up or _IS_CANCELLED.is_set():
            self._end_process()
            raise KeyboardInterrupt
        if late or not found:
            ended = self._end_process(0.0 if late else 5.0)
            if late or (_HAS_CPU_TIMER and ended == -signal.SIGPROF):
                self.spent_seconds += seconds
                raise BudgetExceededError(f"took more than {seconds:.3g} s")
            raise TimedWorkerEndedError("its process ended, probably for lack of memory")
        good, value, took = found[0]
        self.spent_seconds += took
        if not good:
            raise value
        return value

    def kill_process(self) -> None:
        """End the process while another thread waits for its answer."""
        with self._starting:  # one that is just being started, too
            process = self._process
        if process is not None:
            process.kill()

    def give_up_calls(self) -> None:
        """End the call of another thread, and those that it begins before `take_calls`: it gets a
        `KeyboardInterrupt`."""
        self._is_given_up = True
        self.kill_process()

    def take_calls(self) -> None:
        """Take calls again, after they were given up."""
        self._is_given_up = False

    def reap_ended_process(self) -> None:
        """Forget the process if it ended while it rested, so that no dead one is left."""
        if self._process is not None and self._process.poll() is not None:
            self._end_process()

    def _end_process(self, patience: float = 0.0) -> int | None:
        """End the process if it still runs, and return its exit status."""
        process, self._process = self._process, None
        if process is None:
            return None
        try:
            ended = process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            ended = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return ended


_ACTIVE_WORKERS: set[TimedWorkerProcess] = set()
_IS_CANCELLED = threading.Event()
"""Set while the work of other threads is being given up."""


@contextlib.contextmanager
def clear_worker_cancellation() -> Iterator[None]:
    """A context for threads that may be cancelled; after it, work can begin again."""
    try:
        yield
    finally:
        _IS_CANCELLED.clear()


@contextlib.contextmanager
def cancel_workers_on_error() -> Iterator[None]:
    """A context that ends all workers when Ctrl-C or another error leaves it, so that threads do
    not wait for them."""
    try:
        yield
    except BaseException:
        _IS_CANCELLED.set()
        for worker in list(_ACTIVE_WORKERS):
            worker.kill_process()
        raise


def _start_worker_process() -> subprocess.Popen[bytes]:
    import json

    command = [sys.executable, "-c", _WORKER_PROGRAM, json.dumps(sys.path)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def _read_worker_answer(pipe: BinaryIO | Any, found: list[Any]) -> None:
    with contextlib.suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
        found.append(pickle.load(pipe))


def serve_timed_work() -> None:
    """Call what the parent process asks for until the input ends."""
    with os.fdopen(os.dup(1), "wb") as answers, os.fdopen(os.dup(0), "rb") as requests:
        os.dup2(2, 1)  # what libraries print is not an answer
        while True:
            try:
                function, arguments, seconds = pickle.load(requests)
            except EOFError:
                return
            begin = time.process_time()
            try:
                _limit_worker_cpu_time(seconds)
                answer = (True, function(*arguments))
            except Exception as error:
                answer = (False, error)
            _limit_worker_cpu_time(0.0)
            answers.write(pickle.dumps((*answer, time.process_time() - begin)))
            answers.flush()


def _limit_worker_cpu_time(seconds: float) -> None:
    """Limit the CPU time of this process to some seconds, after which the system ends it; 0: no
    limit."""
    if _HAS_CPU_TIMER:
        signal.setitimer(signal.ITIMER_PROF, seconds)
