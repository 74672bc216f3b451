"""The C source of an FMU: tapes and programs of the motion, the model, and the FMI functions."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

from ..integrators import Clock, Progress
from ..integrators.step_method import UNKNOWN_RATE
from ..integrators.stop_events import MotionEnd
from ..readings.targets.c_code import c_number, write_c_comment
from ..readings.targets.c_programs import C_PROGRAM_HEAD
from ..readings.targets.safe_names import write_comment_text
from .fmu_description import DEFAULT_TOLERANCE
from .fmu_variables import FmuVariables
from .motion_code import write_buffer_contents, write_buffer_structure, write_motion_code
from .motion_programs import (
    CLOSED_RESIDUAL,
    MotionProgram,
    make_closing_program,
    make_settling_program,
    make_simulation_program,
)

DRIFT_TOLERANCE = 1e-6
"""States that an importer's integrator moves this far off the constraints are projected; event
indicators that it leaves this far below zero were missed."""

LOCATED_GAP = 1e-6
"""Gaps below this are closed where the importer locates events."""

INDICATOR_SHIFT = 1e-9
"""Added to event indicators: gaps are closed when they are this far below zero."""

LOCATED_SHARE = 1e-4
"""Impacts slower than this share of the fastest one of their stop do not rebound where the importer
locates events: it would have to resolve flights of microseconds, and misses some of them."""

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
    if len(motion.rows):
        programs["settling"] = make_settling_program(motion)
    has_loops = bool(motion.equations.names.position_row_count)
    if has_loops:
        programs["closing"] = make_closing_program(motion)
    programs["simulation"].buffers["buffers.states"][:] = variables.start
    sizes = {
        "STATES": motion.state_count,
        "INPUTS": len(motion.input_names),
        "PARAMETERS": len(motion.parameters),
        "OUTPUTS": len(variables.output_names),
        "SIGNALS": len(motion.rows),
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
        "LOCATED_SHARE": LOCATED_SHARE,
        "INDICATOR_SHIFT": INDICATOR_SHIFT,
        "UNKNOWN_RATE": UNKNOWN_RATE,
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
        *_write_programs(programs, variables),
        (folder / "model.c").read_text(encoding="utf-8"),
        (folder / f"{version}.c").read_text(encoding="utf-8"),
    ]
    return "\n".join(parts)


def _write_programs(programs: Mapping[str, MotionProgram], variables: FmuVariables) -> list[str]:
    """Return structures of buffers, their contents at the start, and the code of programs."""
    kinds = {name: f"{name.capitalize()}Buffers" for name in programs}
    kinds["settling"] = kinds["simulation"]  # they share their buffers
    parts = []
    for name, one in programs.items():
        if name != "settling":
            parts.append(write_buffer_structure(kinds[name], one.buffers))
            parts.append(write_buffer_contents(kinds[name], f"{name}_start", one.buffers))
    return [*parts, write_motion_code(programs, {"outputs": variables.outputs}, kinds)]
