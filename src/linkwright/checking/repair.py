"""The repair: which single misprint, corrected, makes an equation right."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from ..algebra.exact.residues import FIELD_PRIME
from ..expressions import Name, names_in_expression
from ..tape import Op
from .check_report import Repair
from .corrected_statements import (
    MAX_REPAIRS,
    CorrectedStatement,
    correct_statement_side,
    count_unfamiliar_names,
    is_trivial_statement,
    prove_corrections,
    statement_text,
)
from .difference import EquationDifference
from .dual_statements import names_behind_expression, remove_nested_dual_units
from .misprint_candidates import MISPRINT_KINDS, MisprintCandidate
from .misprints import MisprintSearch
from .missing_term_repairs import (
    dual_difference_corrections,
    repair_missing_terms,
    repair_with_any_name,
)
from .prover import EquationProver, EquationSides, StatementPointValues
from .repair_goals import RepairGoal
from .repair_trial import RepairTrial
from .residue_keys import StatementValue, statement_value_key

if TYPE_CHECKING:
    from .checked_section import CheckedSection

SEVERAL_TERMS_PREFIX = "the terms "
"""So begins a repair that adds several terms."""
MAX_SEARCHED_DEFINITIONS = 20


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
        kept = prove_corrections(trial, prover, found)
        if kept and all(_repairs_another_claim(x, pair) for x in kept):
            others, kept = others or kept, ()
        kept = (
            kept
            or (() if others else _repairs_in_definitions(trial, prover))
            or repair_missing_terms(trial, prover, apart)
        )
        if kept and not others and all(x.what.startswith(SEVERAL_TERMS_PREFIX) for x in kept):
            patch, kept = patch or kept, ()  # a single slip under more assumptions is likelier
        if kept or others:
            return (*others, *kept)[:MAX_REPAIRS]
    return patch or repair_with_any_name(trial)


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
    if kept := prove_corrections(trial, trial.provers[0], list(dual_difference_corrections(trial))):
        return kept
    others = [
        CorrectedStatement("extra factor", what, (pair[0], right))
        for what, right in remove_nested_dual_units(pair[1])
    ]
    return prove_corrections(trial, trial.provers[0], others)[:1]


def _corrections_at_point(
    trial: RepairTrial, scope: StatementPointValues
) -> Iterator[CorrectedStatement]:
    """Corrections that hold at one point."""
    misprints = trial.misprint_search(scope)
    pair = trial.sides
    is_claim = isinstance(pair[0], Name)
    keys = [misprints.node_key(side) for side in pair]
    for k, side in enumerate(pair):
        for candidate in misprints.find_misprints(side, RepairGoal(keys[1 - k])):
            rank = candidate.is_whole + 2 * (k == 0 and is_claim)
            changed, strange = (
                correct_statement_side(pair, k, candidate),
                count_unfamiliar_names(candidate.correction, pair),
            )
            yield CorrectedStatement(candidate.kind, candidate.what, changed, rank, strange)


def _repairs_in_definitions(trial: RepairTrial, prover: EquationProver) -> tuple[Repair, ...]:
    """Repairs of misprints in the definitions that the equation uses."""
    for name in definitions_behind_sides(trial, trial.sides):
        kept = [
            Repair(one.kind, f"in the definition of {name} {one.what}", statement_text(one.sides))
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

    def candidates(scope: StatementPointValues) -> list[MisprintCandidate]:
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
            says_nothing = is_trivial_statement(
                trial.sides, trial.random_residual_key(trial.sides, expand=True)
            )
            if not says_nothing and trial.is_proved(prover, trial.sides):
                yield CorrectedStatement(one.kind, one.what, (Name(name), new))


def _definition_goal(trial: RepairTrial, scope: StatementPointValues, name: str) -> RepairGoal:
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
        if not trial.budget.spend_on_repair_trials(count):
            return False
        valuation = MisprintSearch(*trial.algebra_and_lookup(scope, {name: value}), ())
        left, right = (valuation.value_or_none(side) for side in trial.sides)
        if left is None or right is None:
            return False
        return statement_value_key(left) == statement_value_key(right)

    return RepairGoal(None, test)


def _solve_linear_name(scope: StatementPointValues, pair: EquationSides, name: str) -> int | None:
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
