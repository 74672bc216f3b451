"""The files of an export to C: header, sources for one state and for batches, and a check."""

from __future__ import annotations

from .c_batch import write_c_batch
from .c_check import write_c_check
from .c_code import write_c_header, write_c_source
from .exported_code import ExportedCode


def write_c_files(code: ExportedCode) -> tuple[dict[str, str], str]:
    """Return the texts of the files by name, and how they are compiled."""
    stem = code.stem
    files = {
        f"{stem}.h": write_c_header(code),
        f"{stem}.c": write_c_source(code),
        f"{stem}_batch.c": write_c_batch(code),
        f"{stem}_check.c": write_c_check(code),
    }
    usage = (
        f"cc -std=c99 -O3 -march=native -c {stem}.c {stem}_batch.c\n"
        f"cc -std=c99 -O2 {stem}.c {stem}_batch.c {stem}_check.c -lm -o check && ./check\n"
    )
    return files, usage
