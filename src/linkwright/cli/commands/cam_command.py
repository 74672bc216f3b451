"""`linkwright cam`: the motion of a follower from a table, and the profile of its cam."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    check_output_option,
    show_command_progress,
)

if TYPE_CHECKING:
    from ...linkages import CamMotion, CamProfile

FOLLOWERS = ("roller", "flat", "swinging")
PictureOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE"),
    options.output_file_conversion(*options.PICTURE_ENDINGS),
]


LengthOption = Annotated[
    float | None,
    typer.Option(metavar="LENGTH"),
    options.LENGTH_CONVERSION,
]


@register_command("Motion")
def cam(
    table: Annotated[Path, typer.Argument(metavar="TABLE")],
    *,
    follower: Annotated[str, typer.Option(metavar="KIND")] = "roller",
    base_radius: LengthOption = None,
    roller_radius: LengthOption = None,
    offset: LengthOption = None,
    arm: LengthOption = None,
    distance: LengthOption = None,
    rate: Annotated[float, typer.Option(metavar="RATE"), options.RATE_CONVERSION] = 1.0,
    degree: int = 5,
    samples: Annotated[int, typer.Option()] = 721,
    coordinate: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    output: Annotated[
        Path | None,
        options.OUTPUT_OPTION,
        options.OptionConversion(Path | None, lambda path, _: check_output_option(path, ".csv")),
    ] = None,
    plot: PictureOption = None,
    plot_profile: PictureOption = None,
) -> CommandOutcome:
    """Compute the motion of a cam's follower from a table, and the profile of the cam.

    Parameters
    ----------
    table
        A CSV file: cam angles over one turn, and lifts, or angles of a swinging follower. A heading
        gives the units: angle (deg), lift (mm).
    follower
        The follower: roller, flat or swinging.
    base_radius
        Radius of the base circle, 30mm: needed for the profile.
    roller_radius
        Radius of the roller; default: a point.
    offset
        Distance of the line of a roller follower from the cam's axis.
    arm
        Length of a swinging follower.
    distance
        Distance of a swinging follower's pin from the cam's axis.
    rate
        Speed of the cam, rad/s: velocities and accelerations are those at this speed.
    degree
        Degree of the spline: 5, or 3.
    samples
        Number of points of the profile over a turn.
    coordinate
        Print the motion as an expression of this coordinate, for mechanism files.
    output
        Save angle, lift, its rates, and the profile: .csv.
    plot
        Plot lift, velocity, acceleration and jerk over the angle.
    plot_profile
        Draw the profile, and plot the pressure angle.

    Examples
    --------
    linkwright cam lift.csv --base-radius 30mm --roller-radius 10mm --plot-profile cam.svg
    linkwright cam lift.csv --follower flat --base-radius 25mm --rate 100 -o profile.csv
    linkwright cam lift.csv --coordinate phi --plot motion.svg
    """
    from ...linkages.cam_findings import CamFindings
    from ...linkages.cam_motions import cam_motion
    from ...linkages.cam_tables import read_cam_table

    if base_radius is None and plot_profile is not None:
        raise LinkwrightError("--plot-profile needs a base circle", remedy="add --base-radius 30mm")
    read = read_cam_table(table)
    try:
        motion = cam_motion(read.angles, read.values, degree)
    except LinkwrightError as error:
        raise error.within(str(table)) from None
    sizes = {
        "--roller-radius": roller_radius,
        "--offset": offset,
        "--arm": arm,
        "--distance": distance,
    }
    profile = None
    if base_radius is not None:
        _check_follower(follower, sizes, swings=read.swings)
        given = {k.strip("-").replace("-", "_"): x for k, x in sizes.items() if x is not None}
        profile = _make_profile(motion, follower, base_radius, given, samples)
    found = CamFindings(motion, profile, rate, read.swings)
    if output is not None:
        found.save(output)
    with show_command_progress(f"drawing {table.name}"):
        drawn = [str(path) for path in (plot, plot_profile) if path is not None]
        if plot is not None:
            motion.plot(plot, rate=rate, unit=found.unit)
        if profile is not None and plot_profile is not None:
            profile.plot(plot_profile)
    expression = None if coordinate is None else motion.expression(coordinate)
    data = found.to_json() | {"file": str(output or ""), "pictures": drawn}
    lines = [*found.lines(), *([expression] if expression else [])]
    lines += [f"pictures: {', '.join(drawn)}"] if drawn else []
    failure = None
    if profile is not None and profile.is_undercut:
        failure = CheckFailedError(
            "the cam is undercut: it cannot give this motion; use a larger base circle or a "
            "smaller roller"
        )
    if expression is not None:
        data["expression"] = expression
    return CommandOutcome(data, lambda: print("\n".join(lines)), failure=failure)


def _check_follower(follower: str, sizes: dict[str, float | None], *, swings: bool) -> None:
    """Raise where a kind of follower is unknown, or its numbers are missing or another's."""
    belongs = {
        "roller": {"--roller-radius", "--offset"},
        "flat": set[str](),
        "swinging": {"--roller-radius", "--arm", "--distance"},
    }
    if follower not in belongs:
        raise LinkwrightError(
            f"'{follower}' is not a follower", remedy=f"use {', '.join(FOLLOWERS)}"
        )
    for key, value in sizes.items():
        if value is not None and key not in belongs[follower]:
            raise LinkwrightError(f"a {follower} follower has no {key}", remedy="leave it out")
    if follower == "swinging" and (sizes["--arm"] is None or sizes["--distance"] is None):
        raise LinkwrightError(
            "a swinging follower needs its arm and the distance of its pin",
            remedy="add --arm 60mm --distance 80mm",
        )
    if swings != (follower == "swinging"):
        what = "angles" if swings else "lengths"
        other = "--follower swinging" if swings else "the heading angle (deg), lift (deg)"
        raise LinkwrightError(
            f"the table has {what} as lifts, not those of a {follower} follower",
            remedy=f"use {other}",
        )


def _make_profile(
    motion: CamMotion, follower: str, base_radius: float, given: dict[str, float], samples: int
) -> CamProfile:
    """Return the profile for a kind of follower."""
    from ...linkages import flat_cam, roller_cam, swinging_cam

    if follower == "flat":
        return flat_cam(motion, base_radius, samples=samples)
    if follower == "swinging":
        arm, distance = given["arm"], given["distance"]
        roller = given.get("roller_radius", 0.0)
        return swinging_cam(motion, base_radius, arm, distance, roller, samples=samples)
    return roller_cam(
        motion,
        base_radius,
        given.get("roller_radius", 0.0),
        given.get("offset", 0.0),
        samples=samples,
    )
