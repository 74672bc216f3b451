"""`linkwright inverse`: the forces that a given motion takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    console_number_text,
    print_console_table,
    show_command_progress,
)

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
    output: options.RunFileOption,
) -> CommandOutcome:
    """Find the forces that a motion takes, and the reactions at joints and loops.

    The exit status is 1 if the actuators cannot give these forces.

    Parameters
    ----------
    run
        Take the motion from this .nc file instead.

    Examples
    --------
    linkwright inverse slider-crank theta1='pi/3 + 2*t' -t 3 -o forces.csv
    """
    from ... import simulation

    if run is not None and motion:
        raise LinkwrightError("a motion and --run are both given", remedy="give one of them")
    given = motion if run is None else simulation.load_run(run)
    with show_command_progress(f"finding the forces of {mechanism.name}"):
        found = simulation.solve_inverse(mechanism, given, time, rough=rough, samples=samples)
    if output is not None:
        found.save(output)
    return CommandOutcome(
        _inverse_command_json(found) | {"file": str(output or "")},
        lambda: _print_force_summary(found),
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
