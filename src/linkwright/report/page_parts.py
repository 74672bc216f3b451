"""The parts of the page as data; each is made in a process of its own, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from ..comparison import Comparison
from ..comparison.formulation_comparison import measure_comparison
from ..expressions import expression_text
from ..expressions.tree import names_in_expression as names_in
from ..forms.quantity_typesetting import (
    TypesetQuantity,
    typeset_quantity,
    typesettable_functions,
)
from ..formulations import FORMULATIONS, derive
from ..formulations.approximate_penalties import mechanism_with_penalties
from ..linkages.bearing_loads import BearingForces
from ..live import LiveScene
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
from .live_section import make_page_scene
from .mechanism_facts import page_symbol_meaning
from .motion_starts import PageMotionStart
from .page_findings import (
    PageModes,
    PageRanges,
    find_page_bearings,
    find_page_modes,
    find_page_ranges,
)
from .shown_motion import LeftOutPagePart, PageMotion, compute_page_motion, page_part_or_reason

MAX_OPEN_LATEX, MAX_FUNCTION_TEXT, MAX_FUNCTION_MARKUP = 6_000, 20_000, 400_000
"""Characters of a function's LaTeX that are shown at once, of its text that stand on the page at
all, and of its markup."""
NO_MARKUP = Markup()
MAX_COMPARED_SECONDS = 0.1
"""Seconds of motion by which formulations are compared, at most: stiff ones take long."""
BUDGETS_PER_FORMULATION = 10.0
"""How often the time of one formulation in the comparison fits into the budget."""
BUDGETS_PER_COMPARISON = 5.0
"""How often the time of all formulations fits into the budget, if the user did not name them: those
that cost most come last, and are left out of the page of a large mechanism."""
COSTLY_FORMULATIONS = ("influence", "newton_euler", "approximate")
"""Formulations whose code takes longest to compile, or whose motions are stiff."""

Made = TypeVar("Made")


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


StageReport = Callable[[str, float | None], None]
"""Told the name of a stage when it begins, and again with its seconds when it has ended."""


def ignore_page_stages(stage: str, seconds: float | None) -> None:
    """Report stages to nobody."""


@dataclass(frozen=True)
class PageParts:
    """The parts of a page that are being made; each ends as the part, or as the reason why it is
    left out. Parts that a mechanism does not have end as None."""

    equations: Future[PageEquations | LeftOutPagePart]
    checks: Future[VerificationReport | LeftOutPagePart]
    motion: Future[PageMotion | LeftOutPagePart]
    comparison: Future[Comparison | LeftOutPagePart]
    live: Future[LiveScene | LeftOutPagePart]
    ranges: Future[PageRanges | LeftOutPagePart]
    bearings: Future[BearingForces | LeftOutPagePart | None]
    modes: Future[PageModes | LeftOutPagePart | None]


@contextmanager
def begin_page_parts(
    mechanism: Mechanism,
    start: PageMotionStart,
    budget: float,
    by: Sequence[str] | None,
    report: StageReport = ignore_page_stages,
) -> Iterator[PageParts]:
    """Begins to make all parts, two at a time; each may take `budget` seconds, the later ones less.
    An error inside ends all of them."""
    with (
        clear_worker_cancellation(),
        ThreadPoolExecutor(1) as first,
        ThreadPoolExecutor(1) as second,
        TimedWorkerProcess() as one,
        TimedWorkerProcess() as other,
        cancel_workers_on_error(),
    ):
        for worker in (one, other):
            worker.start_as_copy()
        queue = _PartQueue(first, one, budget, report)
        side = _PartQueue(second, other, budget, report)
        motion = queue.submit("motion", lambda: compute_page_motion(one, mechanism, start, budget))
        yield PageParts(
            motion=motion,
            live=queue.submit(
                "live mechanism",
                lambda: one.call_within(
                    make_page_scene, mechanism, motion.result(), by, seconds=budget
                ),
            ),
            equations=queue.call("equations", 1.0, write_page_equations, mechanism, by),
            ranges=queue.call("ranges", 0.25, find_page_ranges, mechanism),
            bearings=queue.call("bearing forces", 0.25, find_page_bearings, mechanism),
            modes=queue.call("modes", 0.15, find_page_modes, mechanism),
            checks=side.call("verification", 1.0, verify, mechanism),
            comparison=side.submit(
                "formulations",
                lambda: _compare_page_formulations(
                    other, mechanism, by, page_comparison_seconds(start), budget, report
                ),
            ),
        )


@dataclass(frozen=True)
class _PartQueue:
    """A thread that asks one worker process for parts, one after the other."""

    thread: ThreadPoolExecutor
    worker: TimedWorkerProcess
    budget: float
    report: StageReport

    def submit(self, stage: str, make: Callable[[], Made]) -> Future[Made | LeftOutPagePart]:
        """Queues a part; its stage is reported when it begins and ends."""

        def work() -> Made | LeftOutPagePart:
            self.report(stage, None)
            begin = time.monotonic()
            found = page_part_or_reason(make)
            self.report(stage, time.monotonic() - begin)
            return found

        return self.thread.submit(work)

    def call(
        self, stage: str, share: float, function: Callable[..., Made], *arguments: object
    ) -> Future[Made | LeftOutPagePart]:
        """Queues a call in the worker process, which may take a share of the budget."""
        seconds = share * self.budget
        return self.submit(
            stage, lambda: self.worker.call_within(function, *arguments, seconds=seconds)
        )


def page_comparison_seconds(start: PageMotionStart) -> float:
    """The duration of the motion by which formulations are compared, s."""
    return min(start.seconds, MAX_COMPARED_SECONDS)


def page_comparison_budget(budget: float) -> float:
    """Seconds that one formulation may take in the comparison of a page with this budget."""
    return budget / BUDGETS_PER_FORMULATION


def _compare_page_formulations(
    worker: TimedWorkerProcess,
    mechanism: Mechanism,
    by: Sequence[str] | None,
    duration: float,
    budget: float,
    report: StageReport,
) -> Comparison:
    """Compares formulations within the budget for all of them together; the slowest kinds come
    last, so that they take nothing from the others."""
    cheap = [name for name in by or FORMULATIONS if name not in COSTLY_FORMULATIONS]
    names = cheap + [name for name in COSTLY_FORMULATIONS if name in (by or FORMULATIONS)]
    smooth = mechanism_with_penalties(mechanism.without("friction"), names)
    return measure_comparison(
        worker,
        smooth,
        names,
        duration,
        page_comparison_budget(budget),
        budget if by else budget / BUDGETS_PER_COMPARISON,
        report=lambda name: report(f"formulations: {name}", None),
    )


def write_page_equations(mechanism: Mechanism, by: Sequence[str] | None) -> PageEquations:
    """The equations by the formulations that are asked for, each in its own form; else the
    functions of the general equation of motion."""
    if not by:
        return write_page_functions(mechanism)
    return tuple(write_page_equation_set(mechanism, name) for name in by)


def write_page_equation_set(mechanism: Mechanism, by: str, steps: bool = False) -> PageEquationSet:
    """The equations of one formulation in its own form; with `steps` its derivation line by line,
    if it has one."""
    equations = derive(mechanism, by=by)
    found = equations.equation_set(steps=steps and equations.derivation_steps is not None)
    sections = []
    for section in found.sections:
        source, markup = section.source, page_section_html(section)
        title = f"{source.title} {source.reference}".strip()
        kept = markup if len(markup) <= MAX_FUNCTION_MARKUP else None
        sections.append((title, source.law, section.note, kept))
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
