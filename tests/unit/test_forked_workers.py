"""Workers that are copies of the process that starts them: answers, budgets, ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from linkwright.processes.forked_process import can_fork_safely

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="copies are made on Linux only"
)
_SCRIPT = """
import atexit, os, signal, sys, time
from linkwright.processes.timed_worker import (
    BudgetExceededError, TimedWorkerEndedError, TimedWorkerProcess)
import linkwright.mechanism
atexit.register(lambda: print("the end of", os.getpid()))
print("not flushed before the copy", end=" ")

def has_imported(name):
    return os.getpid(), name in sys.modules

def burn():
    while True:
        pass

with TimedWorkerProcess() as worker:
    worker.start_as_copy()
    pid, knows = worker.call_within(has_imported, "linkwright.mechanism", seconds=5)
    assert pid != os.getpid() and knows
    assert worker.call_within(divmod, 7, 2, seconds=5) == (3, 1)
    try:
        worker.call_within(divmod, 7, 0, seconds=5)
    except ZeroDivisionError:
        print("divided")
    try:
        worker.call_within(burn, seconds=0.2)
    except BudgetExceededError as error:
        print(error)
    assert worker.call_within(divmod, 7, 2, seconds=60) == (3, 1)  # by a fresh process
with TimedWorkerProcess() as worker:
    worker.start_as_copy()
    try:
        worker.call_within(os.abort, seconds=5)
    except TimedWorkerEndedError:
        print("aborted")
with TimedWorkerProcess() as worker:
    worker.start_as_copy()
    pid, _ = worker.call_within(has_imported, "x", seconds=5)
try:
    os.kill(pid, 0)
except ProcessLookupError:
    print("no process is left")
"""


def test_copies_answer_and_end_like_other_workers() -> None:
    """In a process of its own, which has one thread; exit handlers and kept output are its own."""
    found = subprocess.run(
        [sys.executable, "-c", _SCRIPT], capture_output=True, text=True, timeout=300, check=False
    )
    lines = found.stdout.splitlines()
    assert found.returncode == 0, found.stderr
    assert lines[0] == "not flushed before the copy divided"
    assert lines[1:4] == ["took more than 0.2 s", "aborted", "no process is left"]
    assert len(lines) == 5
    assert lines[4].startswith("the end of ")


def test_no_copy_is_made_while_another_thread_runs() -> None:
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        assert not can_fork_safely()
    finally:
        end.set()
        thread.join()


def test_a_copy_ends_with_its_parent() -> None:
    script = (
        "import os, time\n"
        "from linkwright.processes.timed_worker import TimedWorkerProcess\n"
        "worker = TimedWorkerProcess()\n"
        "worker.start_as_copy()\n"
        "print(worker.call_within(os.getpid, seconds=5), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, timeout=300, check=False
    )
    pid = int(found.stdout)
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        threading.Event().wait(0.1)
    raise AssertionError("the copy goes on without its parent")
