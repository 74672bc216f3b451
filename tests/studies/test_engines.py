"""Studies on real processes: workers killed, schedulers restarted, two resumes at once.

Every design must be there exactly once, bit for bit as in an undisturbed study of this process.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.studies import Study, load_study, resume_study

from . import study_functions

ELBOW = lw.gallery("elbow")
MEASURE: dict[str, Any] = {
    "peak": "max(abs(dq1))",
    "loss": "energy[-1] - energy[0]",
    "height": "max(tool.y)",
}
VARY = {"m2": (0.5, 1.5), "q0.q1": (0.0, 1.0)}
LARGE = 100_000


@cache
def undisturbed(count: int) -> Study:
    return lw.study(ELBOW, VARY, MEASURE, design="random", count=count, t=0.3, samples=16)


def begin(folder: Path, count: int, block: int, **options: Any) -> Study:
    """Make a study in a store."""
    given: dict[str, Any] = {"design": "random", "count": count, "t": 0.3, "samples": 16}
    return lw.study(ELBOW, VARY, MEASURE, store=folder, block=block, **given, **options)


def check_same(folder: Path, count: int) -> None:
    """Every design is there, once, with the bits of the undisturbed study."""
    found, wanted = load_study(folder), undisturbed(count)
    assert found.is_complete
    assert len(found.store.sound_blocks()) == found.recipe.block_count
    assert (found.data["status"] == 1).all()
    for name in ("m2", "q0.q1", "seed", *MEASURE):
        np.testing.assert_array_equal(found.data[name], wanted.data[name])
    names = {one.name for one in (folder / "peak" / "c").iterdir()}
    assert names == {str(k) for k in range(found.recipe.block_count)}
    assert not [one for one in folder.rglob("*.part") if one.stat().st_mtime > time.time() - 0.5]


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
    return "serve_blocks" in text or "spawn_main" in text or "forkserver" in text


@contextmanager
def random_kills(every: float, most: int, seed: int = 7) -> Iterator[list[int]]:
    """Kill a random worker of this process again and again."""
    chance, end, killed = random.Random(seed), threading.Event(), list[int]()

    def kill() -> None:
        while not end.wait(every * chance.uniform(0.5, 1.5)) and len(killed) < most:
            workers = [one for one in children(os.getpid()) if is_worker(one)]
            if workers:
                victim = chance.choice(workers)
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        end.set()
        thread.join()


def heed_interrupts() -> None:
    """A process that a shell started in its background ignores Ctrl-C, and so would ours."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def linkwright(*words: str, **options: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "linkwright", *words]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, preexec_fn=heed_interrupts, **pipes, **options)


@pytest.mark.slow
def test_local_workers_make_the_same_bits_and_one_is_killed(tmp_path: Path) -> None:
    with random_kills(1.5, 1) as killed:
        begin(tmp_path / "a", 4000, 250, workers=2, cluster="processes")
    check_same(tmp_path / "a", 4000)
    assert len(killed) <= 1


@pytest.mark.slow
def test_workers_killed_at_random_during_a_hundred_thousand_runs(tmp_path: Path) -> None:
    with random_kills(1.2, 12) as killed:
        begin(tmp_path / "a", LARGE, 1250, workers=2, cluster="processes", retries=20)
    assert len(killed) >= 3
    check_same(tmp_path / "a", LARGE)


@pytest.mark.slow
def test_workers_of_dask_killed_at_random(tmp_path: Path) -> None:
    with random_kills(3.0, 4) as killed:
        begin(tmp_path / "a", 20_000, 500, workers=2, cluster="local", retries=20)
    check_same(tmp_path / "a", 20_000)
    assert isinstance(killed, list)


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
    words += ["-n", "40000", "-t", "0.3", "--samples", "16", "--block", "500", "-o", str(folder)]
    process = linkwright(*words, start_new_session=True)
    end = time.monotonic() + 90
    while len(list(folder.glob("blocks/*.json"))) < 5 and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    done = len(list(folder.glob("blocks/*.json")))
    assert 5 <= done < 80
    both = [linkwright("study", "resume", str(folder), "--json") for _ in range(2)]
    answers = [one.communicate(timeout=170) for one in both]
    assert [one.returncode for one in both] == [0, 0], answers
    assert all(json.loads(out)["designs"] == 40_000 for out, _ in answers)
    check_same(folder, 40_000)


@pytest.mark.slow
def test_ctrl_c_ends_at_a_block_and_says_how_to_resume(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    words = ["study", "elbow", "--vary", "m2=0.5..1.5", "--measure", "peak=max(abs(dq1))"]
    words += ["-n", "2000000", "--samples", "16", "--block", "500", "-o", str(folder)]
    for workers in ("1", "2"):
        process = (
            linkwright(*words, "--workers", workers, "--cluster", "processes")
            if (workers == "2")
            else linkwright(*words)
        )
        before, end = len(list(folder.glob("blocks/*.json"))), time.monotonic() + 60
        while len(list(folder.glob("blocks/*.json"))) < before + 3 and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130
        assert f"linkwright study resume {folder}" in said
        assert "Traceback" not in said
        found = load_study(folder)
        assert found.store.sound_blocks() == found.store.marked_blocks()
        assert not found.is_complete


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def dask_process(kind: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    program = f"import sys; from distributed.cli.dask_{kind} import main; main(sys.argv[1:])"
    silent = subprocess.DEVNULL
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words], stdout=silent, stderr=silent, env=environment
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_scheduler_that_is_restarted_loses_nothing(tmp_path: Path) -> None:
    folder, port = tmp_path / "a", free_port()
    address = f"tcp://127.0.0.1:{port}"
    scheduler = ("--port", str(port), "--host", "127.0.0.1", "--no-dashboard")
    worker = (address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0")
    failures: list[BaseException] = []

    def run() -> None:
        try:
            begin(folder, 20_000, 500, cluster=address)
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    with dask_process("scheduler", *scheduler), dask_process("worker", *worker):
        thread.start()
        end = time.monotonic() + 90
        while len(list(folder.glob("blocks/*.json"))) < 4 and time.monotonic() < end:
            time.sleep(0.05)
        assert thread.is_alive(), failures
    between = len(list(folder.glob("blocks/*.json")))
    assert 4 <= between < 40
    with dask_process("scheduler", *scheduler), dask_process("worker", *worker):
        thread.join(150)
    assert not thread.is_alive()
    assert not failures
    check_same(folder, 20_000)


def test_a_scheduler_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(lw.LinkwrightError, match="does not answer"):
        begin(tmp_path / "a", 100, 50, cluster=f"tcp://127.0.0.1:{free_port()}")
    assert resume_study(tmp_path / "a").is_complete


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
        thread = threading.Thread(target=make)
        thread.start()
        time.sleep(6)
        assert not list(store.glob("blocks/*.json")), "a worker did not wait for the lock"
    thread.join(60)
    assert load_study(store).is_complete
    made = {entry.name: entry.stat().st_ino for entry in cache_folder.glob("*.lwc")}
    assert made
    (store / "blocks/0.json").unlink()
    resume_study(store, workers=2, cluster="processes")
    assert {entry.name: entry.stat().st_ino for entry in cache_folder.glob("*.lwc")} == made
