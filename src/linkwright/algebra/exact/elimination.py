"""Linear equations in exact algebras: modulo a prime by FLINT's matrices, else by elimination."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from typing import Protocol, TypeVar

from ...tape import Op
from ...types import FlintMatrix, FlintModulus
from .modular_arithmetic import BadPointError
from .tape_algebra import OperationAlgebra

T = TypeVar("T")

WORD_MODULUS_BOUND = 1 << 64
"""Below this a modulus fits FLINT's matrices of machine words."""


class ExactField(OperationAlgebra[T], Protocol[T]):
    """An algebra with division and a test for zero."""

    def is_zero(self, value: T) -> bool:
        """Whether the value is zero."""


# -- modulo a prime ------------------------------------------------------------------------


def modular_matrix(rows: Sequence[Sequence[int]], p: int) -> FlintMatrix:
    """The FLINT matrix with the given rows modulo p."""
    import flint

    height, width = len(rows), len(rows[0]) if rows else 0
    entries = [x % p for row in rows for x in row]
    if p < WORD_MODULUS_BOUND:
        return flint.nmod_mat(height, width, entries, p)
    return flint.fmpz_mod_mat(height, width, entries, _flint_modulus(p))


@cache
def _flint_modulus(p: int) -> FlintModulus:
    """The FLINT context of a large modulus; its construction tests that p is prime."""
    import flint

    return flint.fmpz_mod_ctx(p)


def echelon_form_modulo(rows: Sequence[Sequence[int]], p: int) -> tuple[list[list[int]], list[int]]:
    """The nonzero rows of the reduced row echelon form modulo p, and their pivot columns."""
    reduced, rank = modular_matrix(rows, p).rref()
    table = [[int(reduced[i, k]) for k in range(reduced.ncols())] for i in range(rank)]
    return table, [next(k for k, x in enumerate(row) if x) for row in table]


def rank_modulo(rows: Sequence[Sequence[int]], p: int) -> int:
    """The rank of the matrix with these rows modulo p."""
    return int(modular_matrix(rows, p).rank()) if rows and rows[0] else 0


def independent_rows_modulo(rows: Sequence[Sequence[int]], p: int) -> list[int]:
    """The indices of the first rows that span all rows modulo p."""
    if not rows or not rows[0]:
        return []
    return echelon_form_modulo(list(zip(*rows, strict=True)), p)[1]


def dependent_columns_modulo(
    rows: Sequence[Sequence[int]], order: Sequence[int], p: int
) -> dict[int, dict[int, int]]:
    """The columns that depend on earlier ones in `order`, and their coefficients there."""
    if not order:
        return {}
    table, pivots = echelon_form_modulo([[row[c] for c in order] for row in rows], p)
    return {
        column: {order[at]: row[k] for at, row in zip(pivots, table, strict=True) if row[k]}
        for k, column in enumerate(order)
        if k not in pivots
    }


def solve_modulo(rows: Sequence[Sequence[int]], right: Sequence[int], p: int) -> list[int] | None:
    """One solution x of A x = b modulo p, with free entries zero; None if there is none."""
    width = len(rows[0]) if rows else 0
    if not width:
        return None if any(x % p for x in right) else []
    table, pivots = echelon_form_modulo([[*row, b] for row, b in zip(rows, right, strict=True)], p)
    if width in pivots:
        return None
    found = [0] * width
    for at, row in zip(pivots, table, strict=True):
        found[at] = row[width]
    return found


# -- in any field --------------------------------------------------------------------------


def solve_exact_system(field: ExactField[T], matrix: Sequence[T], right: Sequence[T]) -> list[T]:
    """The solution x of A x = b in a field, A row by row; entries that are zero keep degrees."""
    n = len(right)
    rows = [[*matrix[i * n : (i + 1) * n], right[i]] for i in range(n)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if not field.is_zero(rows[i][k])), None)
        if pivot is None:
            raise BadPointError("actuators that cannot be told apart")
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [field.apply(Op.DIV, (x, rows[k][k])) for x in rows[k]]
        for i in range(n):
            if i != k and not field.is_zero(rows[i][k]):
                factor = rows[i][k]
                rows[i] = [
                    field.apply(Op.SUB, (x, field.apply(Op.MUL, (factor, y))))
                    for x, y in zip(rows[i], rows[k], strict=True)
                ]
    return [row[n] for row in rows]


def eliminate_pivot_column(
    field: ExactField[T], rows: Iterable[dict[int, T]], pivot: dict[int, T], column: int
) -> None:
    """Normalizes the pivot row and subtracts it from all other rows that have the column."""
    one, zero = (field.constant(Fraction(x)) for x in (1, 0))
    scale = field.apply(Op.DIV, (one, pivot[column]))
    for c in pivot:
        pivot[c] = field.apply(Op.MUL, (pivot[c], scale))
    for row in rows:
        if row is pivot or column not in row:
            continue
        factor = row[column]
        for c, x in pivot.items():
            product = field.apply(Op.MUL, (factor, x))
            rest = field.apply(Op.SUB, (row.get(c, zero), product))
            if field.is_zero(rest):
                row.pop(c, None)
            else:
                row[c] = rest
