"""Commands that put much together: the comparison of formulations, and the page of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import (
    BaseOption,
    ClosureOption,
    FileArgument,
    JsonOption,
    SpeedOption,
    StartArgument,
    app,
    read,
)


@app.command()
def compare(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A file, or a gallery name.")
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Formulations, separated by commas; all if not said.")
    ] = None,
    links: Annotated[
        str | None,
        typer.Option(
            help="Instead of a FILE: cost against the number of links of planar chains, 2-30 "
            "(a dozen sizes) or 2,4,8 (these).",
            show_default=False,
        ),
    ] = None,
    duration: Annotated[
        float, typer.Option("--time", "-t", help="Seconds of motion to integrate.")
    ] = 1.0,
    budget: Annotated[
        float, typer.Option(help="Seconds after which a formulation is stopped.")
    ] = 60.0,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output", "-o", help="A .md, .csv, .svg, .pdf or .png file; may be said again."
        ),
    ] = None,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the formulations: sizes, operations, times to derive, to evaluate and to integrate
    to the same accuracy, and how far they disagree.

    Examples: linkwright compare elbow --by lagrange,hamilton,newton_euler

    linkwright compare --links 2-30 -o compare.md -o compare.svg
    """
    from .compare import run

    mechanism = None if file is None else read(file, base, closure)
    names = by.split(",") if by else None
    run(mechanism, links, names, duration, budget, output or [], as_json)


@app.command()
def report(
    file: FileArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page, an .html file.")] = Path(
        "report.html"
    ),
    duration: Annotated[
        float | None,
        typer.Option("--time", "-t", help="Seconds of motion: 5, or the gallery's own."),
    ] = None,
    start: StartArgument = None,
    speed: SpeedOption = None,
    drive: Annotated[
        list[str] | None,
        typer.Option(help="A drive by speed or actuator, an expression: q1='2*sin(t) - dq1'."),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="Formulations to compare, separated by commas.")
    ] = None,
    budget: Annotated[
        float, typer.Option(help="Seconds that each part may take; what needs more is left out.")
    ] = 20.0,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write all about a mechanism on one page: picture, equations, checks, a motion with plots and
    animation, the comparison of formulations. The page needs no network and no other file.

    Examples: linkwright report triple-pendulum -o report.html

    linkwright report robot.urdf q1=30deg --speed q2=1 --drive q3='sin(t)' -t 3 -o robot.html
    """
    from .report import run

    names = by.split(",") if by else None
    moving = (duration, start or [], speed or [], drive or [])
    run(read(file, base, closure), file, output, *moving, budget, names, base, closure, as_json)
