"""Programs of motions as C: their tapes, their functions, and structures of their buffers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..readings.targets.c_code import c_number
from ..readings.targets.c_procedures import write_c_procedures
from ..readings.targets.c_programs import CProgramPrinter
from ..tape import Tape
from ..types import Floats, Integers
from .motion_programs import MotionProgram


def write_motion_code(
    programs: Mapping[str, MotionProgram], tapes: Mapping[str, Tape], kinds: Mapping[str, str]
) -> str:
    """Return static functions in C: tapes, programs, and `run_…` for each program.

    `tapes` are those that no program calls. `kinds` are the structures of the programs' buffers,
    which are declared before this code.
    """
    every = {f"tape_{name}": tape for name, tape in tapes.items()}
    for one in programs.values():
        every |= {f"tape_{tape.name}": tape for tape in one.tapes}
    printer, entries = CProgramPrinter(), []
    for name, one in programs.items():
        procedures = {key: f"tape_{tape.name}" for key, tape in one.procedures.items()}
        called = printer.add_program(one.program, procedures)
        given = ", ".join(f"b->{_member(key)}" for key in one.buffers)
        head = f"static void run_{name}({kinds[name]} *b)"
        entries.append(f"{head}\n{{\n    {called}({given});\n}}\n")
    return "\n".join([write_c_procedures(every), printer.text(), *entries])


def _member(name: str) -> str:
    """The name of a buffer as a member of a structure."""
    return name.replace(".", "_")


def _contents(name: str, buffer: Floats | Integers) -> Floats | Integers:
    """The contents of a buffer: at least one entry, since C has no empty arrays. The time of the
    next sample is infinite."""
    if name == "buffers.sample_times":
        return np.array([np.inf])
    if buffer.size:
        return buffer
    return np.zeros(1, np.int64) if buffer.dtype == np.int64 else np.zeros(1)


def write_buffer_structure(kind: str, buffers: Mapping[str, Floats | Integers]) -> str:
    """Return the structure of a program's buffers."""
    members = []
    for name, buffer in buffers.items():
        own = _contents(name, buffer)
        type_ = "int64_t" if own.dtype == np.int64 else "double"
        members.append(f"    {type_} {_member(name)}[{own.size}];")
    return "\n".join(["typedef struct {", *members, f"}} {kind};", ""])


def write_buffer_contents(kind: str, name: str, buffers: Mapping[str, Floats | Integers]) -> str:
    """Return the constant with what a program's buffers contain at the start."""
    values = []
    for key, buffer in buffers.items():
        own = _contents(key, buffer)
        if own.any():
            is_int = own.dtype == np.int64
            texts = [str(int(x)) if is_int else c_number(float(x)) for x in own.ravel()]
            values.append(f"    .{_member(key)} = {{{', '.join(texts)}}},")
    body = "\n".join(values) or "    0"
    return f"static const {kind} {name} = {{\n{body}\n}};\n"
