"""Linkwright on aarch64 with NEON vectors, under QEMU's user mode, gives the numbers of this machine.

`tools/set_up_aarch64.sh FOLDER` lays out Python for aarch64; LINKWRIGHT_AARCH64 names the folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from tests.platforms.gallery_values import compute_values

FOLDER = os.environ.get("LINKWRIGHT_AARCH64", "")


@pytest.mark.slow
@pytest.mark.skipif(not FOLDER, reason="LINKWRIGHT_AARCH64 names no folder with Python for aarch64")
def test_compiled_functions_and_runs_agree_on_aarch64(tmp_path: Path) -> None:
    qemu = shutil.which("qemu-aarch64")
    assert qemu is not None, "qemu-user is not installed"
    folder = Path(FOLDER).absolute()
    script, target = Path(__file__).with_name("gallery_values.py"), tmp_path / "values.npz"
    source = Path(lw.__file__).parent.parent
    environment = os.environ | {
        "PYTHONPATH": f"{source}:{folder / 'site'}",
        "LINKWRIGHT_CACHE": str(tmp_path / "cache"),
    }
    command = [qemu, "-L", folder / "root", folder / "root/usr/bin/python3.11", script, target]
    subprocess.run(command, check=True, env=environment)
    found, expected = np.load(target), compute_values()
    assert found["machine"] == "aarch64"
    for name, values in expected.items():
        # rounding differs where vectors are wider; a run has the error of its tolerance
        digits = 3e-6 if "single" in name else 1e-8 if "run" in name else 1e-12
        error = abs(found[name] - values).max()
        assert error <= digits * abs(values).max(), name
