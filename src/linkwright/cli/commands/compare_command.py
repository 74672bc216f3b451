"""`linkwright compare`: formulations on one mechanism, or against the number of links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, show_command_progress
from .plan_command import TARGET_CONVERSION

if TYPE_CHECKING:
    from ...comparison import Comparison, CostScaling, TaskComparison
    from ...mechanism import Mechanism


@register_command("Equations")
def compare(
    mechanism: options.OptionalMechanism,
    *,
    others: options.OtherMechanisms,
    by: options.FormulationsOption,
    equations: bool = False,
    links: Annotated[str | None, typer.Option(metavar="NUMBERS")] = None,
    time: options.DurationOption = 1.0,
    step: Annotated[float | None, typer.Option(metavar="SECONDS"), options.SECONDS_CONVERSION],
    integrator: str = "rk4",
    beta: options.BetaOption = None,
    gamma: options.GammaOption = None,
    iterations: options.IterationsOption = None,
    budget: Annotated[float, typer.Option(metavar="SECONDS")] = 60.0,
    task: Annotated[list[list[float]], typer.Option(metavar="X,Y,Z"), TARGET_CONVERSION],
    frame: str | None = None,
    payload: float = 0.0,
    output: Annotated[
        list[Path],
        options.OUTPUT_OPTION,
        options.output_files_conversion(".md", ".csv", ".html", *options.PICTURE_ENDINGS),
    ],
) -> CommandOutcome:
    """Compare formulations of a mechanism, or mechanisms on a task.

    For formulations: sizes, operations, disagreement, and the times to derive, to evaluate and to
    integrate, to the same accuracy or with the same fixed steps. For mechanisms whose gripper moves
    through the points of --task: torques, velocities, energy and power.

    Parameters
    ----------
    equations
        Compare the equations themselves, each in the form of its formulation: counts, sizes of
        matrices, and all equations side by side (-o page.html).
    links
        Instead of FILE: cost against the number of links of planar chains, 2-30 (a dozen sizes) or
        2,4,8 (only these sizes).
    time
        Duration of the motion to integrate, or of the task.
    step
        Length of fixed steps, the same for all formulations: 1e-3, 2ms.
    integrator
        Integrator for fixed steps: rk4, heun or euler.
    budget
        Time after which a formulation is stopped.
    task
        A point of the gripper's path, X,Y or X,Y,Z; give at least two. The segments are straight,
        from rest to rest.
    frame
        The gripper of each mechanism; default: 'tool', or its only frame.
    payload
        Mass that the gripper carries, kg.
    output
        A .md, .csv, .svg, .pdf or .png file, with --equations an .html page; may be repeated.

    Examples
    --------
    linkwright compare elbow --by lagrange,hamilton,newton_euler
    linkwright compare triple-pendulum --step 1ms
    linkwright compare triple-pendulum --equations -o equations.html
    linkwright compare --links 2-30 -o compare.md -o compare.svg
    linkwright compare elbow remote-elbow --task 1.2,0.3 --task 1.2,0.8 --time 1 -o task.svg
    """
    from ... import comparison

    if bool(others) and not task:
        raise LinkwrightError(
            "several mechanisms can be compared only on a task",
            remedy="give the points of the gripper's path: --task X,Y,Z --task X,Y,Z",
        )
    if (mechanism is None) == (links is None):
        raise LinkwrightError(
            "compare needs a FILE or --links, and not both", remedy="give one of them"
        )
    for option, value in (("--time", time), ("--budget", budget)):
        if not 0 < value < 1e6:
            raise LinkwrightError(
                f"{option} {value:g} is not a duration", remedy="give seconds above 0"
            )
    if equations:
        if mechanism is None:
            raise LinkwrightError("--equations needs a FILE", remedy="name a mechanism")
        return _compare_command_equations(mechanism, by, output)
    found: Comparison | CostScaling | TaskComparison
    if mechanism is not None and task:
        arms = [mechanism, *others]
        found = comparison.compare_on_task(arms, task, time, frame=frame, payload=payload)
    elif mechanism is not None:
        with show_command_progress(f"comparing formulations of {mechanism.name}"):
            found = comparison.compare(
                mechanism,
                by,
                time,
                budget,
                step=step,
                integrator=integrator,
                beta=beta,
                gamma=gamma,
                iterations=iterations,
            )
    else:
        with show_command_progress("comparing formulations") as progress:
            found = comparison.measure_scaling(
                _read_links_option(links or ""), by, time, budget, progress
            )
    for path in output:
        found.save(path)
    return CommandOutcome(_comparison_data(found), lambda: print(found))


def _comparison_data(found: Comparison | CostScaling | TaskComparison) -> dict[str, object]:
    """Return the figures as plain data, without the motions of a task."""
    from ...comparison import TaskComparison

    if not isinstance(found, TaskComparison):
        return asdict(found)
    return asdict(replace(found, plans=())) | {"points": found.points.tolist()}


def _compare_command_equations(
    mechanism: Mechanism, by: Sequence[str] | None, output: Sequence[Path]
) -> CommandOutcome:
    """Print the equations of all formulations, or save them."""
    from ... import comparison

    with show_command_progress(f"writing the equations of {mechanism.name}"):
        found = comparison.compare_equations(mechanism, by)
    for path in output:
        found.save(path)
    shown = found.table().text() if output else str(found)
    return CommandOutcome(found.json(), lambda: print(shown))


def _read_links_option(text: str) -> list[int]:
    """Read numbers of links: 2-30, or 2,4,8."""
    from ...comparison.size_scaling import MAX_CHAIN_LINKS, compared_chain_sizes

    if re.fullmatch(r"\d{1,4}-\d{1,4}", text):
        first, last = map(int, text.split("-"))
        if 1 <= first < last <= MAX_CHAIN_LINKS:
            return compared_chain_sizes(first, last)
    elif re.fullmatch(r"\d{1,4}(,\d{1,4})*", text):
        found = list(map(int, text.split(",")))
        if min(found) >= 1 and max(found) <= MAX_CHAIN_LINKS:
            return found
    raise LinkwrightError(
        f"--links {text} is not a list of numbers of links",
        remedy=f"write 2-30 or 2,4,8, from 1 to {MAX_CHAIN_LINKS}",
    )
