"""`linkwright draw`: pictures of a mechanism."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, show_command_progress
from ..option_texts import option_configuration

NAMED_VIEWS = ("xy", "xz", "yz", "space")

ViewOption = str | tuple[float, float] | None


def read_view_option(text: str | None) -> ViewOption:
    """Read a view: its name, or azimuth and elevation in degrees, -60,20."""
    from ...expressions import expression_to_float, parse_expression

    if text is None or text in NAMED_VIEWS:
        return text
    parts = text.split(",")
    if len(parts) != 2:
        raise LinkwrightError(
            f"'{text}' is not a view",
            remedy=f"use {', '.join(NAMED_VIEWS)}, or azimuth and elevation in degrees: -30,40",
        )
    return expression_to_float(parse_expression(parts[0])), expression_to_float(
        parse_expression(parts[1])
    )


@register_command("Mechanisms")
def draw(
    mechanism: options.MechanismFile,
    *,
    start: options.CoordinateArguments,
    output: Annotated[Path, options.OUTPUT_OPTION],
    what: str = "picture",
    view: Annotated[
        ViewOption,
        typer.Option(),
        options.OptionConversion(str | None, lambda text, _: read_view_option(text)),
    ],
    names: bool = False,
    dimensions: bool = False,
    boxes: bool = False,
    sticks: bool = False,
) -> CommandOutcome:
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
    sticks
        Draw links and joints only, without the shapes of bodies.

    Examples
    --------
    linkwright draw four-bar theta1=60deg --names -o four-bar.svg
    """
    from ... import show

    notes: tuple[str, ...] = ()
    with show_command_progress(f"drawing {mechanism.name}"):
        if what == "picture":
            show.figure_of(
                mechanism,
                option_configuration(mechanism, start),
                path=output,
                view=view,
                names=names,
                dimensions=dimensions,
                boxes=boxes,
                shapes=not sticks,
            )
            notes = (
                () if sticks else show.mechanism_scene.mechanism_scene(mechanism).drawn_shapes.notes
            )
        elif what not in ("graph", "sparsity"):
            raise LinkwrightError(
                f"'{what}' cannot be drawn", remedy="use picture, graph or sparsity"
            )
        elif start:
            raise LinkwrightError(f"the {what} has no coordinates", remedy="leave them out")
        else:
            (show.graph if what == "graph" else show.sparsity)(mechanism, path=output)
    data = {"file": str(output)} | ({"notes": list(notes)} if notes else {})
    return CommandOutcome(data, lambda: print(f"file: {output}"), warnings=notes)
