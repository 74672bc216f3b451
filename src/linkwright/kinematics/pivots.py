"""Mobility of a constrained mechanism: independent equations and velocities, redundancy.

Straight-line code cannot pivot, so the rows and columns that are eliminated are chosen here, at a
configuration that closes, and are data of the model from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..errors import UnsupportedError
from ..types import Floats
from .closing import CLOSURE_TOLERANCES, jacobian_rank_of_singular_values

_MIN_PIVOT_SHARE = 0.2
"""A pivot may be this share of the largest one, if it keeps the elimination sparser."""


@dataclass(frozen=True)
class PivotChoice:
    """Rows of J and velocities that are eliminated, pair by pair in this order; the other
    velocities are independent. `pivots` are their sizes at the configuration of the choice;
    `redundant` rows restrict what others restrict already; rows in neither list always hold."""

    rows: tuple[int, ...]
    dependent: tuple[int, ...]
    independent: tuple[int, ...]
    pivots: tuple[float, ...]
    redundant: tuple[int, ...]


@dataclass(frozen=True)
class ConstraintJacobianScale:
    """The sizes of the `entries` of J and of its `columns` (1, or one by metres), and the `closure`
    of the mechanism, the share below which entries and singular values are zero."""

    entries: Floats
    columns: Floats
    closure: float

    def select_columns(self, chosen: Sequence[int]) -> ConstraintJacobianScale:
        """Return the scale of a Jacobian with only these columns."""
        columns = list(chosen)
        return replace(self, entries=self.entries[:, columns], columns=self.columns[columns])

    def select_rows(self, chosen: Sequence[int]) -> ConstraintJacobianScale:
        """Return the scale of a Jacobian with only these rows."""
        return replace(self, entries=self.entries[list(chosen)])


def scale_constraint_jacobian(J: Floats, scale: ConstraintJacobianScale | None = None) -> Floats:
    """Return J with rows and columns of similar size, so that units do not matter; entries below
    rounding are zero."""
    floor = CLOSURE_TOLERANCES.rounding_share * max(1e-300, np.abs(J).max(initial=0.0))
    if scale is not None:
        floor = np.maximum(floor, scale.closure * scale.entries)
    J = np.where(np.abs(J) < floor, 0.0, J)
    for axis in (1, 0, 1):
        size = np.abs(J).max(axis=axis, keepdims=True, initial=0.0)
        J = J / np.where(size == 0, 1.0, size)
    return J


def jacobian_rank(J: Floats, scale: ConstraintJacobianScale | None = None) -> int:
    """Return the rank of a constraint Jacobian, independent of its units: singular values of the
    scaled Jacobian below the closure's share of the largest are zero."""
    if 0 in J.shape:
        return 0
    sizes = np.linalg.svd(scale_constraint_jacobian(J, scale), compute_uv=False)
    return jacobian_rank_of_singular_values(
        sizes, CLOSURE_TOLERANCES.rank_share if scale is None else scale.closure
    )


def choose_constraint_pivots(
    J: Floats,
    scale: ConstraintJacobianScale,
    kept: tuple[int, ...] = (),
    names: tuple[str, ...] = (),
    *,
    position_rows: Sequence[int] = (),
) -> PivotChoice:
    """Return pivots of J chosen by size and sparsity; the velocities in `kept` stay independent.

    No row of velocities takes the place of one of `position_rows`: only these keep positions
    closed.
    """
    whole, n = jacobian_rank(J, scale), J.shape[1]
    free = [k for k in range(n) if k not in kept]
    if kept and len(kept) != n - whole:
        raise UnsupportedError(
            f"{len(kept)} velocities are named for "
            f"{n - whole} degree{'s' * (n - whole != 1)} of freedom",
            where="independent",
            remedy="name as many as there are degrees of freedom, or none",
        )
    if kept and jacobian_rank(J[:, free], scale.select_columns(free)) < whole:
        stuck = _restricted_independent_velocities(J, scale, kept, free, names)
        raise UnsupportedError(
            f"{stuck} cannot drive the mechanism here: "
            "the chosen independent velocities are restricted themselves",
            where="independent",
            remedy="choose others, or another configuration",
        )
    rows, columns = find_constraint_pivots(scale_constraint_jacobian(J, scale), free, whole)
    first = list(position_rows)
    closing = jacobian_rank(J[np.ix_(first, free)], scale.select_rows(first).select_columns(free))
    if len(set(first) & set(rows)) < closing <= whole:
        rows, columns = find_constraint_pivots(
            scale_constraint_jacobian(J, scale), free, whole, first, closing
        )
    largest = np.abs(scale_constraint_jacobian(J, scale)).max(axis=1, initial=0.0)
    restricting = np.flatnonzero(largest > CLOSURE_TOLERANCES.restricting_entry)
    return PivotChoice(
        tuple(rows),
        tuple(columns),
        tuple(kept) or tuple(k for k in range(n) if k not in columns),
        tuple(_constraint_pivot_sizes(J[np.ix_(rows, columns)])),
        tuple(int(k) for k in restricting if k not in rows),
    )


def _restricted_independent_velocities(
    J: Floats,
    scale: ConstraintJacobianScale,
    kept: tuple[int, ...],
    free: list[int],
    names: tuple[str, ...],
) -> str:
    """Return the names of the chosen independent velocities that the constraints restrict."""
    left = np.linalg.svd(J[:, free])[0][:, jacobian_rank(J[:, free], scale.select_columns(free)) :]
    tied = np.abs(left.T @ J[:, list(kept)]).max(axis=0)
    stuck = np.flatnonzero(tied > CLOSURE_TOLERANCES.rank_share)
    return " and ".join(f"'{names[kept[k]]}'" for k in stuck)


def find_constraint_pivots(
    A: Floats, free: list[int], count: int, first: Sequence[int] = (), of_first: int = 0
) -> tuple[list[int], list[int]]:
    """Return rows and columns of pivots by Gaussian elimination: among pivots of acceptable size,
    the one with the least fill-in. The first `of_first` pivots are in the rows `first`."""
    A = A.copy()
    rows, columns = list(range(len(A))), list(free)
    found: tuple[list[int], list[int]] = ([], [])
    for step in range(count):
        candidates = [k for k in rows if k in first] if step < of_first else rows
        rest = np.abs(A[np.ix_(candidates, columns)])
        there = rest > CLOSURE_TOLERANCES.restricting_entry
        fill = np.outer(there.sum(axis=1) - 1, there.sum(axis=0) - 1).astype(float)
        fill[rest < _MIN_PIVOT_SHARE * rest.max()] = np.inf
        fill -= rest / (4 * rest.max())  # among equals the largest
        i, j = np.unravel_index(int(np.argmin(fill)), fill.shape)
        row, column = candidates[int(i)], columns.pop(int(j))
        rows.remove(row)
        found[0].append(row)
        found[1].append(column)
        for other in rows:
            A[other] -= A[other, column] / A[row, column] * A[row]
    return found


def _constraint_pivot_sizes(A: Floats) -> list[float]:
    """Return the absolute pivots of A, whose rows and columns are in the order of elimination."""
    A, found = A.copy(), []
    for k in range(len(A)):
        found.append(float(abs(A[k, k])))
        A[k + 1 :] -= np.outer(A[k + 1 :, k] / A[k, k], A[k])
    return found
