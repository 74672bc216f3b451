"""The command line in a process of its own, as a person runs it.

Processes are copies of one that has loaded the program already (`command_server`). Where the
environment differs in what packages may read while they are loaded, a new Python is started.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
READ_BY_COMMANDS = ("PYTEST_", "LINKWRIGHT_", "XDG_CACHE_HOME", "HOME")
"""How variables begin that are read when a command runs, not when packages are loaded."""


def run(
    *words: str,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    stdout: int | IO[str] = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | (env or {})
    if not _server.can_run(environment):
        return run_in_new_python(*words, cwd=cwd, env=environment, stdout=stdout)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        target = out if stdout == subprocess.PIPE else stdout
        status = _server.run(words, cwd or Path.cwd(), environment, (target, errors))
        texts = [_text(file) for file in (out, errors)]
    printed = texts[0] if stdout == subprocess.PIPE else None
    return subprocess.CompletedProcess(words, status, printed, texts[1])


def run_in_new_python(
    *words: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdout: int | IO[str] = subprocess.PIPE,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from linkwright.cli import main; main()", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=env,
        timeout=timeout,
    )


def ok(*words: str, cwd: Path | None = None) -> str:
    done = run(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def end_server() -> None:
    """Called when the tests have ended."""
    _server.end()


class _Server:
    """The process that commands are copied from, started when the first one is run."""

    def __init__(self) -> None:
        self.owner: int | None = None
        self.process: subprocess.Popen[bytes]
        self.requests: socket.socket
        self.environment: dict[str, str] = {}

    def can_run(self, environment: Mapping[str, str]) -> bool:
        """Whether copies behave as a new process with this environment does."""
        if not hasattr(socket, "send_fds"):
            return False
        if self.owner != os.getpid():
            self._start()
        return _read_when_loading(environment) == _read_when_loading(self.environment)

    def run(
        self,
        words: tuple[str, ...],
        cwd: Path,
        environment: Mapping[str, str],
        files: tuple[int | IO[str] | IO[bytes], ...],
    ) -> int:
        request = {"words": words, "cwd": str(cwd), "env": dict(environment)}
        with open(os.devnull) as nothing:
            places = [f if isinstance(f, int) else f.fileno() for f in (nothing, *files)]
            socket.send_fds(self.requests, [json.dumps(request).encode()], places)
            answer = self.requests.recv(100)
        if not answer:
            raise RuntimeError("the process that commands are copied from has ended")
        return int(answer)

    def end(self) -> None:
        if self.owner == os.getpid():
            self.requests.close()
            self.process.wait()
            self.owner = None

    def _start(self) -> None:
        self.requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        code = f"from tests.command_server import serve; serve({theirs.fileno()})"
        self.environment = dict(os.environ)
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], cwd=ROOT, pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env=self.environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
        theirs.close()
        assert self.requests.recv(100) == b"ready"
        self.owner = os.getpid()


_server = _Server()


def _read_when_loading(environment: Mapping[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if not k.startswith(READ_BY_COMMANDS)}


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode().replace("\r\n", "\n")
