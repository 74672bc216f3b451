"""`linkwright report`: the page of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import options
from ..command import command
from ..output import Outcome, working, write_file


@command("Pages")
def report(
    mechanism: options.MechanismFile,
    file: options.FileText,
    *,
    start: options.Coordinates,
    output: Annotated[Path, options.OUTPUT, options.written_as(".html", ".htm")] = Path(
        "report.html"
    ),
    time: options.OptionalDuration = None,
    speed: options.Velocities,
    drive: Annotated[
        dict[str, str], typer.Option(metavar=options.NAMED_VALUE), options.ASSIGNMENTS
    ],
    by: options.Formulations,
    budget: Annotated[float, typer.Option(metavar="SECONDS")] = 20.0,
    base: options.BaseText,
    closure: options.ClosureNumber,
) -> Outcome:
    """Write everything about a mechanism on one page: picture, equations, checks, a motion.

    The motion has plots and an animation; formulations are compared. The page needs no network and
    no other file.

    Parameters
    ----------
    output
        The page, an .html file.
    time
        Duration of the motion; default: 5, or that of the gallery mechanism.
    drive
        A joint force or actuator effort, an expression: q1='2*sin(t) - dq1'.
    by
        Formulations to compare; default: all.
    budget
        Time that each part may take; what needs more is left out.

    Examples
    --------
    linkwright report triple-pendulum -o report.html
    linkwright report robot.urdf q1=30deg --speed q2=1 --drive q3='sin(t)' -t 3 -o robot.html
    """
    from ...report import page

    with working(f"making the page of {mechanism.name}"):
        text = page(mechanism, file, time, start, budget, by, base, speed, drive, closure)
    write_file(output, text)
    size = len(text.encode())
    return Outcome(
        {"file": str(output), "bytes": size, "digest": mechanism.digest},
        lambda: print(f"{output} ({size / 1000:.0f} kB)"),
    )
