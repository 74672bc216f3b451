"""`linkwright compare`: formulations on one mechanism, or against the number of links."""

from __future__ import annotations

import re
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import CommandOutcome, show_command_progress

if TYPE_CHECKING:
    from ...comparison import Comparison, CostScaling


@register_command("Equations")
def compare(
    mechanism: options.OptionalMechanism,
    *,
    by: options.FormulationsOption,
    links: Annotated[str | None, typer.Option(metavar="NUMBERS")] = None,
    time: options.DurationOption = 1.0,
    step: Annotated[float | None, typer.Option(metavar="SECONDS"), options.SECONDS_CONVERSION],
    integrator: str = "rk4",
    beta: options.BetaOption = None,
    gamma: options.GammaOption = None,
    iterations: options.IterationsOption = None,
    budget: Annotated[float, typer.Option(metavar="SECONDS")] = 60.0,
    output: Annotated[
        list[Path],
        options.OUTPUT_OPTION,
        options.output_files_conversion(".md", ".csv", *options.PICTURE_ENDINGS),
    ],
) -> CommandOutcome:
    """Compare formulations: sizes, operations, times, and how far they disagree.

    The times are those to derive, to evaluate, and to integrate to the same accuracy, or with the
    same fixed steps.

    Parameters
    ----------
    links
        Instead of FILE: cost against the number of links of planar chains, 2-30 (a dozen sizes) or
        2,4,8 (these).
    time
        Duration of the motion to integrate.
    step
        Length of fixed steps, the same for all formulations: 1e-3, 2ms.
    integrator
        The method of fixed steps: rk4, heun or euler.
    budget
        Time after which a formulation is stopped.
    output
        A .md, .csv, .svg, .pdf or .png file; may be repeated.

    Examples
    --------
    linkwright compare elbow --by lagrange,hamilton,newton_euler
    linkwright compare triple-pendulum --step 1ms
    linkwright compare --links 2-30 -o compare.md -o compare.svg
    """
    from ... import comparison

    if (mechanism is None) == (links is None):
        raise LinkwrightError(
            "compare needs a FILE or --links, and not both", remedy="give one of them"
        )
    for option, value in (("--time", time), ("--budget", budget)):
        if not 0 < value < 1e6:
            raise LinkwrightError(
                f"{option} {value:g} is not a duration", remedy="give seconds above 0"
            )
    found: Comparison | CostScaling
    if mechanism is not None:
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
    return CommandOutcome(asdict(found), lambda: print(found))


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
