"""`linkwright linkage`: the analysis of a planar linkage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CommandOutcome,
    check_output_option,
    check_run_output_option,
    show_command_progress,
)
from ..option_texts import read_option_assignments, read_option_number, read_option_range
from .linkage_findings import LinkageChoice, LinkageFindings, PictureFiles

PointOption = str | tuple[str, tuple[float, ...]] | None
RangeOption = tuple[float, float] | None
LengthOption = Annotated[float | None, typer.Option(metavar="LENGTH"), options.LENGTH_CONVERSION]
PictureOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE"),
    options.output_file_conversion(*options.PICTURE_ENDINGS),
]


def read_point_option(text: str | None) -> PointOption:
    """Read a frame or body, or a point of a body: coupler=1.5,0.4."""
    if text is None or "=" not in text:
        return text
    ((body, place),) = read_option_assignments([text]).items()
    numbers = [read_option_number(part, "m") for part in place.split(",")]
    return body, tuple(numbers)


@register_command("Motion")
def linkage(
    mechanism: options.MechanismFile,
    *,
    position: options.CoordinateArguments,
    input: Annotated[str | None, typer.Option(metavar="NAME")] = None,  # noqa: A002
    output_link: Annotated[str | None, typer.Option("--of", metavar="BODY")] = None,
    over: Annotated[
        RangeOption,
        typer.Option(metavar="FROM:TO"),
        options.OptionConversion(
            str | None, lambda text, _: None if text is None else read_option_range("over", text)
        ),
    ] = None,
    point: Annotated[
        PointOption,
        typer.Option(metavar="NAME"),
        options.OptionConversion(str | None, lambda text, _: read_point_option(text)),
    ] = None,
    rate: Annotated[float, typer.Option(metavar="RATE"), options.RATE_CONVERSION] = 1.0,
    balance: LengthOption = None,
    share: Annotated[float | None, typer.Option()] = None,
    balance_moment: LengthOption = None,
    rough: options.RoughCoordinateOptions,
    samples: options.SamplesOption = 361,
    output: Annotated[Path | None, options.OUTPUT_OPTION] = None,
    plot: PictureOption = None,
    plot_centers: PictureOption = None,
    plot_curve: PictureOption = None,
    plot_shaking: PictureOption = None,
) -> CommandOutcome:
    """Analyse a planar linkage: Grashof class, range, ratios, transmission, centres, shaking.

    Parameters
    ----------
    position
        Coordinates of the position whose instant centres are found; default: as assembled.
    input
        The input coordinate; default: the independent one, or a crank on ground.
    output_link
        The output link, a body; default: the last link on ground.
    over
        Sweep the input over a part of its range: 0:90deg.
    point
        A frame, or a point of a body (coupler=1.5,0.4), whose coupler curve is found.
    rate
        Constant rate of the input for the shaking force, rad/s or m/s.
    balance
        Balance the shaking force by counterweights at this distance from their pins.
    share
        With --balance: use a single counterweight, on the crank of a slider-crank, for this share
        of the reciprocating mass.
    balance_moment
        With --balance: balance the shaking moment too, by disks of this radius on links, and by
        counter-rotors that gears turn against links.
    samples
        Number of equally spaced positions.
    output
        Save the motion over the input: .nc, .csv or .parquet; with --balance, the balanced
        mechanism: .toml.
    plot
        Plot ratios, mechanical advantage and transmission angle.
    plot_centers
        Draw the instant centres.
    plot_curve
        Draw the coupler curve of --point.
    plot_shaking
        Plot shaking force and moment.

    Examples
    --------
    linkwright linkage four-bar --point coupler=1.5,1 --plot-curve curve.svg
    linkwright linkage slider-crank theta1=60deg --rate 100 --plot ratios.svg
    linkwright linkage four-bar --balance 0.5 -o balanced.toml
    linkwright linkage four-bar --balance 0.5 --balance-moment 0.5 --plot-shaking shaking.svg
    """
    _check_linkage_options(point, plot_curve, balance, share, balance_moment, output)
    with show_command_progress(f"analysing {mechanism.name}"):
        choice = LinkageChoice(mechanism, input, over, rough, samples)
        found = LinkageFindings.find(choice, output_link, dict(position) or None, rate)
        if point is not None:
            found = replace(found, curve=choice.coupler_curve(point))
        if balance is not None:
            found = replace(found, balance=choice.balance(balance, share, rate, balance_moment))
    if output is not None:
        found.save(output)
    files = PictureFiles(plot, plot_centers, plot_curve, plot_shaking)
    with show_command_progress(f"drawing {mechanism.name}"):
        drawn = found.draw(files)
    data = found.to_json() | {"file": str(output or ""), "pictures": drawn}
    lines = found.lines() + ([f"pictures: {', '.join(drawn)}"] if drawn else [])
    return CommandOutcome(data, lambda: print("\n".join(lines)))


def _check_linkage_options(
    point: PointOption,
    plot_curve: Path | None,
    balance: float | None,
    share: float | None,
    balance_moment: float | None,
    output: Path | None,
) -> None:
    """Refuses options that need others, and files that cannot be written."""
    if plot_curve is not None and point is None:
        raise LinkwrightError("--plot-curve needs a point", remedy="add --point coupler=1.5,0.4")
    if share is not None and balance is None:
        raise LinkwrightError("--share needs --balance", remedy="add --balance 0.1")
    if balance_moment is not None and (balance is None or share is not None):
        raise LinkwrightError(
            "--balance-moment needs --balance without --share",
            remedy="add --balance 0.1: the force is balanced first",
        )
    if balance is None:
        check_run_output_option(output)
    else:
        check_output_option(output, ".toml")
