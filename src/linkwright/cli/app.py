"""The program and what its commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from ..errors import FileError, LinkwrightError

app = typer.Typer(
    name="linkwright",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="From the description of a mechanism to its equations of motion, checked and compiled.\n\n"
    "A FILE is .toml, .urdf, .xml (MJCF), .dh.toml or .dh.csv, or the name of a gallery mechanism.",
)

FileArgument = Annotated[str, typer.Argument(metavar="FILE", help="A file, or a gallery name.")]
StartArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[q1=…] …", help="Where the motion starts; the rest is at home."),
]
SpeedOption = Annotated[
    list[str] | None, typer.Option(help="A speed at the start: q1=2, q1=30deg.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
BaseOption = Annotated[
    str | None, typer.Option(help="'free' lets the root of a URDF float.", show_default=False)
]
ClosureOption = Annotated[
    float | None,
    typer.Option(
        help="Tolerance of nearly redundant constraints, as a share of their size "
        "(default: the file's, or 1e-6).",
        show_default=False,
    ),
]


def read(source: str, base: str | None = None, closure: float | None = None) -> Any:
    """The mechanism that a FILE argument names, with the tolerance of --closure."""
    found = _read(source, base)
    if closure is not None and not (found.loops or found.constraints):
        raise LinkwrightError(
            "--closure is for mechanisms with loops or constraints", where=source,
            remedy="leave it out",
        )  # fmt: skip
    return found.with_closure(closure)


def _read(source: str, base: str | None) -> Any:
    from ..files import gallery, load
    from ..mechanism.gallery_files import family, gallery_file, gallery_names

    known = source in gallery_names() or source.startswith("chain-") or family(source)
    if not known and _is_bare(source):
        raise FileError(
            "there is no such file, nor such a mechanism in the gallery", where=source,
            remedy=_near(source, gallery_names()),
        )  # fmt: skip
    if not known or os.path.isfile(source):
        return load(Path(source), base=base)
    if base is not None:
        raise FileError("--base is for URDF files", where=source, remedy="leave it out")
    gallery_file(source)
    return gallery(source)


def _is_bare(source: str) -> bool:
    """Whether a word that names no file has neither folder nor ending, as names of the gallery."""
    is_word = Path(source).name == source and not Path(source).suffix
    return is_word and bool(source) and not os.path.lexists(source)


def _near(name: str, known: list[str]) -> str:
    """Names like a mistyped one, or where all of them are."""
    from difflib import get_close_matches

    from ..errors import suggest

    return suggest(name, known) if get_close_matches(name, known) else "see linkwright gallery"


def _print_version(wanted: bool) -> None:
    if wanted:
        from .. import __version__

        print(f"linkwright {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Print the version.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass
