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

from .output import check_run_ending, check_target
from .words import read_assignments, read_courses, read_names, read_numbers, read_seconds

if TYPE_CHECKING:
    from ..mechanism import Mechanism
else:
    Mechanism = Any  # pydantic takes half a second to load: too long for --help


@dataclass(frozen=True)
class MechanismSource:
    """Marks the parameter for the mechanism that FILE and `--base` describe."""

    required: bool = True


@dataclass(frozen=True)
class Converted:
    """Marks a parameter whose value is made from what Typer reads, and from the mechanism."""

    text_type: Any
    convert: Callable[[Any, Any], Any]


Texts = list[str] | None
ASSIGNMENTS = Converted(Texts, lambda words, _: read_assignments(words or []))
COURSES = Converted(Texts, lambda words, _: read_courses(words or []))
COORDINATES = Converted(Texts, lambda words, arm: read_numbers(arm, words or [], "q0"))
VELOCITIES = Converted(Texts, lambda words, arm: read_numbers(arm, words or [], "qd0"))
FORCES = Converted(Texts, lambda words, arm: read_numbers(arm, words or [], "torque"))
NAMES = Converted(str | None, lambda text, _: None if text is None else read_names(text))
SECONDS = Converted(str | None, lambda text, _: None if text is None else read_seconds(text))


def written_as(*endings: str) -> Converted:
    """Make the path of a file to write; other endings and missing folders are errors at once."""
    return Converted(Path | None, lambda path, _: check_target(path, *endings))


def each_written_as(*endings: str) -> Converted:
    """Make the paths of files to write, as `written_as` does for one."""
    return Converted(
        list[Path] | None, lambda paths, _: [check_target(path, *endings) for path in paths or []]
    )


# the mechanism, and how the result is printed

FILE_HELP = "A mechanism file, or the name of a gallery mechanism."
FileText = Annotated[str, typer.Argument(metavar="FILE", help=FILE_HELP)]
OptionalFileText = Annotated[str | None, typer.Argument(metavar="FILE", help=FILE_HELP)]
BaseText = Annotated[
    str | None, typer.Option("--base", metavar="free", help="Let the root link of a URDF float.")
]
ClosureNumber = Annotated[
    float | None,
    typer.Option(
        "--closure",
        help="Tolerance of nearly redundant constraints, relative to their size; default: that of "
        "the file, or 1e-6.",
    ),
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
MechanismFile = Annotated[Mechanism, MechanismSource()]
OptionalMechanism = Annotated[Mechanism | None, MechanismSource(required=False)]

# states

NAMED_VALUE = "NAME=VALUE"
Coordinates = Annotated[
    dict[str, float],
    typer.Argument(metavar="q1=…", help="Initial coordinates; default: the home configuration."),
    COORDINATES,
]
Velocities = Annotated[
    dict[str, float],
    typer.Option("--speed", metavar=NAMED_VALUE, help="A generalized velocity: q1=2, q1=30deg/s."),
    VELOCITIES,
]
RoughCoordinates = Annotated[
    dict[str, float],
    typer.Option(
        "--rough", metavar=NAMED_VALUE, help="A rough value that selects a branch: theta2=40deg."
    ),
    COORDINATES,
]
ConstantForces = Annotated[
    dict[str, float],
    typer.Option(
        "--drive", metavar=NAMED_VALUE, help="A constant joint force or actuator effort: q1=2."
    ),
    FORCES,
]

# motions over time

Duration = Annotated[float, typer.Option("--time", "-t", metavar="SECONDS", help="Duration.")]
OptionalDuration = Annotated[
    float | None, typer.Option("--time", "-t", metavar="SECONDS", help="Duration.")
]
Samples = Annotated[int, typer.Option("--samples", help="Number of equally spaced times.")]
Motion = Annotated[
    dict[str, Any],
    typer.Argument(
        metavar="q1=…",
        help="Driven coordinates: expressions in t, or .csv files with columns t and q1.",
    ),
    COURSES,
]

# formulations

Formulation = Annotated[str, typer.Option("--by", help="The formulation.")]
Formulations = Annotated[
    list[str] | None,
    typer.Option("--by", metavar="NAME,…", help="Formulations; default: all."),
    NAMES,
]

# files to write

PICTURES = (".svg", ".pdf", ".png")
OUTPUT = typer.Option("--output", "-o", metavar="FILE")
RunFile = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="Save the motion: .nc, .csv or .parquet."),
    Converted(Path | None, lambda path, _: check_run_ending(path)),
]
