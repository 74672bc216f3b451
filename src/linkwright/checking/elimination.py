"""Linear equations modulo the prime."""

from __future__ import annotations

from collections.abc import Sequence

from ..readings.modular import UnluckyError
from ..readings.residues import PRIME, PrimeField, Value
from ..tape import Op


def solved(field: PrimeField, matrix: Sequence[Value], right: Sequence[Value]) -> list[Value]:
    """x of A x = b, by elimination."""
    n = len(right)
    rows = [[*matrix[i * n : (i + 1) * n], right[i]] for i in range(n)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if rows[i][k].number), None)
        if pivot is None:
            raise UnluckyError("drives that cannot be told apart")
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [field.apply(Op.DIV, (x, rows[k][k])) for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][k].number:
                factor = rows[i][k]
                rows[i] = [
                    field.apply(Op.SUB, (x, field.apply(Op.MUL, (factor, y))))
                    for x, y in zip(rows[i], rows[k], strict=True)
                ]
    return [row[n] for row in rows]


def independent_rows(rows: Sequence[Sequence[int]]) -> list[int]:
    """Indices of rows that span all of them."""
    reduced: list[tuple[int, list[int]]] = []
    kept = []
    for i, row in enumerate(rows):
        left = [x % PRIME for x in row]
        for at, pivot in reduced:
            factor = left[at]
            left = [(x - factor * y) % PRIME for x, y in zip(left, pivot, strict=True)]
        k = next((k for k, x in enumerate(left) if x), None)
        if k is not None:
            scale = pow(left[k], -1, PRIME)
            reduced.append((k, [x * scale % PRIME for x in left]))
            kept.append(i)
    return kept


def rank(rows: Sequence[Sequence[int]]) -> int:
    return len(independent_rows(rows))
