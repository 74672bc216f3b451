"""Solutions of linear systems in the ring of a closed form: adjugate over determinant."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..algebra.exact.quotient_ring import QuotientRing
from ..algebra.exact.quotients import Quotient


def solve_by_determinants(
    ring: QuotientRing, matrix: Sequence[Quotient], right: Sequence[Quotient]
) -> tuple[list[Quotient], Quotient]:
    """x = adj(A) b / det A, with the determinant not expanded, and det A; entries row by row, the
    right side may have several columns."""
    n = _rows_of_square(len(matrix))
    A = [matrix[n * i : n * i + n] for i in range(n)]
    det, columns, x = ring_determinant(ring, A), len(right) // n, list[Quotient]()
    for i in range(n):
        for column in range(columns):
            b = [right[columns * j + column] for j in range(n)]
            swapped = [[b[r] if k == i else A[r][k] for k in range(n)] for r in range(n)]
            x.append(over_determinant(ring, ring_determinant(ring, swapped), det))
    return x, det


def _rows_of_square(count: int) -> int:
    """The number of rows of a square matrix with so many entries."""
    return next(n for n in range(count + 1) if n * n == count)


def over_determinant(ring: QuotientRing, top: Quotient, bottom: Quotient) -> Quotient:
    """A quotient over the determinant, which stays a denominator unless it is constant."""
    if bottom.numerator.is_constant():
        return ring.divide_quotients(top, bottom)
    if top.denominator is not None or bottom.denominator is not None:
        return ring.divide_quotients(top, bottom)
    if top.numerator.is_zero():
        return top
    return Quotient(
        top.numerator, top.reducible_generators | bottom.reducible_generators, bottom.numerator
    )


def ring_determinant(ring: QuotientRing, A: Sequence[Sequence[Quotient]]) -> Quotient:
    """The determinant by expansion along the first row (at most three rows)."""
    if len(A) == 1:
        return A[0][0]
    total = ring.constant(Fraction(0))
    for k, entry in enumerate(A[0]):
        minor = [[x for j, x in enumerate(row) if j != k] for row in A[1:]]
        sign = ring.constant(Fraction((-1) ** k))
        part = ring.multiply_quotients(
            ring.multiply_quotients(sign, entry), ring_determinant(ring, minor)
        )
        total = ring.add_quotients(total, part)
    return total


def kinetic_energy_of_momenta(
    ring: QuotientRing, momenta: Sequence[Quotient], speeds: Sequence[Quotient], det: Quotient
) -> Quotient:
    """½ pᵀ M⁻¹ p, from p, M⁻¹ p over det M, and det M."""
    half, total = ring.constant(Fraction(1, 2)), ring.constant(Fraction(0))
    for p, speed in zip(momenta, speeds, strict=True):
        part = ring.multiply_quotients(p, Quotient(speed.numerator, speed.reducible_generators))
        total = ring.add_quotients(total, ring.multiply_quotients(half, part))
    return over_determinant(ring, total, det)
