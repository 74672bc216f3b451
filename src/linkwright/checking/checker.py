"""`check`: reads the equations, says what their names mean, proves them, or finds what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from ..errors import ExpressionError, LinkwrightError
from ..expressions.tokens import shorten_expression_text
from ..mechanism import Mechanism, require_mechanism
from .approximate_vocabulary import APPROXIMATE_HEADING, ApproximateCheckerVocabulary
from .check_report import DEFINITION, UNREADABLE, CheckReport, Finding
from .checked_section import CheckedSection
from .declarations import WITHOUT_HEADING_PREFIX, TextDeclarations, mechanism_of_text_heading
from .equation_sources import order_findings_of_section, read_equation_source
from .formulation_vocabulary import FORMULATIONS_WITH_NAMES, FormulationCheckerVocabulary
from .name_inference import infer_symbol_names
from .printed_sets import LATEX_HEADING_SUFFIX, formulation_of_heading
from .statement_reader import Statement
from .vocabulary import CheckerVocabulary


def check(
    mechanism: Mechanism, equations: object, *, names: Mapping[str, str] | None = None
) -> CheckReport:
    """Check your own equations against those of the mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that the equations describe.
    equations : str, Path or SymPy expressions
        Text or LaTeX, the path of a file with it, or SymPy expressions: one, a list, or a mapping
        of left sides.
    names : mapping of str to str, optional
        The meanings of symbols, as names or expressions of the mechanism: `{"theta1": "q1"}`.

    Returns
    -------
    CheckReport
        A verdict for each equation, with differences and repairs.

    Examples
    --------
    >>> import linkwright as lw
    >>> report = lw.check(lw.gallery("elbow"), "phi2 = m2*lc2*g*sin(q1 + q2)")
    >>> report[0].repairs[0].what
    'sin(q1 + q2) is cos'
    """
    return check_with_vocabularies({}, mechanism, equations, names or {})


def _require_symbol_name_mapping(names: object) -> None:
    if not isinstance(names, Mapping) or not all(
        isinstance(x, str) for pair in names.items() for x in pair
    ):
        raise ExpressionError(
            f"names={shorten_expression_text(repr(names))} is not a mapping of text to text",
            remedy='write names={"theta1": "q1"}',
        )


def _heading_kind(heading: str) -> str:
    """What a heading says about the names below it; empty if nothing."""
    by = formulation_of_heading(heading)
    if APPROXIMATE_HEADING in (by, heading.partition(",")[0]):
        return APPROXIMATE_HEADING
    is_written = by in FORMULATIONS_WITH_NAMES or (by and heading.endswith(LATEX_HEADING_SUFFIX))
    return heading if is_written or heading.startswith(WITHOUT_HEADING_PREFIX) else ""


def _vocabulary_of_heading(
    mechanism: Mechanism, declared: TextDeclarations, kind: str
) -> CheckerVocabulary:
    """The names below a heading of this kind."""
    if kind == APPROXIMATE_HEADING:
        return ApproximateCheckerVocabulary(mechanism, declared)
    if by := formulation_of_heading(kind):
        is_latex = kind.endswith(LATEX_HEADING_SUFFIX)
        return FormulationCheckerVocabulary(mechanism, declared, by, is_latex=is_latex)
    return CheckerVocabulary(mechanism_of_text_heading(mechanism, kind), declared)


def check_with_vocabularies(
    shared: dict[str, CheckerVocabulary],
    mechanism: Mechanism,
    equations: object,
    names: Mapping[str, str],
) -> CheckReport:
    """Check equations with vocabularies by heading, which several texts share; a text that
    declares frames gets its own."""
    lines, own = read_equation_source(equations, require_mechanism(mechanism))
    _require_symbol_name_mapping(names)
    said = {**own.given_names, **names}
    vocabularies = {} if own.frames or own.composed_frames or own.particle_masses else shared
    findings: list[Finding] = []
    inferred: dict[str, str] = {}
    errors: list[LinkwrightError] = []
    notes = []
    for name, group in groupby(lines, key=lambda line: line.section):
        members = list(group)
        readable = [line for line in members if isinstance(line, Statement)]
        if not readable:
            findings += order_findings_of_section(members, [], [])
            continue
        kind = _heading_kind(name)
        if kind not in vocabularies:
            vocabularies[kind] = _vocabulary_of_heading(mechanism, own, kind)
        section = CheckedSection(vocabularies[kind], readable, dict(said))
        section.adopt_generalized_speeds()
        origins = section.split_dual_statements()
        section.given_names |= infer_symbol_names(section)
        section.set_aside_meaningless()
        parts = [replace(finding, section=name) for finding in section.judge_all_statements()]
        findings += order_findings_of_section(
            members, origins, section.merge_dual_findings(parts, origins)
        )
        errors += section.errors
        inferred |= section.inferred_names()
        notes += [*section.name_collisions(), section.determined_accelerations_note()]
    if errors and all(finding.status in (UNREADABLE, DEFINITION) for finding in findings):
        raise errors[0]
    return CheckReport(
        mechanism.name, tuple(findings), inferred, " ".join(n for n in dict.fromkeys(notes) if n)
    )
