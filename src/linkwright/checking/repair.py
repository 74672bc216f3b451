"""The repair: which single misprint, corrected, makes an equation right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..algebra.exact.residue_values import PRIME
from ..expressions import ZERO, Call, Expression, Name, Negation, Sum, names, negate, to_text
from ..expressions.tree import children
from ..tape import Op
from .difference import Difference, difference
from .duals import EPS, names_reached, split_pair, without_eps
from .goals import Goal
from .misprints import KINDS, Candidate, Misprints, stem, times
from .missing import MissingTerms
from .places import size
from .prover import Pair, Prover, Scope
from .report import Repair
from .trial import Trial, calls_of
from .values import AnyValue, key_of, negative

if TYPE_CHECKING:
    from .section import Section

MOST_REPAIRS = 3
SEVERAL = "the terms "
"""So begins a repair that adds several terms."""
LONGEST_MISSING = 4
MOST_DEFINITIONS = 20
MOST_ANGLES = 4
COINCIDENCES = ("missing angle", "symbol", "missing factors")
"""Kinds that are not worth naming beside a likelier one."""


@dataclass(frozen=True)
class Corrected:
    """An equation after the correction of one slip; `rank` counts what makes it unlikely."""

    kind: str
    what: str
    pair: Pair
    rank: int = 0
    strangeness: int = 0

    @property
    def order(self) -> tuple[int, int, int, int]:
        return self.rank, KINDS.index(self.kind), self.strangeness, sum(map(size, self.pair))

    def repair(self) -> Repair:
        return Repair(self.kind, self.what, equation_text(self.pair))


def repairs(section: Section, pair: Pair, apart: Difference | None) -> tuple[Repair, ...]:
    """The likeliest corrections of single misprints, each proved; in the equation, else in the
    definitions that it uses, else a term that is missing."""
    trial = Trial(section, pair)
    others: tuple[Repair, ...] = ()
    patch: tuple[Repair, ...] = ()
    for prover in trial.provers:  # from the fewest assumptions
        found = trial.at_a_point(prover, lambda scope: list(_candidates(trial, scope)))
        kept = _proved(trial, prover, found)
        if kept and all(_is_of_another_claim(x, pair) for x in kept):
            others, kept = others or kept, ()
        kept = (
            kept
            or (() if others else _in_definitions(trial, prover))
            or _with_missing_terms(trial, prover, apart)
        )
        if kept and not others and all(x.what.startswith(SEVERAL) for x in kept):
            patch, kept = patch or kept, ()  # a single slip under more assumptions is likelier
        if kept or others:
            return (*others, *kept)[:MOST_REPAIRS]
    return patch or _with_other_names(trial)


def _is_of_another_claim(repair: Repair, pair: Pair) -> bool:
    """Whether the equation becomes right as one of another quantity: phi1 is phi2."""
    return isinstance(pair[0], Name) and not repair.equation.startswith(f"{pair[0].name} = ")


def repairs_of_dual(section: Section, pair: Pair) -> tuple[Repair, ...]:
    """The same for an equation of dual vectors, as it is written; else factors eps inside of
    another, which are too many."""
    found = repairs(section, pair, None)
    if found:
        return found
    trial = Trial(section, pair)
    if kept := _proved(trial, trial.provers[0], list(_with_dual_difference(trial))):
        return kept
    others = [
        Corrected("extra factor", what, (pair[0], right)) for what, right in without_eps(pair[1])
    ]
    return _proved(trial, trial.provers[0], others)[:1]


# -- in the equation --------------------------------------------------------------------------


def _candidates(trial: Trial, scope: Scope) -> Iterator[Corrected]:
    """Corrections that hold at one point."""
    misprints = trial.misprints(scope)
    pair = trial.pair
    is_claim = isinstance(pair[0], Name)
    keys = [misprints.key(side) for side in pair]
    for k, side in enumerate(pair):
        for candidate in misprints.of(side, Goal(keys[1 - k])):
            rank = candidate.is_whole + 2 * (k == 0 and is_claim)
            changed, strange = _changed(pair, k, candidate), _strangeness(candidate.new, pair)
            yield Corrected(candidate.kind, candidate.what, changed, rank, strange)


def _strangeness(new: Expression, pair: Pair) -> int:
    """How many names of a correction are neither in the equation nor like one that is."""
    own = names(pair[0]) | names(pair[1])
    stems = {stem(x) for x in own}
    return sum((x not in own) + (stem(x) not in stems) for x in names(new))


def _changed(pair: Pair, k: int, candidate: Candidate) -> Pair:
    new = candidate.applied(pair[k])
    return (new, pair[1]) if k == 0 else (pair[0], new)


def _proved(trial: Trial, prover: Prover, found: Sequence[Corrected]) -> tuple[Repair, ...]:
    """The likeliest, and others that are as likely, but no coincidences beside them."""
    kept: list[Repair] = []
    seen: set[tuple[int, ...]] = set()
    for one in sorted(found, key=lambda x: x.order):
        if len(kept) == MOST_REPAIRS or (kept and (one.rank or one.kind in COINCIDENCES)):
            break
        value = trial.free_value(one.pair)
        if _says_nothing(one.pair, value) or value in seen:
            continue
        if trial.holds(prover, one.pair):
            kept.append(one.repair())
        if value is not None:
            seen |= {value, tuple(x or 0 for x in negative(value))}
    return tuple(kept)


def _says_nothing(pair: Pair, value: Sequence[int] | None) -> bool:
    """Whether an equation holds whatever the mechanism is."""
    return pair[0] == pair[1] or (value is not None and not any(value))


# -- in definitions ---------------------------------------------------------------------------


def _in_definitions(trial: Trial, prover: Prover) -> tuple[Repair, ...]:
    """Misprints in what the equation uses."""
    for name in definitions_used(trial, trial.pair):
        kept = [
            Repair(one.kind, f"in the definition of {name} {one.what}", equation_text(one.pair))
            for one in corrected_definitions(trial, prover, name)
        ]
        if kept:
            return tuple(kept[:MOST_REPAIRS])
    return ()


def corrected_definitions(trial: Trial, prover: Prover, name: str) -> Iterator[Corrected]:
    """Corrections of a definition that make the equation right, the likeliest first."""
    right = trial.text.defined[name]
    inner = Trial(trial.section, (Name(name), right))
    inner.axes = trial.axes

    def candidates(scope: Scope) -> list[Candidate]:
        goal = _goal_of_name(trial, scope, name)
        scope.theirs = {}
        return list(Misprints(*inner.reading(scope), inner.pool).of(right, goal))

    found = inner.at_a_point(prover, candidates)
    for one in sorted(found, key=lambda x: KINDS.index(x.kind)):
        new = one.applied(right)
        if {name, f"d{name}", f"dd{name}"} & set(names_reached(new, trial.text.find)):
            continue  # defined by itself
        with trial.redefined(name, new):
            says_nothing = _says_nothing(trial.pair, trial.free_value(trial.pair, expand=True))
            if not says_nothing and trial.holds(prover, trial.pair):
                yield Corrected(one.kind, one.what, (Name(name), new))


def _goal_of_name(trial: Trial, scope: Scope, name: str) -> Goal:
    """The values of a name that make the equation hold at the point: a number where the equation
    is linear in it; any where the name's rate occurs, which its value does not determine."""
    reached = {x for side in trial.pair for x in names_reached(side, trial.text.find)}
    if f"d{name}" in reached:
        return Goal(None, lambda value: True)
    if not trial.axes and (number := _number_of_name(scope, trial.pair, name)) is not None:
        return Goal((number,))

    count = sum(x in trial.text.defined for x in reached)

    def test(value: AnyValue) -> bool:
        if not trial.budget.spend(count):
            return False
        valuation = Misprints(*trial.reading(scope, {name: value}), ())
        sides = [valuation.value_if_any(side) for side in trial.pair]
        return all(x is not None for x in sides) and key_of(sides[0]) == key_of(sides[1])  # type: ignore[arg-type]

    return Goal(None, test)


def _number_of_name(scope: Scope, pair: Pair, name: str) -> int | None:
    """The value of a name in which the equation is linear."""
    field = scope.field
    residuals, start = [], scope.lookup(name)
    for shift in range(3):
        value = field.apply(Op.ADD, (start, field.constant(Fraction(shift))))
        scope.theirs = {name: value}
        residuals.append(scope.residual(pair).number)
    slope = (residuals[1] - residuals[0]) % PRIME
    if not slope or (residuals[2] - residuals[1] - slope) % PRIME:
        return None
    return int((start.number - residuals[0] * pow(slope, -1, PRIME)) % PRIME)


def definitions_used(trial: Trial, pair: Pair) -> list[str]:
    """Definitions that the equation leads to, also by their rates."""
    defined = trial.text.defined
    found: list[str] = []
    front = [name for side in pair for name in sorted(names(side))]
    while front and len(found) < MOST_DEFINITIONS:
        name = front.pop(0)
        own = [x for x in (name, name.removeprefix("d")) if x in defined]
        if own and own[0] not in found:
            found.append(own[0])
            front += sorted(names(defined[own[0]]))
    return found


# -- missing terms ----------------------------------------------------------------------------


def _with_missing_terms(
    trial: Trial, prover: Prover, apart: Difference | None
) -> tuple[Repair, ...]:
    """One term of symbols of the equation and the mechanism; else a short difference in closed
    form."""
    first, _ = _symbols_of_terms(trial)
    kept = _proved_with_one_term(trial, prover, first)
    if kept or prover is not trial.provers[0]:
        return kept
    return _proved(trial, prover, list(_with_difference(trial.pair, apart)))


def _with_other_names(trial: Trial) -> tuple[Repair, ...]:
    """One missing term with any name of the text."""
    first, later = _symbols_of_terms(trial)
    for prover in trial.provers:
        kept = _proved_with_one_term(trial, prover, [*first, *later])
        if kept:
            return kept
    return ()


def _proved_with_one_term(
    trial: Trial, prover: Prover, symbols: Sequence[Expression]
) -> tuple[Repair, ...]:
    found = trial.at_a_point(prover, lambda x: list(_with_one_term(trial, x, symbols)))
    return _proved(trial, prover, found)


def _with_one_term(
    trial: Trial, scope: Scope, symbols: Sequence[Expression]
) -> Iterator[Corrected]:
    misprints = trial.misprints(scope)
    pair = trial.pair
    is_claim = isinstance(pair[0], Name)
    keys = [misprints.key(side) for side in pair]
    missing = MissingTerms(misprints, symbols, trial.section.vocabulary.parameters)
    for k in (1,) if is_claim else (1, 0):
        for candidate in missing.of(pair[k], Goal(keys[1 - k])):
            changed = _changed(pair, k, candidate)
            strange = len(names(candidate.new)) + _strangeness(candidate.new, pair)
            yield Corrected(candidate.kind, candidate.what, changed, 0, strange)


def _symbols_of_terms(trial: Trial) -> tuple[list[Expression], list[Expression]]:
    """Symbols that terms are made of, the likeliest first: those of the equation, with its
    functions and sums, and those of the mechanism; then their siblings, and names of the text."""
    vocabulary = trial.section.vocabulary
    claimed = trial.pair[0].name if isinstance(trial.pair[0], Name) else ""
    own = dict.fromkeys(x for side in trial.pair for x in sorted(names(side)))
    motion = {f"{dots}{name}" for name in vocabulary.names.qd for dots in ("", "d", "dd")}
    plain = {*vocabulary.parameters, *motion, *vocabulary.names.actuators}
    pool = [
        x.name
        for x in trial.pool
        if isinstance(x, Name) and x.name not in vocabulary.papers.energies
    ]
    ours = [x for x in pool if x in plain or trial.text.find(x) in plain or _is_axis(trial, x)]
    calls = [x for x in trial.pool if isinstance(x, Call)]
    near = [other for call in calls for other in (call, *_cofunctions(call))]
    sums = [x for side in trial.pair for x in sums_of(side)]
    first = [*map(Name, own), *near, *sums, *_usual_functions(trial), *map(Name, ours)]
    later = [*_functions_nearby(trial), *map(Name, trial.siblings), *map(Name, pool)]
    known = dict.fromkeys(x for x in first if x != Name(claimed))
    return list(known), [x for x in dict.fromkeys(later) if x not in known and x != Name(claimed)]


def _is_axis(trial: Trial, name: str) -> bool:
    """Whether it is a unit vector along an axis, in an equation of vectors."""
    return trial.axes == 3 and name[:2] in ("x_", "y_", "z_")


def _cofunctions(call: Call) -> list[Expression]:
    other = {"sin": "cos", "cos": "sin"}.get(call.function)
    return [Call(other, call.arguments)] if other else []


def _usual_functions(trial: Trial) -> list[Expression]:
    """Sines and cosines of the coordinates, in the text's spelling."""
    theirs = {ours: word for word, ours in reversed(trial.text.coordinates.items())}
    angles = [Name(theirs.get(x, x)) for x in trial.section.vocabulary.names.qd]
    return [Call(f, (x,)) for x in angles[:MOST_ANGLES] for f in ("sin", "cos")]


def _functions_nearby(trial: Trial) -> list[Expression]:
    """Functions in other equations of the text."""
    lines = trial.text.lines
    found = {call for line in lines for side in (line.left, line.right) for call in calls_of(side)}
    return sorted(found, key=to_text)


def sums_of(node: Expression) -> Iterator[Sum]:
    """Sums below the root of a side, outside of functions."""
    for child in () if isinstance(node, Call) else children(node):
        if isinstance(child, Sum):
            yield child
        yield from sums_of(child)


def _with_difference(pair: Pair, apart: Difference | None) -> Iterator[Corrected]:
    """left − right is short: then it is what the right side lacks."""
    if apart is not None:
        yield from _with_terms(pair, apart.sum())


def _with_dual_difference(trial: Trial) -> Iterator[Corrected]:
    """The same of a dual number: what its real part lacks, and eps times what the other does."""
    if trial.axes != 1:
        return
    section = trial.section
    parts = split_pair(trial.pair, trial.text.find, trial.owners)
    found = [difference(section.meanings, part, trial.provers[0].setting) for part in parts]
    real, dual = ([] if x is None else x.sum() for x in found)
    if None not in found:
        with_eps = [_times_eps(x) for x in dual if x != ZERO]
        yield from _with_terms(trial.pair, [*(x for x in real if x != ZERO), *with_eps])


def _times_eps(term: Expression) -> Expression:
    if isinstance(term, Negation):
        return negate(_times_eps(term.operand))
    return times(term, Name(EPS))


def _with_terms(pair: Pair, terms: Sequence[Expression]) -> Iterator[Corrected]:
    if not 0 < len(terms) <= LONGEST_MISSING:
        return
    lacking = Sum(tuple(terms)) if len(terms) > 1 else terms[0]
    counted = sum(len(x.terms) if isinstance(x, Sum) else 1 for x in pair)
    if len(terms) >= counted and len(to_text(lacking)) >= len(equation_text(pair)):
        return  # as long as the equation itself
    old = pair[1].terms if isinstance(pair[1], Sum) else () if pair[1] == ZERO else (pair[1],)
    text = to_text(lacking)
    what = f"the terms {text} are missing" if len(terms) > 1 else f"the term {text} is missing"
    all_terms = (*old, *terms)
    new = Sum(all_terms) if len(all_terms) > 1 else all_terms[0]
    yield Corrected("missing term", what, (pair[0], new))


def equation_text(pair: Pair) -> str:
    return f"{to_text(pair[0])} = {to_text(pair[1])}"
