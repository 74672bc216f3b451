"""`linkwright gallery`: the mechanisms that come with Linkwright."""

from __future__ import annotations

from typing import Annotated

import typer

from ...errors import LinkwrightError, UnsupportedError
from ..command import register_command
from ..command_output import CommandOutcome, print_console_table


@register_command("Mechanisms")
def gallery(
    *,
    name: Annotated[str | None, typer.Argument(metavar="NAME")] = None,
    equations: bool = False,
) -> CommandOutcome:
    """List the gallery mechanisms, or print the file of one.

    Parameters
    ----------
    name
        Print the file of this mechanism.
    equations
        Print the equations that were published for it, with their misprints marked.

    Examples
    --------
    linkwright gallery elbow > my_arm.toml
    """
    from ... import files, writers
    from ...mechanism.gallery_files import (
        gallery_headline,
        gallery_names,
        read_gallery_equations,
        read_gallery_file,
    )

    if name is None and equations:
        raise LinkwrightError(
            "--equations needs a name", remedy="linkwright gallery elbow --equations"
        )
    if name is None:
        rows = {entry: gallery_headline(entry) for entry in gallery_names()}
        return CommandOutcome(
            rows, lambda: print_console_table(["name", "what it is"], list(rows.items()))
        )
    stored = read_gallery_file(name)
    if equations:
        published = read_gallery_equations(name)
        if published is None:
            raise UnsupportedError(f"no published equations of {name} are known")
        return CommandOutcome(
            {"name": name, "equations": published}, lambda: print(published, end="")
        )
    text = (
        writers.write_mechanism_text(files.gallery(name), "toml")[0]
        if stored is None
        else stored[1]
    )
    return CommandOutcome({"name": name, "file": text}, lambda: print(text, end=""))
