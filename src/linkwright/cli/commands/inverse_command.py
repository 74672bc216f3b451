"""`linkwright inverse`: the forces that a given motion takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    check_run_output_option,
    console_number_text,
    print_console_table,
    show_command_progress,
)
from .run_pictures import RunPictureOptions, split_output_option

if TYPE_CHECKING:
    from ...simulation import Run


@register_command("Motion")
def inverse(
    mechanism: options.MechanismFile,
    *,
    motion: options.DrivenMotionArguments,
    run: Path | None = None,
    time: options.DurationOption = 1.0,
    rough: options.RoughCoordinateOptions,
    samples: options.SamplesOption = 501,
    output: Annotated[Path | None, options.OUTPUT_OPTION] = None,
    plot: options.PlotOption = None,
    cyclograph: options.CyclographOption = None,
    animate: options.FilmOption = None,
    pace: options.PaceOption = 1.0,
) -> CommandOutcome:
    """Find the forces that a motion needs, and the reactions at joints and loops.

    The exit status is 1 if the actuators cannot provide these forces.

    Parameters
    ----------
    run
        Take the motion from this .nc file instead.
    output
        Save the motion and its forces: .nc, .csv or .parquet; or the picture of --plot.

    Examples
    --------
    linkwright inverse slider-crank theta1='pi/3 + 2*t' -t 3 -o forces.csv
    linkwright inverse slider-crank theta1='2*t' -t 3 --plot tau,reactions -o forces.svg
    """
    from ... import simulation

    if run is not None and motion:
        raise LinkwrightError("a motion and --run are both given", remedy="give one of them")
    names, plot_file, run_file = split_output_option(plot or (), output)
    pictures = RunPictureOptions(names, plot_file, cyclograph, animate, pace)
    pictures.check_files()
    check_run_output_option(run_file)
    given = motion if run is None else simulation.load_run(run)
    with show_command_progress(f"finding the forces of {mechanism.name}"):
        found = simulation.solve_inverse(mechanism, given, time, rough=rough, samples=samples)
    if run_file is not None:
        found.save(run_file)
    with show_command_progress(f"drawing {mechanism.name}"):
        drawn = pictures.write_pictures(found)
    return CommandOutcome(
        _inverse_command_json(found) | {"file": str(run_file or ""), "pictures": drawn},
        lambda: _print_inverse_command(found, drawn),
        failure=None if found.finished else CheckFailedError(found.status, where=mechanism.name),
        warnings=[f"{mechanism.name}: {text}" for text in found.warnings if text != found.status],
    )


def _inverse_command_json(found: Run) -> dict[str, Any]:
    """Returns the largest forces and reactions as data for `--json`."""
    import numpy as np

    from ...mechanism import mechanism_names

    names = mechanism_names(found.mechanism)
    forces = np.abs(found.tau).max(axis=0).tolist()
    reactions = np.abs(found.reactions).max(axis=0).tolist()
    return {
        "status": found.status,
        "largest_forces": dict(zip(names.qd, forces, strict=True)),
        "largest_reactions": dict(zip((*names.joints, *names.loops), reactions, strict=True)),
        "work_of_inputs": float(found.work_inputs[-1]),
        "energy_audit": found.audit,
    }


def _print_inverse_command(found: Run, drawn: Sequence[str]) -> None:
    """Prints forces, reactions and the names of the pictures."""
    _print_force_summary(found)
    _print_reactions(found)
    if drawn:
        print(f"pictures: {', '.join(drawn)}")


def _print_reactions(found: Run) -> None:
    """Prints the largest force and moment at each joint and loop, and when they occur."""
    import numpy as np

    from ...mechanism import mechanism_names

    names, rows = mechanism_names(found.mechanism), []
    moments, forces = (
        np.linalg.norm(part, axis=-1)
        for part in (found.reactions[..., :3], found.reactions[..., 3:])
    )
    for k, name in enumerate((*names.joints, *names.loops)):
        cells = [name]
        for sizes, unit in ((forces[:, k], "N"), (moments[:, k], "N m")):
            at = int(np.argmax(sizes))
            cells += [console_number_text(sizes[at], unit), console_number_text(found.t[at], "s")]
        rows.append(cells)
    print()
    print_console_table(["reaction at", "largest force", "at", "largest moment", "at"], rows)


def _print_force_summary(found: Run) -> None:
    """Prints the range of the force along each velocity, and the largest power."""
    from ...mechanism import mechanism_names
    from ...mechanism.mechanism_units import UNITS_OF_RATES, velocity_units

    print(f"status: {found.status}")
    print(f"work of the actuators: {found.work_inputs[-1]:.6g} J")
    units = [UNITS_OF_RATES["tau"][unit] for unit in velocity_units(found.mechanism)]
    columns = zip(
        mechanism_names(found.mechanism).qd, units, found.tau.T, abs(found.power.T), strict=True
    )
    rows = [
        [
            name,
            *(console_number_text(x, unit) for x in (tau.min(), tau.max(), tau[-1])),
            console_number_text(power.max(), "W"),
        ]
        for name, unit, tau, power in columns
    ]
    print_console_table(["along", "from", "to", "at the end", "largest power"], rows)
