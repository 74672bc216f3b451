"""Lanes of work: processes that are killed are replaced, and what is cancelled ends."""

from __future__ import annotations

import os
import queue
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from linkwright.processes.timed_worker import TimedWorkerProcess
from linkwright.studio.work_lanes import StudioJob, WorkLane

PATIENCE = 120.0


class Told:
    """What a lane tells, one message after the other."""

    def __init__(self) -> None:
        self.messages: queue.Queue[Mapping[str, object]] = queue.Queue()

    def end_of(self, key: str) -> Mapping[str, Any]:
        """The message with which a job ends."""
        while True:
            message = self.messages.get(timeout=PATIENCE)
            if message["key"] == key and message["state"] in ("done", "failed", "cancelled"):
                return message


@contextmanager
def open_lane() -> Iterator[tuple[WorkLane, Told]]:
    told = Told()
    lane = WorkLane("test", told.messages.put)
    try:
        yield lane, told
    finally:
        lane.close()
        lane.join(PATIENCE)


def call_job(key: str, function: object, *arguments: object) -> StudioJob:
    def work(worker: TimedWorkerProcess, report: object) -> Mapping[str, object]:
        return {"found": worker.call_within(function, *arguments, seconds=1000)}  # type: ignore[arg-type]

    return StudioJob("call", key, work)


def test_a_process_that_is_killed_at_rest_is_reaped_and_replaced() -> None:
    with open_lane() as (lane, told):
        lane.ask(call_job("1", os.getpid))
        first = told.end_of("1")["found"]
        os.kill(first, signal.SIGKILL)
        lane.ask(call_job("2", os.getpid))  # at once: it may not be dead yet
        answer = told.end_of("2")
        assert answer["state"] == "done"
        os.kill(answer["found"], signal.SIGKILL)
        end = time.monotonic() + PATIENCE
        while _is_listed(answer["found"]):  # as a dead process would be, too
            assert time.monotonic() < end
            time.sleep(0.05)
        lane.ask(call_job("3", max, 2, 3))
        assert told.end_of("3")["found"] == 3


def test_a_job_is_cancelled_while_its_process_starts() -> None:
    with open_lane() as (lane, told):
        lane.ask(call_job("1", time.sleep, 1000))
        while told.messages.get(timeout=PATIENCE)["state"] != "running":
            pass
        lane.cancel("1")
        assert told.end_of("1")["state"] == "cancelled"
        lane.ask(call_job("1", max, 2, 3))
        assert told.end_of("1")["found"] == 3


def test_a_lane_leaves_no_process() -> None:
    with open_lane() as (lane, told):
        lane.ask(call_job("1", os.getpid))
        number = told.end_of("1")["found"]
        lane.ask(call_job("2", time.sleep, 1000))
    assert not _is_listed(number)


def _is_listed(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
