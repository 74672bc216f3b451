"""Symbols of theirs without a meaning: the choice among ours that makes their equations right.

Each equation is judged alone: one that no choice makes right stops no other. Equations with the
fewest unknown symbols go first, and each choice for them that holds at one point is pursued; the
choice that makes the most equations right is taken, if there is one such choice only.

A name that differs from ours by its number or by capitals alone is only taken for one of these: l
is not lc2 where there are l1 and l2.

A family of ours that is numbered otherwise (m0, m1 for m1, m2) is renumbered as a whole, or not at
all: a single member that we do not have is a misprint.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from itertools import islice, permutations, product
from math import perm
from typing import TYPE_CHECKING

from ..errors import LinkwrightError
from ..expressions import names_in_expression
from .motion_sampler import CheckAssumptions
from .prover import EquationProver, EquationSides, StatementPointValues
from .statement_reader import Statement
from .stray_names import MAX_STRAY_CHOICES
from .symbol_meanings import SymbolMeanings

if TYPE_CHECKING:
    from .checked_section import CheckedSection

MAX_NAME_TRIALS = 6000
MAX_UNKNOWN_NAMES = 8
MAX_WRONG_EQUATIONS = 3
"""Equations that may stay wrong on the way to a choice."""
_RECURRENT_MATRIX_ENTRY, _RECURRENT_FORCE = re.compile(r"W_?(\d\d)"), re.compile(r"V_?(\d+)")
NameChoice = tuple[dict[str, str], int]
"""Names of theirs with names of ours, and how many equations are right with them."""


def infer_symbol_names(section: CheckedSection) -> dict[str, str]:
    """The meaning of unknown symbols, and of V1, V2, … in W q̈ = P + V; empty if there are none, or
    if it cannot be inferred."""
    recurrent = _recurrent_names(section)
    said = {**recurrent, **section.given_names}
    meanings = SymbolMeanings(section.vocabulary, section.statements, said)
    unknown = sorted(name for name in meanings.text_names if meanings.find_meaning(name) is None)
    own = section.vocabulary
    strange = {name for name in unknown if own.is_stray_name(name) or own.why_index_fails(name)}
    foreign = [name for name in unknown if name not in strange]
    found: dict[str, str] = {}
    if 0 < len(foreign) <= MAX_UNKNOWN_NAMES:
        found = _best_name_choice(_TextNameSearch(section, meanings, foreign).find_choices())
    if strange:
        found |= renumber_families(section, {**said, **found})
    found = {**recurrent, **found}
    section.guessed_names |= found
    return found


def _recurrent_names(section: CheckedSection) -> dict[str, str]:
    """W11 and V1 of Vukobratović and Potkonjak, W q̈ = P + V, where an equation has both: the mass
    matrix and −bias. Elsewhere V1 is the potential energy of a body."""
    own, found = section.vocabulary, dict[str, str]()
    for line in section.statements:
        used = names_in_expression(line.left) | names_in_expression(line.right)
        matrix, forces = (
            {name: match[1] for name in used if (match := pattern.fullmatch(name))}
            for pattern in (_RECURRENT_MATRIX_ENTRY, _RECURRENT_FORCE)
        )
        if matrix and forces:
            found |= {name: f"M{number}" for name, number in matrix.items()}
            found |= {name: f"-bias{number}" for name, number in forces.items()}
    return {
        name: ours
        for name, ours in found.items()
        if name not in section.given_names
        and name not in own.mechanism_symbols
        and ours.lstrip("-") in own
        and ours.lstrip("-") not in own.mechanism_symbols
    }


def _best_name_choice(choices: list[NameChoice]) -> dict[str, str]:
    """The one choice that makes the most equations right."""
    most = max((right for _, right in choices), default=0)
    best = [chosen for chosen, right in choices if right == most]
    return best[0] if most and all(chosen == best[0] for chosen in best) else {}


def renumber_families(section: CheckedSection, said: Mapping[str, str]) -> dict[str, str]:
    """The text's names of families that are ours with other numbers, if all their equations hold
    then.

    Families that have strange members are shifted by one, all their members together, and one of
    them at least is there as a whole; other families of parameters may be shifted with them.
    Where the strange members alone may be misprints of ours, nothing is renumbered.
    """
    for shift in (1, -1):
        strange: dict[str, str] = {}
        others: dict[str, str] = {}
        is_whole = False
        for family, ours in section.vocabulary.name_families.items():
            theirs = _family_numbers(section, family)
            moved = {name: f"{family}{number + shift}" for name, number in theirs.items()}
            if any(section.vocabulary.is_stray_name(name) for name in theirs):
                if not set(moved.values()) <= set(ours):
                    break
                is_whole |= len(moved) == len(ours) > 1
                strange |= moved
            elif set(moved.values()) <= set(ours) & set(section.vocabulary.parameters):
                others |= moved
        else:
            for found in (strange, strange | others):
                if is_whole and _are_all_proved(section, said, found):
                    return {} if _may_be_misprints(section, said, found) else found
    return {}


def _may_be_misprints(
    section: CheckedSection, said: Mapping[str, str], found: Mapping[str, str]
) -> bool:
    """Whether the equations are right as well if only names that we do not have are changed: then
    m0 + m1 for m1 + m2 has one wrong symbol, and no other numbers."""
    strays = [name for name in found if section.vocabulary.is_stray_name(name)]
    members = [section.vocabulary.family_members(name) for name in strays]
    return any(
        _are_all_proved(section, said, dict(zip(strays, chosen, strict=True)), found)
        for chosen in islice(product(*members), MAX_STRAY_CHOICES)
    )


def _are_all_proved(
    section: CheckedSection,
    said: Mapping[str, str],
    found: Mapping[str, str],
    concerned: Container[str] = (),
) -> bool:
    """Whether all equations that have one of these names, or of `concerned`, are right with
    them."""
    lines = [
        x
        for x in section.statements
        if any(
            name in found or name in concerned
            for name in names_in_expression(x.left) | names_in_expression(x.right)
        )
    ]
    pairs = [(x.left, x.right) for x in lines if not (x.is_definition or x.is_said_wrong)]
    try:
        meanings = SymbolMeanings(section.vocabulary, section.statements, {**said, **found})
        wanted = meanings.needed_names(side for pair in pairs for side in pair)
    except LinkwrightError:
        return False
    return all(
        proof.holds
        for proof in EquationProver(meanings, wanted, CheckAssumptions()).prove_statements(pairs)
    )


def _family_numbers(section: CheckedSection, family: str) -> dict[str, int]:
    """The text's names of a family, with their numbers."""
    used = set().union(
        *(names_in_expression(x.left) | names_in_expression(x.right) for x in section.statements)
    )
    pattern = re.compile(rf"{re.escape(family)}_?(\d+)")
    return {name: int(match[1]) for name in used if (match := pattern.fullmatch(name))}


class _TextNameSearch:
    """The search for our names in place of the unknown ones of a section."""

    def __init__(
        self, section: CheckedSection, meanings: SymbolMeanings, unknown: list[str]
    ) -> None:
        vocabulary = section.vocabulary
        own = vocabulary.names
        self.meanings = meanings
        self.unknown_names = set(unknown)
        drives = own.actuators or [f"tau{i + 1}" for i in range(own.nv)]
        known = {meanings.find_meaning(name) for name in meanings.text_names}
        hidden = {*known, *vocabulary.hidden_parameters}
        self.candidate_names = [
            name for name in [*vocabulary.parameters, *drives] if name not in hidden
        ]
        ours = [*vocabulary.parameters, *drives, *own.q, *own.qd]
        self.similar_names = {
            theirs: {name for name in ours if _name_stem(name) == _name_stem(theirs)}
            for theirs in unknown
        }
        lines = [
            x for i, x in enumerate(meanings.statements) if i not in meanings.defining_statements
        ]
        self.equation_sides: list[EquationSides] = [
            (x.left, x.right)
            for x in lines
            if not x.is_said_wrong and self._is_otherwise_readable(x)
        ]
        self.trial_count = 0

    def _is_otherwise_readable(self, line: Statement) -> bool:
        """Whether an equation has no other names without a meaning."""
        self.meanings.assign_names(dict.fromkeys(self.unknown_names, "t"))
        try:
            self.meanings.needed_names((line.left, line.right))
        except LinkwrightError:
            return False
        finally:
            self.meanings.withdraw_names(self.unknown_names)
        return True

    def find_choices(self) -> list[NameChoice]:
        """The choices of our names for the unknown ones, with the number of equations that hold."""
        self.meanings.assign_names(dict.fromkeys(self.unknown_names, "t"))
        sides = (side for pair in self.equation_sides for side in pair)
        wanted = dict.fromkeys([*self.meanings.needed_names(sides), *self.candidate_names])
        self.meanings.withdraw_names(self.unknown_names)
        prover = EquationProver(self.meanings, list(wanted), CheckAssumptions())
        open_pairs = [pair for pair in self.equation_sides if self.open_names(pair, {})]
        found: list[NameChoice] = []

        def use(scope: StatementPointValues) -> None:
            found[:] = self.extend_choice(scope, ({}, 0), open_pairs, 0)

        try:
            prover.evaluate_at_point(1, use)
        except ArithmeticError:
            return []
        return found

    def extend_choice(
        self, scope: StatementPointValues, so_far: NameChoice, left: list[EquationSides], wrong: int
    ) -> Iterator[NameChoice]:
        """All ways to go on; an equation that no choice makes right is passed over."""
        chosen, right = so_far
        if not left:
            yield so_far
            return
        pair = min(left, key=lambda one: len(self.open_names(one, chosen)))
        rest = [one for one in left if one is not pair]
        words = sorted(self.open_names(pair, chosen))
        free = [name for name in self.candidate_names if name not in chosen.values()]
        self.trial_count += perm(len(free), len(words)) if len(words) <= len(free) else 0
        if self.trial_count > MAX_NAME_TRIALS:
            return
        held = False
        for choice in permutations(free, len(words)):
            now = chosen | dict(zip(words, choice, strict=True))
            if self.respects_similar_names(now) and self.holds_with_choice(scope, pair, now):
                held = True
                yield from self.extend_choice(scope, (now, right + 1), rest, wrong)
        if not held and wrong < MAX_WRONG_EQUATIONS:
            yield from self.extend_choice(scope, so_far, rest, wrong + 1)

    def respects_similar_names(self, chosen: Mapping[str, str]) -> bool:
        """Whether names that are similar to some of ours are taken for one of these."""
        return all(
            not self.similar_names[theirs] or ours in self.similar_names[theirs]
            for theirs, ours in chosen.items()
        )

    def open_names(self, pair: EquationSides, chosen: dict[str, str]) -> set[str]:
        """Unknown names that the equation needs, through definitions too."""
        front, seen = list(names_in_expression(pair[0]) | names_in_expression(pair[1])), set[str]()
        while front:
            name = front.pop()
            if name not in seen:
                seen.add(name)
                inner = self.meanings.definitions.get(name)
                front += names_in_expression(inner) if inner is not None else ()
        return (seen & self.unknown_names) - chosen.keys()

    def holds_with_choice(
        self, scope: StatementPointValues, pair: EquationSides, chosen: dict[str, str]
    ) -> bool:
        """Whether an equation holds at a random point with a choice of names."""
        self.meanings.assign_names(chosen)
        scope.text_values = {}
        try:
            residual = scope.residual(pair)
            return residual.number == 0 and not (residual.marks and residual.marks.failure_reason)
        finally:
            self.meanings.withdraw_names(chosen)


def _name_stem(name: str) -> str:
    """What names have in common that differ by their number, capitals or underscores alone."""
    return name.replace("_", "").rstrip("0123456789").lower()
