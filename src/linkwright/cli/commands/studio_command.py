"""`linkwright studio`: a local page that shows a mechanism file while it is edited."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import FileError, suggest_remedy
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome

if TYPE_CHECKING:
    from ...studio import StudioAddress


@register_command("Pages")
def studio(
    file: options.FileArgument,
    *,
    port: Annotated[int, typer.Option(metavar="NUMBER", min=0, max=65535)] = 0,
    no_browser: bool = False,
    base: options.BaseOption = None,
    closure: options.ClosureOption = None,
) -> CommandOutcome:
    """Show a mechanism file on a local page that follows every save in your editor.

    The page has the live picture, equations, checks, simulation, formulations side by side, and the
    checker for your own equations. It is on this machine only, at an address with a random token.
    Ctrl-C ends it.

    Parameters
    ----------
    port
        The port on 127.0.0.1; default: a free one.
    no_browser
        Print the address only, and open no browser.

    Examples
    --------
    linkwright studio robot.toml
    """
    from ...mechanism.gallery_files import gallery_names
    from ...studio import serve_studio

    if not os.path.isfile(file) and file not in gallery_names():
        raise FileError(
            "no such file, nor a mechanism of this name in the gallery",
            where=file,
            remedy=suggest_remedy(file, gallery_names()),
        )

    def announce(address: StudioAddress) -> None:
        print(f"{address.url}\nCtrl-C ends the studio.", flush=True)
        if not no_browser and sys.stdout.isatty():
            import webbrowser

            webbrowser.open(address.url)

    serve_studio(file, base=base, closure=closure, port=port, ready=announce)
    return CommandOutcome({"file": file}, lambda: None)
