"""`check`: reads the equations, says what their names mean, proves them, or finds what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from ..errors import ExpressionError, LinkwrightError
from ..expressions.tokens import shorten
from ..mechanism import Mechanism, require_mechanism
from .declarations import WITHOUT, without
from .inference import inferred_names
from .reading import Line
from .report import DEFINITION, UNREADABLE, Finding, Report
from .section import Section
from .sources import in_order, read
from .superabundant import HEADING, Superabundant
from .vocabulary import Vocabulary


def check(
    mechanism: Mechanism, equations: object, *, names: Mapping[str, str] | None = None
) -> Report:
    """Checks people's own equations against the mechanism's.

    `equations` is text or LaTeX, the path of a file with it, or SymPy expressions (one, a list, or
    a mapping of left sides). `names` says which of their symbols is which of ours, or which
    expression of ours: `{"theta1": "q1"}`.

        >>> import linkwright as lw
        >>> report = lw.check(lw.gallery("elbow"), "phi2 = m2*lc2*g*sin(q1 + q2)")
        >>> report[0].repairs[0].what
        'sin(q1 + q2) is cos'
    """
    return check_with({}, mechanism, equations, names or {})


def _require_names(names: object) -> None:
    if not isinstance(names, Mapping) or not all(
        isinstance(x, str) for pair in names.items() for x in pair
    ):
        raise ExpressionError(
            f"names={shorten(repr(names))} is no mapping of text to text",
            remedy='write names={"theta1": "q1"}',
        )


def check_with(
    shared: dict[str, Vocabulary], mechanism: Mechanism, equations: object, names: Mapping[str, str]
) -> Report:
    """`check` with derivations by heading, which texts share; one that has frames has its own."""
    lines, own = read(equations, require_mechanism(mechanism))
    _require_names(names)
    said = {**own.names, **names}
    vocabularies = {} if own.frames or own.composed or own.masses else shared
    findings: list[Finding] = []
    inferred: dict[str, str] = {}
    errors: list[LinkwrightError] = []
    notes = []
    for name, group in groupby(lines, key=lambda line: line.section):
        members = list(group)
        readable = [line for line in members if isinstance(line, Line)]
        if not readable:
            findings += in_order(members, [], [])
            continue
        kind = HEADING if name.partition(",")[0] == HEADING else name
        kind = kind if kind == HEADING or name.startswith(WITHOUT) else ""
        if kind not in vocabularies:
            words = Superabundant if kind == HEADING else Vocabulary
            vocabularies[kind] = words(without(mechanism, kind), own)
        section = Section(vocabularies[kind], readable, dict(said))
        origins = section.split()
        section.said |= inferred_names(section)
        section.set_aside()
        parts = [replace(finding, section=name) for finding in section.all_findings()]
        findings += in_order(members, origins, section.merged(parts, origins))
        errors += section.errors
        inferred |= section.inferred()
        notes += [*section.collisions(), section.note()]
    if errors and all(finding.status in (UNREADABLE, DEFINITION) for finding in findings):
        raise errors[0]
    return Report(
        mechanism.name, tuple(findings), inferred, " ".join(n for n in dict.fromkeys(notes) if n)
    )
