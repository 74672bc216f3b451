"""The command line in a process of its own, as a person runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import IO


def run(
    *words: str,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
    stdout: int | IO[str] = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from linkwright.cli import main; main()", *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env=os.environ | (env or {}),
    )


def ok(*words: str, cwd: Path | None = None) -> str:
    done = run(*words, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout
