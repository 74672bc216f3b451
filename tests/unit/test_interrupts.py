"""Ctrl-C ends every command soon, with status 130, without a traceback, and keeps older files."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.cli import supervise
from linkwright.processes.timed_worker import (
    TimedWorkerProcess,
    cancel_workers_on_error,
    clear_worker_cancellation,
)
from linkwright.readings.llvm.interruptible import call_llvm_interruptibly
from linkwright.simulation import load_run
from linkwright.simulation.storage import prepare_saving
from linkwright.simulation.trajectory_records import TrajectoryRecords

PATIENCE = 60.0
"""Seconds until a command counts as one that does not hear Ctrl-C; a second is meant."""

COMMANDS = {
    "report": "report six-axis --budget 500 -o old.html",
    "compare": "compare six-axis --budget 500 -o old.md",
    "simulate": "simulate elbow -t 1e6 -o old.nc",
    "verify": "verify six-axis",
    "derive": "derive six-axis",
    "plan": "plan six-axis q1=1",
    "check": "check six-axis old.eq",
}

STUCK = """
import signal, ctypes
from linkwright.cli import command, main
from linkwright.cli.commands import check_command
def hang(*_):
    open("begun", "w").close()
    ctypes.PyDLL(None).sleep(1000)  # in C, with the interpreter's lock
command.read_mechanism_argument = check_command.read_mechanism_argument = hang
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


@pytest.fixture(autouse=True)
def _hear_ctrl_c() -> Iterator[None]:
    """Python's own handler, also where the tests run in the background, which ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("command", list(COMMANDS))
def test_ctrl_c_ends_a_command_that_sits_in_c(command: str, tmp_path: Path) -> None:
    """Whatever a command waits for: it does not return to Python, and is ended all the same."""
    words = COMMANDS[command].split()
    old = tmp_path / (words[-1] if words[-1].startswith("old") else "old")
    old.write_text("older")
    process = subprocess.Popen(
        [sys.executable, "-c", STUCK, *words], cwd=tmp_path, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        _wait_for(tmp_path / "begun", process)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=PATIENCE)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert complaint == "linkwright: interrupted\n"
    assert old.read_text() == "older"
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted({"begun", old.name})


@pytest.mark.parametrize("is_said", [False, True])
def test_what_a_command_has_said_is_not_said_again(
    is_said: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    monkeypatch.setattr(supervise, "_this_child", supervise._CommandProcess(writer))
    supervise.explain_ending("resume")
    with pytest.raises(KeyboardInterrupt):
        supervise._handle_command_interrupt(signal.SIGINT, None)
    if is_said:
        supervise.note_explanation()
    assert supervise._ending_message(0, reader) == ("" if is_said else "; resume")
    os.close(reader)
    os.close(writer)


WAITING = """
import os, signal, sys, time
from pathlib import Path
from linkwright.cli import supervise
def command():
    supervise.explain_ending("go on with it", Path(sys.argv[1]))
    Path("begun").write_text(str(os.getpid()))
    time.sleep(100)
supervise.supervise_command(command)
"""


@pytest.mark.parametrize("is_kept", [False, True])
@pytest.mark.parametrize("kind", ["child killed", "SIGTERM", "SIGHUP", "stuck"])
def test_what_ends_a_command_says_how_to_go_on(kind: str, is_kept: bool, tmp_path: Path) -> None:
    """A kernel without memory kills the child; a scheduler of jobs sends SIGTERM, a terminal SIGHUP.
    There is nothing to go on with unless the command has begun its file."""
    name, program = "kept" if is_kept else "none", WAITING
    (tmp_path / "kept").write_text("")
    if kind == "stuck":
        stuck = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT]); time.sleep"
        program = program.replace("time.sleep", stuck)
    process = subprocess.Popen(
        [sys.executable, "-c", program, name], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    try:
        _wait_for(tmp_path / "begun", process)
        if kind == "child killed":
            os.kill(int((tmp_path / "begun").read_text()), signal.SIGKILL)
        else:
            process.send_signal(signal.SIGHUP if kind == "SIGHUP" else signal.SIGTERM)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    wanted = {"child killed": 137, "SIGHUP": 129}.get(kind, 143)
    assert process.returncode == wanted
    assert "Traceback" not in said
    if kind in ("child killed", "stuck"):
        assert said.startswith("linkwright: ")
        assert ("go on with it" in said) == is_kept


def _wait_for(file: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not file.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    assert file.exists(), process.communicate()


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """Also where it is killed, and can tell them nothing."""
    program = (
        "import time; from linkwright.processes.timed_worker import TimedWorkerProcess\n"
        "with TimedWorkerProcess() as worker:\n"
        "    worker.call_within(bool, seconds=60)\n"
        "    open('pid', 'w').write(str(worker._process.pid))\n"
        "    worker.call_within(time.sleep, 1000, seconds=1000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path)
    file = tmp_path / "pid"
    end = time.monotonic() + PATIENCE
    while not (file.exists() and file.read_text()) and time.monotonic() < end:
        time.sleep(0.02)
    worker = int(file.read_text())
    process.kill()
    process.wait()
    end = time.monotonic() + PATIENCE
    while _lives(worker) and time.monotonic() < end:
        time.sleep(0.02)
    assert not _lives(worker)


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_an_interrupted_wait_ends_the_workers_of_other_threads() -> None:
    """As in `report`: threads wait for workers that would take 1000 s."""
    from concurrent.futures import ThreadPoolExecutor

    def interrupted() -> None:
        with (
            clear_worker_cancellation(),
            ThreadPoolExecutor(1) as pool,
            TimedWorkerProcess() as worker,
        ):
            worker.call_within(bool, seconds=60)
            pool.submit(worker.call_within, time.sleep, 1000, seconds=1000)
            with cancel_workers_on_error():
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with TimedWorkerProcess() as worker:  # and others can begin
        assert worker.call_within(bool, seconds=60) is False


SLOW_TO_SAVE = """
import signal, os, time
from linkwright.cli import main
from linkwright.simulation.progress import RunProgress
from linkwright.simulation import storage
def step(self, t):
    os.kill(os.getpid(), signal.SIGINT)
def save(run, target, histories_only):
    storage.partial_file_name(target).write_text("half")
    open("begun", "w").close()
    time.sleep(1000)
RunProgress.step, storage.save = step, save
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def test_a_run_that_cannot_be_saved_in_time_leaves_the_older_file(tmp_path: Path) -> None:
    """Nothing goes on in the background, and no half-written file stays."""
    (tmp_path / "old.nc").write_text("older")
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_TO_SAVE, *COMMANDS["simulate"].split()], cwd=tmp_path,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        _wait_for(tmp_path / "begun", process)
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=PATIENCE)
        with pytest.raises(ProcessLookupError):  # nobody is left in its group
            os.killpg(process.pid, 0)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 130
    assert complaint.startswith("linkwright: interrupted; old.nc was not written")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["begun", "old.nc"]
    assert (tmp_path / "old.nc").read_text() == "older"


@pytest.mark.parametrize("drive", ["none", "function", "expression"])
def test_saving_an_interrupted_run_of_many_samples_is_quick(drive: str, tmp_path: Path) -> None:
    """From Ctrl-C to the file, in processor time: the command line waits 0.8 s for it."""
    given = {
        "none": None,
        "function": lambda t, q, qd: [1.0, -qd[1]],
        "expression": {"q1": "sin(t)"},
    }
    target, begin = tmp_path / "run.nc", []
    t = 1e3 if drive == "function" else 1e5  # compiled runs are faster

    def interrupt(number: int, frame: object) -> None:
        begin.append(time.process_time())
        signal.raise_signal(signal.SIGINT)

    prepare_saving(target)
    lw.simulate(lw.gallery("elbow"), 0.1, torque=given[drive], samples=3)  # compiled from here on
    before = signal.signal(signal.SIGPROF, interrupt)
    signal.setitimer(signal.ITIMER_PROF, 1.0)
    try:
        run = lw.simulate(lw.gallery("elbow"), t, torque=given[drive], samples=1_000_001)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)
    run.save(target, histories_only=True)
    assert time.process_time() - begin[0] < 0.4 + 2e-6 * len(run.t)
    assert len(run.t) > 1000
    found = load_run(target)
    assert found.interrupted
    np.testing.assert_array_equal(found.q, run.q)
    np.testing.assert_array_equal(found.tau, run.tau)
    assert found.reactions.shape == (len(run.t), 2, 6)  # what is left out follows


def _interrupt_while_finalizing() -> None:
    """Ctrl-C in the callback of a weak reference, where Python discards exceptions."""

    class Finalized:
        pass

    target = Finalized()
    reference = weakref.ref(target, lambda _: signal.raise_signal(signal.SIGINT))
    del target
    assert reference() is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", ["python", "compiled"])
def test_ctrl_c_during_a_finalizer_ends_a_run(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def torque(t: float, q: object, qd: object) -> list[float]:
        if t > 0.5:
            _interrupt_while_finalizing()
        return [0.0, 0.0]

    end, given = 1.0, torque
    if path == "compiled":
        end, given = 1e5, None
        advance = TrajectoryRecords.advance

        def advance_and_finalize(self: TrajectoryRecords, *arguments: object) -> None:
            advance(self, *arguments)
            _interrupt_while_finalizing()

        monkeypatch.setattr(TrajectoryRecords, "advance", advance_and_finalize)
    run = lw.simulate(lw.gallery("elbow"), end, torque=given, samples=11)
    assert run.interrupted
    assert run.t[-1] < end
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_compilation_lets_the_main_thread_hear_ctrl_c() -> None:
    """LLVM takes seconds for the derivatives of a Stewart platform, in one call."""
    ended = []

    def work() -> None:
        ctypes.CDLL(None).usleep(900_000)
        ended.append(True)

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            call_llvm_interruptibly(work)
        assert not ended
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(ZeroDivisionError):
        call_llvm_interruptibly(lambda: 1 // 0)


PERIOD, LONGEST = 0.05, 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart", "seven-axis", "bicycle", "two-arms"])
def test_no_call_keeps_the_main_thread_from_python_for_a_second(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Processor time of the main thread between a timer's signal and its handler."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # nothing is compiled yet
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path))
    mechanism, delays, last = lw.gallery(name), [0.0], [time.thread_time()]

    def note(number: int, frame: object) -> None:
        now = time.thread_time()
        delays.append(now - last[0] - PERIOD)
        last[0] = now

    before = signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, PERIOD, PERIOD)
    try:
        eqs = lw.derive(mechanism)
        eqs.closed_form("M")
        model = lw.compile(mechanism, threads=1)
        for function in ("forward_dynamics", "inverse_dynamics", "forward_dynamics_derivatives"):
            getattr(model, function)
        lw.simulate(mechanism, 0.2, samples=5)
        lw.verify(mechanism, by=["recursive", "lagrange"])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    assert max(delays) < LONGEST
