"""The equations of a checked text with what their names mean, to be compared with others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby

from ..errors import ExpressionError, LinkwrightError
from ..expressions import Expression, Name, parse_expression
from .approximate_vocabulary import APPROXIMATE_HEADING
from .check_report import DEFINITION, EQUIVALENT, IDENTICAL, CheckReport, Finding
from .declarations import NO_DECLARATIONS, WITHOUT_HEADING_PREFIX, TextDeclarations
from .motion_sampler import CheckAssumptions
from .prover import EquationSides
from .statement_reader import Statement
from .symbol_meanings import SymbolMeanings
from .vocabulary import CheckerVocabulary

RIGHT_VERDICTS = (IDENTICAL, EQUIVALENT)


@dataclass(frozen=True)
class Claim:
    """An equation with what its names mean."""

    finding: Finding
    sides: EquationSides
    meanings: SymbolMeanings

    @property
    def is_right(self) -> bool:
        """Whether the equation is identical or equivalent to the mechanism's."""
        return self.finding.status in RIGHT_VERDICTS

    @property
    def needed_names(self) -> list[str]:
        """The names of ours that it needs; none where a symbol has no meaning."""
        try:
            return self.meanings.needed_names(self.sides)
        except LinkwrightError:
            return []

    @property
    def subject_name(self) -> str:
        """The name of ours that it is about, where one of its sides is a single name."""
        for side in self.sides:
            while isinstance(side, Name):
                meaning = self.meanings.find_meaning(side.name)
                if meaning is None or isinstance(meaning, str):
                    return meaning or ""
                side = meaning
        return ""


@dataclass(frozen=True)
class ClaimSet:
    """The equations of a text, in the vocabulary of the mechanism."""

    claims: tuple[Claim, ...]
    assumptions: CheckAssumptions = field(default_factory=CheckAssumptions)

    @property
    def right_claims(self) -> list[Claim]:
        """The claims of the text that are right."""
        return [claim for claim in self.claims if claim.is_right]

    @property
    def wrong_claims(self) -> list[Claim]:
        """The claims that are wrong, undecided, or have symbols without a meaning."""
        return [claim for claim in self.claims if not claim.is_right]


def collect_claims(
    vocabulary: CheckerVocabulary,
    report: CheckReport,
    said: Mapping[str, str] | None = None,
    own: TextDeclarations = NO_DECLARATIONS,
) -> ClaimSet:
    """The equations of a checked text; those with frames of its own or other headings are left
    out, since their names mean something else."""
    found: list[Claim] = []
    if own.frames or own.composed_frames or own.particle_masses:
        return ClaimSet(())
    known = {**own.given_names, **(said or {}), **report.names}
    for section, group in groupby(report, key=lambda x: x.section):
        if section.partition(",")[0] == APPROXIMATE_HEADING or section.startswith(
            WITHOUT_HEADING_PREFIX
        ):
            continue
        pairs = [(x, read_equation_sides(x.equation)) for x in group]
        lines = [_statement_of_finding(x, pair) for x, pair in pairs if pair is not None]
        try:
            meanings = SymbolMeanings(vocabulary, lines, known)
        except LinkwrightError:
            continue
        found += [
            Claim(finding, pair, meanings)
            for finding, pair in pairs
            if pair is not None and finding.status != DEFINITION and not finding.is_said_wrong
        ]
    return ClaimSet(tuple(found), _assumptions_of_report(vocabulary, report))


def _statement_of_finding(finding: Finding, pair: EquationSides) -> Statement:
    is_definition = finding.status == DEFINITION
    if is_definition and not isinstance(pair[0], Name):
        pair = (pair[1], pair[0])
    return Statement(finding.number, *pair, finding.equation, finding.section, is_definition)


def read_equation_sides(equation: str) -> EquationSides | None:
    """Both sides of an equation in our notation; None for what is not one."""
    left, equals, right = equation.partition(" = ")
    try:
        return (parse_expression(left), parse_expression(right)) if equals else None
    except ExpressionError:
        return None


def _assumptions_of_report(vocabulary: CheckerVocabulary, report: CheckReport) -> CheckAssumptions:
    """The assumptions of a text's right equations: values of parameters, zero actuator efforts."""
    bound: dict[str, Expression] = {}
    silent = set()
    for finding in report:
        for part in finding.under.split(", ") if finding.under else ():
            pair = read_equation_sides(part)
            if pair is None or not isinstance(pair[0], Name):
                continue
            name = pair[0].name
            if name in vocabulary.parameters:
                bound[name] = pair[1]
            else:
                silent.add(name)
    return CheckAssumptions(bound, frozenset(silent))
