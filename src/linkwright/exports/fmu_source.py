"""The C source of an FMU: tapes and programs of the motion, the model, and the FMI functions."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np

from ..integrators import Clock, Progress
from ..integrators.stop_events import MotionEnd
from ..readings.targets.c_code import c_number, write_c_comment
from ..readings.targets.c_procedures import write_c_procedures
from ..readings.targets.c_programs import C_PROGRAM_HEAD, CProgramPrinter
from ..readings.targets.safe_names import write_comment_text
from ..tape import Tape
from ..types import Floats, Integers
from .fmu_description import DEFAULT_TOLERANCE
from .fmu_variables import FmuVariables
from .motion_programs import (
    CLOSED_RESIDUAL,
    MotionProgram,
    make_closing_program,
    make_settling_program,
    make_simulation_program,
)

DRIFT_TOLERANCE = 1e-6
"""States that an importer's integrator moves this far off the constraints are projected."""

LOCATED_GAP = 1e-6
"""Gaps below this are closed where the importer locates events."""

_HEAD = """\
#include <stdlib.h>
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
"""


def write_fmu_source(name: str, token: str, variables: FmuVariables, version: str) -> str:
    """Return the source of an FMU; `version` is "fmi2" or "fmi3"."""
    motion = variables.motion
    programs = {"simulation": make_simulation_program(motion, "dop853")}
    if len(motion.stops):
        programs["settling"] = make_settling_program(motion)
    has_loops = bool(motion.equations.names.position_row_count)
    if has_loops:
        programs["closing"] = make_closing_program(motion)
    programs["simulation"].buffers["buffers.states"][: len(variables.home)] = variables.home
    sizes = {
        "STATES": motion.state_count,
        "INPUTS": len(motion.input_names),
        "PARAMETERS": len(motion.parameters),
        "OUTPUTS": len(variables.output_names),
        "SIGNALS": len(motion.stops),
        "NEEDS_PROJECTION": int(motion.needs_projection),
        "HAS_LOOPS": int(has_loops),
        **{f"CLOCK_{one.name}": int(one) for one in Clock},
        **{f"PROGRESS_{one.name}": int(one) for one in Progress},
        **{f"MOTION_{one.name}": int(one) for one in MotionEnd},
    }
    numbers = {
        "CLOSED_RESIDUAL": CLOSED_RESIDUAL,
        "DRIFT_TOLERANCE": DRIFT_TOLERANCE,
        "LOCATED_GAP": LOCATED_GAP,
        "DEFAULT_TOLERANCE": DEFAULT_TOLERANCE,
    }
    folder = files(__package__) / "fmu_sources"
    heading = write_comment_text(f"The motion of {name}, by linkwright, for {version.upper()}")
    parts = [
        "\n".join(write_c_comment([heading])),
        C_PROGRAM_HEAD + _HEAD,
        "\n".join(f"#define {key} {value}" for key, value in sizes.items()),
        "\n".join(f"#define {key} {c_number(value)}" for key, value in numbers.items()),
        f'#define INSTANTIATION_TOKEN "{token}"\n',
        _write_motion(programs, {"outputs": variables.outputs}),
        (folder / "model.c").read_text(encoding="utf-8"),
        (folder / f"{version}.c").read_text(encoding="utf-8"),
    ]
    return "\n".join(parts)


def _write_motion(programs: Mapping[str, MotionProgram], others: Mapping[str, Tape]) -> str:
    """Return tapes and programs in C, and for each program its buffers and a function."""
    tapes = {f"tape_{name}": tape for name, tape in others.items()}
    for one in programs.values():
        tapes |= {f"tape_{tape.name}": tape for tape in one.tapes}
    printer, entries = CProgramPrinter(), []
    for name, one in programs.items():
        procedures = {key: f"tape_{tape.name}" for key, tape in one.procedures.items()}
        called = printer.add_program(one.program, procedures)
        kind = "SimulationBuffers" if name != "closing" else "ClosingBuffers"
        if name != "settling":  # which has the buffers of the simulation
            entries.append(_write_buffers(kind, f"{name}_start", one.buffers))
        given = ", ".join(f"b->{_field(key)}" for key in one.buffers)
        entries.append(f"static void run_{name}({kind} *b)\n{{\n    {called}({given});\n}}\n")
    return "\n".join([write_c_procedures(tapes), printer.text(), *entries])


def _field(name: str) -> str:
    """The name of a buffer as a member of a structure."""
    return name.replace(".", "_")


def _write_buffers(kind: str, start: str, buffers: Mapping[str, Floats | Integers]) -> str:
    """Return the structure of a program's buffers, and its contents at the start."""
    members, values = [], []
    for name, buffer in buffers.items():
        own = buffer
        if name == "buffers.sample_times":
            own = np.array([np.inf])  # no samples
        is_int = own.dtype == np.int64
        members.append(
            f"    {'int64_t' if is_int else 'double'} {_field(name)}[{max(1, own.size)}];"
        )
        if own.any():
            texts = [str(int(x)) if is_int else c_number(float(x)) for x in own.ravel()]
            values.append(f"    .{_field(name)} = {{{', '.join(texts)}}},")
    body = "\n".join(values) or "    0"
    structure = "\n".join(["typedef struct {", *members, f"}} {kind};"])
    return f"{structure}\n\nstatic const {kind} {start} = {{\n{body}\n}};\n"
