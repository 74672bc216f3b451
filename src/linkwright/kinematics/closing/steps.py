"""Linear steps onto constraints: least changes by singular values, in any metric.

Leading axes are states: every function that says so takes many at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...types import Floats


def solve_constraint_least_change(
    J: Floats,
    right: Floats,
    *,
    rank_share: float,
    rank: int | None = None,
    metric: Floats | None = None,
) -> Floats:
    """Return the least x with J x = right, in the sense of least squares where rows contradict.

    Parameters
    ----------
    J, right
        (…, m, n) and (…, m).
    rank_share
        Singular values below this share of the largest are zero.
    rank
        At most this many singular values count (default: all).
    metric
        Positive definite (…, n, n): xᵀ metric x is least (default: xᵀ x). Where it is not
        positive definite, all coordinates count alike.

    Returns
    -------
    (…, n); NaN for states whose J is not finite.
    """
    if 0 in J.shape[-2:]:
        return np.zeros((*right.shape[:-1], J.shape[-1]))
    if metric is None:
        return _solve_constraint_rows(J, right, rank_share, rank)
    unit_vectors = np.linalg.inv(_closure_metric_factor(metric)).swapaxes(-1, -2)
    x = _solve_constraint_rows(J @ unit_vectors, right, rank_share, rank)
    return unit_vectors @ x if x.ndim == 1 else (unit_vectors @ x[..., None])[..., 0]


def _closure_metric_factor(metric: Floats) -> Floats:
    """Return the lower Cholesky factor of a metric; the identity where it is not positive
    definite."""
    try:
        return np.asarray(np.linalg.cholesky(metric), float)
    except np.linalg.LinAlgError:  # some coordinate moves no mass: all alike then
        return np.eye(metric.shape[-1])


def _solve_constraint_rows(J: Floats, right: Floats, rank_share: float, rank: int | None) -> Floats:
    """Return the least x with J x = right by singular values, for one or many states."""
    if J.ndim == 2 and right.ndim == 1:
        return _solve_constraint_rows_of_state(J, right, rank_share, rank)
    finite = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
    J = J if finite.all() else np.where(finite[..., None, None], J, 0.0)
    left, sizes, vectors = np.linalg.svd(J, full_matrices=False)
    counts = sizes > rank_share * sizes[..., :1]
    counts[..., rank if rank is not None else sizes.shape[-1] :] = False
    inverse_sizes = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=counts)
    along = inverse_sizes * (left.swapaxes(-1, -2) @ right[..., None])[..., 0]
    x: Floats = (vectors.swapaxes(-1, -2) @ along[..., None])[..., 0]
    return x if finite.all() else np.where(finite[..., None], x, np.nan)


def _solve_constraint_rows_of_state(
    J: Floats, right: Floats, rank_share: float, rank: int | None
) -> Floats:
    """The same for one state, without the masks that many states need."""
    if not np.isfinite(J).all():
        return np.full(J.shape[1], np.nan)
    left, sizes, vectors = np.linalg.svd(J, full_matrices=False)
    count = jacobian_rank_of_singular_values(sizes, rank_share)
    count = count if rank is None else min(count, rank)
    x: Floats = vectors[:count].T @ ((right @ left[:, :count]) / sizes[:count])
    return x


def gauss_newton_step(
    J: Floats,
    residual: Floats,
    *,
    free: Sequence[int] | None = None,
    rank_share: float,
    rank: int | None = None,
    metric: Floats | None = None,
) -> Floats:
    """Return the least step (…, n) with J step = −residual that changes only the `free` entries.

    `free` (default: all) may not be combined with a metric.
    """
    if free is None:
        return -solve_constraint_least_change(
            J, residual, rank_share=rank_share, rank=rank, metric=metric
        )
    step = np.zeros((*residual.shape[:-1], J.shape[-1]))
    step[..., free] = -solve_constraint_least_change(
        J[..., free], residual, rank_share=rank_share, rank=rank
    )
    return step


def limit_closure_step(step: Floats, longest: float) -> Floats:
    """Return the step (…, n), shortened so that no entry exceeds `longest`."""
    size = np.abs(step).max(axis=-1, keepdims=True, initial=1e-300)
    return np.asarray(step * np.minimum(1.0, longest / size))


def jacobian_rank_of_singular_values(
    sizes: NDArray[np.floating], share: float, floor: float = 0.0
) -> int:
    """Return how many singular values, largest first, exceed the share of the first and `floor`."""
    return int((sizes > max(share * sizes[0], floor)).sum()) if len(sizes) else 0


def jacobian_null_space(J: Floats, rank_share: float) -> Floats:
    """Return an orthonormal basis (n, n − rank) of the velocities that J (m, n) lets free."""
    _, sizes, right = np.linalg.svd(J)
    return np.asarray(right[jacobian_rank_of_singular_values(sizes, rank_share) :].T)


def jacobian_pseudoinverse(J: Floats, rank_share: float) -> Floats:
    """Return J⁺, (…, n, m), with singular values below the share taken for zero."""
    return np.asarray(np.linalg.pinv(J, rcond=rank_share))


def smallest_jacobian_singular_share(J: Floats, rank: int) -> float:
    """Return singular value number `rank` of J as a share of the first; 0 if there are fewer."""
    if rank < 1 or min(J.shape) < rank:
        return 0.0
    restricting = J[J.any(axis=1)]  # in the plane, three rows of five of a revolute loop are zero
    if len(restricting) < rank:
        return 0.0
    sizes = np.linalg.svd(restricting, compute_uv=False)
    return float(sizes[rank - 1] / max(sizes[0], 1e-300))
