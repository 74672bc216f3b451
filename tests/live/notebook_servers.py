"""Servers of notebooks (JupyterLab, marimo) for the tests, each in an environment of its own.

These programs are too large to be among the packages of the tests. An environment sees the packages of the tests, and
adds its program.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.report.browser import PATIENCE

MAX_INSTALLATION_SECONDS = 600


def install_program(folder: Path, package: str) -> Path:
    """The Python of an environment with a package; the test is skipped if the package cannot be installed.

    `LINKWRIGHT_<PACKAGE>` names the folder of an environment that exists already.
    """
    if named := os.environ.get(f"LINKWRIGHT_{package.upper()}"):
        return Path(named) / "bin/python"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin/python"
    (own,) = folder.glob("lib/python*/site-packages")
    tests = sysconfig.get_path(
        "purelib"
    )  # with its own .pth files: the package is installed as editable
    (own / "tests.pth").write_text(f"import site; site.addsitedir({tests!r})\n", encoding="utf-8")
    command = [python, "-m", "pip", "install", "--quiet", package]
    try:
        subprocess.run(command, check=True, timeout=MAX_INSTALLATION_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        pytest.skip(f"left out: {package} cannot be installed here")
    return python


def free_port() -> int:
    """A port of this machine that nothing listens to."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def running_server(
    command: Sequence[str | Path], port: int, folder: Path, settings: dict[str, str]
) -> Iterator[None]:
    """Run a server in a folder; it listens when the body of the `with` begins."""
    process = subprocess.Popen(
        command, cwd=folder, env=os.environ | settings,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.3)
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)
