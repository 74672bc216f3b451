"""Compilers and interpreters that tests of exported code need; most come from Debian's packages.

A test is skipped where its tool is missing; with `LINKWRIGHT_TOOLS=required` (CI) it fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGES = {
    "gcc": "gcc",
    "clang": "clang",
    "clang++": "clang",
    "g++": "g++",
    "octave-cli": "octave",
    "rustc": "rustc",
    "node": "nodejs",
    "arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    "qemu-system-arm": "qemu-system-arm",
}
"""Tools, and the packages of Debian that have them."""

EIGEN = Path("/usr/include/eigen3")


def require_tool(name: str) -> str:
    """The path of a tool; skips the test, or fails it in CI, if there is none."""
    found = shutil.which(name)
    if found is None:
        leave_out(f"{name} is not installed (Debian: {PACKAGES[name]})")
    return str(found)


def require_eigen() -> str:
    """The folder of Eigen's headers."""
    if not EIGEN.is_dir():
        leave_out("Eigen is not installed (Debian: libeigen3-dev)")
    return str(EIGEN)


def leave_out(reason: str) -> None:
    if os.environ.get("LINKWRIGHT_TOOLS") == "required":
        pytest.fail(reason)
    pytest.skip(reason)


def run_tool(*words: str | Path, cwd: Path) -> str:
    """What a command prints; its status must be 0."""
    done = run_tool_unchecked(*words, cwd=cwd)
    assert done.returncode == 0, f"{words[0]}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def run_tool_unchecked(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in words], cwd=cwd, capture_output=True, text=True, timeout=300
    )
