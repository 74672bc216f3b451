"""The parts of the page as data; each is made in a process of its own, within a time budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ..comparison import Comparison, compare
from ..expressions import expression_text
from ..expressions.tree import names_in_expression as names_in
from ..forms.quantity_typesetting import (
    TypesetQuantity,
    typeset_quantity,
    typesettable_functions,
)
from ..formulations import derive
from ..mechanism import Mechanism
from ..processes.timed_worker import (
    TimedWorkerProcess,
    cancel_workers_on_error,
    clear_worker_cancellation,
)
from ..verification import verify
from ..verification.verification_report import VerificationReport
from ..written_equations import equation_of_motion_functions
from .formula_markup import (
    is_zero_page_formula,
    page_formula_html,
    page_section_html,
    page_symbol_rows,
)
from .mechanism_facts import page_symbol_meaning
from .motion_starts import PageMotionStart
from .shown_motion import LeftOutPagePart, PageMotion, compute_page_motion, page_part_or_reason

MAX_OPEN_LATEX, MAX_FUNCTION_TEXT, MAX_FUNCTION_MARKUP = 6_000, 20_000, 400_000
"""Characters of a function's LaTeX that are shown at once, of its text that stand on the page at
all, and of its markup."""
NO_MARKUP = Markup()
MAX_COMPARED_SECONDS = 1.0
"""Seconds of motion by which formulations are compared, at most."""


@dataclass(frozen=True)
class PageFunction:
    """One function of the equations as markup and LaTeX; only its size if it is too long."""

    name: str
    description: str
    size_text: str
    markup: Markup = NO_MARKUP
    latex: str = ""
    is_long: bool = False
    is_zero: bool = False
    symbols: tuple[tuple[str, float, str], ...] = ()
    """Parameters that occur, their values, and what they are where the file does not name them."""


@dataclass(frozen=True)
class PageEquationSet:
    """The equations of a formulation in its own form: sections with their markup, and LaTeX."""

    by: str
    title: str
    counts: str
    sections: tuple[tuple[str, str, str, Markup | None], ...]
    """Titles with references, laws, notes and formulas; None for formulas that are too long."""
    latex: str
    symbols: tuple[tuple[Markup, Markup], ...]


PageEquations = tuple[PageFunction, ...] | tuple[PageEquationSet, ...]
"""The functions M, C, g, … of the general equation, or formulations in their own forms."""


@dataclass(frozen=True)
class PageParts:
    """The parts of a page, or the reasons why they are left out."""

    equations: PageEquations | LeftOutPagePart
    checks: VerificationReport | LeftOutPagePart
    motion: PageMotion | LeftOutPagePart
    comparison: Comparison | LeftOutPagePart


def make_page_parts(
    mechanism: Mechanism, start: PageMotionStart, budget: float, by: Sequence[str] | None
) -> PageParts:
    """Makes all parts, two at a time; each may take `budget` seconds."""
    with (
        clear_worker_cancellation(),
        ThreadPoolExecutor(2) as pool,
        TimedWorkerProcess() as one,
        TimedWorkerProcess() as other,
    ):
        first = pool.submit(
            lambda: (
                compute_page_motion(one, mechanism, start, budget),
                page_part_or_reason(
                    lambda: one.call_within(write_page_equations, mechanism, by, seconds=budget)
                ),
            )
        )
        second = pool.submit(
            lambda: (
                page_part_or_reason(lambda: other.call_within(verify, mechanism, seconds=budget)),
                page_part_or_reason(
                    lambda: _compare_within_page_budget(
                        mechanism, by, page_comparison_seconds(start), budget
                    )
                ),
            )
        )
        with cancel_workers_on_error():
            (motion, equations), (checks, comparison) = first.result(), second.result()
    return PageParts(equations, checks, motion, comparison)


def page_comparison_seconds(start: PageMotionStart) -> float:
    """The duration of the motion by which formulations are compared, s."""
    return min(start.seconds, MAX_COMPARED_SECONDS)


def _compare_within_page_budget(
    mechanism: Mechanism, by: Sequence[str] | None, duration: float, budget: float
) -> Comparison:
    """Compares formulations within twice the budget, s."""
    return compare(mechanism, by, duration, budget=budget / 2, total=2 * budget)


def write_page_equations(mechanism: Mechanism, by: Sequence[str] | None) -> PageEquations:
    """The equations by the formulations that are asked for, each in its own form; else the
    functions of the general equation of motion."""
    if not by:
        return write_page_functions(mechanism)
    return tuple(_write_page_equation_set(mechanism, name) for name in by)


def _write_page_equation_set(mechanism: Mechanism, by: str) -> PageEquationSet:
    """The equations of one formulation in its own form."""
    found = derive(mechanism, by=by).equation_set()
    sections = []
    for section in found.sections:
        source, markup = section.source, page_section_html(section)
        title = f"{source.title} {source.reference}".strip()
        kept = markup if len(markup) <= MAX_FUNCTION_MARKUP else None
        sections.append((title, source.law, source.note, kept))
    return PageEquationSet(
        by,
        found.source.title,
        found.source.counts.text(),
        tuple(sections),
        found.latex(),
        tuple(page_symbol_rows(found)),
    )


def write_page_functions(mechanism: Mechanism) -> tuple[PageFunction, ...]:
    """The functions of the equation of motion, in closed form or with abbreviations, whichever is
    shorter; without markup if both are too long."""
    equations = derive(mechanism)
    return tuple(
        _write_page_function(
            mechanism,
            equations.parameters,
            typeset_quantity(equations, name, page=MAX_FUNCTION_TEXT),
        )
        for name in equation_of_motion_functions(equations.names, typesettable_functions(equations))
    )


def _write_page_function(
    mechanism: Mechanism, parameters: Mapping[str, Any], sheet: TypesetQuantity
) -> PageFunction:
    """One typeset function of the equations with its parameters."""
    size = sheet.size if sheet.is_closed else _page_abbreviation_note(sheet)
    short = sheet.is_closed or _page_formula_characters(sheet) <= MAX_FUNCTION_TEXT
    markup = page_formula_html(sheet) if short else NO_MARKUP
    if not 0 < len(markup) <= MAX_FUNCTION_MARKUP:
        return PageFunction(sheet.name, sheet.what, f"{sheet.operations} operations")
    latex = sheet.latex()
    return PageFunction(
        sheet.name,
        sheet.what,
        size,
        markup,
        latex,
        len(latex) > MAX_OPEN_LATEX,
        is_zero_page_formula(sheet),
        _page_symbols_in_sheet(mechanism, parameters, sheet),
    )


def _page_abbreviation_note(sheet: TypesetQuantity) -> str:
    """The size of a function that is written with abbreviations."""
    many = len(sheet.steps)
    names = f"{sheet.steps[0][0]} to {sheet.steps[-1][0]}" if many > 1 else "one"
    return f"{sheet.operations} operations, with {many} abbreviations, {names}"


def _page_formula_characters(sheet: TypesetQuantity) -> int:
    """The length of a typeset function as text."""
    return sum(len(expression_text(value)) for _, value in (*sheet.steps, *sheet.rows))


def _page_symbols_in_sheet(
    mechanism: Mechanism, parameters: Mapping[str, Any], sheet: TypesetQuantity
) -> tuple[tuple[str, float, str], ...]:
    """The parameters in a typeset function: name, value and meaning, in their own order."""
    values = [value for _, value in (*sheet.steps, *sheet.rows)]
    there = frozenset[str]().union(*map(names_in, values))
    return tuple(
        (
            name,
            float(value),
            "" if name in mechanism.parameters else page_symbol_meaning(name, mechanism),
        )
        for name, value in parameters.items()
        if name in there
    )
