"""Sizes of exported C on this machine and on microcontrollers: operations, code and stack bytes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import UnsupportedError
from .export_target import ExportedFiles


@dataclass(frozen=True)
class SizeCompiler:
    """A compiler for which sizes are measured: the processor, the program, its symbols, options."""

    processor: str
    program: str
    symbols: str
    options: tuple[str, ...]


_THUMB = ("-mthumb", "-mfloat-abi=hard")
SIZE_COMPILERS = (
    SizeCompiler("this machine", "gcc", "nm", ()),
    SizeCompiler(
        "Cortex-M4", "arm-none-eabi-gcc", "arm-none-eabi-nm",
        ("-mcpu=cortex-m4", "-mfpu=fpv4-sp-d16", *_THUMB),
    ),
    SizeCompiler(
        "Cortex-M7", "arm-none-eabi-gcc", "arm-none-eabi-nm",
        ("-mcpu=cortex-m7", "-mfpu=fpv5-d16", *_THUMB),
    ),
)  # fmt: skip
"""Cortex-M4 has single precision only: code in double precision calls a library there."""


@dataclass(frozen=True)
class CodeSize:
    """The size of an exported function on one processor, without library functions.

    Attributes
    ----------
    function : str
        Its name.
    processor : str
        "this machine", "Cortex-M4" or "Cortex-M7".
    operations : int
        Floating-point operations of one call.
    code_bytes, stack_bytes : int
        Bytes of its code and of its stack.
    """

    function: str
    processor: str
    operations: int
    code_bytes: int
    stack_bytes: int


def measure_code_sizes(exported: ExportedFiles) -> list[CodeSize]:
    """Return the sizes of the functions of an export to C, by the compilers that are installed.

    Parameters
    ----------
    exported : ExportedFiles
        What `export(…, to="c")` returned.

    Returns
    -------
    list of CodeSize
        One for each function and processor, compiled with -Os.

    Examples
    --------
    >>> import linkwright as lw
    >>> from linkwright.writers import measure_code_sizes
    >>> code = lw.export(lw.gallery("elbow"), to="c", quantities=["gravity"])
    >>> here = measure_code_sizes(code)[0]  # by gcc
    >>> here.function, here.processor, here.operations
    ('gravity', 'this machine', 12)
    """
    if exported.target != "c":
        raise UnsupportedError(
            f"sizes can be measured for C, not for {exported.target}", remedy='export to="c"'
        )
    if not exported.operations:
        raise UnsupportedError(
            "sizes are those of quantities, not of simulate", remedy="export a quantity too"
        )
    chosen = [one for one in SIZE_COMPILERS if shutil.which(one.program)]
    if not chosen:
        programs = " or ".join(dict.fromkeys(one.program for one in SIZE_COMPILERS))
        raise UnsupportedError(
            "no compiler was found to measure sizes", remedy=f"install {programs}"
        )
    with TemporaryDirectory() as folder:
        exported.save(folder)
        source = next(iter(exported.files)).removesuffix(".h") + ".c"
        return [
            size
            for compiler in chosen
            for size in _measure_with_compiler(compiler, folder, source, exported)
        ]


def _measure_with_compiler(
    compiler: SizeCompiler, folder: str, source: str, exported: ExportedFiles
) -> list[CodeSize]:
    """Compile the source, and read the sizes of its public functions."""
    stem = source.removesuffix(".c")
    options = ("-std=c99", "-Os", "-fstack-usage", *compiler.options)
    _run_compiler([compiler.program, *options, "-c", source, "-o", f"{stem}.o"], folder)
    usage = Path(folder, f"{stem}.su").read_text(encoding="utf-8").splitlines()
    stacks = {line.split("\t")[0].split(":")[-1]: int(line.split("\t")[1]) for line in usage}
    listed = _run_compiler([compiler.symbols, "-S", "--defined-only", f"{stem}.o"], folder)
    rows = [line.split() for line in listed.splitlines()]
    codes = {row[3]: int(row[1], 16) for row in rows if len(row) == 4 and row[2] == "T"}
    names = {function: f"{stem}_{function}" for function in exported.operations}
    return [
        CodeSize(function, compiler.processor, operations, codes[name], stacks[name])
        for (function, name), operations in zip(
            names.items(), exported.operations.values(), strict=True
        )
    ]


def _run_compiler(words: Sequence[str], folder: str) -> str:
    """Run a program in the folder and return what it prints."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["no message"]
        raise UnsupportedError(f"{words[0]} failed: {lines[0]}", remedy="check its installation")
    return done.stdout
