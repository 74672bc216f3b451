"""The motion of a mechanism in C: an adaptive integrator with projection, stops and contacts."""

from __future__ import annotations

import numpy as np

from ..errors import LinkwrightError
from ..integrators import Clock, Progress
from ..integrators.stop_events import MotionEnd
from ..mechanism import Mechanism
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..readings.targets.c_code import c_number, write_c_comment
from ..readings.targets.c_programs import C_PROGRAM_HEAD
from ..readings.targets.safe_names import write_comment_text
from ..simulation.exported_motion import ExportedMotion
from ..simulation.simulation_call import simulate
from ..simulation.start import home_state
from ..types import Floats
from ..writers.export_target import ExportedFiles, ExportRequest
from .motion_code import write_buffer_contents, write_buffer_structure, write_motion_code
from .motion_programs import MotionProgram, make_simulation_program

CHECKED_TIME = 0.1
"""The length of the motion that the check compares, s."""

CHECKED_TOLERANCE = 1e-6
"""The largest difference from `simulate`, as a share of the largest state (or of 1): both have
errors of some 1e-9."""


def write_c_motion(request: ExportRequest) -> ExportedFiles:
    """Return a header, a source and a check of the motion of a mechanism by DOP853."""
    stem, model = request.file_stem, request.model
    motion = ExportedMotion(request.mechanism, model.parameters, by=model.equations.by)
    one = make_simulation_program(motion, "dop853")
    start = home_state(request.mechanism, model)
    one.buffers["buffers.states"][:] = start
    files = {
        f"{stem}_motion.h": _write_header(stem, motion, one),
        f"{stem}_motion.c": _write_source(stem, one),
    }
    usage = f"cc -std=c99 -O2 -ffp-contract=off -c {stem}_motion.c\n"
    end = _simulated_end(request.mechanism, start[: model.nq], start[model.nq :])
    if end is not None:
        files[f"{stem}_motion_check.c"] = _write_check(stem, end)
        usage += (
            f"cc -std=c99 -O2 {stem}_motion.c {stem}_motion_check.c -lm -o motion_check "
            "&& ./motion_check\n"
        )
    return ExportedFiles("c", files, usage=usage, is_folder=True)


def _simulated_end(mechanism: Mechanism, q0: Floats, qd0: Floats) -> Floats | None:
    """Return the states at the end of the motion that is checked; None if it ends earlier."""
    try:
        run = simulate(mechanism, t=CHECKED_TIME, samples=2, q0=q0, qd0=qd0)
    except LinkwrightError:
        return None
    return np.concatenate([run.q[-1], run.qd[-1]]) if run.t[-1] == CHECKED_TIME else None


def _write_check(stem: str, end: Floats) -> str:
    """Return a program that returns 0 if the motion from the start ends in these states."""
    kind, count = f"{stem}_motion", len(end)
    wanted = ", ".join(c_number(float(x)) for x in end)
    allowed = c_number(CHECKED_TOLERANCE * max(1.0, float(np.abs(end).max())))
    lines = [
        f"Compares {CHECKED_TIME} s of the motion with `simulate`; returns 0 if they agree.",
    ]
    return "\n".join(
        [
            *write_c_comment(lines),
            f'#include "{kind}.h"',
            "",
            "#include <stdio.h>",
            "",
            "int main(void)",
            "{",
            f"    static const double wanted[{count}] = {{{wanted}}};",
            f"    {kind} m;",
            f"    {kind}_start(&m);",
            f"    int failures = {kind}_advance(&m, {CHECKED_TIME}, 1e-9, 1e-10) != "
            f"{stem.upper()}_REACHED;",
            f"    for (int k = 0; k < {count}; k++) {{",
            "        const double error = m.buffers_states[k] - wanted[k];",
            f"        failures += !(error <= {allowed} && error >= -{allowed});",
            "    }",
            '    printf("motion: %s\\n", failures ? "FAILED" : "ok");',
            "    return failures != 0;",
            "}",
            "",
        ]
    )


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
            *(f"hold of {name} (set by the program)" for name in motion.rows.names),
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
