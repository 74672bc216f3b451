"""Symbols of theirs without a meaning: the one choice among ours that makes all equations right.

Equations with the fewest unknown symbols go first; each choice for them that holds at one point is
pursued. Where two choices are left, or none, nothing is inferred.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from math import perm
from typing import TYPE_CHECKING

from ..errors import NameNotFoundError
from ..expressions import names
from .meaning import Meanings
from .points import Setting
from .prover import Pair, Prover, Scope

if TYPE_CHECKING:
    from .checker import Section

MOST_TRIALS = 6000


def inferred_names(section: Section) -> dict[str, str]:
    """What the unknown symbols must be; empty if there are none, or if it cannot be told."""
    try:
        meanings = Meanings(section.vocabulary, section.lines, section.said, lenient=True)
        unknown = sorted(name for name in meanings.used if name not in meanings)
        if not unknown or len(unknown) > 8:
            return {}
        found = _Search(section, meanings, unknown).choices()
    except NameNotFoundError:
        return {}
    if len(found) != 1:
        return {}
    section.guessed |= found[0]
    return found[0]


class _Search:
    def __init__(self, section: Section, meanings: Meanings, unknown: list[str]) -> None:
        vocabulary = section.vocabulary
        own = vocabulary.names
        self.meanings = meanings
        self.unknown = set(unknown)
        drives = own.actuators or [f"tau{i + 1}" for i in range(own.nv)]
        known = {meanings.find(name) for name in meanings.used}
        self.ours = [name for name in [*vocabulary.parameters, *drives] if name not in known]
        lines = [x for i, x in enumerate(meanings.lines) if i not in meanings.defining]
        self.pairs: list[Pair] = [(x.left, x.right) for x in lines if not x.is_said_wrong]
        self.trials = 0

    def choices(self) -> list[dict[str, str]]:
        self.meanings.say(dict.fromkeys(self.unknown, "t"))
        sides = (side for pair in self.pairs for side in pair)
        wanted = dict.fromkeys([*self.meanings.wanted(sides), *self.ours])
        self.meanings.unsay(self.unknown)
        prover = Prover(self.meanings, list(wanted), Setting())
        found: list[dict[str, str]] = []

        def use(scope: Scope) -> None:
            found[:] = self.extended(scope, {}, self.pairs)

        try:
            prover.scope(1, use)
        except ArithmeticError:
            return []
        return found

    def extended(
        self, scope: Scope, chosen: dict[str, str], left: list[Pair]
    ) -> Iterator[dict[str, str]]:
        """All ways to go on, at most two."""
        if not left:
            yield chosen
            return
        pair = min(left, key=lambda one: len(self.open_in(one, chosen)))
        words = sorted(self.open_in(pair, chosen))
        free = [name for name in self.ours if name not in chosen.values()]
        self.trials += perm(len(free), len(words))
        if self.trials > MOST_TRIALS:
            return
        found = 0
        for choice in permutations(free, len(words)):
            now = chosen | dict(zip(words, choice, strict=True))
            if not self.holds(scope, pair, now):
                continue
            for way in self.extended(scope, now, [one for one in left if one is not pair]):
                yield way
                found += 1
                if found > 1:
                    return

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
            return scope.residual(pair).number == 0
        finally:
            self.meanings.unsay(chosen)
