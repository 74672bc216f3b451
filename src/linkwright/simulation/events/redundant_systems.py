"""Linear systems of expressions: one solution also where rows or columns depend on each other.

Straight-line code cannot choose pivots. The solution of least norm needs none: it is

    x = Aᵀ (A Aᵀ + ε)⁻¹ b

for ε → 0, and a small ε is enough where the same step is repeated on the remaining b − A x
(Tikhonov's regularization, iterated). What A does not determine, Aᵀ takes off again.
"""

from __future__ import annotations

import casadi as ca

from ...algebra.linear_algebra import LUFactorization
from ...types import SX

REGULARIZATION = 1e-11
"""ε for rows of length 1. An iteration leaves the share ε/(σ² + ε) of an error along a singular
value σ: 1e-7 for σ = 0.01. What b has outside of the range of A is amplified by 1e-16/ε."""

ITERATIONS = 4
"""Solutions with the same factors; the last ones only improve systems with σ < 0.01."""

EMPTY_ROW = 1e-20
"""Rows whose squared length is below this share of the mean are zero but for rounding."""


class LeastNormSystem:
    """A x = b in the sense of least squares, with x of least norm."""

    def __init__(self, A: SX) -> None:
        n = A.shape[0]
        squares = ca.sum2(A * A)
        floor = EMPTY_ROW * ca.sum1(squares) / n + 1e-300
        self.sizes = ca.sqrt(squares + floor)
        self.A = ca.densify(A / ca.repmat(self.sizes, 1, A.shape[1]))
        self.factors = LUFactorization(self.A @ self.A.T + REGULARIZATION * ca.SX.eye(n))

    def solve(self, b: SX) -> SX:
        """Return x for one right-hand side."""
        rest = b / self.sizes
        x: SX = ca.SX.zeros(self.A.shape[1])
        for _ in range(ITERATIONS):
            x = x + self.A.T @ self.factors.solve(rest)
            rest = b / self.sizes - self.A @ x
        return x


class RegularSystem:
    """A x = b by elimination in the given order; `share` is the smallest pivot, each as a share of
    its entry on the diagonal."""

    def __init__(self, A: SX) -> None:
        self.factors = LUFactorization(A)
        self.share = ca.SX(1)
        for k, pivot in enumerate(self.factors.pivots):
            self.share = ca.fmin(self.share, ca.fabs(pivot / A[k, k]))

    def solve(self, b: SX) -> SX:
        """Return x for one right-hand side."""
        x: SX = self.factors.solve(b)
        return x
