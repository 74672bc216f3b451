"""Vectors and matrices of numbers or of CasADi expressions.

Constants are NumPy arrays of floats, and everything else is CasADi SX. Both have `@`, `.T` and
indexing, and they can be mixed. CasADi drops factors 0 and 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from .elimination_order import elimination_order
from .operators import constant_casadi_expression, is_numpy_matrix_operand

Scalar = Any  # float or SX
Array = Any  # NumPy array of floats, or SX matrix

MAX_ROUNDING_NOISE = 1e-15
"""Entries of rotations nearer than this to 0, 1 or −1 are rounding errors of exactly that."""


def column_vector(*entries: Scalar) -> Array:
    """A column of three (or more) scalars: a NumPy array if all are numbers, else SX."""
    if all(isinstance(entry, float | int) for entry in entries):
        return np.array(entries, dtype=float)
    matrix = _dense_matrix(entries, len(entries), 1)
    return ca.vertcat(*entries) if matrix is None else matrix


def matrix_from_rows(rows: list[list[Scalar]]) -> Array:
    """The matrix with the given rows: a NumPy array if all entries are numbers, else SX."""
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
    """The matrix of numbers in CasADi's column order, made once: nobody may change it."""
    return ca.SX(np.reshape(numbers, (row_count, column_count), order="F"))


def _matrix_to_casadi(a: Array) -> Array:
    """The array as an expression, which the caller must not change."""
    if isinstance(a, ca.SX):
        return a
    return constant_casadi_expression(a) if is_numpy_matrix_operand(a) else ca.SX(a)


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
    """The vector product a × b of two 3-vectors."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.cross(a, b)
    return ca.cross(_matrix_to_casadi(a), _matrix_to_casadi(b))


def dot(a: Array, b: Array) -> Scalar:
    """The scalar product a · b."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return float(a @ b)
    return ca.dot(_matrix_to_casadi(a), _matrix_to_casadi(b))


def skew(a: Array) -> Array:
    """The skew-symmetric matrix [a]× with [a]× b = a × b."""
    x, y, z = vector_entries(a)
    return matrix_from_rows([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def outer(a: Array, b: Array) -> Array:
    """The outer product a bᵀ."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return np.outer(a, b)
    return _matrix_to_casadi(a) @ _matrix_to_casadi(b).T


def rotate_vector_by_matrix(R: Array, a: Array) -> Array:
    """The rotated vector R a; a matrix R that only permutes axes costs no operations."""
    if not isinstance(R, np.ndarray) or not isinstance(a, ca.SX) or not a.is_dense():
        return R @ a
    swapped = _axis_permutation_of_rotation(R.tobytes())
    if swapped is None or a.shape != (3, 1):
        return R @ a
    order, signs = swapped
    swapped_entries = a if order == [0, 1, 2] else a[order]
    return swapped_entries if signs is None else signs * swapped_entries


@lru_cache(maxsize=1024)
def _axis_permutation_of_rotation(content: bytes) -> tuple[list[int], Array] | None:
    """The axis permutation of a 3 × 3 matrix: the entry that each row picks, and the signs.

    The signs are None if all are plus. The result is None if the matrix is not a permutation.
    """
    R = np.frombuffer(content).reshape(3, 3)
    if not np.array_equal(np.sort(np.abs(R), axis=1), [[0, 0, 1]] * 3):
        return None
    order = [int(k) for k in np.argmax(np.abs(R), axis=1)]
    signs = [float(R[row, k]) for row, k in enumerate(order)]
    return order, None if signs == [1.0, 1.0, 1.0] else ca.SX(signs)


def symmetric_from_upper(a: Array) -> Array:
    """The symmetric matrix with the upper triangle of `a`; its lower one is not evaluated."""
    if isinstance(a, np.ndarray):
        return np.triu(a) + np.triu(a, 1).T
    return ca.triu2symm(ca.triu(a))


def nonzero_matrix_rows(A: Array) -> list[dict[int, Scalar]]:
    """The rows of a matrix, each as a table of its nonzero entries by column."""
    matrix: Array = ca.SX(A)
    rows: list[dict[int, Scalar]] = [{} for _ in range(matrix.shape[0])]
    for i, j, entry in zip(*matrix.sparsity().get_triplet(), matrix.nonzeros(), strict=True):
        if not entry.is_zero():
            rows[i][j] = entry
    return rows


def solve_symmetric_matrix(A: Array, b: Array) -> Array:
    """The solution A⁻¹ b for a positive definite A, by LDLᵀ in an order of little fill-in.

    b may have several columns. Entries that are structurally zero cost no operations.
    """
    n, rows = A.shape[0], nonzero_matrix_rows(A)
    order = elimination_order([set(row) - {i} for i, row in enumerate(rows)])
    L: list[dict[int, Scalar]] = []  # rows of L, their entries left of the diagonal
    D: list[Scalar] = []
    for i in range(n):
        given, row = rows[order[i]], dict[int, Scalar]()  # row has L_ij D_j
        for j in range(i):
            rest = given.get(order[j], ca.SX(0))
            for k in L[j]:
                if k in row:
                    rest = rest - row[k] * L[j][k]
            if not rest.is_zero():
                row[j] = rest
        L.append({j: entry / D[j] for j, entry in row.items()})
        diagonal = given.get(order[i], ca.SX(0))
        D.append(diagonal - sum((row[j] * L[i][j] for j in row), ca.SX(0)))
    right = ca.vertsplit(ca.SX(b))
    x = [right[k] for k in order]
    for i in range(n):
        for k, entry in L[i].items():
            x[i] = x[i] - entry * x[k]
    x = [row / d for row, d in zip(x, D, strict=True)]
    for i in reversed(range(n)):
        for k, entry in L[i].items():
            x[k] = x[k] - entry * x[i]
    places = {k: i for i, k in enumerate(order)}
    return ca.vertcat(*(x[places[k]] for k in range(n)))


class LUFactorization:
    """The factors A = L U of a square matrix, with pivots on the diagonal in the given order.

    Entries that are structurally zero cost no operations. L has a unit diagonal.
    """

    def __init__(self, A: Array) -> None:
        n, rows = A.shape[0], nonzero_matrix_rows(A)
        for i, row in enumerate(rows):
            row.setdefault(i, ca.SX(0))
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
        """The solution A⁻¹ b; b may have several columns."""
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
        """The solution A⁻ᵀ b; b may have several columns."""
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


def is_constant_matrix(array: Array) -> bool:
    """Whether the array contains no symbols."""
    return isinstance(array, np.ndarray | float | int) or bool(array.is_constant())


def snap_rotation_noise(array: Array, dust: float = MAX_ROUNDING_NOISE) -> Array:
    """The array with entries within `dust` of −1, 0 and 1 made exact (floats only)."""
    if not isinstance(array, np.ndarray):
        return array
    nearest = np.clip(np.round(array), -1.0, 1.0)
    return np.where(np.abs(array - nearest) <= dust, nearest, array)


IDENTITY: Array = np.eye(3)
ZERO3: Array = np.zeros(3)
