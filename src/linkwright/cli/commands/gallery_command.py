"""`linkwright gallery`: the mechanisms that come with Linkwright."""

from __future__ import annotations

from typing import Annotated

import typer

from ..command import command
from ..output import Outcome, print_table


@command("Mechanisms")
def gallery(*, name: Annotated[str | None, typer.Argument(metavar="NAME")] = None) -> Outcome:
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
    from ...mechanism.gallery_files import gallery_file, gallery_names, headline

    if name is None:
        rows = {entry: headline(entry) for entry in gallery_names()}
        return Outcome(rows, lambda: print_table(["name", "what it is"], list(rows.items())))
    stored = gallery_file(name)
    text = writers.write_text(files.gallery(name), "toml")[0] if stored is None else stored[1]
    return Outcome({"name": name, "file": text}, lambda: print(text, end=""))
