"""`linkwright steady`: steady motions and their stability."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..command import register_command
from ..command_output import (
    CommandOutcome,
    console_column_heads,
    console_number_text,
    print_console_table,
    show_command_progress,
)
from ..options import (
    NAMED_VALUE_METAVAR,
    VELOCITY_CONVERSION,
    ConstantForceOptions,
    ControlOptions,
    CoordinateArguments,
    MechanismFile,
)

if TYPE_CHECKING:
    from ...linearization import SteadyMotion
    from ...mechanism import Mechanism


@register_command("Motion")
def steady(
    mechanism: MechanismFile,
    *,
    held: CoordinateArguments,
    speed: Annotated[
        dict[str, float],
        typer.Option("--speed", metavar=NAMED_VALUE_METAVAR),
        VELOCITY_CONVERSION,
    ],
    drive: ConstantForceOptions,
    control: ControlOptions,
) -> CommandOutcome:
    """Find a steady motion, such as rolling in a circle, and whether it is stable.

    Parameters
    ----------
    held
        Coordinates that are held; the search for the others starts at home.
    speed
        A velocity that is held: q1=2; or a generalized speed of the file.

    Examples
    --------
    linkwright steady rolling-disk theta=20deg --speed psi=1
    """
    from ... import linearization

    with show_command_progress(f"looking for a steady motion of {mechanism.name}"):
        found = linearization.steady_motion(
            mechanism, held, speed or None, drive or None, controls=control or None
        )
    data = {
        "kind": found.kind,
        "q": found.q.tolist(),
        "qd": found.qd.tolist(),
        "eigenvalues": [[x.real, x.imag] for x in found.eigenvalues.tolist()],
        "ignorable": found.linear.ignorable,
    }
    return CommandOutcome(data, lambda: _print_steady_motion(mechanism, found))


def _print_steady_motion(mechanism: Mechanism, found: SteadyMotion) -> None:
    """Prints the state, the eigenvalues and the kind of a steady motion."""
    from ...mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units

    heads = console_column_heads(found.q_names, coordinate_units(mechanism))
    print_console_table(heads, [list(map(console_number_text, found.q))])
    units = [UNITS_OF_RATES["qd"][unit] for unit in velocity_units(mechanism)]
    heads = console_column_heads([f"d{name}" for name in found.qd_names], units)
    print_console_table(heads, [list(map(console_number_text, found.qd))])
    print(f"{found.kind}; ignorable coordinates: {', '.join(found.linear.ignorable) or 'none'}")
    values = sorted(found.eigenvalues.tolist(), key=lambda x: (x.real, x.imag))
    print("eigenvalues (1/s): " + ", ".join(f"{x:.6g}" for x in values))
