"""Findings in the words of the text: wrong definitions are blamed themselves, and no name of the
checker's own is left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .check_report import DEFINITION, DIFFERS, IDENTICAL, Finding, Repair
from .corrected_statements import COINCIDENTAL_MISPRINT_KINDS, CorrectedStatement, statement_text
from .repair import definitions_behind_sides, find_definition_corrections
from .repair_trial import RepairBudget, RepairTrial
from .statement_reader import Statement

if TYPE_CHECKING:
    from .checked_section import CheckedSection

DEFINITION_REPAIR_PREFIX = "in the definition of "
_INTERNAL_NAME_PATTERNS = (
    (re.compile(r"partial@\w+@\d+@(\w+)"), r"the partial derivative of \1"),
    (re.compile(r"rate@(\w+)"), r"the rate of \1"),
    (re.compile(r"(\w+)@[xyz]?[rd]\b"), r"\1"),
    (re.compile(r"mass_center_of_body_(\d+)"), r"the centre of mass of body \1"),
    (re.compile(r"\bnumber (-?\d+(?:/\d+)?)"), r"\1"),
)
"""Derivatives, parts of dual vectors, frames at centres of mass, exact numbers among symbols."""


def hide_checker_names(finding: Finding) -> Finding:
    """The finding without names that the checker made for itself."""
    return replace(
        finding,
        equation=replace_checker_names(finding.equation),
        note=replace_checker_names(finding.note),
        difference=replace_checker_names(finding.difference),
        repairs=tuple(
            Repair(x.kind, replace_checker_names(x.what), replace_checker_names(x.equation))
            for x in finding.repairs
        ),
    )


def replace_checker_names(text: str) -> str:
    """The text with names that the checker makes itself, such as rate@M11, in words."""
    for pattern, word in _INTERNAL_NAME_PATTERNS:
        text = pattern.sub(word, text)
    return text


def blame_definitions(
    section: CheckedSection, findings: Sequence[Finding], lines: Sequence[Statement]
) -> list[Finding]:
    """Where one corrected token of a definition makes all equations right that use it, and fail,
    the definition differs, and they need no repair of their own."""
    found = list(findings)
    origins = section.original_statements or section.statements
    where = {id(line): i for i, line in enumerate(lines)}
    places = {
        name: where[id(origins[i])] for i, name in section.meanings.defining_statements.items()
    }
    budget = RepairBudget()
    for name, users in _failing_statements_by_definition(section, findings, lines).items():
        at = places.get(name)
        if at is None or found[at].status != DEFINITION:
            continue
        if len(users) == 1 and _likely_repairs(found[users[0]]):
            continue
        trials = [RepairTrial(section, (lines[i].left, lines[i].right)) for i in users]
        trials[0].budget = budget
        blamed = _correct_definition_for_all(section, name, trials, found, lines)
        if blamed is None or not _is_definition_likelier(blamed, [found[i] for i in users]):
            continue
        repair = Repair(blamed.kind, blamed.what, statement_text(blamed.sides))
        found[at] = replace(found[at], status=DIFFERS, repairs=(repair,))
        for i in users:
            note = f"right with {statement_text(blamed.sides)}, the corrected definition"
            found[i] = replace(found[i], repairs=(), note=note)
    return found


def _failing_statements_by_definition(
    section: CheckedSection, findings: Sequence[Finding], lines: Sequence[Statement]
) -> dict[str, list[int]]:
    """The equations that differ, by the definitions that they use."""
    users: dict[str, list[int]] = {}
    for i, (finding, line) in enumerate(zip(findings, lines, strict=True)):
        if finding.status == DIFFERS and not finding.is_said_wrong:
            pair = (line.left, line.right)
            for name in definitions_behind_sides(RepairTrial(section, pair), pair):
                users.setdefault(name, []).append(i)
    return users


def _correct_definition_for_all(
    section: CheckedSection,
    name: str,
    trials: Sequence[RepairTrial],
    findings: Sequence[Finding],
    lines: Sequence[Statement],
) -> CorrectedStatement | None:
    """A correction of the definition with which all equations hold that fail, and those that hold
    without it still do."""
    right = [
        trial
        for finding, line in zip(findings, lines, strict=True)
        if finding.status == IDENTICAL
        and name
        in definitions_behind_sides(
            trial := RepairTrial(section, (line.left, line.right)), trial.sides
        )
    ]
    for prover in trials[0].provers:
        for one in find_definition_corrections(trials[0], prover, name):
            with trials[0].redefine_temporarily(name, one.sides[1]):
                if all(x.is_proved(prover, x.sides) for x in (*trials[1:], *right)):
                    return one
    return None


def _is_definition_likelier(blamed: CorrectedStatement, users: Sequence[Finding]) -> bool:
    """One wrong definition rather than several wrong equations; of a single equation, a likely
    slip in the definition rather than an unlikely one in the equation."""
    return len(users) > 1 or not (users[0].repairs and blamed.kind in COINCIDENTAL_MISPRINT_KINDS)


def _likely_repairs(finding: Finding) -> list[Repair]:
    """Repairs of the equation itself that are not coincidences."""
    own = [x for x in finding.repairs if not x.what.startswith(DEFINITION_REPAIR_PREFIX)]
    return [x for x in own if x.kind not in COINCIDENTAL_MISPRINT_KINDS]
