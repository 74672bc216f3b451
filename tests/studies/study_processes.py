"""Real processes for the tests of studies: workers that are killed, commands, undisturbed results."""

from __future__ import annotations

import itertools
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.studies import Study, load_study
from linkwright.studies.study_progress import StudyProgress
from linkwright.studies.study_store import BlockReport

from . import study_functions

ELBOW = lw.gallery("elbow")
MEASURE: dict[str, Any] = {
    "peak": "max(abs(dq1))",
    "loss": "energy[-1] - energy[0]",
    "height": "max(tool.y)",
}
VARY = {"m2": (0.5, 1.5), "q0.q1": (0.0, 1.0)}
LARGE = 100_000
PACED = 600
KILLS = (0, 1, 5, 10, 20, 30, 40, 50)
"""Blocks after which a worker is killed."""


@cache
def undisturbed(count: int) -> Study:
    return lw.study(ELBOW, VARY, MEASURE, design="random", count=count, t=0.3, samples=16)


def begin(folder: Path | str, count: int, block: int, **options: Any) -> Study:
    """Make a study in a store."""
    given: dict[str, Any] = {"design": "random", "count": count, "t": 0.3, "samples": 16}
    return lw.study(ELBOW, VARY, MEASURE, store=folder, block=block, **given, **options)


def check_same_bits(store: Path | str, count: int) -> Study:
    """Every design is there, once, with the bits of the undisturbed study."""
    found, wanted = load_study(store), undisturbed(count)
    assert found.is_complete
    assert len(found.store.sound_blocks()) == found.recipe.block_count
    assert (found.data["status"] == 1).all()
    for name in ("m2", "q0.q1", "seed", *MEASURE):
        np.testing.assert_array_equal(found.data[name], wanted.data[name])
    return found


def check_same(folder: Path, count: int) -> None:
    """The folder has the bits of the undisturbed study, and a file for each block, no other."""
    found = check_same_bits(folder, count)
    blocks = {str(k) for k in range(found.recipe.block_count)}
    for name in ("m2", "q0.q1", "seed", "status", *MEASURE):
        shown = {one.name for one in (folder / name / "c").iterdir() if one.name[0] != "."}
        assert shown == blocks
    assert {one.name for one in folder.glob("blocks/*.json")} == {f"{one}.json" for one in blocks}


def children(process: int) -> list[int]:
    """The processes that a process, or one of its children, has started."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                continue
            if parent == process:
                found += [int(entry.name), *children(int(entry.name))]
    return found


def is_worker(process: int) -> bool:
    try:
        text = Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False
    return "serve_blocks" in text or "dask_worker" in text


def count_blocks(folder: Path) -> int:
    return len(list(folder.glob("blocks/*.json")))


def wait_for_blocks(folder: Path, count: int, seconds: float = 150) -> None:
    """Wait until a study has made some blocks, but not for ever."""
    end = time.monotonic() + seconds
    while count_blocks(folder) < count:
        assert time.monotonic() < end, f"{count_blocks(folder)} of {count} blocks were made"
        time.sleep(0.02)


@contextmanager
def kills(after: Sequence[int], seed: int = 7) -> Iterator[list[int]]:
    """Kill a random worker of this process, at a random instant, each time so many blocks are made.

    The engine hears of a block only when the worker is dead: no kill can come too late.
    """
    chance, killed, counts = random.Random(seed), list[int](), list(after)
    reports, report = itertools.count(1), StudyProgress.add

    def kill_one() -> bool:
        workers = [one for one in children(os.getpid()) if is_worker(one)]
        if workers:
            os.kill(victim := chance.choice(workers), signal.SIGKILL)
            killed.append(victim)
        return bool(workers)

    def add(self: StudyProgress, one: BlockReport) -> None:
        if next(reports) >= (counts[0] if counts else np.inf):
            time.sleep(0.03 * chance.random())
            if kill_one():
                counts.pop(0)
        report(self, one)

    def kill_at_start() -> None:
        while not kill_one():
            time.sleep(0.02)

    thread = threading.Thread(target=kill_at_start, daemon=True)
    if counts[0] == 0:
        counts.pop(0)
        thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StudyProgress, "add", add)
        yield killed


def heed_interrupts() -> None:
    """A process that a shell started in its background ignores Ctrl-C, and so would ours."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def python(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own, which does not outlive the test."""
    command = [sys.executable, *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, preexec_fn=heed_interrupts, start_new_session=True, **pipes)
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate(timeout=30)


def linkwright(*words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A command in a session of its own."""
    return python("-m", "linkwright", *words)


def begin_paced(folder: Path, **options: Any) -> Study:
    """Make a study of 60 blocks that takes some seconds on any machine, most of them asleep."""
    given: dict[str, Any] = {"design": "random", "count": PACED, "t": 0.3, "samples": 16}
    measure = {**MEASURE, "pace": study_functions.sleep_for_a_moment}
    return lw.study(ELBOW, VARY, measure, store=folder, block=10, **given, **options)
