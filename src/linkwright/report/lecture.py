"""The derivation of a mechanism's equations as a page to hand out: line by line, with a picture and
the meaning of every symbol."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from .. import __version__
from ..errors import UnsupportedError
from ..formulations import formulation_names
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.gallery_files import gallery_headline
from ..processes.timed_worker import TimedWorkerProcess
from .mechanism_facts import mechanism_page_facts
from .motion_starts import page_shows_gallery_mechanism
from .page_parts import PageEquationSet, StageReport, ignore_page_stages, write_page_equation_set
from .page_sections import mechanism_section
from .rendering import render_template
from .report_page import page_file_words, page_html_document
from .shown_motion import LeftOutPagePart, page_part_or_reason

DEFAULT_LECTURE_FORMULATIONS = ("lagrange",)


def lecture_page(
    mechanism: Mechanism,
    file: str | None = None,
    *,
    by: str | Sequence[str] | None = None,
    budget: float = 20.0,
    base: str | None = None,
    closure: float | None = None,
    progress: StageReport = ignore_page_stages,
) -> str:
    """Return the derivation of a mechanism's equations, line by line, as HTML to hand out.

    Formulations that cannot print their derivation show their equations in their own form, with
    the law of each section.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    file : str, optional
        The file that it was read from, or its gallery name; for the command on the page.
    by : str or sequence of str, optional
        Formulations, one after the other (default: "lagrange").
    budget : float
        Time that each formulation may take, s; one that needs more is left out with a note.
    base, closure : str and float, optional
        The options `--base` and `--closure` with which the file was read; for the command.
    progress : function, optional
        As for `page`.

    Returns
    -------
    str
        HTML that needs no network and no other file.

    Examples
    --------
    >>> import linkwright as lw
    >>> text = lw.report.lecture_page(lw.gallery("elbow"), "elbow")
    >>> "<title>elbow" in text
    True
    """
    if mechanism_names(mechanism).nv == 0:
        raise UnsupportedError(
            f"{mechanism.name} cannot move: it has no degrees of freedom",
            remedy="add a joint, or unlock one",
        )
    names = formulation_names(by, DEFAULT_LECTURE_FORMULATIONS)
    words = page_file_words(mechanism, file, base, closure)
    with TimedWorkerProcess() as worker:
        parts = [(one, _lecture_part(worker, mechanism, one, budget, progress)) for one in names]
    info = mechanism_page_facts(mechanism)
    body = render_template(
        "lecture.html",
        name=mechanism.name,
        about=gallery_headline(mechanism.name) if page_shows_gallery_mechanism(mechanism) else "",
        mechanism=mechanism_section(mechanism, info),
        forms=[one for _, one in parts if isinstance(one, PageEquationSet)],
        missing=[(name, one.reason) for name, one in parts if isinstance(one, LeftOutPagePart)],
        file=words,
        chosen=f" --by {','.join(names)}" if by else "",
        version=__version__,
        when=datetime.now(UTC).strftime("%Y-%m-%d"),
    )
    return page_html_document(f"{mechanism.name}: derivation", body)


def _lecture_part(
    worker: TimedWorkerProcess,
    mechanism: Mechanism,
    by: str,
    budget: float,
    progress: StageReport,
) -> PageEquationSet | LeftOutPagePart:
    """The derivation by one formulation, or the reason why it is left out."""
    progress(f"derivation by {by}", None)
    before = worker.spent_seconds
    found = page_part_or_reason(
        lambda: worker.call_within(write_page_equation_set, mechanism, by, True, seconds=budget)
    )
    progress(f"derivation by {by}", worker.spent_seconds - before)
    return found
