"""Differences that leave equations equivalent: constants of energies, total derivatives of
Lagrangians, and matrices C with the same C q̇."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca

from ..errors import LinkwrightError
from ..expressions import Expression, Name, Product, Sum, negate_expression
from .constraint_functions import describes_constraint_function, describes_constraint_residual
from .prover import EquationProof, EquationProver, EquationSides, single_name_of_statement_side
from .symbol_meanings import MECHANISM_NAME_PREFIX
from .symbol_table import CORIOLIS_MATRIX_ENTRY, ENERGIES_UP_TO_CONSTANT

if TYPE_CHECKING:
    from .checked_section import CheckedSection


def prove_equivalence(
    section: CheckedSection, pair: EquationSides, prover: EquationProver
) -> EquationProof:
    """Whether an energy differs by what it may differ by, or an entry of the constraint Jacobian by
    what vanishes on all motions; `why` names it."""
    if describes_constraint_function(section.meanings, pair):
        return _prove_on_constrained_motions(section, pair, prover)
    for side, other in (pair, pair[::-1]):
        name = single_name_of_statement_side(side)
        is_ours = (
            section.vocabulary.is_paper_symbol(name) and section.meanings.find_meaning(name) == name
        )
        if not (is_ours and any(row.has_form(name) for row in ENERGIES_UP_TO_CONSTANT)):
            continue
        if not _statement_depends_on_motion(section, other):
            continue
        constant = prover.prove_constant_difference(pair)
        if constant.holds:
            return replace(constant, why="up to a constant")
        if name == "L" and (same := _prove_same_lagrange_equations(section, other, prover)).holds:
            return replace(same, why="up to the total derivative of a function of q and t")
        return constant
    return EquationProof(False)


def _prove_on_constrained_motions(
    section: CheckedSection, pair: EquationSides, prover: EquationProver
) -> EquationProof:
    """Whether an equation that fails as one of functions holds where the constraints hold. This
    makes an entry of the Jacobian right, but not a residual, because all of them are zero there."""
    (proof,) = prover.prove_on_motions([pair])
    if not proof.holds:
        return EquationProof(False)
    if describes_constraint_residual(section.meanings, pair):
        return EquationProof(
            False, why="both sides vanish where the constraints hold, but not elsewhere"
        )
    return replace(proof, why="where the constraints hold")


def _statement_depends_on_motion(section: CheckedSection, expression: Expression) -> bool:
    """Whether an expression changes with the motion, and not with parameters alone."""
    own = section.vocabulary
    wanted = section.meanings.needed_names([expression])
    return any(name not in own.parameters for name in wanted)


def _prove_same_lagrange_equations(
    section: CheckedSection, lagrangian: Expression, prover: EquationProver
) -> EquationProof:
    """Whether a function L has Lagrange's equations of the mechanism, for all q, q̇ and q̈: what
    vanishes on some motions only need not be a total derivative."""
    own, chance = section.vocabulary, 0.0
    if own.names.q != own.names.qd or _statement_has_forces_or_accelerations(section, lagrangian):
        return EquationProof(None)
    pairs = []
    try:
        for k in range(own.names.nv):
            momentum = section.meanings.partial_derivative(lagrangian, "qd", k)
            force = section.meanings.partial_derivative(lagrangian, "q", k)
            left = Sum((section.meanings.total_time_derivative(momentum), negate_expression(force)))
            pairs.append((left, Name(f"lagrange@{k}")))
        wanted = section.meanings.needed_names(side for pair in pairs for side in pair)
    except LinkwrightError:
        return EquationProof(None)
    setting = replace(prover.assumptions, is_free=True)
    for proof in EquationProver(section.meanings, wanted, setting).prove_statements(pairs):
        if not proof.holds:
            return proof
        chance += proof.chance
    return EquationProof(True, chance)


def _statement_has_forces_or_accelerations(section: CheckedSection, expression: Expression) -> bool:
    """Whether it is more than a function of q, q̇, t and parameters."""
    own = section.vocabulary
    found = ca.vertcat(
        *(ca.SX(own.require_expression(x)) for x in section.meanings.needed_names([expression]))
    )
    others = ("qdd", "tau", "u", "lambda")
    return any(key in own.symbols and ca.depends_on(found, own.symbols[key]) for key in others)


def equivalent_coriolis_rows(
    section: CheckedSection, proofs: Sequence[EquationProof]
) -> dict[int, tuple[str, float]]:
    """Notes on rows of C that differ from those of the Christoffel symbols but give the same C
    q̇."""
    own = section.vocabulary.names
    places: dict[tuple[int | str, ...], int] = {}
    for i, line in enumerate(section.statements):
        name = section.vocabulary.paper_spelling(single_name_of_statement_side(line.left))
        at = CORIOLIS_MATRIX_ENTRY.arguments(name, section.vocabulary)
        is_claim = i not in section.meanings.defining_statements and not line.is_said_wrong
        if at is not None and is_claim:
            places[at] = i
    right = [i for i in places.values() if proofs[i].holds]
    notes = {i: ("Christoffel's", proofs[i].chance) for i in right}
    span = range(own.nv)
    for row in span:
        lines = [places.get((row, column)) for column in span]
        if None in lines or all(proofs[i].holds for i in lines if i is not None):
            continue
        speeds = [
            Name(f"{MECHANISM_NAME_PREFIX}{name}") for name in section.vocabulary.velocity_names
        ]
        sides = [
            Sum(
                tuple(
                    Product((getattr(section.statements[i], side), speed))
                    for i, speed in zip(lines, speeds, strict=True)
                    if i is not None
                )
            )
            for side in ("left", "right")
        ]
        (proof,) = section.provers[0].prove_statements([(sides[0], sides[1])])
        if proof.holds:
            text = "not Christoffel's, but C q̇ is the same"
            notes |= {i: (text, proof.chance) for i in lines if i is not None}
    return notes
