"""Exported motions in C, compiled and run, against `simulate`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.types import Floats
from tests.export.tools import run_tool

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

MAIN = """
#include "NAME_motion.h"
#include <stdio.h>

int main(void)
{
    const double start[] = {START}, times[] = {TIMES};
    NAME_motion m;
    NAME_motion_start(&m);
    for (unsigned k = 0; k < sizeof start / sizeof *start; k++)
        m.buffers_states[k] = start[k];
    for (unsigned i = 0; i < sizeof times / sizeof *times; i++) {
        printf("%d", NAME_motion_advance(&m, times[i], 1e-11, 1e-12));
        for (unsigned k = 0; k < sizeof start / sizeof *start; k++)
            printf(" %.17g", m.buffers_states[k]);
        puts("");
    }
    return 0;
}
"""


def run_in_c(
    folder: Path,
    mechanism: lw.Mechanism,
    start: Sequence[float] | Floats,
    times: Sequence[float] | Floats,
    **options: Any,
) -> Floats:
    """How the motion in C ended at each of the times, and the states there."""
    lw.export(mechanism, to="c", quantities=["simulate"], **options).save(folder)
    name = next(folder.glob("*_motion.h")).name.removesuffix("_motion.h")
    text = MAIN.replace("NAME", name)
    for key, numbers in (("START", start), ("TIMES", times)):
        text = text.replace(key, ", ".join(repr(float(x)) for x in numbers))
    (folder / "main.c").write_text(text)
    warnings = ("-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    sources = ("main.c", f"{name}_motion.c", "-o", "main", "-lm")
    run_tool("gcc", *warnings, *sources, cwd=folder)
    printed = run_tool("./main", cwd=folder)
    return np.array([[float(word) for word in line.split()] for line in printed.splitlines()])


def assert_same_motion(
    folder: Path,
    mechanism: lw.Mechanism,
    q0: list[float],
    qd0: list[float],
    atol: float = 1e-9,
    **options: Any,
) -> Any:
    """Compare 3 s of the motion in C with `simulate`; return the run."""
    run = lw.simulate(mechanism, t=3.0, samples=13, q0=q0, qd0=qd0, rtol=1e-11, atol=1e-12)
    found = run_in_c(folder, mechanism, [*q0, *qd0], run.t[1:], **options)
    assert not found[:, 0].any()
    np.testing.assert_allclose(found[:, 1 : 1 + len(q0)], run.q[1:], atol=atol)
    np.testing.assert_allclose(found[:, 1 + len(q0) :], run.qd[1:], atol=100 * atol)
    return run
