"""`linkwright check`: a table of verdicts, equation by equation."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..checking import Report, check
from ..checking.report import DEFINITION, UNREADABLE
from ..errors import ExpressionError, LinkwrightError
from ..expressions.tokens import shorten
from ..mechanism import Mechanism
from .show import CheckFailedError, emit_json, print_table

WIDTH = 60


def run(mechanism: Mechanism, equations: str, names: str, as_json: bool) -> None:
    """Prints the report; status 1 where an equation is not what it is said to be, 2 where one
    cannot be read."""
    report = check(mechanism, Path(equations), names=read_names(names))
    if as_json:
        emit_json(report.as_json())
    else:
        print_report(report)
    unreadable = [finding.number for finding in report if finding.status == UNREADABLE]
    if unreadable:
        raise ExpressionError(f"cannot be read: {listed_numbers(unreadable)}")
    wrong = [finding.number for finding in report if not finding.is_right]
    if wrong:
        raise CheckFailedError(f"not as they should be: {listed_numbers(wrong)}")
    if not report.passed:
        raise CheckFailedError("nothing was checked: the text has definitions only")


def listed_numbers(numbers: Sequence[str]) -> str:
    """The first ten of them."""
    return ", ".join(dict.fromkeys(numbers[:10])) + (", …" if len(numbers) > 10 else "")


def read_names(text: str) -> dict[str, str]:
    """theta1=q1,theta2=q2"""
    found = {}
    for part in text.split(",") if text else []:
        theirs, sign, ours = (piece.strip() for piece in part.partition("="))
        if not (theirs and sign and ours):
            raise LinkwrightError(
                f"--names has '{shorten(part)}'", remedy="write --names theta1=q1,theta2=q2"
            )
        found[theirs] = ours
    return found


def print_report(report: Report) -> None:
    rows = [
        (finding.number, shorten(finding.equation, WIDTH), finding.sentence())
        for finding in report
        if finding.status != DEFINITION or finding.note
    ]
    print_table(["number", "equation", "verdict"], rows)
    for theirs, ours in report.names.items():
        print(f"{theirs} is taken for {ours}")
    if report.note:
        print(report.note)
