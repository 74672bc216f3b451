"""The commands of planned motion."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import BaseOption, ClosureOption, FileArgument, JsonOption, app, read


@app.command()
def plan(
    file: FileArgument,
    start: Annotated[
        list[str] | None,
        typer.Argument(metavar="[q1=…] …", help="Where it starts; the rest is at home."),
    ] = None,
    to: Annotated[
        list[str] | None,
        typer.Option(
            help="A point X,Y,Z (or X,Y), or with a quaternion X,Y,Z,W,X,Y,Z; several are passed."
        ),
    ] = None,
    frame: Annotated[
        str | None, typer.Option(help="What is to move; 'tool', or the only frame, if not said.")
    ] = None,
    time: Annotated[
        float | None,
        typer.Option("--time", "-t", help="Seconds; as fast as limits allow if not said."),
    ] = None,
    line: Annotated[
        str | None, typer.Option(help="The frame goes straight by X,Y,Z instead.")
    ] = None,
    arc: Annotated[
        str | None, typer.Option(help="The frame goes on an arc by way of X,Y,Z to --to.")
    ] = None,
    acceleration: Annotated[
        float | None, typer.Option(help="Of the frame on a line or arc, m/s²; 1 if not said.")
    ] = None,
    speed: Annotated[
        float | None,
        typer.Option(help="Of the frame, m/s: then it brakes to rest; else it goes on faster."),
    ] = None,
    hold: Annotated[bool, typer.Option("--hold", help="A line or arc keeps the rotation.")] = False,
    posture: Annotated[
        list[str] | None, typer.Option(help="Where joints go that are left free: q3=90deg.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Rows of the result.")] = 301,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="A .csv, .npz, .png, .pdf or .svg file; also several."),
    ] = None,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Plan a motion: joints for a target, a trajectory, and the torques that it takes. Exit status
    1 where it passes the mechanism's limits.

    Examples: linkwright plan chain-6 --to 1,2 --time 60 -o plan.csv -o plan.png

    linkwright plan elbow q2=90deg --line 0.2,0.3,0 --acceleration 2
    """
    from .plan import Wish, run

    wish = Wish(
        to or [], line, arc, frame, time, speed, acceleration, start or [], posture or [], hold,
        samples,
    )  # fmt: skip
    run(read(file, base, closure), wish, output or [], as_json)
