"""Types of options that several commands share: flags, help, and how a text becomes a value.

`command` explains how the functions of commands use them. A docstring of a command may replace the
help that is given here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .command_output import check_output_option, check_run_output_option
from .mechanism_argument import read_mechanism_argument
from .option_texts import (
    read_option_assignments,
    read_option_drives,
    read_option_histories,
    read_option_names,
    read_option_number,
    read_option_numbers,
    read_option_sweeps,
)

if TYPE_CHECKING:
    from ..mechanism import Mechanism
else:
    Mechanism = Any  # pydantic takes half a second to load: too long for --help


@dataclass(frozen=True)
class MechanismSource:
    """Marks the parameter for the mechanism that FILE and `--base` describe."""

    required: bool = True


@dataclass(frozen=True)
class OptionConversion:
    """Marks a parameter whose value is made from what Typer reads, and from the mechanism."""

    text_type: Any
    convert: Callable[[Any, Any], Any]


OptionTexts = list[str] | None
ASSIGNMENT_CONVERSION = OptionConversion(
    OptionTexts, lambda words, _: read_option_assignments(words or [])
)
HISTORY_CONVERSION = OptionConversion(
    OptionTexts, lambda words, _: read_option_histories(words or [])
)
DRIVE_CONVERSION = OptionConversion(
    OptionTexts, lambda words, arm: read_option_drives(arm, words or [])
)
COORDINATE_CONVERSION = OptionConversion(
    OptionTexts, lambda words, arm: read_option_numbers(arm, words or [], "q0")
)
VELOCITY_CONVERSION = OptionConversion(
    OptionTexts, lambda words, arm: read_option_numbers(arm, words or [], "qd0")
)
FORCE_CONVERSION = OptionConversion(
    OptionTexts, lambda words, arm: read_option_numbers(arm, words or [], "torque")
)
NAME_LIST_CONVERSION = OptionConversion(
    str | None, lambda text, _: None if text is None else read_option_names(text)
)


def unit_conversion(*units: str) -> OptionConversion:
    """Read a number; a unit behind it must have the dimension of one of `units`."""
    return OptionConversion(
        str | None, lambda text, _: None if text is None else read_option_number(text, *units)
    )


SECONDS_CONVERSION = unit_conversion("s")
LENGTH_CONVERSION = unit_conversion("m")
RATE_CONVERSION = unit_conversion("rad/s", "m/s")


def output_file_conversion(*endings: str) -> OptionConversion:
    """Make the path of a file to write; other endings and missing folders are errors at once."""
    return OptionConversion(Path | None, lambda path, _: check_output_option(path, *endings))


def output_files_conversion(*endings: str) -> OptionConversion:
    """Make the paths of files to write, as `output_file_conversion` does for one."""
    return OptionConversion(
        list[Path] | None,
        lambda paths, _: [check_output_option(path, *endings) for path in paths or []],
    )


# the mechanism, and how the result is printed

FILE_HELP = "A mechanism file, or the name of a gallery mechanism."
FileArgument = Annotated[str, typer.Argument(metavar="FILE", help=FILE_HELP)]
OptionalFileArgument = Annotated[str | None, typer.Argument(metavar="FILE", help=FILE_HELP)]
BaseOption = Annotated[
    str | None, typer.Option("--base", metavar="free", help="Let the root link of a URDF float.")
]
ClosureOption = Annotated[
    float | None,
    typer.Option(
        "--closure",
        help="Tolerance of nearly redundant constraints, relative to their size; default: that of "
        "the file, or 1e-6.",
    ),
]
IgnoreOption = Annotated[
    str | None,
    typer.Option(
        "--ignore",
        metavar="NAME,…",
        help="Parts of an MJCF file to leave out: fluid, flexes, tendons, plugins, …",
    ),
]
DensityOption = Annotated[
    str | None,
    typer.Option(
        "--density",
        metavar="NUMBER",
        help="Density of links of a URDF without inertia, kg/m^3: they get the inertia of their "
        "shapes.",
    ),
]
XacroArgumentOption = Annotated[
    OptionTexts,
    typer.Option("--arg", metavar="NAME=VALUE", help="An argument of a xacro file."),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MechanismFile = Annotated[Mechanism, MechanismSource()]
OptionalMechanism = Annotated[Mechanism | None, MechanismSource(required=False)]
OtherMechanisms = Annotated[
    list[Mechanism],
    typer.Argument(metavar="FILE…", help="Other mechanisms, for comparisons."),
    OptionConversion(
        OptionTexts,
        lambda texts, _: [read_mechanism_argument(text) for text in texts or []],
    ),
]

# states

NAMED_VALUE_METAVAR = "NAME=VALUE"
CoordinateArguments = Annotated[
    dict[str, float],
    typer.Argument(
        metavar="q1=…",
        help="Initial coordinates, or a named pose; default: the home configuration.",
    ),
    COORDINATE_CONVERSION,
]
VelocityOptions = Annotated[
    dict[str, float],
    typer.Option(
        "--speed",
        metavar=NAMED_VALUE_METAVAR,
        help="A generalized velocity: q1=2, q1=30deg/s; or a named pose, for its velocities.",
    ),
    VELOCITY_CONVERSION,
]
SweptVelocityOptions = Annotated[
    dict[str, float | tuple[float, float]],
    typer.Option(
        "--speed",
        metavar=NAMED_VALUE_METAVAR,
        help="A generalized velocity, or a speed of the file: q1=2; at most one range: v=0..10; or "
        "a named pose, for its velocities.",
    ),
    OptionConversion(OptionTexts, lambda words, arm: read_option_sweeps(arm, words or [])),
]
RoughCoordinateOptions = Annotated[
    dict[str, float],
    typer.Option(
        "--rough",
        metavar=NAMED_VALUE_METAVAR,
        help="A rough value that selects a branch: theta2=40deg.",
    ),
    COORDINATE_CONVERSION,
]
ConstantForceOptions = Annotated[
    dict[str, float],
    typer.Option(
        "--drive",
        metavar=NAMED_VALUE_METAVAR,
        help="A constant joint force or actuator effort: q1=2.",
    ),
    FORCE_CONVERSION,
]

ControlOptions = Annotated[
    dict[str, float],
    typer.Option(
        "--control",
        metavar=NAMED_VALUE_METAVAR,
        help="A constant control of an actuator: servo=0.3; default: 0.",
    ),
    OptionConversion(
        OptionTexts, lambda words, arm: read_option_numbers(arm, words or [], "controls")
    ),
]

# motions over time

_TIME_OPTION = typer.Option("--time", "-t", metavar="SECONDS", help="Duration.")
DurationOption = Annotated[float, _TIME_OPTION, SECONDS_CONVERSION]
OptionalDurationOption = Annotated[float | None, _TIME_OPTION, SECONDS_CONVERSION]
SamplesOption = Annotated[int, typer.Option("--samples", help="Number of equally spaced times.")]
DrivenMotionArguments = Annotated[
    dict[str, Any],
    typer.Argument(
        metavar="q1=…",
        help="Driven coordinates: expressions in t, or .csv files with columns t and q1.",
    ),
    HISTORY_CONVERSION,
]

# formulations

FormulationOption = Annotated[
    str,
    typer.Option(
        "--by",
        help="The formulation: recursive, lagrange, hamilton, newton_euler, kane, influence, "
        "recurrent, multipliers, approximate.",
    ),
]
FormulationsOption = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="NAME,…", help="Formulations; default: all."),
    NAME_LIST_CONVERSION,
]

BetaOption = Annotated[
    float | None,
    typer.Option(
        "--beta", metavar="N/M", help="Stiffness of the constraints in approximate dynamics."
    ),
]
GammaOption = Annotated[
    float | None,
    typer.Option(
        "--gamma", metavar="SECONDS", help="Time constant of the damping in approximate dynamics."
    ),
    SECONDS_CONVERSION,
]
IterationsOption = Annotated[
    int | None,
    typer.Option(
        "--iterations", help="Number of corrections of the multipliers in approximate dynamics."
    ),
]

# files to write

PICTURE_ENDINGS = (".svg", ".pdf", ".png")
PictureFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE"), output_file_conversion(*PICTURE_ENDINGS)
]
OUTPUT_OPTION = typer.Option("--output", "-o", metavar="FILE")
RunFileOption = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Save the motion: .nc, .csv or .parquet."),
    OptionConversion(Path | None, lambda path, _: check_run_output_option(path)),
]

# pictures of motions

PlotOption = Annotated[
    list[str] | None,
    typer.Option(
        "--plot",
        metavar="NAME,…",
        help="Histories to draw: q,energy. The file is that of -o, or the last name: "
        "q,reactions,loads.svg.",
    ),
    NAME_LIST_CONVERSION,
]
CyclographOption = Annotated[
    Path | None, typer.Option("--cyclograph", help="Draw stick figures: .svg, .pdf or .png.")
]
FilmOption = Annotated[
    Path | None, typer.Option("--animate", help="Make a film: .mp4, .gif or .html.")
]
PaceOption = Annotated[
    float, typer.Option("--pace", help="Pace of the film: 1 is real time, 0.5 half as fast.")
]
