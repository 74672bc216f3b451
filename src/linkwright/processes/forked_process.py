"""A copy of this process as a worker: it has imported everything already."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from typing import BinaryIO

from . import end_with_parent

_POLLING_SECONDS = 0.01
"""Pause between two looks at a process that is about to end."""


_THREADED_PACKAGES = ("jax", "torch")
"""Packages whose runtimes have threads that Python does not count, with locks of their own."""


def can_fork_safely() -> bool:
    """Return whether a copy of this process can work: on Linux, while no other thread runs, which
    could hold a lock that the copy would wait for."""
    is_single = threading.active_count() == 1
    has_runtime = any(name in sys.modules for name in _THREADED_PACKAGES)
    return sys.platform.startswith("linux") and is_single and not has_runtime


class ForkedProcess:
    """A child process that runs a function of this one, with the part of `subprocess.Popen` that
    workers need; the function reads file 0 and writes file 1."""

    def __init__(self, serve: Callable[[], None]) -> None:
        read_requests, write_requests = os.pipe()
        read_answers, write_answers = os.pipe()
        self.returncode: int | None = None
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", DeprecationWarning
            )  # threads of BLAS take part in forks
            self.pid = os.fork()
        if self.pid == 0:
            _serve_in_copy(serve, read_requests, write_answers)
        os.close(read_requests)
        os.close(write_answers)
        self.stdin: BinaryIO = os.fdopen(write_requests, "wb")
        self.stdout: BinaryIO = os.fdopen(read_answers, "rb")

    def poll(self) -> int | None:
        """Return the exit status (minus the signal that ended it), or None while it runs."""
        if self.returncode is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                if pid:
                    self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status when it has ended; raise `subprocess.TimeoutExpired` after that
        many seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while (ended := self.poll()) is None:
            if end is not None and time.monotonic() >= end:
                raise subprocess.TimeoutExpired("a copy of this process", timeout or 0.0)
            time.sleep(_POLLING_SECONDS)
        return ended

    def kill(self) -> None:
        """End it at once."""
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


def _serve_in_copy(serve: Callable[[], None], requests: int, answers: int) -> None:
    """Run the function in the copy, which then ends without the exit handlers of this process."""
    status = 1
    try:
        end_with_parent()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        silent = os.open(os.devnull, os.O_WRONLY)
        for source, target in ((requests, 0), (answers, 1), (silent, 2)):
            os.dup2(source, target)
        os.closerange(3, max(requests, answers, silent) + 1)
        serve()
        status = 0
    finally:
        os._exit(status)
