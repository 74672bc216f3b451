"""Commands for motions: simulated, given, small ones, and rest."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import LinkwrightError
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
def simulate(
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="A file, or a gallery name.")
    ] = None,
    duration: Annotated[float, typer.Option("--time", "-t", help="Seconds of motion.")] = 1.0,
    start: StartArgument = None,
    speed: SpeedOption = None,
    drive: Annotated[
        list[str] | None,
        typer.Option(
            help="A drive by speed or actuator, an expression or a .csv file over time: "
            "q1='2*sin(t) - dq1', q1=torque.csv."
        ),
    ] = None,
    control: Annotated[
        Path | None, typer.Option(help="A .toml file of a controller, in place of drives.")
    ] = None,
    by: Annotated[str, typer.Option(help="The formulation.")] = "recursive",
    integrator: Annotated[
        str, typer.Option(help="dop853, radau, cvodes, idas, taylor, rk4, variational, …")
    ] = "dop853",
    step: Annotated[
        str | None, typer.Option(help="Length of fixed steps, in seconds: 1e-3, 2ms.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="Relative, of the integration.")] = 1e-9,
    event: Annotated[
        list[str] | None,
        typer.Option(help="Noted where an expression passes zero: top='dq1'."),
    ] = None,
    stop_when: Annotated[
        list[str] | None, typer.Option(help="Ends the run there: down='q1 + 0.5'.")
    ] = None,
    stops: Annotated[
        str, typer.Option(help="Joint limits without a restitution: stop, impact or ignore.")
    ] = "stop",
    without: Annotated[
        list[str] | None, typer.Option(help="Left out of the motion: friction, damping, gravity, …")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .nc, .csv or .parquet file of the motion; a picture's."
        ),
    ] = None,
    repeat: Annotated[
        Path | None, typer.Option(help="Make the run of this .nc file again, in place of FILE.")
    ] = None,
    plot: Annotated[
        str, typer.Option(help="Histories to draw: q,energy,reactions; the file is that of -o.")
    ] = "",
    cyclograph: Annotated[
        Path | None, typer.Option(help="A .svg, .pdf or .png file of stick figures.")
    ] = None,
    animate: Annotated[Path | None, typer.Option(help="A .mp4, .gif or .html film.")] = None,
    pace: Annotated[float, typer.Option(help="Of the film; 1 is true speed, 0.5 half.")] = 1.0,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate a motion, and account for its energy. Ctrl-C keeps what was computed.

    Examples: linkwright simulate four-bar theta1=60deg -t 5 -o run.nc

    linkwright simulate elbow q1=1 -t 10 --integrator variational --step 1e-3

    linkwright simulate --repeat run.nc

    linkwright simulate elbow -t 3 --plot q,energy -o run.svg --animate run.html
    """
    from .pictures import wanted
    from .simulate import again, events_of, report, run, torque_of

    if (file is None) == (repeat is None):
        raise LinkwrightError("simulate needs a FILE, or --repeat", remedy="give one of them")
    if file is None:
        assert repeat is not None
        again(repeat, output, as_json)
        return
    pictures, output = wanted(plot, output, cyclograph, animate, pace)
    mechanism = read(file, base, closure)
    mechanism = mechanism.without(*without) if without else mechanism
    found = run(
        mechanism, duration, start or [], speed or [], tolerance, step, output, by=by,
        integrator=integrator, stops=stops, torque=torque_of(mechanism, drive or [], control),
        events=events_of(event or [], stop_when or []),
    )  # fmt: skip
    report(found, output, as_json, pictures=pictures)


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
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move a driven mechanism, and find its dead centres, limits and branch points. Exit status 1
    where a position cannot be reached.

    Examples: linkwright kinematics four-bar --over theta1=0:360deg

    linkwright kinematics slider-crank theta1='2*t' -t 3 -o motion.csv
    """
    from .motions import move

    move(
        read(file, base, closure), motion or [], over, duration, rough or [], samples, output,
        as_json,
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
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the forces that a motion takes, and what joints and loops bear. Exit status 1 where the
    drives cannot give them.

    Example: linkwright inverse slider-crank theta1='pi/3 + 2*t' -t 3 -o forces.csv
    """
    from .motions import forces

    forces(
        read(file, base, closure), motion or [], run, duration, rough or [], samples, output,
        as_json,
    )  # fmt: skip


@app.command()
def equilibrium(
    file: FileArgument,
    start: StateArgument = None,
    drive: DriveOption = None,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find where a mechanism rests: stable or not, its stiffness, natural frequencies and modes.
    With a start, the rest that is near; without, all that are found.

    Example: linkwright equilibrium elbow q1=-80deg
    """
    from .statics import rest

    rest(read(file, base, closure), start or [], drive or [], as_json)


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
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Linearize about a state: A, B, C, D, eigenvalues, frequencies.

    Example: linkwright linearize cart-pole theta=180deg --outputs x,theta --json
    """
    from .statics import linear

    linear(
        read(file, base, closure), state or [], speed or [], drive or [], outputs, output, as_json
    )  # fmt: skip
