"""The repair: which single misprint, corrected, makes an equation right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..expressions import Call, Expression, Name, Sum, names, parse, to_text
from ..expressions.tree import children
from ..readings.field import UnluckyError
from .fourier import Series, to_sum
from .misprints import KINDS, Candidate, Misprints
from .prover import Pair, Prover, Scope
from .report import Repair

if TYPE_CHECKING:
    from .checker import Section

MOST_REPAIRS = 3
MOST_CANDIDATES = 60_000
LONGEST_MISSING = 4


@dataclass(frozen=True)
class Corrected:
    kind: str
    what: str
    pair: Pair


def repairs(section: Section, pair: Pair, difference: Series | None) -> tuple[Repair, ...]:
    """The likeliest corrections of single misprints, each proved; in the equation, else in the
    definitions that it uses, else a term that is missing."""
    for prover in section.provers:
        for seed in range(1, 60):
            try:
                found = prover.scope(seed, lambda scope: list(_tried(section, scope, pair)))
                break
            except UnluckyError:
                continue
        else:
            continue
        kept = _proved(prover, found)
        if kept:
            return kept
        kept = _in_definitions(section, prover, pair)
        if kept:
            return kept
    return _missing(pair, difference)


def _tried(section: Section, scope: Scope, pair: Pair) -> Iterator[Corrected]:
    """Candidates that hold at one point."""
    misprints = Misprints(scope.algebra, scope.maybe, pool_of(section, pair))
    sides = [misprints.value(side).number for side in pair]
    for k, side in enumerate(pair):
        for i, candidate in enumerate(misprints.of(side)):
            if i > MOST_CANDIDATES:
                break
            if candidate.value.number == sides[1 - k]:
                changed = candidate.applied(side)
                new = (changed, pair[1]) if k == 0 else (pair[0], changed)
                yield Corrected(candidate.kind, candidate.what, new)


def pool_of(section: Section, pair: Pair) -> list[Expression]:
    """What may have been left out or mistaken: symbols of the text and the mechanism, and the
    sines and cosines of the equation."""
    theirs = set().union(*(names(line.right) | names(line.left) for line in section.lines))
    ours = {section.meanings.find(name) for name in theirs}
    words = sorted(theirs) + [name for name in section.wanted if name not in ours]
    calls = {call for side in pair for call in _calls(side)}
    lefts = {line.left.name for line in section.lines if isinstance(line.left, Name)}
    plain = [Name(word) for word in words if word not in lefts or word in names(pair[1])]
    return [*plain[:80], *sorted(calls, key=to_text)[:20]]


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
    for child in children(expression):
        yield from _calls(child)


def _proved(prover: Prover, found: list[Corrected]) -> tuple[Repair, ...]:
    kept: dict[str, Repair] = {}
    order = sorted(found, key=lambda one: KINDS.index(one.kind))
    for one in order:
        text = f"{to_text(one.pair[0])} = {to_text(one.pair[1])}"
        if text not in kept and len(kept) < MOST_REPAIRS and prover.holds(one.pair):
            kept[text] = Repair(one.kind, one.what, text)
    return tuple(kept.values())


def _in_definitions(section: Section, prover: Prover, pair: Pair) -> tuple[Repair, ...]:
    """Misprints in what the equation uses."""
    meanings = section.meanings
    for name in _used(section, pair):
        right = meanings.defined[name]

        def tried(scope: Scope, name: str = name, right: Expression = right) -> list[Candidate]:
            misprints = Misprints(scope.algebra, scope.maybe, pool_of(section, (right, right)))
            found = []
            for candidate in misprints.of(right):
                scope.theirs = {name: candidate.value}
                if scope.residual(pair).number == 0:
                    found.append(candidate)
                scope.theirs = {}
            return found

        try:
            candidates = prover.scope(1, tried)
        except UnluckyError:
            continue
        kept = [
            Repair(one.kind, f"in the definition of {name} {one.what}", text)
            for one in sorted(candidates, key=lambda c: KINDS.index(c.kind))
            if (text := _holds_with(section, prover, pair, name, one.applied(right)))
        ]
        if kept:
            return tuple(kept[:MOST_REPAIRS])
    return ()


def _used(section: Section, pair: Pair) -> list[str]:
    """Definitions that the equation leads to."""
    defined = section.meanings.defined
    found: list[str] = []
    front = [name for side in pair for name in sorted(names(side))]
    while front and len(found) < 40:
        name = front.pop(0)
        if name in defined and name not in found:
            found.append(name)
            front += sorted(names(defined[name]))
    return found


def _holds_with(
    section: Section, prover: Prover, pair: Pair, name: str, right: Expression
) -> str:
    meanings = section.meanings
    old = meanings.defined[name]
    meanings.defined[name] = right
    try:
        return f"{name} = {to_text(right)}" if prover.holds(pair) else ""
    finally:
        meanings.defined[name] = old


def _missing(pair: Pair, difference: Series | None) -> tuple[Repair, ...]:
    """left − right is short: then it is what the right side lacks."""
    if difference is None:
        return ()
    terms = to_sum(difference)
    if not 0 < len(terms) <= LONGEST_MISSING:
        return ()
    text = " + ".join(terms).replace("+ -", "- ")
    missing = parse(text)
    old = pair[1].terms if isinstance(pair[1], Sum) else (pair[1],)
    new = Sum((*old, *(missing.terms if isinstance(missing, Sum) else (missing,))))
    what = f"the missing {text} is added on the right"
    return (Repair("missing term", what, f"{to_text(pair[0])} = {to_text(new)}"),)
