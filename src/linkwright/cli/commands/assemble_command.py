"""`linkwright assemble`: configurations in which loops and constraints close."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, print_console_table
from ..option_texts import read_option_range


@register_command("Numbers")
def assemble(
    mechanism: options.MechanismFile,
    *,
    values: options.CoordinateArguments,
    hold: Annotated[list[str] | None, typer.Option(metavar="NAME,…"), options.NAME_LIST_CONVERSION],
    ranges: Annotated[
        dict[str, str],
        typer.Option("--range", metavar=options.NAMED_VALUE_METAVAR),
        options.ASSIGNMENT_CONVERSION,
    ],
    time: options.DurationOption = 0.0,
    every: Annotated[bool, typer.Option("--all")] = False,
) -> CommandOutcome:
    """Close the loops and constraints of a mechanism, and state its mobility.

    Parameters
    ----------
    values
        Rough values of coordinates.
    hold
        Coordinates that keep their values exactly.
    ranges
        Select a branch by the range of a coordinate: q3=0:180deg.
    time
        Time at which constraints that depend on it are evaluated.
    every
        Find all branches.

    Examples
    --------
    linkwright assemble four-bar theta1=60deg --hold theta1 --all
    """
    from ...kinematics import assembly
    from ...kinematics.assembly_search import describe_far_assembly_moves
    from ...kinematics.constraint_system import constraint_system
    from ...kinematics.mobility_analysis import mobility
    from ...mechanism import mechanism_names

    limits = {name: read_option_range(name, text) for name, text in ranges.items()}
    if every and limits:
        raise LinkwrightError("--all and --range are both given", remedy="give one of them")
    if every:
        found = assembly.assembly_branches(mechanism, values, hold or [], time)
    else:
        found = [assembly.assemble(mechanism, values, hold or [], limits or None, time)]
    names = mechanism_names(mechanism).q
    report = mobility(mechanism, found[0], time)

    def show() -> None:
        branches = [f"branch {k}" for k in range(1, len(found) + 1)]
        rows = [(name, *(f"{q[k]:.12g}" for q in found)) for k, name in enumerate(names)]
        print_console_table(["coordinate", *(branches if every else ["value (rad, m)"])], rows)
        print(report)
        for move in (
            []
            if every
            else describe_far_assembly_moves(constraint_system(mechanism), found[0], list(values))
        ):
            print(f"assembly moved {move}")

    data = {
        "q_names": list(names),
        "q": [q.tolist() for q in found],
        "freedom": report.dof,
        "redundant": list(report.redundant),
    }
    return CommandOutcome(data, show)
