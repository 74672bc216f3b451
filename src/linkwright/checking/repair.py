"""The repair: which single misprint, corrected, makes an equation right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..algebra.exact.residues import FIELD_PRIME
from ..expressions import (
    ZERO,
    Call,
    Expression,
    Name,
    Negation,
    Sum,
    expression_text,
    names_in_expression,
    negate_expression,
)
from ..expressions.tree import child_expressions
from ..tape import Op
from .check_report import Repair
from .difference import EquationDifference, statement_difference
from .dual_statements import (
    DUAL_UNIT_NAME,
    names_behind_expression,
    remove_nested_dual_units,
    split_dual_sides,
)
from .misprints import MISPRINT_KINDS, MisprintCandidate, MisprintSearch, multiply_term, name_stem
from .missing_terms import MissingTermSearch
from .node_paths import count_nodes
from .prover import EquationProver, EquationSides, PointValues
from .repair_goals import RepairGoal
from .repair_trial import RepairTrial, calls_in_side
from .residue_keys import StatementValue, negate_key, residue_key_of

if TYPE_CHECKING:
    from .checked_section import CheckedSection

MAX_REPAIRS = 3
SEVERAL_TERMS_PREFIX = "the terms "
"""The beginning of a repair that adds several terms."""
MAX_MISSING_TERMS = 4
MAX_SEARCHED_DEFINITIONS = 20
MAX_COORDINATE_ANGLES = 4
COINCIDENTAL_MISPRINT_KINDS = ("missing angle", "symbol", "missing factors")
"""Kinds that are not worth naming beside a likelier one."""


@dataclass(frozen=True)
class CorrectedStatement:
    """An equation after the correction of one slip; `rank` counts what makes it unlikely."""

    kind: str
    what: str
    sides: EquationSides
    rank: int = 0
    unfamiliar_names: int = 0

    @property
    def likelihood_order(self) -> tuple[int, int, int, int]:
        return (
            self.rank,
            MISPRINT_KINDS.index(self.kind),
            self.unfamiliar_names,
            sum(map(count_nodes, self.sides)),
        )

    def to_repair(self) -> Repair:
        return Repair(self.kind, self.what, equation_text(self.sides))


def find_repairs(
    section: CheckedSection, pair: EquationSides, apart: EquationDifference | None
) -> tuple[Repair, ...]:
    """The likeliest corrections of single misprints, each proved; in the equation, else in the
    definitions that it uses, else a term that is missing."""
    trial = RepairTrial(section, pair)
    others: tuple[Repair, ...] = ()
    patch: tuple[Repair, ...] = ()
    for prover in trial.provers:  # from the fewest assumptions
        found = trial.search_at_point(
            prover, lambda scope: list(_corrections_at_point(trial, scope))
        )
        kept = _prove_corrections(trial, prover, found)
        if kept and all(_repairs_another_claim(x, pair) for x in kept):
            others, kept = others or kept, ()
        kept = (
            kept
            or (() if others else _repairs_in_definitions(trial, prover))
            or _repair_missing_terms(trial, prover, apart)
        )
        if kept and not others and all(x.what.startswith(SEVERAL_TERMS_PREFIX) for x in kept):
            patch, kept = patch or kept, ()  # a single slip under more assumptions is likelier
        if kept or others:
            return (*others, *kept)[:MAX_REPAIRS]
    return patch or _repair_with_any_name(trial)


def _repairs_another_claim(repair: Repair, pair: EquationSides) -> bool:
    """Whether the equation becomes right as one of another quantity: phi1 is phi2."""
    return isinstance(pair[0], Name) and not repair.equation.startswith(f"{pair[0].name} = ")


def find_dual_repairs(section: CheckedSection, pair: EquationSides) -> tuple[Repair, ...]:
    """The same for an equation of dual vectors, as it is written; else factors eps inside of
    another, which are too many."""
    found = find_repairs(section, pair, None)
    if found:
        return found
    trial = RepairTrial(section, pair)
    if kept := _prove_corrections(
        trial, trial.provers[0], list(_dual_difference_corrections(trial))
    ):
        return kept
    others = [
        CorrectedStatement("extra factor", what, (pair[0], right))
        for what, right in remove_nested_dual_units(pair[1])
    ]
    return _prove_corrections(trial, trial.provers[0], others)[:1]


# -- in the equation --------------------------------------------------------------------------


def _corrections_at_point(trial: RepairTrial, scope: PointValues) -> Iterator[CorrectedStatement]:
    """Corrections that hold at one point."""
    misprints = trial.misprint_search(scope)
    pair = trial.sides
    is_claim = isinstance(pair[0], Name)
    keys = [misprints.node_key(side) for side in pair]
    for k, side in enumerate(pair):
        for candidate in misprints.find_misprints(side, RepairGoal(keys[1 - k])):
            rank = candidate.is_whole + 2 * (k == 0 and is_claim)
            changed, strange = (
                _apply_to_side(pair, k, candidate),
                _count_unfamiliar_names(candidate.correction, pair),
            )
            yield CorrectedStatement(candidate.kind, candidate.what, changed, rank, strange)


def _count_unfamiliar_names(new: Expression, pair: EquationSides) -> int:
    """The number of names of a correction that are neither in the equation nor like one that is."""
    own = names_in_expression(pair[0]) | names_in_expression(pair[1])
    stems = {name_stem(x) for x in own}
    return sum((x not in own) + (name_stem(x) not in stems) for x in names_in_expression(new))


def _apply_to_side(pair: EquationSides, k: int, candidate: MisprintCandidate) -> EquationSides:
    new = candidate.apply_correction(pair[k])
    return (new, pair[1]) if k == 0 else (pair[0], new)


def _prove_corrections(
    trial: RepairTrial, prover: EquationProver, found: Sequence[CorrectedStatement]
) -> tuple[Repair, ...]:
    """The likeliest, and others that are as likely, but no coincidences beside them."""
    kept: list[Repair] = []
    seen: set[tuple[int, ...]] = set()
    for one in sorted(found, key=lambda x: x.likelihood_order):
        if len(kept) == MAX_REPAIRS or (
            kept and (one.rank or one.kind in COINCIDENTAL_MISPRINT_KINDS)
        ):
            break
        value = trial.random_residual_key(one.sides)
        if _is_trivial_equation(one.sides, value) or value in seen:
            continue
        if trial.is_proved(prover, one.sides):
            kept.append(one.to_repair())
        if value is not None:
            seen |= {value, tuple(x or 0 for x in negate_key(value))}
    return tuple(kept)


def _is_trivial_equation(pair: EquationSides, value: Sequence[int] | None) -> bool:
    """Whether an equation holds whatever the mechanism is."""
    return pair[0] == pair[1] or (value is not None and not any(value))


# -- in definitions ---------------------------------------------------------------------------


def _repairs_in_definitions(trial: RepairTrial, prover: EquationProver) -> tuple[Repair, ...]:
    """Misprints in what the equation uses."""
    for name in definitions_behind_sides(trial, trial.sides):
        kept = [
            Repair(one.kind, f"in the definition of {name} {one.what}", equation_text(one.sides))
            for one in find_definition_corrections(trial, prover, name)
        ]
        if kept:
            return tuple(kept[:MAX_REPAIRS])
    return ()


def find_definition_corrections(
    trial: RepairTrial, prover: EquationProver, name: str
) -> Iterator[CorrectedStatement]:
    """Corrections of a definition that make the equation right, the likeliest first."""
    right = trial.text_meanings.definitions[name]
    inner = RepairTrial(trial.section, (Name(name), right))
    inner.axis_count = trial.axis_count

    def candidates(scope: PointValues) -> list[MisprintCandidate]:
        goal = _definition_goal(trial, scope, name)
        scope.text_values = {}
        return list(
            MisprintSearch(*inner.algebra_and_lookup(scope), inner.symbol_pool).find_misprints(
                right, goal
            )
        )

    found = inner.search_at_point(prover, candidates)
    for one in sorted(found, key=lambda x: MISPRINT_KINDS.index(x.kind)):
        new = one.apply_correction(right)
        if {name, f"d{name}", f"dd{name}"} & set(
            names_behind_expression(new, trial.text_meanings.find_meaning)
        ):
            continue  # defined by itself
        with trial.redefine_temporarily(name, new):
            says_nothing = _is_trivial_equation(
                trial.sides, trial.random_residual_key(trial.sides, expand=True)
            )
            if not says_nothing and trial.is_proved(prover, trial.sides):
                yield CorrectedStatement(one.kind, one.what, (Name(name), new))


def _definition_goal(trial: RepairTrial, scope: PointValues, name: str) -> RepairGoal:
    """The values of a name that make the equation hold at the point: a number where the equation
    is linear in it; any where the name's rate occurs, which its value does not determine."""
    reached = {
        x
        for side in trial.sides
        for x in names_behind_expression(side, trial.text_meanings.find_meaning)
    }
    if f"d{name}" in reached:
        return RepairGoal(None, lambda value: True)
    if (
        not trial.axis_count
        and (number := _solve_linear_name(scope, trial.sides, name)) is not None
    ):
        return RepairGoal((number,))

    count = sum(x in trial.text_meanings.definitions for x in reached)

    def test(value: StatementValue) -> bool:
        if not trial.budget.spend(count):
            return False
        valuation = MisprintSearch(*trial.algebra_and_lookup(scope, {name: value}), ())
        left, right = (valuation.value_or_none(side) for side in trial.sides)
        if left is None or right is None:
            return False
        return residue_key_of(left) == residue_key_of(right)

    return RepairGoal(None, test)


def _solve_linear_name(scope: PointValues, pair: EquationSides, name: str) -> int | None:
    """The value of a name in which the equation is linear."""
    field = scope.field
    residuals, start = [], scope.lookup(name)
    for shift in range(3):
        value = field.apply(Op.ADD, (start, field.constant(Fraction(shift))))
        scope.text_values = {name: value}
        residuals.append(scope.residual(pair).number)
    slope = (residuals[1] - residuals[0]) % FIELD_PRIME
    if not slope or (residuals[2] - residuals[1] - slope) % FIELD_PRIME:
        return None
    return int((start.number - residuals[0] * pow(slope, -1, FIELD_PRIME)) % FIELD_PRIME)


def definitions_behind_sides(trial: RepairTrial, pair: EquationSides) -> list[str]:
    """Definitions that the equation leads to, also by their rates."""
    defined = trial.text_meanings.definitions
    found: list[str] = []
    front = [name for side in pair for name in sorted(names_in_expression(side))]
    while front and len(found) < MAX_SEARCHED_DEFINITIONS:
        name = front.pop(0)
        own = [x for x in (name, name.removeprefix("d")) if x in defined]
        if own and own[0] not in found:
            found.append(own[0])
            front += sorted(names_in_expression(defined[own[0]]))
    return found


# -- missing terms ----------------------------------------------------------------------------


def _repair_missing_terms(
    trial: RepairTrial, prover: EquationProver, apart: EquationDifference | None
) -> tuple[Repair, ...]:
    """One term of symbols of the equation and the mechanism; else a short difference in closed
    form."""
    first, _ = _term_symbols(trial)
    kept = _prove_one_term_repairs(trial, prover, first)
    if kept or prover is not trial.provers[0]:
        return kept
    return _prove_corrections(trial, prover, list(_difference_corrections(trial.sides, apart)))


def _repair_with_any_name(trial: RepairTrial) -> tuple[Repair, ...]:
    """One missing term with any name of the text."""
    first, later = _term_symbols(trial)
    for prover in trial.provers:
        kept = _prove_one_term_repairs(trial, prover, [*first, *later])
        if kept:
            return kept
    return ()


def _prove_one_term_repairs(
    trial: RepairTrial, prover: EquationProver, symbols: Sequence[Expression]
) -> tuple[Repair, ...]:
    found = trial.search_at_point(prover, lambda x: list(_one_term_corrections(trial, x, symbols)))
    return _prove_corrections(trial, prover, found)


def _one_term_corrections(
    trial: RepairTrial, scope: PointValues, symbols: Sequence[Expression]
) -> Iterator[CorrectedStatement]:
    misprints = trial.misprint_search(scope)
    pair = trial.sides
    is_claim = isinstance(pair[0], Name)
    keys = [misprints.node_key(side) for side in pair]
    missing = MissingTermSearch(misprints, symbols, trial.section.vocabulary.parameters)
    for k in (1,) if is_claim else (1, 0):
        for candidate in missing.find_missing_terms(pair[k], RepairGoal(keys[1 - k])):
            changed = _apply_to_side(pair, k, candidate)
            strange = len(names_in_expression(candidate.correction)) + _count_unfamiliar_names(
                candidate.correction, pair
            )
            yield CorrectedStatement(candidate.kind, candidate.what, changed, 0, strange)


def _term_symbols(trial: RepairTrial) -> tuple[list[Expression], list[Expression]]:
    """Symbols that terms are made of, the likeliest first: those of the equation, with its
    functions and sums, and those of the mechanism; then their siblings, and names of the text."""
    vocabulary = trial.section.vocabulary
    claimed = trial.sides[0].name if isinstance(trial.sides[0], Name) else ""
    own = dict.fromkeys(x for side in trial.sides for x in sorted(names_in_expression(side)))
    motion = {f"{dots}{name}" for name in vocabulary.names.qd for dots in ("", "d", "dd")}
    plain = {*vocabulary.parameters, *motion, *vocabulary.names.actuators}
    pool = [
        x.name
        for x in trial.symbol_pool
        if isinstance(x, Name) and x.name not in vocabulary.paper_symbols.energy_symbols
    ]
    ours = [
        x
        for x in pool
        if x in plain
        or trial.text_meanings.find_meaning(x) in plain
        or _is_unit_axis_name(trial, x)
    ]
    calls = [x for x in trial.symbol_pool if isinstance(x, Call)]
    near = [other for call in calls for other in (call, *_cofunctions_of_call(call))]
    sums = [x for side in trial.sides for x in sums_in_side(side)]
    first = [*map(Name, own), *near, *sums, *_sines_of_coordinates(trial), *map(Name, ours)]
    later = [
        *_functions_of_other_statements(trial),
        *map(Name, trial.sibling_names),
        *map(Name, pool),
    ]
    known = dict.fromkeys(x for x in first if x != Name(claimed))
    return list(known), [x for x in dict.fromkeys(later) if x not in known and x != Name(claimed)]


def _is_unit_axis_name(trial: RepairTrial, name: str) -> bool:
    """Whether it is a unit vector along an axis, in an equation of vectors."""
    return trial.axis_count == 3 and name[:2] in ("x_", "y_", "z_")


def _cofunctions_of_call(call: Call) -> list[Expression]:
    other = {"sin": "cos", "cos": "sin"}.get(call.function)
    return [Call(other, call.arguments)] if other else []


def _sines_of_coordinates(trial: RepairTrial) -> list[Expression]:
    """Sines and cosines of the coordinates, in the text's spelling."""
    theirs = {ours: word for word, ours in reversed(trial.text_meanings.coordinate_aliases.items())}
    angles = [Name(theirs.get(x, x)) for x in trial.section.vocabulary.names.qd]
    return [Call(f, (x,)) for x in angles[:MAX_COORDINATE_ANGLES] for f in ("sin", "cos")]


def _functions_of_other_statements(trial: RepairTrial) -> list[Expression]:
    """Functions in other equations of the text."""
    lines = trial.text_meanings.statements
    found = {
        call for line in lines for side in (line.left, line.right) for call in calls_in_side(side)
    }
    return sorted(found, key=expression_text)


def sums_in_side(node: Expression) -> Iterator[Sum]:
    """Sums below the root of a side, outside of functions."""
    for child in () if isinstance(node, Call) else child_expressions(node):
        if isinstance(child, Sum):
            yield child
        yield from sums_in_side(child)


def _difference_corrections(
    pair: EquationSides, apart: EquationDifference | None
) -> Iterator[CorrectedStatement]:
    """left − right is short: then it is what the right side lacks."""
    if apart is not None:
        yield from _missing_terms_correction(pair, apart.expanded_terms())


def _dual_difference_corrections(trial: RepairTrial) -> Iterator[CorrectedStatement]:
    """The same of a dual number: what its real part lacks, and eps times what the other does."""
    if trial.axis_count != 1:
        return
    section = trial.section
    parts = split_dual_sides(trial.sides, trial.text_meanings.find_meaning, trial.frame_names)
    found = [
        statement_difference(section.meanings, part, trial.provers[0].assumptions) for part in parts
    ]
    real, dual = ([] if x is None else x.expanded_terms() for x in found)
    if None not in found:
        with_eps = [_multiply_by_dual_unit(x) for x in dual if x != ZERO]
        yield from _missing_terms_correction(
            trial.sides, [*(x for x in real if x != ZERO), *with_eps]
        )


def _multiply_by_dual_unit(term: Expression) -> Expression:
    if isinstance(term, Negation):
        return negate_expression(_multiply_by_dual_unit(term.operand))
    return multiply_term(term, Name(DUAL_UNIT_NAME))


def _missing_terms_correction(
    pair: EquationSides, terms: Sequence[Expression]
) -> Iterator[CorrectedStatement]:
    if not 0 < len(terms) <= MAX_MISSING_TERMS:
        return
    lacking = Sum(tuple(terms)) if len(terms) > 1 else terms[0]
    counted = sum(len(x.terms) if isinstance(x, Sum) else 1 for x in pair)
    if len(terms) >= counted and len(expression_text(lacking)) >= len(equation_text(pair)):
        return  # as long as the equation itself
    old = pair[1].terms if isinstance(pair[1], Sum) else () if pair[1] == ZERO else (pair[1],)
    text = expression_text(lacking)
    what = f"the terms {text} are missing" if len(terms) > 1 else f"the term {text} is missing"
    all_terms = (*old, *terms)
    new = Sum(all_terms) if len(all_terms) > 1 else all_terms[0]
    yield CorrectedStatement("missing term", what, (pair[0], new))


def equation_text(pair: EquationSides) -> str:
    return f"{expression_text(pair[0])} = {expression_text(pair[1])}"
