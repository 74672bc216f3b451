"""The repair: which single misprint, corrected, makes an equation right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..expressions import Call, Expression, Name, Sum, names, to_text
from ..expressions.tree import children
from ..readings.modular import UnluckyError
from ..readings.residues import PRIME
from ..tape import Op
from .difference import Difference
from .misprints import KINDS, Candidate, Misprints
from .prover import Pair, Prover, Scope
from .report import Repair

if TYPE_CHECKING:
    from .checker import Section

MOST_REPAIRS = 3
LONGEST_MISSING = 4
MOST_DEFINITIONS = 20


@dataclass(frozen=True)
class Corrected:
    kind: str
    what: str
    pair: Pair
    rank: int


def repairs(section: Section, pair: Pair, difference: Difference | None) -> tuple[Repair, ...]:
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
    is_claim = isinstance(pair[0], Name)
    sides = [misprints.value(side).number for side in pair]
    for k, side in enumerate(pair):
        for candidate in misprints.of(side, sides[1 - k]):
            changed = candidate.applied(side)
            new = (changed, pair[1]) if k == 0 else (pair[0], changed)
            rank = candidate.is_whole + 2 * (k == 0 and is_claim)
            yield Corrected(candidate.kind, candidate.what, new, rank)


def pool_of(section: Section, pair: Pair) -> list[Expression]:
    """What may have been left out or mistaken: symbols of the text and the mechanism, and the
    sines and cosines of the equation."""
    vocabulary, meanings = section.vocabulary, section.meanings
    ours = {meaning for name in meanings.used if isinstance(meaning := meanings.find(name), str)}
    motion = [f"{dots}{name}" for name in vocabulary.names.qd for dots in ("", "d", "dd")]
    others = [name for name in [*vocabulary.parameters, *motion] if name not in ours]
    calls = {call for side in pair for call in _calls(side)}
    return [
        *(Name(word) for word in [*sorted(meanings.used), *others]),
        *sorted(calls, key=to_text),
    ]


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
    for child in children(expression):
        yield from _calls(child)


def _proved(prover: Prover, found: list[Corrected]) -> tuple[Repair, ...]:
    """The likeliest; others of a kind that is as likely, but no mere coincidences beside them."""
    kept: dict[str, Repair] = {}
    order = sorted(found, key=lambda one: (one.rank, KINDS.index(one.kind)))
    for one in order:
        text = f"{to_text(one.pair[0])} = {to_text(one.pair[1])}"
        if kept and (one.rank or one.kind == "symbol"):
            break
        if one.pair[0] == one.pair[1]:
            continue  # E = E says nothing
        if text not in kept and len(kept) < MOST_REPAIRS and prover.holds(one.pair):
            kept[text] = Repair(one.kind, one.what, text)
    return tuple(kept.values())


def _in_definitions(section: Section, prover: Prover, pair: Pair) -> tuple[Repair, ...]:
    """Misprints in what the equation uses."""
    meanings = section.meanings
    for name in _used(section, pair):
        right = meanings.defined[name]

        def tried(scope: Scope, name: str = name, right: Expression = right) -> list[Candidate]:
            needed = _needed(scope, pair, name)
            if needed is None:
                return []
            misprints = Misprints(scope.algebra, scope.maybe, pool_of(section, (right, right)))
            return list(misprints.of(right, needed))

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


def _needed(scope: Scope, pair: Pair, name: str) -> int | None:
    """The value of a name that makes the equation hold at the point, in which it is linear."""
    field = scope.algebra.field
    residuals, start = [], scope.lookup(name)
    for shift in range(3):
        value = field.apply(Op.ADD, (start, field.constant(Fraction(shift))))
        scope.theirs = {name: value}
        residuals.append(scope.residual(pair).number)
    scope.theirs = {}
    slope = (residuals[1] - residuals[0]) % PRIME
    if not slope or (residuals[2] - residuals[1] - slope) % PRIME:
        return None
    return int((start.number - residuals[0] * pow(slope, -1, PRIME)) % PRIME)


def _used(section: Section, pair: Pair) -> list[str]:
    """Definitions that the equation leads to."""
    defined = section.meanings.defined
    found: list[str] = []
    front = [name for side in pair for name in sorted(names(side))]
    while front and len(found) < MOST_DEFINITIONS:
        name = front.pop(0)
        if name in defined and name not in found:
            found.append(name)
            front += sorted(names(defined[name]))
    return found


def _holds_with(section: Section, prover: Prover, pair: Pair, name: str, right: Expression) -> str:
    meanings = section.meanings
    old = meanings.defined[name]
    meanings.redefine(name, right)
    try:
        return f"{name} = {to_text(right)}" if prover.holds(pair) else ""
    finally:
        meanings.redefine(name, old)


def _missing(pair: Pair, difference: Difference | None) -> tuple[Repair, ...]:
    """left − right is short: then it is what the right side lacks."""
    if difference is None:
        return ()
    terms = difference.sum()
    if not 0 < len(terms) <= LONGEST_MISSING:
        return ()
    old = pair[1].terms if isinstance(pair[1], Sum) else (pair[1],)
    new = Sum((*old, *terms))
    text = to_text(Sum(tuple(terms)) if len(terms) > 1 else terms[0])
    what = f"the missing {text} is added on the right"
    return (Repair("missing term", what, f"{to_text(pair[0])} = {to_text(new)}"),)
