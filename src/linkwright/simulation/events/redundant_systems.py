"""Linear systems of expressions: one solution also where rows or columns depend on each other.

Straight-line code cannot choose pivots. The solution of least norm needs none: it is

    x = Aᵀ (A Aᵀ + ε)⁻¹ b

for ε → 0, and a small ε is enough where the same step is repeated on the remaining b − A x
(Tikhonov's regularization, iterated). The factor Aᵀ removes the components that A does not
determine.
"""

from __future__ import annotations

import casadi as ca

from ...algebra.linear_algebra import LUFactorization
from ...types import SX

REGULARIZATION = 1e-11
"""ε for rows of length 1. An iteration leaves the share ε/(σ² + ε) of an error along a singular
value σ: 1e-7 for σ = 0.01. Components of b outside the range of A are amplified by 1e-16/ε."""

ITERATIONS = 3
"""Solutions with the same factors; the third one only improves systems with σ < 0.01."""

EMPTY_ROW = 1e-20
"""Rows whose squared length is below this share of the mean are zero up to rounding."""


class SymmetricFactors:
    """L D Lᵀ of a positive definite matrix, for several right-hand sides."""

    def __init__(self, A: SX) -> None:
        self.n = A.shape[0]
        self.L: list[list[SX]] = []
        self.D: list[SX] = []
        for i in range(self.n):
            scaled: list[SX] = []  # L_ij D_j
            for j in range(i):
                known = sum((scaled[k] * self.L[j][k] for k in range(j)), ca.SX(0))
                scaled.append(A[i, j] - known)
            self.L.append([entry / d for entry, d in zip(scaled, self.D, strict=True)])
            known = sum((a * b for a, b in zip(scaled, self.L[i], strict=True)), ca.SX(0))
            self.D.append(A[i, i] - known)

    def solve(self, b: SX) -> SX:
        """Return A⁻¹ b."""
        x = ca.vertsplit(b)
        for i in range(self.n):
            for k, entry in enumerate(self.L[i]):
                x[i] = x[i] - entry * x[k]
        x = [entry / d for entry, d in zip(x, self.D, strict=True)]
        for i in reversed(range(self.n)):
            for k, entry in enumerate(self.L[i]):
                x[k] = x[k] - entry * x[i]
        return ca.vertcat(*x)


class LeastNormSystem:
    """A x = b in the sense of least squares, with x of least norm."""

    def __init__(self, A: SX) -> None:
        squares = ca.sum2(A * A)
        floor = EMPTY_ROW * ca.sum1(squares) / A.shape[0] + 1e-300
        self.sizes = 1 / ca.sqrt(squares + floor)
        self.A = ca.densify(A * ca.repmat(self.sizes, 1, A.shape[1]))
        gram = symmetric_product(self.A, self.A.T)
        self.factors = SymmetricFactors(gram + REGULARIZATION * ca.SX.eye(A.shape[0]))

    def solve(self, b: SX) -> SX:
        """Return x for one right-hand side."""
        x: SX = ca.SX.zeros(self.A.shape[1])
        for _ in range(ITERATIONS):
            x = x + self.A.T @ self.factors.solve(b * self.sizes - self.A @ x)
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


class SemidefiniteSystem:
    """A x = b for a symmetric matrix without negative eigenvalues, and b in its range:
    x = (A + ε)⁻¹ b, iterated. It is cheaper than the solution of least norm, and as good for A x:
    only what A does not determine has errors of about 1e-16/ε."""

    def __init__(self, A: SX) -> None:
        self.sizes = 1 / ca.sqrt(ca.diag(A) + 1e-300)
        self.A = ca.densify(A * (self.sizes @ self.sizes.T))
        self.factors = SymmetricFactors(self.A + REGULARIZATION * ca.SX.eye(A.shape[0]))

    def solve(self, b: SX) -> SX:
        """Return x for one right-hand side."""
        x: SX = ca.SX.zeros(self.A.shape[0])
        for _ in range(ITERATIONS):
            x = x + self.factors.solve(b * self.sizes - self.A @ x)
        return x * self.sizes


def symmetric_product(A: SX, B: SX) -> SX:
    """Return A B, if it is symmetric: half of its entries are computed."""
    return ca.triu2symm(ca.triu(ca.densify(A @ B)))
