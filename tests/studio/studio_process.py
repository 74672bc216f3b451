"""A studio as a person starts it: the command in a process, its address, and sockets to it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

PATIENCE = 120.0
"""Seconds until something counts as not happening, on a busy machine."""


class Studio:
    """A running studio."""

    def __init__(self, file: Path, *words: str, env: Mapping[str, str] | None = None) -> None:
        command = [sys.executable, "-m", "linkwright", "studio", str(file), "--no-browser", *words]
        self.file = file
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            env=os.environ | (env or {}),
        )  # fmt: skip
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        self.url = self.process.stdout.readline().strip() if ready else ""
        if not self.url:
            self.kill()
            raise AssertionError("the studio does not tell its address")
        self.port = urlsplit(self.url).port
        self.token = urlsplit(self.url).path.strip("/")

    def socket(self, **headers: Any) -> ClientConnection:
        """A socket as a page of the studio opens it."""
        given = {
            "origin": f"http://127.0.0.1:{self.port}",
            "max_size": None,
            "open_timeout": PATIENCE,
        } | headers
        return connect(self.url.replace("http", "ws", 1) + "socket", **given)

    def processes(self) -> list[tuple[int, str, str]]:
        """All processes of the studio: number, state and command."""
        listed = subprocess.run(
            ["ps", "-ww", "-o", "pid=,stat=,args=", "--sid", str(self.process.pid)],
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        ).stdout  # fmt: skip
        rows = [line.split(None, 2) for line in listed.splitlines()]
        return [(int(row[0]), row[1], row[-1]) for row in rows]

    def worker_processes(self) -> dict[int, str]:
        """The worker processes of the studio, with their states."""
        return {one[0]: one[1] for one in self.processes() if "serve_timed_work" in one[2]}

    def stop(self) -> tuple[int, str]:
        """Ctrl-C for all but the process around the command, which would end it after 0.8 s, on a
        busy machine too early; the status, and what was printed as an error."""
        for number, _, _ in self.processes():
            if number != self.process.pid:
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGINT)
        _, errors = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, errors

    def kill(self) -> None:
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate(timeout=PATIENCE)


@contextmanager
def run_studio(file: Path, *words: str) -> Iterator[Studio]:
    studio = Studio(file, *words)
    try:
        yield studio
    finally:
        studio.kill()


def receive_until(socket: ClientConnection, **wanted: object) -> dict[str, Any]:
    """The next message with these entries."""
    end = time.monotonic() + PATIENCE
    while (left := end - time.monotonic()) > 0:
        message: dict[str, Any] = json.loads(socket.recv(timeout=left))
        if all(message.get(key) == value for key, value in wanted.items()):
            return message
    raise AssertionError(f"no message with {wanted}")


def ask(socket: ClientConnection, kind: str, **options: object) -> None:
    socket.send(json.dumps({"ask": kind, "options": options, "request": 1}))
