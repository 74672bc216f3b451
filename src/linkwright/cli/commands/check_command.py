"""`linkwright check`: equations that people wrote, one text or a folder of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import ExpressionError, LinkwrightError
from .. import options
from ..command import register_command
from ..command_output import CheckFailedError, CommandOutcome, print_console_table
from ..mechanism_argument import ReadingOptions, read_mechanism_argument
from .homework_check import check_command_form, mark_folder_command

if TYPE_CHECKING:
    from ...checking import CheckReport

MAX_EQUATION_WIDTH = 60


def read_names_option(text: str | None) -> dict[str, str]:
    """Read which symbol of a text is which of ours: theta1=q1,theta2=q2."""
    from ...expressions.tokens import shorten_expression_text

    names = {}
    for part in text.split(",") if text else []:
        theirs, sign, ours = (piece.strip() for piece in part.partition("="))
        if not (theirs and sign and ours):
            raise LinkwrightError(
                f"--names has '{shorten_expression_text(part)}'",
                remedy="write --names theta1=q1,theta2=q2",
            )
        names[theirs] = ours
    return names


@register_command("Equations")
def check(
    *,
    file: Annotated[str, typer.Argument(metavar="FILE|FOLDER")],
    equations: Annotated[str | None, typer.Argument(metavar="EQUATIONS")] = None,
    mechanism: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    solution: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    names: Annotated[
        dict[str, str],
        typer.Option(metavar="THEIRS=OURS,…"),
        options.OptionConversion(str | None, lambda text, _: read_names_option(text)),
    ],
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE"), options.output_file_conversion(".csv")
    ],
    output: Annotated[Path | None, options.OUTPUT_OPTION, options.output_file_conversion(".html")],
    base: options.BaseOption,
    closure: options.ClosureOption,
) -> CommandOutcome:
    """Check your own equations: prove each one right, or report what is wrong with it.

    With --mechanism, check every text of a folder and print a table of marks.

    Parameters
    ----------
    file
        A mechanism file or gallery name; or a folder of texts.
    equations
        A file with equations, as text or LaTeX.
    mechanism
        Check a folder of texts (.txt, .tex, .md) against this mechanism.
    solution
        With --mechanism: a file with the equations that are asked for.
    names
        What symbols of the equations mean: theta1=q1,theta2=q2.
    csv
        With --mechanism: a file for the table of marks.
    output
        With --mechanism: a page (.html) with all verdicts.

    Examples
    --------
    linkwright check elbow equations.tex --names theta1=q1,theta2=q2
    linkwright check homework --mechanism elbow --solution solution.txt -o marks.html
    """
    from ... import checking

    folder_options = {"--solution": solution, "--csv": csv, "--output": output}
    check_command_form(file, equations, mechanism, folder_options)
    if mechanism is not None:
        arm = read_mechanism_argument(mechanism, ReadingOptions(base, closure))
        return mark_folder_command(arm, file, solution, names, csv, output)
    arm = read_mechanism_argument(file, ReadingOptions(base, closure))
    report = checking.check(arm, Path(equations or ""), names=names)
    return CommandOutcome(
        report.as_json(),
        lambda: _print_check_report(report),
        failure=_check_command_failure(report),
    )


def _check_command_failure(report: CheckReport) -> LinkwrightError | None:
    """Return status 2 for equations that cannot be read, 1 for wrong ones."""
    from ...checking.check_report import UNREADABLE

    unreadable = [finding.number for finding in report if finding.status == UNREADABLE]
    wrong = [finding.number for finding in report if not finding.is_right]
    if unreadable:
        return ExpressionError(f"cannot be read: {_printed_equation_numbers(unreadable)}")
    if wrong:
        return CheckFailedError(f"wrong or undecided: {_printed_equation_numbers(wrong)}")
    if not report.passed:
        return CheckFailedError("nothing was checked: the text has definitions only")
    return None


def _printed_equation_numbers(numbers: Sequence[str]) -> str:
    """Lists the first ten numbers of equations."""
    return ", ".join(dict.fromkeys(numbers[:10])) + (", …" if len(numbers) > 10 else "")


def _print_check_report(report: CheckReport) -> None:
    """Prints the verdict on each equation, and the meanings of symbols."""
    from ...checking.check_report import DEFINITION
    from ...expressions.tokens import shorten_expression_text

    rows = [
        (
            finding.number,
            shorten_expression_text(finding.equation, MAX_EQUATION_WIDTH),
            finding.sentence(),
        )
        for finding in report
        if finding.status != DEFINITION or finding.note
    ]
    print_console_table(["number", "equation", "verdict"], rows)
    for theirs, ours in report.names.items():
        print(f"{theirs} is taken for {ours}")
    if report.note:
        print(report.note)
