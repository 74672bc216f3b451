"""Linear equations modulo the prime."""

from __future__ import annotations

from collections.abc import Sequence

from ..readings.modular import UnluckyError
from ..readings.residue_values import Value
from ..readings.residues import PrimeField
from ..tape import Op


def solved(field: PrimeField, matrix: Sequence[Value], right: Sequence[Value]) -> list[Value]:
    """x of A x = b, by elimination."""
    n = len(right)
    rows = [[*matrix[i * n : (i + 1) * n], right[i]] for i in range(n)]
    for k in range(n):
        pivot = next((i for i in range(k, n) if not field.is_zero(rows[i][k])), None)
        if pivot is None:
            raise UnluckyError("drives that cannot be told apart")
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
