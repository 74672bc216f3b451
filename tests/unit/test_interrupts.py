"""Ctrl-C ends every command soon, with status 130, without a traceback, and keeps older files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linkwright.study.bounded import Worker, cancelling, not_cancelled

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
from linkwright.cli.commands import check
def hang(*_):
    open("begun", "w").close()
    ctypes.PyDLL(None).sleep(1000)  # in C, with the interpreter's lock
command.read_mechanism = check.read_mechanism = hang
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


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


def _wait_for(file: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not file.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    assert file.exists(), process.communicate()


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    """Also where it is killed, and can tell them nothing."""
    program = (
        "import time; from linkwright.study.bounded import Worker\n"
        "with Worker() as worker:\n"
        "    worker.call(bool, seconds=60)\n"
        "    open('pid', 'w').write(str(worker._process.pid))\n"
        "    worker.call(time.sleep, 1000, seconds=1000)\n"
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
        with not_cancelled(), ThreadPoolExecutor(1) as pool, Worker() as worker:
            worker.call(bool, seconds=60)
            pool.submit(worker.call, time.sleep, 1000, seconds=1000)
            with cancelling():
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with Worker() as worker:  # and others can begin
        assert worker.call(bool, seconds=60) is False
