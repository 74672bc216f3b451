"""`linkwright draw`: reads its words, and hands over to `pictures`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .app import BaseOption, ClosureOption, FileArgument, JsonOption, app, read


@app.command()
def draw(
    file: FileArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .svg, .pdf or .png file.")],
    start: Annotated[
        list[str] | None,
        typer.Argument(metavar="[q1=…] …", help="The configuration; the rest is at home."),
    ] = None,
    what: Annotated[str, typer.Option(help="picture, graph or sparsity.")] = "picture",
    view: Annotated[
        str | None,
        typer.Option(help="xy, xz, yz, space; or azimuth and elevation in degrees: -60,20."),
    ] = None,
    names: Annotated[bool, typer.Option("--names", help="Of joints and frames.")] = False,
    dimensions: Annotated[bool, typer.Option("--dimensions", help="Of links.")] = False,
    boxes: Annotated[bool, typer.Option("--boxes", help="Of the links' inertias.")] = False,
    base: BaseOption = None,
    closure: ClosureOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw a mechanism to scale, its graph, or the sparsity of its mass matrix.

    Example: linkwright draw four-bar theta1=60deg --names -o four-bar.svg
    """
    from .pictures import draw as drawn
    from .pictures import view_of

    options = {"view": view_of(view), "names": names, "dimensions": dimensions, "boxes": boxes}
    drawn(read(file, base, closure), start or [], what, output, options, as_json)
