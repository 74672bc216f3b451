"""What the page says, as data: each part is made in a process of its own, within a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..comparison import Comparison, compare
from ..comparison.bounded import Worker, cancelling, not_cancelled
from ..expressions import to_text
from ..expressions.tree import names as names_in
from ..forms.sheet import Sheet, sheet_of, usual_functions
from ..formulations import derive
from ..mechanism import Mechanism
from ..verification import verify
from ..verification.report import Report
from .description import meaning
from .formulas import formulas, is_zero
from .motions import LeftOut, Moved, kept, moved
from .starts import Start

LONG, MOST, MOST_MARKUP = 6_000, 20_000, 400_000
"""Characters of a function's LaTeX that are shown at once, of its text that stand on the page at
all, and of its markup."""
NO_MARKUP = Markup()
COMPARED = 1.0
"""Seconds of motion by which formulations are compared, at most."""


@dataclass(frozen=True)
class Written:
    """One function of the equations; nothing but its size where it is too long."""

    name: str
    what: str
    size: str
    markup: Markup = NO_MARKUP
    latex: str = ""
    is_long: bool = False
    is_zero: bool = False
    symbols: tuple[tuple[str, float, str], ...] = ()
    """Parameters that occur, their values, and what they are where the file does not name them."""


@dataclass(frozen=True)
class Parts:
    equations: tuple[Written, ...] | LeftOut
    checks: Report | LeftOut
    motion: Moved | LeftOut
    comparison: Comparison | LeftOut


def made(mechanism: Mechanism, start: Start, budget: float, by: Sequence[str] | None) -> Parts:
    """All parts, two at a time; one part may take `budget` seconds."""
    with not_cancelled(), ThreadPoolExecutor(2) as pool, Worker() as one, Worker() as other:
        first = pool.submit(
            lambda: (
                moved(one, mechanism, start, budget),
                kept(lambda: one.call(written_out, mechanism, seconds=budget)),
            )
        )
        second = pool.submit(
            lambda: (
                kept(lambda: other.call(verify, mechanism, seconds=budget)),
                kept(lambda: _compared(mechanism, by, compared_seconds(start), budget)),
            )
        )
        with cancelling():
            (motion, equations), (checks, comparison) = first.result(), second.result()
    return Parts(equations, checks, motion, comparison)


def compared_seconds(start: Start) -> float:
    return min(start.seconds, COMPARED)


def _compared(
    mechanism: Mechanism, by: Sequence[str] | None, duration: float, budget: float
) -> Comparison:
    return compare(mechanism, by, duration, budget=budget / 2, total=2 * budget)


def written_out(mechanism: Mechanism) -> tuple[Written, ...]:
    """The functions of the equation of motion: in closed form, or with abbreviations where that is
    shorter, but those that are too long both ways."""
    equations = derive(mechanism)
    return tuple(
        _written(mechanism, equations.parameters, sheet_of(equations, name, page=MOST))
        for name in usual_functions(equations)
    )


def _written(mechanism: Mechanism, parameters: Mapping[str, Any], sheet: Sheet) -> Written:
    size = sheet.size if sheet.is_closed else _abbreviated(sheet)
    short = sheet.is_closed or _characters(sheet) <= MOST
    markup = formulas(sheet) if short else NO_MARKUP
    if not 0 < len(markup) <= MOST_MARKUP:
        return Written(sheet.name, sheet.what, f"{sheet.operations} operations")
    latex = sheet.latex()
    return Written(
        sheet.name, sheet.what, size, markup, latex, len(latex) > LONG, is_zero(sheet),
        _used(mechanism, parameters, sheet),
    )  # fmt: skip


def _abbreviated(sheet: Sheet) -> str:
    many = len(sheet.steps)
    names = f"{sheet.steps[0][0]} to {sheet.steps[-1][0]}" if many > 1 else "one"
    return f"{sheet.operations} operations, with {many} abbreviations, {names}"


def _characters(sheet: Sheet) -> int:
    return sum(len(to_text(value)) for _, value in (*sheet.steps, *sheet.rows))


def _used(
    mechanism: Mechanism, parameters: Mapping[str, Any], sheet: Sheet
) -> tuple[tuple[str, float, str], ...]:
    """The parameters in the rows of a sheet, in their own order."""
    values = [value for _, value in (*sheet.steps, *sheet.rows)]
    there = frozenset[str]().union(*map(names_in, values))
    return tuple(
        (name, float(value), "" if name in mechanism.parameters else meaning(name))
        for name, value in parameters.items()
        if name in there
    )
