"""A GPU in miniature: kernels run on the processor, as a C build of the same source.

`install` puts a stand-in for CuPy in place, whose arrays are NumPy's. Blocks run one after another.
"""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

FOLDER = Path(tempfile.mkdtemp(prefix="linkwright-kernels-"))


def require_compiler() -> str:
    found = shutil.which("cc")
    if found is None:
        pytest.skip("needs a C compiler")
    return found


def build_for_processor(source: str, architecture: str = "") -> bytes:
    """The shared library of a source, with warnings as errors."""
    stem = FOLDER / hashlib.sha256(source.encode()).hexdigest()[:20]
    if not stem.with_suffix(".so").exists():
        stem.with_suffix(".c").write_text(source, encoding="utf-8")
        options = ["-std=c99", "-O1", "-march=native", "-shared", "-fPIC", "-Wall", "-Werror"]
        options += ["-Wno-unused-function", "-Wno-unused-variable", "-Wno-unknown-pragmas"]
        options += ["-Wno-uninitialized", "-Wno-maybe-uninitialized"]
        subprocess.run(
            [require_compiler(), *options, "-o", f"{stem}.so", f"{stem}.c", "-lm"],
            check=True,
            capture_output=True,
        )
    return stem.with_suffix(".so").read_bytes()


@cache
def load_library(content: bytes) -> ctypes.CDLL:
    place = FOLDER / f"{hashlib.sha256(content).hexdigest()}.loaded.so"
    place.write_bytes(content)
    return ctypes.CDLL(str(place))


class ProcessorModule:
    """What CuPy's `cuda.function.Module` offers."""

    def load(self, content: bytes) -> None:
        self.library = load_library(content)

    def get_function(self, name: str) -> object:
        function = getattr(self.library, name)
        block_number = ctypes.c_int.in_dll(self.library, "lw_block")

        def launch(grid: tuple[int], block: tuple[int], arguments: tuple[object, ...]) -> None:
            given = []
            for x in arguments:
                if isinstance(x, np.ndarray):
                    given.append(ctypes.c_void_p(x.ctypes.data))
                else:
                    given.append(ctypes.c_longlong(int(x)))
            for number in range(grid[0]):
                block_number.value = number
                function(*given)

        return launch


def leave_few_registers(monkeypatch: pytest.MonkeyPatch, shared: int, registers: int) -> None:
    """Let functions have homes for values beyond a number of registers."""
    writer = "linkwright.readings.cuda.state_function"
    monkeypatch.setattr(f"{writer}.MAX_VALUE_REGISTERS", registers)
    monkeypatch.setattr(f"{writer}.REGISTERS_BESIDE_HOMES", registers)
    monkeypatch.setattr(f"{writer}.SHARED_BYTES", shared)


def install(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Put the stand-in for CuPy in place, and compile kernels for the processor."""
    fake = ModuleType("cupy")
    for name in (
        "ndarray", "asarray", "clip", "ascontiguousarray", "broadcast_to", "empty", "full", "flatnonzero",
        "moveaxis", "from_dlpack", "stack", "nan",
    ):  # fmt: skip
        setattr(fake, name, getattr(np, name))
    fake.asnumpy = np.asarray  # type: ignore[attr-defined]
    fake.cuda = SimpleNamespace(  # type: ignore[attr-defined]
        Device=lambda: SimpleNamespace(id=0),
        function=SimpleNamespace(Module=ProcessorModule),
    )
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr("linkwright.gpu.cuda_model.compile_cubin", build_for_processor)
    monkeypatch.setattr("linkwright.gpu.preparation.compile_cubin", build_for_processor)
    return fake
