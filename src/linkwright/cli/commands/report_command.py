"""`linkwright report`: the page of a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, show_stage_progress, write_command_output


@register_command("Pages")
def report(
    mechanism: options.MechanismFile,
    file: options.FileArgument,
    *,
    start: options.CoordinateArguments,
    output: Annotated[
        Path, options.OUTPUT_OPTION, options.output_file_conversion(".html", ".htm")
    ] = Path("report.html"),
    time: options.OptionalDurationOption = None,
    speed: options.VelocityOptions,
    drive: Annotated[
        dict[str, str],
        typer.Option(metavar=options.NAMED_VALUE_METAVAR),
        options.ASSIGNMENT_CONVERSION,
    ],
    by: options.FormulationsOption,
    budget: Annotated[float, typer.Option(metavar="SECONDS")] = 20.0,
    lecture: bool = False,
    base: options.BaseOption,
    closure: options.ClosureOption,
) -> CommandOutcome:
    """Write everything about a mechanism on one page: picture, equations, checks, a motion.

    The motion has plots and an animation; ranges, singular positions, bearing forces and modes
    follow; formulations are compared. The page needs no network and no other file.

    Parameters
    ----------
    output
        The page, an .html file.
    time
        Duration of the motion; default: 5, or that of the gallery mechanism.
    drive
        A joint force or actuator effort, an expression: q1='2*sin(t) - dq1'.
    by
        Formulations to compare, and whose equations are shown, each in its own form; default: the
        general equations, and a comparison of all formulations.
    budget
        Time that each part may take; what needs more is left out.
    lecture
        Write only the derivation, line by line, to hand out; default of --by: lagrange.

    Examples
    --------
    linkwright report triple-pendulum -o report.html
    linkwright report robot.urdf q1=30deg --speed q2=1 --drive q3='sin(t)' -t 3 -o robot.html
    linkwright report elbow --lecture --by lagrange,kane -o lecture.html
    """
    from ...report import lecture_page, page

    reading: dict[str, Any] = {"by": by, "budget": budget, "base": base, "closure": closure}
    with show_stage_progress(f"making the page of {mechanism.name}") as progress:
        if lecture:
            _refuse_lecture_motion(
                {"-t": time, "NAME=…": start, "--speed": speed, "--drive": drive}
            )
            text = lecture_page(mechanism, file, **reading, progress=progress)
        else:
            text = page(
                mechanism, file, time, q0=start, qd0=speed, efforts=drive, **reading,
                progress=progress,
            )  # fmt: skip
    write_command_output(output, text)
    size = len(text.encode())
    return CommandOutcome(
        {"file": str(output), "bytes": size, "digest": mechanism.digest},
        lambda: print(f"{output} ({size / 1000:.0f} kB)"),
    )


def _refuse_lecture_motion(given: Mapping[str, object]) -> None:
    """Refuses options of the motion, which a lecture does not show."""
    for option, value in given.items():
        if value:
            raise LinkwrightError(
                f"{option} belongs to a motion, and a lecture shows none",
                remedy="leave it out, or leave out --lecture",
            )
