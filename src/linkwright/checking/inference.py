"""Symbols of theirs without a meaning: the choice among ours that makes their equations right.

Each equation is judged alone: one that no choice makes right stops no other. Equations with the
fewest unknown symbols go first, and each choice for them that holds at one point is pursued; the
choice that makes the most equations right is taken, if there is one such choice only.

A family of ours that is numbered otherwise (m0, m1 for m1, m2) is renumbered as a whole, or not at
all: a single member that we do not have is a misprint.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import permutations
from math import perm
from typing import TYPE_CHECKING

from ..errors import LinkwrightError
from ..expressions import names
from .meaning import Meanings
from .points import Setting
from .prover import Pair, Prover, Scope

if TYPE_CHECKING:
    from .section import Section

MOST_TRIALS = 6000
MOST_UNKNOWN = 8
MOST_WRONG = 3
"""Equations that may stay wrong on the way to a choice."""
Choice = tuple[dict[str, str], int]
"""Names of theirs with names of ours, and how many equations are right with them."""


def inferred_names(section: Section) -> dict[str, str]:
    """What the unknown symbols must be; empty if there are none, or if it cannot be told."""
    meanings = Meanings(section.vocabulary, section.lines, section.said)
    unknown = sorted(name for name in meanings.used if meanings.find(name) is None)
    own = section.vocabulary
    strange = {name for name in unknown if own.is_stray(name) or own.papers.why_index_fails(name)}
    foreign = [name for name in unknown if name not in strange]
    found: dict[str, str] = {}
    if 0 < len(foreign) <= MOST_UNKNOWN:
        found = _best(_Search(section, meanings, foreign).choices())
    if strange:
        found |= renumbered_families(section, {**section.said, **found})
    section.guessed |= found
    return found


def _best(choices: list[Choice]) -> dict[str, str]:
    """The one choice that makes the most equations right."""
    most = max((right for _, right in choices), default=0)
    best = [chosen for chosen, right in choices if right == most]
    return best[0] if most and all(chosen == best[0] for chosen in best) else {}


def renumbered_families(section: Section, said: Mapping[str, str]) -> dict[str, str]:
    """Families of theirs that are ours with other numbers, if all their equations hold then.

    Families that have strange members are shifted by one, all their members together, and one of
    them at least is there as a whole; other families of parameters may be shifted with them.
    """
    for shift in (1, -1):
        strange: dict[str, str] = {}
        others: dict[str, str] = {}
        is_whole = False
        for family, ours in section.vocabulary.families.items():
            theirs = _members(section, family)
            moved = {name: f"{family}{number + shift}" for name, number in theirs.items()}
            if any(section.vocabulary.is_stray(name) for name in theirs):
                if not set(moved.values()) <= set(ours):
                    break
                is_whole |= len(moved) == len(ours) > 1
                strange |= moved
            elif set(moved.values()) <= set(ours) & set(section.vocabulary.parameters):
                others |= moved
        else:
            for found in (strange, strange | others):
                if is_whole and _all_hold(section, said, found):
                    return found
    return {}


def _all_hold(section: Section, said: Mapping[str, str], found: Mapping[str, str]) -> bool:
    """Whether all equations that have one of these names are right with them."""
    lines = [x for x in section.lines if (names(x.left) | names(x.right)) & found.keys()]
    pairs = [(x.left, x.right) for x in lines if not (x.is_definition or x.is_said_wrong)]
    try:
        meanings = Meanings(section.vocabulary, section.lines, {**said, **found})
        wanted = meanings.wanted(side for pair in pairs for side in pair)
    except LinkwrightError:
        return False
    return all(proof.holds for proof in Prover(meanings, wanted, Setting()).prove(pairs))


def _members(section: Section, family: str) -> dict[str, int]:
    """The text's names of a family, with their numbers."""
    used = set().union(*(names(x.left) | names(x.right) for x in section.lines))
    pattern = re.compile(rf"{re.escape(family)}_?(\d+)")
    return {name: int(match[1]) for name in used if (match := pattern.fullmatch(name))}


class _Search:
    def __init__(self, section: Section, meanings: Meanings, unknown: list[str]) -> None:
        vocabulary = section.vocabulary
        own = vocabulary.names
        self.meanings = meanings
        self.unknown = set(unknown)
        drives = own.actuators or [f"tau{i + 1}" for i in range(own.nv)]
        known = {meanings.find(name) for name in meanings.used}
        hidden = {*known, *vocabulary.hidden}
        self.ours = [name for name in [*vocabulary.parameters, *drives] if name not in hidden]
        lines = [x for i, x in enumerate(meanings.lines) if i not in meanings.defining]
        self.pairs: list[Pair] = [
            (x.left, x.right) for x in lines if not x.is_said_wrong and self._can_be_read(x)
        ]
        self.trials = 0

    def _can_be_read(self, line: object) -> bool:
        """Whether an equation has no other names without a meaning."""
        self.meanings.say(dict.fromkeys(self.unknown, "t"))
        try:
            self.meanings.wanted((line.left, line.right))  # type: ignore[attr-defined]
        except LinkwrightError:
            return False
        finally:
            self.meanings.unsay(self.unknown)
        return True

    def choices(self) -> list[Choice]:
        self.meanings.say(dict.fromkeys(self.unknown, "t"))
        sides = (side for pair in self.pairs for side in pair)
        wanted = dict.fromkeys([*self.meanings.wanted(sides), *self.ours])
        self.meanings.unsay(self.unknown)
        prover = Prover(self.meanings, list(wanted), Setting())
        open_pairs = [pair for pair in self.pairs if self.open_in(pair, {})]
        found: list[Choice] = []

        def use(scope: Scope) -> None:
            found[:] = self.extended(scope, ({}, 0), open_pairs, 0)

        try:
            prover.scope(1, use)
        except ArithmeticError:
            return []
        return found

    def extended(
        self, scope: Scope, so_far: Choice, left: list[Pair], wrong: int
    ) -> Iterator[Choice]:
        """All ways to go on; an equation that no choice makes right is passed over."""
        chosen, right = so_far
        if not left:
            yield so_far
            return
        pair = min(left, key=lambda one: len(self.open_in(one, chosen)))
        rest = [one for one in left if one is not pair]
        words = sorted(self.open_in(pair, chosen))
        free = [name for name in self.ours if name not in chosen.values()]
        self.trials += perm(len(free), len(words)) if len(words) <= len(free) else 0
        if self.trials > MOST_TRIALS:
            return
        held = False
        for choice in permutations(free, len(words)):
            now = chosen | dict(zip(words, choice, strict=True))
            if self.holds(scope, pair, now):
                held = True
                yield from self.extended(scope, (now, right + 1), rest, wrong)
        if not held and wrong < MOST_WRONG:
            yield from self.extended(scope, so_far, rest, wrong + 1)

    def open_in(self, pair: Pair, chosen: dict[str, str]) -> set[str]:
        """Unknown names that the equation needs, through definitions too."""
        front, seen = list(names(pair[0]) | names(pair[1])), set[str]()
        while front:
            name = front.pop()
            if name not in seen:
                seen.add(name)
                inner = self.meanings.defined.get(name)
                front += names(inner) if inner is not None else ()
        return (seen & self.unknown) - chosen.keys()

    def holds(self, scope: Scope, pair: Pair, chosen: dict[str, str]) -> bool:
        self.meanings.say(chosen)
        scope.theirs = {}
        try:
            residual = scope.residual(pair)
            return residual.number == 0 and not (residual.marks and residual.marks.why)
        finally:
            self.meanings.unsay(chosen)
