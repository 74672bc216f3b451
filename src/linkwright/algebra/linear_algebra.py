"""Vectors and matrices of numbers or CasADi expressions, alike.

Constants are NumPy arrays of floats, everything else CasADi SX; both understand `@`, `.T`
and indexing, and mix. CasADi drops factors 0 and 1 on the way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from .operators import constant_expression, is_plain_matrix

Scalar = Any  # float or SX
Array = Any  # NumPy array of floats, or SX matrix

MAX_ROUNDING_NOISE = 1e-15
"""Entries of rotations nearer than this to 0, 1 or −1 are rounding errors of exactly that."""


def column_vector(*entries: Scalar) -> Array:
    """A column of three (or more) scalars."""
    if all(isinstance(entry, float | int) for entry in entries):
        return np.array(entries, dtype=float)
    matrix = _dense_matrix(entries, len(entries), 1)
    return ca.vertcat(*entries) if matrix is None else matrix


def matrix_from_rows(rows: list[list[Scalar]]) -> Array:
    if all(isinstance(entry, float | int) for row in rows for entry in row):
        return np.array(rows, dtype=float)
    entries = [entry for column in zip(*rows, strict=True) for entry in column]
    matrix = _dense_matrix(entries, len(rows), len(rows[0]))
    return ca.reshape(ca.vertcat(*entries), len(rows), len(rows[0])) if matrix is None else matrix


def _dense_matrix(entries: Sequence[Scalar], row_count: int, column_count: int) -> Array | None:
    """The matrix of entries in CasADi's column order, as `vertcat` and `reshape` make it in twice
    the time; None where an entry is not a dense scalar."""
    numbers = []
    for entry in entries:
        if type(entry) is ca.SX:
            if not entry.is_scalar(True):
                return None
            numbers.append(0.0)
        elif isinstance(entry, float | int):
            numbers.append(float(entry))
        else:
            return None
    matrix = +_matrix_of_numbers(tuple(numbers), row_count, column_count)
    for k, entry in enumerate(entries):
        if type(entry) is ca.SX:
            matrix.set_nz(entry, False, k)
    return matrix


@lru_cache(maxsize=1024)
def _matrix_of_numbers(numbers: tuple[float, ...], row_count: int, column_count: int) -> Array:
    return ca.SX(np.reshape(numbers, (row_count, column_count), order="F"))


def _to_casadi(a: Array) -> Array:
    """An expression, which the caller must not change."""
    if isinstance(a, ca.SX):
        return a
    return constant_expression(a) if is_plain_matrix(a) else ca.SX(a)


def vector_entries(a: Array) -> list[Scalar]:
    """The entries of a vector, as `a[i]` gives them one by one."""
    if isinstance(a, np.ndarray):
        return list(a.tolist())
    return list(a.elements()) if a.is_dense() else [a[i] for i in range(a.numel())]


def matrix_entries(A: Array) -> list[list[Scalar]]:
    """The rows of a matrix, each a list of its entries, as `A[i, j]` gives them one by one."""
    if isinstance(A, np.ndarray):
        return list(A.tolist())
    rows, columns = A.shape
    if not A.is_dense():
        return [[A[i, j] for j in range(columns)] for i in range(rows)]
    entries = A.elements()
    return [entries[i::rows] for i in range(rows)]


def cross(a: Array, b: Array) -> Array:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.cross(a, b)
    return ca.cross(_to_casadi(a), _to_casadi(b))


def dot(a: Array, b: Array) -> Scalar:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return float(a @ b)
    return ca.dot(_to_casadi(a), _to_casadi(b))


def skew(a: Array) -> Array:
    """[a]× with [a]× b = a × b."""
    x, y, z = vector_entries(a)
    return matrix_from_rows([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def outer(a: Array, b: Array) -> Array:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.outer(a, b)
    return _to_casadi(a) @ _to_casadi(b).T


def rotate_vector(R: Array, a: Array) -> Array:
    """R a of a rotation and a vector; where R only swaps axes, no entry is computed."""
    if not isinstance(R, np.ndarray) or not isinstance(a, ca.SX) or not a.is_dense():
        return R @ a
    swapped = _axis_permutation(R.tobytes())
    if swapped is None or a.shape != (3, 1):
        return R @ a
    order, signs = swapped
    swapped_entries = a if order == [0, 1, 2] else a[order]
    return swapped_entries if signs is None else signs * swapped_entries


@lru_cache(maxsize=1024)
def _axis_permutation(content: bytes) -> tuple[list[int], Array] | None:
    """The entry of a vector that each row of a 3×3 matrix takes, and the signs, None where all are
    plus; None for the matrix if some row takes several, or multiplies."""
    R = np.frombuffer(content).reshape(3, 3)
    if not np.array_equal(np.sort(np.abs(R), axis=1), [[0, 0, 1]] * 3):
        return None
    order = [int(k) for k in np.argmax(np.abs(R), axis=1)]
    signs = [float(R[row, k]) for row, k in enumerate(order)]
    return order, None if signs == [1.0, 1.0, 1.0] else ca.SX(signs)


def symmetric_from_upper(a: Array) -> Array:
    """The symmetric matrix with a's upper triangle; the lower one is never computed."""
    if isinstance(a, np.ndarray):
        return np.triu(a) + np.triu(a, 1).T
    return ca.triu2symm(ca.triu(a))


def solve_symmetric(A: Array, b: Array) -> Array:
    """A⁻¹ b of a positive definite A by LDLᵀ, without pivots; b may have several columns.

    Entries that are zero by structure are never touched.
    """
    n = A.shape[0]
    L: list[dict[int, Scalar]] = []  # rows of L, their entries left of the diagonal
    D: list[Scalar] = []
    for i in range(n):
        row: dict[int, Scalar] = {}  # L_ij D_j
        for j in range(i):
            rest = A[i, j]
            for k in L[j]:
                if k in row:
                    rest = rest - row[k] * L[j][k]
            if not rest.is_zero():
                row[j] = rest
        L.append({j: entry / D[j] for j, entry in row.items()})
        D.append(A[i, i] - sum((row[j] * L[i][j] for j in row), ca.SX(0)))
    x = ca.vertsplit(ca.SX(b))
    for i in range(n):
        for k, entry in L[i].items():
            x[i] = x[i] - entry * x[k]
    x = [row / d for row, d in zip(x, D, strict=True)]
    for i in reversed(range(n)):
        for k, entry in L[i].items():
            x[k] = x[k] - entry * x[i]
    return ca.vertcat(*x)


class LUFactorization:
    """A = L U of a square matrix whose pivots are on its diagonal, in this order.

    Entries that are zero by structure are never touched. L has ones on the diagonal.
    """

    def __init__(self, A: Array) -> None:
        n = A.shape[0]
        rows = [{j: A[i, j] for j in range(n) if i == j or not A[i, j].is_zero()} for i in range(n)]
        self.lower: list[dict[int, Scalar]] = [{} for _ in range(n)]
        for k in range(n):
            for i in range(k + 1, n):
                if k not in rows[i]:
                    continue
                factor = self.lower[i][k] = rows[i].pop(k) / rows[k][k]
                for j in (j for j in rows[k] if j > k):
                    rows[i][j] = rows[i].get(j, ca.SX(0)) - factor * rows[k][j]
        self.upper = rows
        self.pivots = [rows[k][k] for k in range(n)]

    def solve(self, b: Array) -> Array:
        """A⁻¹ b; b may have several columns."""
        x = ca.vertsplit(ca.SX(b)) if self.pivots else []
        for i, row in enumerate(self.lower):
            for k, entry in row.items():
                x[i] = x[i] - entry * x[k]
        for i in reversed(range(len(x))):
            for j, entry in self.upper[i].items():
                if j > i:
                    x[i] = x[i] - entry * x[j]
            x[i] = x[i] / self.pivots[i]
        return ca.vertcat(*x) if x else ca.SX(b)

    def solve_transposed(self, b: Array) -> Array:
        """A⁻ᵀ b."""
        x = ca.vertsplit(ca.SX(b)) if self.pivots else []
        for i, row in enumerate(self.upper):
            x[i] = x[i] / self.pivots[i]
            for j, entry in row.items():
                if j > i:
                    x[j] = x[j] - entry * x[i]
        for i in reversed(range(len(x))):
            for k, entry in self.lower[i].items():
                x[k] = x[k] - entry * x[i]
        return ca.vertcat(*x) if x else ca.SX(b)


def is_constant_array(array: Array) -> bool:
    return isinstance(array, np.ndarray | float | int) or bool(array.is_constant())


def snap_rounding_noise(array: Array, dust: float = MAX_ROUNDING_NOISE) -> Array:
    """The array with entries within `dust` of −1, 0 and 1 made exact (floats only)."""
    if not isinstance(array, np.ndarray):
        return array
    nearest = np.clip(np.round(array), -1.0, 1.0)
    return np.where(np.abs(array - nearest) <= dust, nearest, array)


IDENTITY: Array = np.eye(3)
ZERO3: Array = np.zeros(3)
