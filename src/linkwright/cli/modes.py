"""Commands for motions that are given, for rest, and for small motions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import BaseOption, FileArgument, JsonOption, app, read

OutputOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="A .nc, .csv or .parquet file of the motion."),
]
MotionArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[q1=…] …",
        help="Driven coordinates: expressions of t, or .csv files with columns t and q1.",
    ),
]
RoughOption = Annotated[
    list[str] | None, typer.Option(help="A rough value that chooses the branch: theta2=40deg.")
]
TimeOption = Annotated[float, typer.Option("--time", "-t", help="Seconds of motion.")]
SamplesOption = Annotated[int, typer.Option(help="How many equal times.")]
DriveOption = Annotated[
    list[str] | None, typer.Option(help="A constant force by speed or actuator: q1=2.")
]
StateArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[q1=…] …", help="Where it stands; the rest is at home."),
]


@app.command()
def kinematics(
    file: FileArgument,
    motion: MotionArgument = None,
    over: Annotated[
        str | None, typer.Option(help="One coordinate from here to there: theta1=0:360deg.")
    ] = None,
    duration: TimeOption = 1.0,
    rough: RoughOption = None,
    samples: SamplesOption = 501,
    output: OutputOption = None,
    base: BaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move a driven mechanism, and find its dead centres, limits and branch points. Exit status 1
    where a position cannot be reached.

    Examples: linkwright kinematics four-bar --over theta1=0:360deg

    linkwright kinematics slider-crank theta1='2*t' -t 3 -o motion.csv
    """
    from .motions import move

    move(
        read(file, base), motion or [], over, duration, rough or [], samples, output, as_json
    )  # fmt: skip


@app.command()
def inverse(
    file: FileArgument,
    motion: MotionArgument = None,
    run: Annotated[Path | None, typer.Option(help="The motion of this .nc file instead.")] = None,
    duration: TimeOption = 1.0,
    rough: RoughOption = None,
    samples: SamplesOption = 501,
    output: OutputOption = None,
    base: BaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the forces that a motion takes, and what joints and loops bear. Exit status 1 where the
    drives cannot give them.

    Example: linkwright inverse slider-crank theta1='pi/3 + 2*t' -t 3 -o forces.csv
    """
    from .motions import forces

    forces(
        read(file, base), motion or [], run, duration, rough or [], samples, output, as_json
    )  # fmt: skip


@app.command()
def equilibrium(
    file: FileArgument,
    start: StateArgument = None,
    drive: DriveOption = None,
    base: BaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find where a mechanism rests: stable or not, its stiffness, natural frequencies and modes.
    With a start, the rest that is near; without, all that are found.

    Example: linkwright equilibrium elbow q1=-80deg
    """
    from .statics import rest

    rest(read(file, base), start or [], drive or [], as_json)


@app.command()
def linearize(
    file: FileArgument,
    state: StateArgument = None,
    speed: Annotated[list[str] | None, typer.Option(help="A speed: q1=2, q1=30deg.")] = None,
    drive: DriveOption = None,
    outputs: Annotated[
        str, typer.Option(help="What is read, separated by commas: q1,dq1,ddq1,tool.x.")
    ] = "",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .npz file of A, B, C, D.")
    ] = None,
    base: BaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Linearize about a state: A, B, C, D, eigenvalues, frequencies.

    Example: linkwright linearize cart-pole theta=180deg --outputs x,theta --json
    """
    from .statics import linear

    linear(
        read(file, base), state or [], speed or [], drive or [], outputs, output, as_json
    )  # fmt: skip
