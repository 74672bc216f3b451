"""`linkwright gallery`: the mechanisms that come with Linkwright."""

from __future__ import annotations

from typing import Annotated

import typer

from ..command import register_command
from ..command_output import CommandOutcome, print_console_table


@register_command("Mechanisms")
def gallery(
    *, name: Annotated[str | None, typer.Argument(metavar="NAME")] = None
) -> CommandOutcome:
    """List the gallery mechanisms, or print the file of one.

    Parameters
    ----------
    name
        Print the file of this mechanism.

    Examples
    --------
    linkwright gallery elbow > my_arm.toml
    """
    from ... import files, writers
    from ...mechanism.gallery_files import gallery_headline, gallery_names, read_gallery_file

    if name is None:
        rows = {entry: gallery_headline(entry) for entry in gallery_names()}
        return CommandOutcome(
            rows, lambda: print_console_table(["name", "what it is"], list(rows.items()))
        )
    stored = read_gallery_file(name)
    text = (
        writers.write_mechanism_text(files.gallery(name), "toml")[0]
        if stored is None
        else stored[1]
    )
    return CommandOutcome({"name": name, "file": text}, lambda: print(text, end=""))
