"""Studies on local processes: workers killed, Ctrl-C, two resumes at once.

Every design must be there exactly once, bit for bit as in an undisturbed study of this process.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.studies import load_study, resume_study

from . import study_functions
from .study_processes import (
    ELBOW,
    LARGE,
    MEASURE,
    PACED,
    begin,
    begin_paced,
    check_same,
    count_blocks,
    kills,
    linkwright,
    wait_for_blocks,
)


@pytest.mark.slow
def test_local_workers_make_the_same_bits_and_one_is_killed(tmp_path: Path) -> None:
    with kills(tmp_path / "a", [5]) as killed:
        begin_paced(tmp_path / "a", workers=2, cluster="processes")
    check_same(tmp_path / "a", PACED)
    assert len(killed) == 1


@pytest.mark.slow
def test_workers_killed_at_random_during_a_hundred_thousand_runs(tmp_path: Path) -> None:
    with kills(tmp_path / "a", [0, 1, 5, 10, 20, 30, 40, 50]) as killed:
        begin(tmp_path / "a", LARGE, 1250, workers=2, cluster="processes", retries=20)
    assert len(killed) >= 3
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


@pytest.mark.slow
def test_a_killed_study_goes_on_with_two_resumes_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    words = [
        "study",
        "elbow",
        "--vary",
        "m2=0.5..1.5",
        "--vary",
        "q0.q1=0..1",
        "--design",
        "random",
    ]
    for name, text in MEASURE.items():
        words += ["--measure", f"{name}={text}"]
    words += ["-n", "40000", "-t", "0.3", "--samples", "16", "--block", "100", "-o", str(folder)]
    with linkwright(*words) as process:
        wait_for_blocks(folder, 5)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
    assert 5 <= count_blocks(folder) < 400
    resume = ("study", "resume", str(folder), "--json")
    with linkwright(*resume) as first, linkwright(*resume) as second:
        answers = [one.communicate(timeout=200) for one in (first, second)]
        assert [first.returncode, second.returncode] == [0, 0], answers
    assert all(json.loads(out)["designs"] == 40_000 for out, _ in answers)
    check_same(folder, 40_000)


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
        assert f"linkwright study resume {folder}" in said
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
