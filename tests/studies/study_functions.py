"""Measures of the tests that workers import, and a file system without space."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import time
from pathlib import Path
from typing import Any, ClassVar

import fsspec
from fsspec.implementations.memory import MemoryFileSystem


def lowest_frequency(linearize: Any) -> float:
    return float(linearize.frequencies[0])


def largest_speed(run: Any) -> float:
    return float(abs(run.qd[:, 0]).max())


def fail_beyond(factors: Any) -> float:
    if factors["m2"] > 1.4:
        raise ZeroDivisionError("too heavy")
    return 2 * factors["m2"]


def kill_worker(factors: Any) -> float:
    """Ends the worker of a single design, as a crash of a library would."""
    if 1.2 < factors["m2"] < 1.21:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(factors["m2"])


def sleep_for_a_moment(factors: Any) -> float:
    """Gives a study a duration that depends little on the machine."""
    time.sleep(0.02)
    return float(factors["m2"])


MEETING, LOG = "LINKWRIGHT_TEST_MEETING", "LINKWRIGHT_TEST_LOG"
CALLS = itertools.count()


def meet_and_log(factors: Any) -> float:
    """Waits until two processes work on the study; notes who made which design.

    The first call prepares the study, under a lock that one process of a machine has.
    """
    if MEETING in os.environ and next(CALLS):
        place, end = Path(os.environ[MEETING]), time.monotonic() + 120
        (place / str(os.getpid())).touch()
        while len(os.listdir(place)) < 2:
            if time.monotonic() > end:
                raise TimeoutError("nobody else works on this study")
            time.sleep(0.01)
        with Path(os.environ[LOG]).open("a") as file:
            file.write(f"{os.getpid()} {factors['m2']!r}\n")
        time.sleep(0.01)
    return float(factors["m2"])


class FullFileSystem(MemoryFileSystem):
    """A file system that raises ENOSPC after some bytes."""

    protocol = "full"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    bytes_left: ClassVar[int] = 10**9

    def pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        if len(value) > FullFileSystem.bytes_left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        FullFileSystem.bytes_left -= len(value)
        super().pipe_file(path, value, **options)


fsspec.register_implementation("full", FullFileSystem, clobber=True)
