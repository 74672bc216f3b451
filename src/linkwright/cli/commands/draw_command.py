"""`linkwright draw`: pictures of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import command
from ..output import Outcome, working
from ..words import configuration

VIEWS = ("xy", "xz", "yz", "space")

View = str | tuple[float, float] | None


def read_view(text: str | None) -> View:
    """Read a view: its name, or azimuth and elevation in degrees, -60,20."""
    from ...expressions import parse, to_float

    if text is None or text in VIEWS:
        return text
    parts = text.split(",")
    if len(parts) != 2:
        raise LinkwrightError(
            f"'{text}' is no view",
            remedy=f"use {', '.join(VIEWS)}, or azimuth and elevation in degrees: -30,40",
        )
    return to_float(parse(parts[0])), to_float(parse(parts[1]))


@command("Mechanisms")
def draw(
    mechanism: options.MechanismFile,
    *,
    start: options.Coordinates,
    output: Annotated[Path, options.OUTPUT],
    what: str = "picture",
    view: Annotated[
        View, typer.Option(), options.Converted(str | None, lambda text, _: read_view(text))
    ],
    names: bool = False,
    dimensions: bool = False,
    boxes: bool = False,
) -> Outcome:
    """Draw a mechanism to scale, its graph, or the sparsity of its mass matrix.

    Parameters
    ----------
    start
        The configuration; default: home.
    output
        A .svg, .pdf or .png file.
    what
        picture, graph or sparsity.
    view
        xy, xz, yz, space; or azimuth and elevation in degrees: -60,20.
    names
        Show the names of joints and frames.
    dimensions
        Show the dimensions of links.
    boxes
        Show the boxes with the inertias of the links.

    Examples
    --------
    linkwright draw four-bar theta1=60deg --names -o four-bar.svg
    """
    from ... import show

    with working(f"drawing {mechanism.name}"):
        if what == "picture":
            show.figure_of(
                mechanism,
                configuration(mechanism, start),
                path=output,
                view=view,
                names=names,
                dimensions=dimensions,
                boxes=boxes,
            )
        elif what not in ("graph", "sparsity"):
            raise LinkwrightError(
                f"'{what}' is nothing to draw", remedy="use picture, graph or sparsity"
            )
        elif start:
            raise LinkwrightError(f"the {what} has no coordinates", remedy="leave them out")
        else:
            (show.graph if what == "graph" else show.sparsity)(mechanism, path=output)
    return Outcome({"file": str(output)}, lambda: print(f"file: {output}"))
