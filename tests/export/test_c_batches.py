"""Batches in C at states that differ, against the model: lanes and entries must not be exchanged."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.readings.targets.c_batch import TILE_SIZE
from tests.export.tools import require_tool, run_tool

COUNT = 21
"""Whole vectors of 8, and a rest."""


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_batches_of_different_states(tmp_path: Path, compiler: str) -> None:
    """Outputs of 6, 36 and 360 entries: stored one by one, in a tile and a rest, in many tiles."""
    arm = lw.gallery("six-axis")
    model, names = lw.compile(arm), ["gravity", "mass_matrix", "regressor"]
    code = lw.export(arm, to="c", quantities=names)
    code.save(tmp_path)
    flags = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC"]
    files = ["six_axis.c", "six_axis_batch.c", "-lm", "-o", "arm.so"]
    run_tool(require_tool(compiler), *flags, *files, cwd=tmp_path)
    library = ctypes.CDLL(str(tmp_path / "arm.so"))
    q, qd, qdd = np.random.default_rng(8).uniform(-3, 3, (3, COUNT, model.nv))
    for name, given in (("gravity", [q]), ("mass_matrix", [q]), ("regressor", [q, qd, qdd])):
        wanted = getattr(model, name)(*given)
        found = np.full(wanted.shape, np.nan)
        call = getattr(library, f"six_axis_{name}_batch")
        call(ctypes.c_size_t(COUNT), *(ctypes.c_void_p(x.ctypes.data) for x in [*given, found]))
        np.testing.assert_allclose(found, wanted, atol=1e-11 * np.abs(wanted).max())
    source = str(code.files["six_axis_batch.c"])
    tiles = [source.count(f" store_tile({port},") for port in ("M", "Y")]
    assert tiles == [2, -(-6 * 60 // TILE_SIZE)]
