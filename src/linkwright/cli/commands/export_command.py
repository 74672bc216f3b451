"""`linkwright export`: a mechanism in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from ..command import register_command
from ..command_output import CommandOutcome, write_command_output
from ..options import OUTPUT_OPTION, MechanismFile


@register_command("Mechanisms")
def export(
    mechanism: MechanismFile, *, to: str, output: Annotated[Path | None, OUTPUT_OPTION] = None
) -> CommandOutcome:
    """Write a mechanism in another format, and list on stderr what that format cannot hold.

    Parameters
    ----------
    to
        toml or urdf.
    output
        File to write; default: standard output.

    Examples
    --------
    linkwright export robot.urdf --to toml -o robot.toml
    """
    from ... import writers

    if output is not None:
        writers.check_written_file_name(output, to)
    text, lost = writers.write_mechanism_text(mechanism, to)
    if output is not None:
        write_command_output(output, text)
    return CommandOutcome(
        {"text": None if output else text, "file": str(output or ""), "lost": lost},
        lambda: print("" if output else text, end=""),
        warnings=[f"not in the {to}: {what}" for what in lost],
    )
