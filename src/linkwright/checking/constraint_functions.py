"""Equations that say what the functions φ(q) of the constraints and their Jacobian are.

On every motion of the mechanism φ is zero, and so is an entry of its Jacobian that is a multiple of
φ. Such motions cannot tell f1 = φ1 from f1 = −φ1: an equation that says what these functions are is
judged at states that need not keep the constraints.
"""

from __future__ import annotations

import re

import casadi as ca

from ..errors import LinkwrightError
from ..expressions import Expression, Number, names_in_expression
from .symbol_meanings import SymbolMeanings
from .symbol_patterns import CheckerSymbolRow
from .symbol_table import CONSTRAINT_JACOBIAN_ENTRY, CONSTRAINT_RESIDUAL
from .vocabulary import CheckerVocabulary


def describes_constraint_function(
    meanings: SymbolMeanings, pair: tuple[Expression, Expression]
) -> bool:
    """Whether an equation says which function of the state a residual or an entry of the Jacobian
    is."""
    return describes_constraint_residual(meanings, pair) or _describes_constraint_jacobian(
        meanings, pair
    )


def describes_constraint_residual(
    meanings: SymbolMeanings, pair: tuple[Expression, Expression]
) -> bool:
    """Whether an equation says which function of the state a residual is. f1 = 0 does not: it is
    the constraint."""
    own = meanings.vocabulary
    others = _names_beside(meanings, pair, CONSTRAINT_RESIDUAL)
    if others is None or _depends_on(own, others, "tau", "u", "lambda"):
        return False
    is_constraint = any(_is_zero(side) for side in pair)
    return not is_constraint or any(name not in own.parameters for name in others)


def residual_names_sentence(meanings: SymbolMeanings, pair: tuple[Expression, Expression]) -> str:
    """Say that f1 is a residual, to somebody who writes it for the force f[1]; else nothing."""
    if not describes_constraint_residual(meanings, pair):
        return ""
    own = meanings.vocabulary
    names = [name for side in pair for name in sorted(names_in_expression(side))]
    for name in names:
        if re.fullmatch(r"f\d+", spelling := own.paper_spelling(name)):
            place = spelling[1:]
            return (
                f"{name} is the residual of constraint {place}; write f[{place}] for "
                f"the force on coordinate {place}"
            )
    return ""


def _describes_constraint_jacobian(
    meanings: SymbolMeanings, pair: tuple[Expression, Expression]
) -> bool:
    """Whether an equation says what an entry of the Jacobian is. J11*dq1 + J12*dq2 = 0 does not:
    it is a condition on motions."""
    others = _names_beside(meanings, pair, CONSTRAINT_JACOBIAN_ENTRY)
    return others is not None and not _depends_on(
        meanings.vocabulary, others, "qd", "qdd", "tau", "u", "lambda"
    )


def _names_beside(
    meanings: SymbolMeanings, pair: tuple[Expression, Expression], row: CheckerSymbolRow[ca.SX]
) -> list[str] | None:
    """The names of an equation beside the symbols of a row; None if it has no symbol of this row,
    or a name that means nothing."""
    own = meanings.vocabulary
    if not own.names.constraints or "x" in own.inputs:  # points of x keep no constraint
        return None
    try:
        names = meanings.needed_names(pair)
    except LinkwrightError:
        return None
    of_row = {
        name
        for name in names
        if own.is_paper_symbol(name) and row.arguments(own.paper_spelling(name), own) is not None
    }
    return [name for name in names if name not in of_row] if of_row else None


def _depends_on(own: CheckerVocabulary, names: list[str], *keys: str) -> bool:
    """Whether one of the names depends on one of the inputs."""
    found = ca.vertcat(*(ca.SX(own.require_expression(name)) for name in names))
    return any(key in own.symbols and ca.depends_on(found, own.symbols[key]) for key in keys)


def _is_zero(side: Expression) -> bool:
    return isinstance(side, Number) and side.value == 0
