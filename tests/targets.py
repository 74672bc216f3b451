"""The vector widths that this machine can run."""

from __future__ import annotations

import subprocess

import pytest

from linkwright.readings.llvm.target import MachineTarget, generic_x86_target, host_target

_FLAGS = subprocess.run(
    ["sh", "-c", "cat /proc/cpuinfo 2>/dev/null | grep -m1 flags"], capture_output=True, text=True
).stdout
_LEVELS = [
    level
    for level, flag in (("sse2", "sse2"), ("avx2", "avx2"), ("avx512", "avx512dq"))
    if f" {flag}" in _FLAGS
]
TARGETS = [pytest.param(None, id="host"), *(pytest.param(level, id=level) for level in _LEVELS)]


def target(level: str | None) -> MachineTarget:
    return host_target() if level is None else generic_x86_target(level)
