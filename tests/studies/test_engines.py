"""Studies on local processes: workers killed, Ctrl-C, two resumes at once.

Every design must be there exactly once, bit for bit as in an undisturbed study of this process.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.studies import load_study, resume_study
from linkwright.studies.study_store import BlockReport, StudyStore

from . import study_functions
from .study_processes import (
    ELBOW,
    KILLS,
    LARGE,
    MEASURE,
    PACED,
    begin,
    begin_paced,
    check_same,
    count_blocks,
    kills,
    linkwright,
    python,
    wait_for_blocks,
)


@pytest.mark.slow
def test_local_workers_make_the_same_bits_and_one_is_killed(tmp_path: Path) -> None:
    with kills([5]) as killed:
        begin_paced(tmp_path / "a", workers=2, cluster="processes")
    check_same(tmp_path / "a", PACED)
    assert len(killed) == 1


@pytest.mark.slow
def test_workers_killed_at_random_during_a_hundred_thousand_runs(tmp_path: Path) -> None:
    with kills(KILLS) as killed:
        begin(tmp_path / "a", LARGE, 1250, workers=2, cluster="processes", retries=20)
    assert len(killed) == len(set(killed)) == len(KILLS)
    check_same(tmp_path / "a", LARGE)


@pytest.mark.slow
def test_a_design_that_kills_its_worker_is_the_only_failure(tmp_path: Path) -> None:
    measure = {"own": study_functions.kill_worker}
    masses = [1.0 + 0.1 * k / 31 * 4 for k in range(32)]  # one of them kills
    found = lw.study(
        ELBOW, {"m2": masses}, measure, store=tmp_path / "a", block=8, workers=2,
        cluster="processes", retries=1,
    )  # fmt: skip
    killers = [k for k, mass in enumerate(masses) if 1.2 < mass < 1.21]
    assert len(killers) == 1
    assert list(found.failures) == killers
    assert "its worker ended with signal 9" in found.failures[killers[0]]
    rest = np.delete(np.arange(32), killers)
    np.testing.assert_array_equal(found.data["own"][rest], np.array(masses)[rest])


def kill_command(folder: Path, *more: str) -> None:
    """Begin a study of 60 blocks by command, and kill it when it has made some of them."""
    words = ["study", "elbow", "--vary", "m2=0.5..1.5", "--vary", "q0.q1=0..1"]
    words += ["--design", "random", "-n", str(PACED), "--block", "10", "-o", str(folder)]
    words += ["-t", "0.3", "--samples", "16", *more]
    for name, text in MEASURE.items():
        words += ["--measure", f"{name}={text}"]
    with linkwright(*words) as process:
        wait_for_blocks(folder, 5)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
    for one in sorted(folder.glob("blocks/*.json"))[5:]:  # it may have made more before it died
        one.unlink()


RESUME_IN_STEP = """
import sys, types
from linkwright.studies import resume_study, study_continuation
study_continuation.os = types.SimpleNamespace(urandom=bytes)  # both begin at the same block
resume_study(sys.argv[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("in_step", [False, True], ids=["commands", "in step"])
def test_a_killed_study_goes_on_with_two_resumes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_step: bool
) -> None:
    folder, meeting, log = tmp_path / "a", tmp_path / "meeting", tmp_path / "log"
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, *sys.path]))
    kill_command(folder, "--measure", "who=tests.studies.study_functions:meet_and_log")
    before = {one: one.stat().st_mtime_ns for one in folder.glob("blocks/*.json")}
    assert len(before) == 5
    meeting.mkdir()
    monkeypatch.setenv(study_functions.MEETING, str(meeting))
    monkeypatch.setenv(study_functions.LOG, str(log))
    words = ["study", "resume", str(folder), "--json"]
    start = (
        partial(python, "-c", RESUME_IN_STEP, str(folder))
        if in_step
        else partial(linkwright, *words)
    )
    with start() as first, start() as second:
        answers = [one.communicate(timeout=200) for one in (first, second)]
        assert [first.returncode, second.returncode] == [0, 0], answers
    made: dict[str, set[str]] = {}
    for line in log.read_text().splitlines():
        process, mass = line.split()
        made.setdefault(process, set()).add(mass)
    one, other = made.values()
    assert min(len(one), len(other)) >= 100, "one of them has done it all"
    markers = [
        json.loads(one.read_text()) for one in folder.glob("blocks/*.json") if one not in before
    ]
    assert len(markers) == 55
    if in_step:
        assert len(one & other) >= 100, "they have not made the same blocks"
    else:
        assert {one["worker"].split(":")[1] for one in markers} == set(made)
        assert all(json.loads(out)["designs"] == PACED for out, _ in answers)
    assert {one: one.stat().st_mtime_ns for one in before} == before, "a sound block was made again"
    check_same(folder, PACED)


@pytest.mark.slow
def test_two_resumes_repair_a_damaged_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them takes the marker away of a block that the other one has just made again."""
    folder = tmp_path / "a"
    begin(folder, 100, 10)
    (folder / "peak/c/3").write_bytes(b"damage")
    made: list[int] = []
    write = StudyStore.write_block

    def write_and_lose(self: StudyStore, block: int, *given: Any) -> Any:
        found = write(self, block, *given)
        if not made:
            self.storage.remove(self.marker_key(block))
        made.append(block)
        return found

    monkeypatch.setattr(StudyStore, "write_block", write_and_lose)
    assert resume_study(folder).is_complete
    assert made == [3, 3]
    check_same(folder, 100)
    (folder / "blocks/3.json").unlink()
    monkeypatch.setattr(
        StudyStore,
        "write_block",
        lambda self, block, found, seconds: BlockReport(block, 10, 0, 0, 1),
    )
    with pytest.raises(lw.LinkwrightError, match="1 blocks were made, but are not in the store"):
        resume_study(folder)


@pytest.mark.slow
def test_ctrl_c_ends_at_a_block_and_says_how_to_resume(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    words = ["study", "elbow", "--vary", "m2=0.5..1.5", "--measure", "peak=max(abs(dq1))"]
    words += ["-n", "2000000", "--samples", "16", "--block", "500", "-o", str(folder)]
    for more in ([], ["--workers", "2", "--cluster", "processes"]):
        before = count_blocks(folder)
        with linkwright(*words, *more) as process:
            wait_for_blocks(folder, before + 3)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert said.count(f"linkwright study resume {folder}") == 1
        assert "Traceback" not in said
        found = load_study(folder)
        assert found.store.sound_blocks() == found.store.marked_blocks()
        assert not found.is_complete


@pytest.mark.slow
def test_a_machine_compiles_a_study_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker waits while another one prepares the study, and then finds its code in the cache."""
    from linkwright.readings.llvm.code_cache import lock_code_cache

    cache_folder = tmp_path / "cache"
    cache_folder.mkdir(mode=0o700)
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(cache_folder))
    measure = {"height": "max(tool.y)"}
    given: dict[str, Any] = {"t": 0.1, "samples": 4, "block": 2, "workers": 2, "retries": 0}
    recipe = lw.study(ELBOW, {"l2": [1.0, 1.1]}, measure, t=0.1, samples=4).recipe
    for entry in cache_folder.glob("*.lwc"):
        entry.unlink()
    store = tmp_path / "a"
    masses = {"l2": [1.0, 1.1]}

    def make() -> None:
        lw.study(ELBOW, masses, measure, store=store, cluster="processes", **given)

    with lock_code_cache(f"study-{recipe.digest[:24]}"):
        thread = threading.Thread(target=make, daemon=True)
        thread.start()
        time.sleep(6)
        assert not list(store.glob("blocks/*.json")), "a worker did not wait for the lock"
    thread.join(150)
    assert not thread.is_alive()
    assert load_study(store).is_complete
    made = {entry.name: entry.stat().st_ino for entry in cache_folder.glob("*.lwc")}
    assert made
    (store / "blocks/0.json").unlink()
    resume_study(store, workers=2, cluster="processes")
    assert {entry.name: entry.stat().st_ino for entry in cache_folder.glob("*.lwc")} == made
