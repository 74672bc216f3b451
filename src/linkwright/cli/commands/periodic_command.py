"""`linkwright periodic`: periodic motions and their Floquet multipliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, print_console_table, show_command_progress

if TYPE_CHECKING:
    from ...linearization import PeriodicMotion


@register_command("Motion")
def periodic(
    mechanism: options.MechanismFile,
    *,
    start: options.CoordinateArguments,
    period: Annotated[
        float, typer.Option("--period", metavar="SECONDS"), options.SECONDS_CONVERSION
    ],
    speed: options.VelocityOptions,
    drive: options.ConstantForceOptions,
) -> CommandOutcome:
    """Find a periodic motion near a start, and its Floquet multipliers.

    Parameters
    ----------
    start
        Coordinates near the motion; default: home.
    period
        Period of the motion; a first guess if the mechanism does not depend on time.

    Examples
    --------
    linkwright periodic chain-1 q1=-60deg --period 1.7
    """
    from ... import linearization

    with show_command_progress(f"looking for a periodic motion of {mechanism.name}"):
        found = linearization.periodic_motion(
            mechanism, period, start, speed or None, drive or None
        )
    data = {
        "period": found.period,
        "q": found.q.tolist(),
        "qd": found.qd.tolist(),
        "multipliers": [[x.real, x.imag] for x in found.multipliers.tolist()],
        "stable": found.is_stable,
    }
    return CommandOutcome(data, lambda: _print_periodic_motion(found))


def _print_periodic_motion(found: PeriodicMotion) -> None:
    """Prints the start, the period and the multipliers."""
    print(found.summary())
    print(f"q = {found.q.round(9).tolist()}, qd = {found.qd.round(9).tolist()}")
    rows = [[f"{x:.8g}", f"{abs(x):.8g}"] for x in found.multipliers]
    print_console_table(["multiplier", "size"], rows)
