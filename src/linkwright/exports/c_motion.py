"""The motion of a mechanism in C: an adaptive integrator with projection and stops."""

from __future__ import annotations

from ..integrators import Clock, Progress
from ..integrators.stop_events import MotionEnd
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..readings.targets.c_code import write_c_comment
from ..readings.targets.c_programs import C_PROGRAM_HEAD
from ..readings.targets.safe_names import write_comment_text
from ..simulation.exported_motion import ExportedMotion
from ..simulation.start import home_state
from ..writers.export_target import ExportedFiles, ExportRequest
from .motion_code import write_buffer_contents, write_buffer_structure, write_motion_code
from .motion_programs import MotionProgram, make_simulation_program


def write_c_motion(request: ExportRequest) -> ExportedFiles:
    """Return a header and a source with the motion of a mechanism by DOP853."""
    stem, model = request.file_stem, request.model
    motion = ExportedMotion(request.mechanism, model.parameters, by=model.equations.by)
    one = make_simulation_program(motion, "dop853")
    one.buffers["buffers.states"][:] = home_state(request.mechanism, model)
    files = {
        f"{stem}_motion.h": _write_header(stem, motion, one),
        f"{stem}_motion.c": _write_source(stem, one),
    }
    usage = f"cc -std=c99 -O2 -ffp-contract=off -c {stem}_motion.c\n"
    return ExportedFiles("c", files, usage=usage, is_folder=True)


def _write_header(stem: str, motion: ExportedMotion, one: MotionProgram) -> str:
    """Return the header: the structure of a motion, and the functions on it."""
    names = motion.equations.names
    mechanism = motion.equations.mechanism
    own = zip(names.q, coordinate_units(mechanism), strict=True)
    rates = zip(names.qd, velocity_units(mechanism), strict=True)
    entries = {
        "buffers_states": [
            *(f"{name} ({unit})" for name, unit in own),
            *(f"d{name} ({UNITS_OF_RATES['qd'][unit]})" for name, unit in rates),
        ],
        "buffers_parameters": [
            *(f"effort of {name}" for name in motion.input_names),
            *motion.parameters,
            *(f"hold of {name} (set by the program)" for name in motion.stops.names),
        ],
    }
    lines = [
        write_comment_text(
            f"The motion of {mechanism.name} in time by DOP853 with error control, formulation "
            f"'{motion.equations.by}'."
        ),
        "",
        f"    {stem}_motion m;",
        f"    {stem}_motion_start(&m);",
        f"    {stem}_motion_advance(&m, 1.0, 1e-9, 1e-10);",
        "",
        f"Time is m.buffers_clock[{int(Clock.TIME)}]. Functions allocate nothing.",
        f"Call {stem}_motion_changed after you have changed the time, states, efforts or",
        "parameters:",
    ]
    for member, texts in entries.items():
        lines += [f"  {member}[{k}]: {write_comment_text(text)}" for k, text in enumerate(texts)]
    guard, kind = f"{stem.upper()}_MOTION_H", f"{stem}_motion"
    ends = ", ".join(f"{stem.upper()}_{end.name} = {int(end)}" for end in MotionEnd)
    return "\n".join(
        [
            *write_c_comment(lines),
            f"#ifndef {guard}",
            f"#define {guard}",
            "",
            "#include <stdint.h>",
            "",
            "#ifdef __cplusplus",
            'extern "C" {',
            "#endif",
            "",
            write_buffer_structure(kind, one.buffers),
            f"enum {{ {ends} }};",
            "",
            f"void {kind}_start({kind} *m);",
            f"void {kind}_changed({kind} *m);",
            "/* Returns how the call ended: at the time, at a limit of a joint, or in failure. */",
            f"int {kind}_advance({kind} *m, double until, double rtol, double atol);",
            "",
            "#ifdef __cplusplus",
            "}",
            "#endif",
            "",
            "#endif",
            "",
        ]
    )


def _write_source(stem: str, one: MotionProgram) -> str:
    """Return the source."""
    kind = f"{stem}_motion"
    advance = [
        f"int {kind}_advance({kind} *m, double until, double rtol, double atol)",
        "{",
        f"    m->buffers_clock[{int(Clock.STOP)}] = until;",
        f"    m->buffers_clock[{int(Clock.RTOL)}] = rtol;",
        f"    m->buffers_clock[{int(Clock.ATOL)}] = atol;",
        f"    m->buffers_progress[{int(Progress.QUIET)}] = 0;",
        "    run_simulation(m);",
        "    return (int)m->stop_buffers_end[0];",
        "}",
        "",
    ]
    return "\n".join(
        [
            f'#include "{stem}_motion.h"',
            "",
            C_PROGRAM_HEAD,
            write_buffer_contents(kind, "motion_start", one.buffers),
            write_motion_code({"simulation": one}, {}, {"simulation": kind}),
            f"void {kind}_start({kind} *m) {{ *m = motion_start; }}",
            "",
            f"void {kind}_changed({kind} *m) {{ m->buffers_clock[{int(Clock.STEP)}] = 0.0; }}",
            "",
            *advance,
        ]
    )
