"""`linkwright kinematics`: a driven motion and its singular positions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    check_run_output_option,
    console_column_heads,
    print_console_table,
    remove_console_rounding,
    show_command_progress,
)
from ..option_texts import read_option_assignments, read_option_range
from .run_pictures import RunPictureOptions, split_output_option

if TYPE_CHECKING:
    from ...mechanism import Mechanism
    from ...simulation import Kinematics

SweepOption = tuple[str, float, float] | None


def read_sweep_option(text: str | None) -> SweepOption:
    """Read a coordinate and its range: theta1=0:360deg."""
    if text is None:
        return None
    ((name, limits),) = read_option_assignments([text]).items()
    return name, *read_option_range(name, limits)


@register_command("Motion")
def kinematics(
    mechanism: options.MechanismFile,
    *,
    motion: options.DrivenMotionArguments,
    over: Annotated[
        SweepOption,
        typer.Option(metavar="NAME=FROM:TO"),
        options.OptionConversion(str | None, lambda text, _: read_sweep_option(text)),
    ],
    time: options.DurationOption = 1.0,
    rough: options.RoughCoordinateOptions,
    samples: options.SamplesOption = 501,
    output: Annotated[Path | None, options.OUTPUT_OPTION] = None,
    plot: options.PlotOption = None,
    cyclograph: options.CyclographOption = None,
    animate: options.FilmOption = None,
    pace: options.PaceOption = 1.0,
) -> CommandOutcome:
    """Move a driven mechanism, and find its dead centres, limits and branch points.

    The exit status is 1 if a position cannot be reached.

    Parameters
    ----------
    over
        Sweep one coordinate over a range instead: theta1=0:360deg.
    output
        Save the motion: .nc, .csv or .parquet; or the picture of --plot.

    Examples
    --------
    linkwright kinematics four-bar --over theta1=0:360deg
    linkwright kinematics slider-crank theta1='2*t' -t 3 -o motion.csv
    linkwright kinematics four-bar --over theta1=0:1rev --plot q,qd,motion.svg --animate film.html
    """
    from ... import simulation

    names, plot_file, motion_file = split_output_option(plot or (), output)
    pictures = RunPictureOptions(names, plot_file, cyclograph, animate, pace)
    pictures.check_files()
    check_run_output_option(motion_file)
    if not motion and over is None:
        _check_something_moves(mechanism)
    with show_command_progress(f"moving {mechanism.name}"):
        found = simulation.solve_kinematics(
            mechanism, motion or None, time, over=over, rough=rough, samples=samples
        )
    if motion_file is not None:
        found.save(motion_file)
    with show_command_progress(f"drawing {mechanism.name}"):
        drawn = pictures.write_pictures(found)
    failed = None if found.finished else CheckFailedError(found.status, where=mechanism.name)
    data = _kinematics_command_json(found)
    data |= {"file": str(motion_file or ""), "pictures": drawn}
    return CommandOutcome(data, lambda: _print_kinematics(found, drawn), failure=failed)


def _check_something_moves(mechanism: Mechanism) -> None:
    """Raises where neither constraints nor coordinates that depend on time move a mechanism."""
    from ...mechanism import mechanism_names

    names = mechanism_names(mechanism)
    if not names.constraints and not names.has_moving_coordinates:
        raise LinkwrightError(
            "no coordinate is driven, so nothing moves",
            where=mechanism.name,
            remedy=f"give a motion, such as {names.q[0]}='2*t'" if names.q else "choose another",
        )


def _kinematics_command_json(found: Kinematics) -> dict[str, Any]:
    """Returns the last position and the singular configurations as data for `--json`."""
    return {
        "status": found.status,
        "positions": len(found.t),
        "t": float(found.t[-1]),
        "q": found.q[-1].tolist(),
        "qd": found.qd[-1].tolist(),
        "qdd": found.qdd[-1].tolist(),
        "closure_error": float(found.closure.max()),
        "singular": [
            {"t": one.t, "kind": one.kind, "what": list(one.what), "q": one.q.tolist()}
            for one in found.singular
        ],
    }


def _print_kinematics(found: Kinematics, drawn: Sequence[str]) -> None:
    """Prints the status, the pictures and the singular configurations."""
    from ...mechanism import mechanism_names
    from ...mechanism.mechanism_units import coordinate_units

    print(f"status: {found.status}")
    print(f"positions: {len(found.t)}, closed to {found.closure.max():.1e}")
    if drawn:
        print(f"pictures: {', '.join(drawn)}")
    if not found.singular:
        print("no singular configuration was found")
        return
    names, units = mechanism_names(found.mechanism).q, coordinate_units(found.mechanism)
    rows = [
        [
            f"{one.t:.10f}",
            one.kind,
            ", ".join(one.what),
            *(f"{x:.10f}" for x in remove_console_rounding(one.q[:6])),
        ]
        for one in found.singular
    ]
    print_console_table(["t", "kind", "of", *console_column_heads(names[:6], units[:6])], rows)
