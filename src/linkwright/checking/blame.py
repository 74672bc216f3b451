"""Findings in the words of the text: wrong definitions are blamed themselves, and no name of the
checker's own is left."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .reading import Line
from .repair import COINCIDENCES, Corrected, corrected_definitions, definitions_used, equation_text
from .report import DEFINITION, DIFFERS, IDENTICAL, Finding, Repair
from .trial import Budget, Trial

if TYPE_CHECKING:
    from .section import Section

IN_DEFINITION = "in the definition of "
_INTERNAL = (
    (re.compile(r"partial@\w+@\d+@(\w+)"), r"the partial derivative of \1"),
    (re.compile(r"rate@(\w+)"), r"the rate of \1"),
    (re.compile(r"(\w+)@[xyz]?[rd]\b"), r"\1"),
    (re.compile(r"mass_center_of_body_(\d+)"), r"the centre of mass of body \1"),
    (re.compile(r"\bnumber (-?\d+(?:/\d+)?)"), r"\1"),
)
"""Derivatives, parts of dual vectors, frames at centres of mass, exact numbers among symbols."""


def in_the_texts_words(finding: Finding) -> Finding:
    """The finding without names that the checker made for itself."""
    return replace(
        finding,
        equation=text_without_internals(finding.equation),
        note=text_without_internals(finding.note),
        difference=text_without_internals(finding.difference),
        repairs=tuple(
            Repair(x.kind, text_without_internals(x.what), text_without_internals(x.equation))
            for x in finding.repairs
        ),
    )


def text_without_internals(text: str) -> str:
    for pattern, word in _INTERNAL:
        text = pattern.sub(word, text)
    return text


def blame_definitions(
    section: Section, findings: Sequence[Finding], lines: Sequence[Line]
) -> list[Finding]:
    """Where one corrected token of a definition makes all equations right that use it, and fail,
    the definition differs, and they need no repair of their own."""
    found = list(findings)
    origins = section.origins or section.lines
    where = {id(line): i for i, line in enumerate(lines)}
    places = {name: where[id(origins[i])] for i, name in section.meanings.defining.items()}
    budget = Budget()
    for name, users in _failing_users(section, findings, lines).items():
        at = places.get(name)
        if at is None or found[at].status != DEFINITION:
            continue
        if len(users) == 1 and _likely_repairs(found[users[0]]):
            continue
        trials = [Trial(section, (lines[i].left, lines[i].right)) for i in users]
        trials[0].budget = budget
        blamed = _corrected_for_all(section, name, trials, found, lines)
        if blamed is None or not _is_likelier(blamed, [found[i] for i in users]):
            continue
        repair = Repair(blamed.kind, blamed.what, equation_text(blamed.pair))
        found[at] = replace(found[at], status=DIFFERS, repairs=(repair,))
        for i in users:
            note = f"right with {equation_text(blamed.pair)}, the corrected definition"
            found[i] = replace(found[i], repairs=(), note=note)
    return found


def _failing_users(
    section: Section, findings: Sequence[Finding], lines: Sequence[Line]
) -> dict[str, list[int]]:
    """The equations that differ, by the definitions that they use."""
    users: dict[str, list[int]] = {}
    for i, (finding, line) in enumerate(zip(findings, lines, strict=True)):
        if finding.status == DIFFERS and not finding.is_said_wrong:
            pair = (line.left, line.right)
            for name in definitions_used(Trial(section, pair), pair):
                users.setdefault(name, []).append(i)
    return users


def _corrected_for_all(
    section: Section,
    name: str,
    trials: Sequence[Trial],
    findings: Sequence[Finding],
    lines: Sequence[Line],
) -> Corrected | None:
    """A correction of the definition with which all equations hold that fail, and those that hold
    without it still do."""
    right = [
        trial
        for finding, line in zip(findings, lines, strict=True)
        if finding.status == IDENTICAL
        and name in definitions_used(trial := Trial(section, (line.left, line.right)), trial.pair)
    ]
    for prover in trials[0].provers:
        for one in corrected_definitions(trials[0], prover, name):
            with trials[0].redefined(name, one.pair[1]):
                if all(x.holds(prover, x.pair) for x in (*trials[1:], *right)):
                    return one
    return None


def _is_likelier(blamed: Corrected, users: Sequence[Finding]) -> bool:
    """One wrong definition rather than several wrong equations; of a single equation, a likely
    slip in the definition rather than an unlikely one in the equation."""
    return len(users) > 1 or not (users[0].repairs and blamed.kind in COINCIDENCES)


def _likely_repairs(finding: Finding) -> list[Repair]:
    """Repairs of the equation itself that are no coincidences."""
    own = [x for x in finding.repairs if not x.what.startswith(IN_DEFINITION)]
    return [x for x in own if x.kind not in COINCIDENCES]
