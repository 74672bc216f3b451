"""Elimination with partial pivoting as programs; each lane chooses its own pivots."""

from __future__ import annotations

from ..program import Size, Vector


def factorize_matrix(n: Size, a: Vector, pivots: Vector) -> None:
    """Replace an n × n matrix by its factors L and U; `pivots` are the rows that were exchanged.

    The diagonal has the reciprocals of the pivots. A singular matrix gives factors that are not
    finite.
    """
    for k in range(n):
        row = k
        largest = abs(a[k, k])
        for i in range(k + 1, n):
            if abs(a[i, k]) > largest:
                largest = abs(a[i, k])
                row = i
        pivots[k] = float(row)
        for j in range(n):
            other = a[row, j]
            a[row, j] = a[k, j]
            a[k, j] = other
        a[k, k] = 1.0 / a[k, k]
        for i in range(k + 1, n):
            factor = a[i, k] * a[k, k]
            a[i, k] = factor
            for j in range(k + 1, n):
                a[i, j] = a[i, j] - factor * a[k, j]


def solve_factorized(n: Size, a: Vector, pivots: Vector, x: Vector) -> None:
    """Replace the right-hand side x by the solution, with the factors of a matrix."""
    for k in range(n):
        row = int(pivots[k])
        other = x[row]
        x[row] = x[k]
        x[k] = other
    for i in range(n):
        total = x[i]
        for j in range(i):
            total = total - a[i, j] * x[j]
        x[i] = total
    for back in range(n):
        row_above: Size = n - 1 - back
        total = x[row_above]
        for j in range(n - back, n):
            total = total - a[row_above, j] * x[j]
        x[row_above] = total * a[row_above, row_above]
