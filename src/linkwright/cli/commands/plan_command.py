"""`linkwright plan`: target → joints → trajectory → torques, or a path of the tool → torques."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import ExpressionError, LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import (
    CheckFailedError,
    CommandOutcome,
    print_console_table,
    show_command_progress,
    write_command_output,
)
from ..option_texts import option_configuration

if TYPE_CHECKING:
    from ...motion import MotionPlan
    from ...types import Floats


def read_target_option(text: str, sizes: tuple[int, ...] = (2, 3, 7)) -> list[float]:
    """Read a point X,Y or X,Y,Z; or, if seven numbers are allowed, a point and a quaternion."""
    from ...expressions import expression_to_float, parse_expression

    try:
        numbers = [expression_to_float(parse_expression(part)) for part in text.split(",")]
    except ExpressionError:
        raise LinkwrightError(f"'{text}' is not a list of numbers", remedy="give X,Y,Z") from None
    if len(numbers) in sizes:
        return numbers
    if 7 not in sizes:
        raise LinkwrightError(f"'{text}' is not a point", remedy="give X,Y,Z")
    raise LinkwrightError(
        f"'{text}' is not a target", remedy="give X,Y or X,Y,Z, or X,Y,Z and a quaternion"
    )


def read_point_option(text: str) -> list[float]:
    """Read a point X,Y,Z, or X,Y in the plane z = 0."""
    return [*read_target_option(text, (2, 3)), 0.0][:3]


TARGET_CONVERSION = options.OptionConversion(
    list[str] | None, lambda texts, _: [read_target_option(text) for text in texts or []]
)
POINT_CONVERSION = options.OptionConversion(
    str | None, lambda text, _: None if text is None else read_point_option(text)
)


@register_command("Motion")
def plan(
    mechanism: options.MechanismFile,
    *,
    start: options.CoordinateArguments,
    to: Annotated[list[list[float]], typer.Option(metavar="X,Y,Z"), TARGET_CONVERSION],
    frame: str | None = None,
    time: options.OptionalDurationOption = None,
    line: Annotated[list[float] | None, typer.Option(metavar="X,Y,Z"), POINT_CONVERSION],
    arc: Annotated[list[float] | None, typer.Option(metavar="X,Y,Z"), POINT_CONVERSION],
    acceleration: float | None = None,
    speed: float | None = None,
    hold: bool = False,
    posture: Annotated[
        dict[str, float],
        typer.Option(metavar=options.NAMED_VALUE_METAVAR),
        options.COORDINATE_CONVERSION,
    ],
    samples: options.SamplesOption = 301,
    output: Annotated[
        list[Path],
        options.OUTPUT_OPTION,
        options.output_files_conversion(".csv", ".npz", *options.PICTURE_ENDINGS),
    ],
) -> CommandOutcome:
    """Plan a motion: joint positions for a target, a trajectory, and its torques.

    The exit status is 1 if the motion exceeds the mechanism's limits.

    Parameters
    ----------
    to
        Target X,Y,Z or X,Y, or with a quaternion X,Y,Z,W,X,Y,Z; if repeated, one after another.
    frame
        Frame or body to move; default: 'tool', or the only frame.
    time
        Duration; default: as fast as the limits allow.
    line
        Move the frame on a straight line by this vector instead.
    arc
        Move the frame on an arc through this point to that of --to.
    acceleration
        Acceleration of the frame on a line or arc, m/s²; default: 1.
    speed
        Largest speed of the frame, m/s, with a stop at the end; default: accelerate to the end.
    hold
        Keep the rotation of the frame on a line or arc.
    posture
        Preferred value of a joint that the target leaves free: q3=90deg.
    samples
        Number of rows of the result.
    output
        A .csv, .npz, .svg, .pdf or .png file; may be repeated.

    Examples
    --------
    linkwright plan chain-6 --to 1,2 --time 60 -o plan.csv -o plan.png
    linkwright plan elbow q2=90deg --line 0.2,0.3,0 --acceleration 2
    """
    from ... import motion
    from ...motion.frame_targets import choose_moved_frame

    moved, q = choose_moved_frame(mechanism, frame), option_configuration(mechanism, start)
    with show_command_progress(f"planning a motion of {mechanism.name}"):
        if line is None and arc is None:
            _check_target_options(to, speed, acceleration)
            rest = option_configuration(mechanism, posture) if posture else None
            found = motion.plan_to(
                mechanism, moved, to, time, start=q, posture=rest, samples=samples
            )
        else:
            if time is not None or posture:
                raise LinkwrightError(
                    "--time and --posture do not apply to tool paths",
                    remedy="give --acceleration, --speed",
                )
            points = _path_points_of_options(line, arc, to)
            law = _path_law_of_options(speed, 1.0 if acceleration is None else acceleration)
            path: Any = motion.line if line is not None else motion.arc
            trajectory = path(mechanism, moved, q, *points, law, hold_rotation=hold)
            found = motion.planned(mechanism, moved, trajectory, samples)
        for file in output:
            write_command_output(file, found.bytes_as(file.suffix.lower()))
    return _plan_command_outcome(found, output)


def _check_target_options(
    targets: list[list[float]], speed: float | None, acceleration: float | None
) -> None:
    """Refuse options of tool paths, and a plan without a target."""
    for name, value in (("speed", speed), ("acceleration", acceleration)):
        if value is not None:
            raise LinkwrightError(
                f"--{name} applies to --line and --arc only", remedy="give --time"
            )
    if not targets:
        raise LinkwrightError("nothing to do", remedy="give --to X,Y,Z or --line X,Y,Z")


def _path_points_of_options(
    line: list[float] | None, arc: list[float] | None, targets: list[list[float]]
) -> list[list[float]]:
    """Return the vector of a line, or the points of an arc after its start."""
    if line is not None:
        if arc is not None or targets:
            raise LinkwrightError(
                "--line excludes other targets", remedy="give --arc VIA --to END for an arc"
            )
        return [line]
    if arc is None or len(targets) != 1 or len(targets[0]) > 3:
        raise LinkwrightError("an arc has one end", remedy="give --to X,Y,Z once")
    return [arc, [*targets[0], 0.0][:3]]


def _path_law_of_options(speed: float | None, acceleration: float) -> Callable[[float], Any]:
    """Return the motion along a path of given length: constant acceleration, or up to a speed and
    down to rest."""
    from ...motion import accelerated, trapezoid

    if speed is None:
        return lambda length: accelerated(length, acceleration)
    return lambda length: trapezoid([0.0], [length], speed, acceleration)


def _plan_command_outcome(plan: MotionPlan, files: list[Path]) -> CommandOutcome:
    """Returns the outcome of a plan: a failure if it exceeds limits."""
    from ...motion.timing import peak_rates_and_efforts

    tops = peak_rates_and_efforts(plan.mechanism, plan.trajectory)
    failure = None
    if plan.exceeded:
        failure = CheckFailedError(
            "; ".join(plan.exceeded),
            where=plan.mechanism.name,
            remedy="take more time, or another path",
        )
    data = {
        "frame": plan.frame,
        "duration": plan.trajectory.duration,
        "start": plan.q[0].tolist(),
        "goal": plan.q[-1].tolist(),
        "point": plan.point[-1].tolist(),
        "largest_velocities": tops[0].tolist(),
        "largest_accelerations": tops[1].tolist(),
        "largest_efforts": tops[2].tolist(),
        "exceeded": list(plan.exceeded),
        "files": [str(path) for path in files],
    }
    return CommandOutcome(data, lambda: _print_plan_summary(plan, tops, files), failure=failure)


def _print_plan_summary(
    plan: MotionPlan, tops: tuple[Floats, Floats, Floats], files: list[Path]
) -> None:
    """Prints start, goal and the largest rates and efforts of each joint."""
    from ...mechanism import mechanism_names
    from ...motion.coordinate_units import trajectory_number_text, trajectory_units

    point = ", ".join(f"{x:.6g}" for x in plan.point[-1].round(12) + 0.0)
    print(f"{plan.frame} to ({point}) m in {plan.trajectory.duration:.6g} s")
    columns = (plan.q[0], plan.q[-1], *tops)
    rows = [
        [
            name,
            *(
                trajectory_number_text(round(x, 12) + 0.0, u)
                for x, u in zip(
                    row, (unit.coordinate, *unit.of_position_rates_and_effort), strict=True
                )
            ),
        ]
        for name, unit, *row in zip(
            mechanism_names(plan.mechanism).qd,
            trajectory_units(plan.mechanism),
            *columns,
            strict=True,
        )
    ]
    print_console_table(["", "start", "goal", "largest velocity", "acceleration", "effort"], rows)
    for path in files:
        print(f"written: {path}")
