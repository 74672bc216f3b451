"""CUDA sources as machine code of a GPU (cubins), by NVRTC or by nvcc; no GPU is needed."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from ..errors import LinkwrightError, MissingExtraError
from ..readings.llvm import code_cache

DEFAULT_ARCHITECTURE = "sm_90"
"""Hopper GPUs: H100 and H200."""

_NVRTC_PACKAGES = ("nvidia-cuda-nvrtc", "nvidia-cuda-nvrtc-cu13", "nvidia-cuda-nvrtc-cu12")


def compile_cubin(source: str, architecture: str = DEFAULT_ARCHITECTURE) -> bytes:
    """Return the cubin of a source, from the cache or compiled now."""
    key = code_cache.code_cache_key("cubin", source, architecture)
    content = code_cache.read_code_cache_entry(key)
    if content is None:
        content = _compile_now(source, architecture)
        code_cache.write_code_cache_entry(key, content)
    return content


def _compile_now(source: str, architecture: str) -> bytes:
    """Compile by NVRTC where it is installed, else by nvcc."""
    if find_nvrtc() is not None:
        return compile_by_nvrtc(source, architecture)
    if shutil.which("nvcc") is not None:
        return compile_by_nvcc(source, architecture)[0]
    raise MissingExtraError(
        "kernels are compiled by NVRTC or nvcc, and neither is installed",
        remedy="pip install 'linkwright[cuda]'",
    )


def _nvrtc_places() -> Iterator[str]:
    """Yield files of NVRTC's packages, then names that the system may know."""
    for package in _NVRTC_PACKAGES:
        try:
            found = files(package) or []
        except PackageNotFoundError:
            continue
        yield from (str(f.locate()) for f in found if f.name.startswith("libnvrtc.so"))
    yield from ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")


@cache
def find_nvrtc() -> ctypes.CDLL | None:
    """Return NVRTC's library, or None if there is none."""
    for place in _nvrtc_places():
        try:
            return ctypes.CDLL(place)
        except OSError:
            continue
    return None


def compile_by_nvrtc(source: str, architecture: str) -> bytes:
    """Return the cubin of a source, compiled by NVRTC."""
    library = find_nvrtc()
    assert library is not None
    program = ctypes.c_void_p()
    _require(library.nvrtcCreateProgram(
        ctypes.byref(program), source.encode(), b"kernels.cu", 0, None, None
    ), "NVRTC cannot read the source")  # fmt: skip
    try:
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture={architecture}".encode())
        status = library.nvrtcCompileProgram(program, 1, options)
        if status:
            raise LinkwrightError(
                f"NVRTC cannot compile for {architecture}: {_nvrtc_log(library, program)}",
                remedy="give an architecture that it knows, such as sm_90",
            )
        size = ctypes.c_size_t()
        _require(library.nvrtcGetCUBINSize(program, ctypes.byref(size)), "NVRTC wrote no cubin")
        content = ctypes.create_string_buffer(size.value)
        _require(library.nvrtcGetCUBIN(program, content), "NVRTC wrote no cubin")
        return content.raw
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _require(status: int, message: str) -> None:
    if status:
        raise LinkwrightError(f"{message} (status {status})", remedy="report this source")


def _nvrtc_log(library: ctypes.CDLL, program: ctypes.c_void_p) -> str:
    """Return the first lines of what NVRTC says."""
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(max(1, size.value))
    library.nvrtcGetProgramLog(program, log)
    return "; ".join(log.value.decode(errors="replace").splitlines()[:3])


def compile_by_nvcc(source: str, architecture: str) -> tuple[bytes, str]:
    """Return the cubin of a source, and what the assembler reports: registers and spills."""
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "kernels.cu", Path(folder) / "kernels.cubin"
        given.write_text(source, encoding="utf-8")
        command = ["nvcc", f"-arch={architecture}", "-cubin", "-O3", "-Xptxas", "-v"]
        done = subprocess.run(
            [*command, "-o", str(made), str(given)], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise LinkwrightError(
                f"nvcc cannot compile for {architecture}: {done.stderr.strip()[:300]}",
                remedy="give an architecture that it knows, such as sm_90",
            )
        return made.read_bytes(), done.stderr
