"""`linkwright equilibrium`: where a mechanism rests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..command import register_command
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    console_column_heads,
    console_number_text,
    print_console_table,
    remove_console_rounding,
    show_command_progress,
)
from ..options import ConstantForceOptions, CoordinateArguments, MechanismFile

if TYPE_CHECKING:
    from ...linearization import Equilibrium
    from ...mechanism import Mechanism


@register_command("Motion")
def equilibrium(
    mechanism: MechanismFile, *, start: CoordinateArguments, drive: ConstantForceOptions
) -> CommandOutcome:
    """Find equilibria, their stability, stiffness, natural frequencies and modes.

    Parameters
    ----------
    start
        Find the equilibrium near these coordinates; default: find all.

    Examples
    --------
    linkwright equilibrium elbow q1=-80deg
    """
    from ... import linearization

    with show_command_progress(f"looking for equilibria of {mechanism.name}"):
        if start:
            found = [linearization.equilibrium(mechanism, start, drive or None)]
        else:
            found = linearization.equilibria(mechanism, drive or None)
    if not found:
        raise CheckFailedError(
            "no equilibrium was found",
            where=mechanism.name,
            remedy="give a start, or forces that hold it",
        )
    return CommandOutcome(
        [_equilibrium_command_json(one) for one in found],
        lambda: _print_equilibria(mechanism, found),
    )


def _equilibrium_command_json(one: Equilibrium) -> dict[str, Any]:
    """Returns an equilibrium as data for `--json`."""
    return {
        "kind": one.kind,
        "q": one.q.tolist(),
        "independent": list(one.names),
        "frequencies": one.frequencies.tolist(),
        "modes": one.modes.tolist(),
        "mass": one.mass.tolist(),
        "damping": one.damping.tolist(),
        "stiffness": one.stiffness.tolist(),
    }


def _print_equilibria(mechanism: Mechanism, found: list[Equilibrium]) -> None:
    """Prints the equilibria with their frequencies, and the modes if there is only one."""
    from ...mechanism import mechanism_names
    from ...mechanism.mechanism_units import coordinate_units

    names = mechanism_names(mechanism)
    heads = console_column_heads(names.q, coordinate_units(mechanism))
    rows = [
        [
            one.kind,
            *map(console_number_text, one.q),
            ", ".join(map(console_number_text, one.frequencies)),
        ]
        for one in found
    ]
    print_console_table(["kind", *heads, "frequencies (rad/s)"], rows)
    if any((one.frequencies < 0).any() for one in found):
        print("a frequency below zero is the rate at which a motion runs away")
    if len(found) == 1:
        modes = zip(names.qd, found[0].modes, strict=True)
        print_console_table(
            ["mode", *(f"{f:.6g} rad/s" for f in found[0].frequencies)],
            [[name, *(f"{x:.6f}" for x in remove_console_rounding(row))] for name, row in modes],
        )
