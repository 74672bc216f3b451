"""Repairs that add missing terms: one term of known symbols, or a short difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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
from .check_report import Repair
from .corrected_statements import (
    CorrectedStatement,
    correct_statement_side,
    count_unfamiliar_names,
    prove_corrections,
    statement_text,
)
from .difference import EquationDifference, statement_difference
from .dual_statements import split_dual_sides
from .misprint_candidates import multiply_repaired_term
from .missing_terms import MissingTermSearch
from .prover import EquationProver, EquationSides, StatementPointValues
from .repair_goals import RepairGoal
from .repair_trial import RepairTrial, calls_in_statement_side
from .symbol_table import DUAL_UNIT_NAME, ENERGY_LETTERS

MAX_MISSING_TERMS = 4
MAX_COORDINATE_ANGLES = 4


def repair_missing_terms(
    trial: RepairTrial, prover: EquationProver, apart: EquationDifference | None
) -> tuple[Repair, ...]:
    """One term of symbols of the equation and the mechanism; else a short difference in closed
    form."""
    first, _ = _symbols_of_missing_terms(trial)
    kept = _prove_one_term_repairs(trial, prover, first)
    if kept or prover is not trial.provers[0]:
        return kept
    return prove_corrections(trial, prover, list(_difference_corrections(trial.sides, apart)))


def repair_with_any_name(trial: RepairTrial) -> tuple[Repair, ...]:
    """One missing term with any name of the text."""
    first, later = _symbols_of_missing_terms(trial)
    for prover in trial.provers:
        kept = _prove_one_term_repairs(trial, prover, [*first, *later])
        if kept:
            return kept
    return ()


def _prove_one_term_repairs(
    trial: RepairTrial, prover: EquationProver, symbols: Sequence[Expression]
) -> tuple[Repair, ...]:
    found = trial.search_at_point(prover, lambda x: list(_one_term_corrections(trial, x, symbols)))
    return prove_corrections(trial, prover, found)


def _one_term_corrections(
    trial: RepairTrial, scope: StatementPointValues, symbols: Sequence[Expression]
) -> Iterator[CorrectedStatement]:
    misprints = trial.misprint_search(scope)
    pair = trial.sides
    is_claim = isinstance(pair[0], Name)
    keys = [misprints.node_key(side) for side in pair]
    missing = MissingTermSearch(misprints, symbols, trial.section.vocabulary.parameters)
    for k in (1,) if is_claim else (1, 0):
        for candidate in missing.find_missing_terms(pair[k], RepairGoal(keys[1 - k])):
            changed = correct_statement_side(pair, k, candidate)
            strange = len(names_in_expression(candidate.correction)) + count_unfamiliar_names(
                candidate.correction, pair
            )
            yield CorrectedStatement(candidate.kind, candidate.what, changed, 0, strange)


def _symbols_of_missing_terms(trial: RepairTrial) -> tuple[list[Expression], list[Expression]]:
    """Symbols that terms are made of, the likeliest first: those of the equation, with its
    functions and sums, and those of the mechanism; then their siblings, and names of the text."""
    vocabulary = trial.section.vocabulary
    claimed = trial.sides[0].name if isinstance(trial.sides[0], Name) else ""
    own = dict.fromkeys(x for side in trial.sides for x in sorted(names_in_expression(side)))
    motion = {f"{dots}{name}" for name in vocabulary.names.qd for dots in ("", "d", "dd")}
    plain = {*vocabulary.parameters, *motion, *vocabulary.names.actuators}
    pool = [
        x.name for x in trial.symbol_pool if isinstance(x, Name) and x.name not in ENERGY_LETTERS
    ]
    ours = [
        x
        for x in pool
        if x in plain
        or trial.text_meanings.find_meaning(x) in plain
        or _is_unit_axis_name(trial, x)
    ]
    calls = [x for x in trial.symbol_pool if isinstance(x, Call)]
    near = [other for call in calls for other in (call, *_likely_functions_for_repair(call))]
    sums = [x for side in trial.sides for x in sums_in_statement_side(side)]
    first = [*map(Name, own), *near, *sums, *_sines_tried_in_repairs(trial), *map(Name, ours)]
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


def _likely_functions_for_repair(call: Call) -> list[Expression]:
    other = {"sin": "cos", "cos": "sin"}.get(call.function)
    return [Call(other, call.arguments)] if other else []


def _sines_tried_in_repairs(trial: RepairTrial) -> list[Expression]:
    """Sines and cosines of the coordinates, in the text's spelling."""
    theirs = {ours: word for word, ours in reversed(trial.text_meanings.coordinate_aliases.items())}
    angles = [Name(theirs.get(x, x)) for x in trial.section.vocabulary.names.qd]
    return [Call(f, (x,)) for x in angles[:MAX_COORDINATE_ANGLES] for f in ("sin", "cos")]


def _functions_of_other_statements(trial: RepairTrial) -> list[Expression]:
    """Functions in other equations of the text."""
    lines = trial.text_meanings.statements
    found = {
        call
        for line in lines
        for side in (line.left, line.right)
        for call in calls_in_statement_side(side)
    }
    return sorted(found, key=expression_text)


def sums_in_statement_side(node: Expression) -> Iterator[Sum]:
    """Sums below the root of a side, outside of functions."""
    for child in () if isinstance(node, Call) else child_expressions(node):
        if isinstance(child, Sum):
            yield child
        yield from sums_in_statement_side(child)


def _difference_corrections(
    pair: EquationSides, apart: EquationDifference | None
) -> Iterator[CorrectedStatement]:
    """The correction that adds left − right to the right side, if it is short."""
    if apart is not None:
        yield from _missing_terms_correction(pair, apart.expanded_terms())


def dual_difference_corrections(trial: RepairTrial) -> Iterator[CorrectedStatement]:
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
        with_eps = [_multiply_missing_term_by_dual_unit(x) for x in dual if x != ZERO]
        yield from _missing_terms_correction(
            trial.sides, [*(x for x in real if x != ZERO), *with_eps]
        )


def _multiply_missing_term_by_dual_unit(term: Expression) -> Expression:
    if isinstance(term, Negation):
        return negate_expression(_multiply_missing_term_by_dual_unit(term.operand))
    return multiply_repaired_term(term, Name(DUAL_UNIT_NAME))


def _missing_terms_correction(
    pair: EquationSides, terms: Sequence[Expression]
) -> Iterator[CorrectedStatement]:
    if not 0 < len(terms) <= MAX_MISSING_TERMS:
        return
    lacking = Sum(tuple(terms)) if len(terms) > 1 else terms[0]
    counted = sum(len(x.terms) if isinstance(x, Sum) else 1 for x in pair)
    if len(terms) >= counted and len(expression_text(lacking)) >= len(statement_text(pair)):
        return  # as long as the equation itself
    old = pair[1].terms if isinstance(pair[1], Sum) else () if pair[1] == ZERO else (pair[1],)
    text = expression_text(lacking)
    what = f"the terms {text} are missing" if len(terms) > 1 else f"the term {text} is missing"
    all_terms = (*old, *terms)
    new = Sum(all_terms) if len(all_terms) > 1 else all_terms[0]
    yield CorrectedStatement("missing term", what, (pair[0], new))
