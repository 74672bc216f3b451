"""The equations of a checked text with what their names mean, to be compared with others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from ..errors import ExpressionError, LinkwrightError
from ..expressions import Expression, Name, parse
from .declarations import NOTHING, WITHOUT, Declarations
from .meaning import Meanings
from .points import Setting
from .prover import Pair
from .reading import Line
from .report import DEFINITION, EQUIVALENT, IDENTICAL, Finding, Report
from .superabundant import HEADING
from .vocabulary import Vocabulary

RIGHT = (IDENTICAL, EQUIVALENT)


@dataclass(frozen=True)
class Claim:
    """An equation with what its names mean."""

    finding: Finding
    pair: Pair
    meanings: Meanings

    @property
    def is_right(self) -> bool:
        return self.finding.status in RIGHT

    @property
    def names(self) -> list[str]:
        """The names of ours that it needs; none where a symbol has no meaning."""
        try:
            return self.meanings.wanted(self.pair)
        except LinkwrightError:
            return []

    @property
    def subject(self) -> str:
        """The name of ours that it is about, where one of its sides is a single name."""
        for side in self.pair:
            while isinstance(side, Name):
                meaning = self.meanings.find(side.name)
                if meaning is None or isinstance(meaning, str):
                    return meaning or ""
                side = meaning
        return ""


@dataclass(frozen=True)
class Claims:
    """The equations of a text, in the vocabulary of the mechanism."""

    claims: tuple[Claim, ...]
    setting: Setting = field(default_factory=Setting)

    @property
    def right(self) -> list[Claim]:
        return [claim for claim in self.claims if claim.is_right]

    @property
    def wrong(self) -> list[Claim]:
        """Those that are wrong, undecided, or have symbols without a meaning."""
        return [claim for claim in self.claims if not claim.is_right]


def claims_of(
    vocabulary: Vocabulary,
    report: Report,
    said: Mapping[str, str] | None = None,
    own: Declarations = NOTHING,
) -> Claims:
    """The equations of a checked text; those with frames of its own or other headings are left
    out, since their names mean something else."""
    found: list[Claim] = []
    if own.frames or own.composed or own.masses:
        return Claims(())
    known = {**own.names, **(said or {}), **report.names}
    for section, group in groupby(report, key=lambda x: x.section):
        if section.partition(",")[0] == HEADING or section.startswith(WITHOUT):
            continue
        pairs = [(x, read_pair(x.equation)) for x in group]
        lines = [_line(x, pair) for x, pair in pairs if pair is not None]
        try:
            meanings = Meanings(vocabulary, lines, known)
        except LinkwrightError:
            continue
        found += [
            Claim(finding, pair, meanings)
            for finding, pair in pairs
            if pair is not None and finding.status != DEFINITION and not finding.is_said_wrong
        ]
    return Claims(tuple(found), _setting(vocabulary, report))


def _line(finding: Finding, pair: Pair) -> Line:
    is_definition = finding.status == DEFINITION
    if is_definition and not isinstance(pair[0], Name):
        pair = (pair[1], pair[0])
    return Line(finding.number, *pair, finding.equation, finding.section, is_definition)


def read_pair(equation: str) -> Pair | None:
    """Both sides of an equation in our notation; None for what is not one."""
    left, equals, right = equation.partition(" = ")
    try:
        return (parse(left), parse(right)) if equals else None
    except ExpressionError:
        return None


def _setting(vocabulary: Vocabulary, report: Report) -> Setting:
    """What the right equations of a text assume: values of parameters, drives that are zero."""
    bound: dict[str, Expression] = {}
    silent = set()
    for finding in report:
        for part in finding.under.split(", ") if finding.under else ():
            pair = read_pair(part)
            if pair is None or not isinstance(pair[0], Name):
                continue
            name = pair[0].name
            if name in vocabulary.parameters:
                bound[name] = pair[1]
            else:
                silent.add(name)
    return Setting(bound, frozenset(silent))
