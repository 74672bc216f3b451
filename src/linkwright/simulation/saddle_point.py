"""Large constrained systems where compiled elimination fails: LU with pivoting.

For a chain of loops its cost is proportional to the number of loops; that of singular values grows
with its third power.
"""

from __future__ import annotations

import numpy as np

from ..types import Floats

MIN_SPARSE_SIZE = 150
"""Below this number of unknowns, dense LU takes less time than the search for an order without
fill-in."""


def solve_saddle_point(M: Floats, J: Floats, forces: Floats, right: Floats) -> Floats | None:
    """Return x with M x = forces + Jᵀλ and J x = right; None where J loses rank.

    With forces 0, x is the least solution of J x = right in the metric of M.
    """
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    n, size = len(M), len(M) + len(J)
    matrix = np.zeros((size, size))
    matrix[:n, :n], matrix[:n, n:], matrix[n:, :n] = M, J.T, J
    both = np.concatenate([forces, right])
    if not np.isfinite(matrix).all():
        return None
    try:
        is_small = size < MIN_SPARSE_SIZE
        solution = (
            np.linalg.solve(matrix, both) if is_small else splu(csc_array(matrix)).solve(both)
        )
    except (RuntimeError, np.linalg.LinAlgError):  # a pivot is zero
        return None
    x: Floats = solution[:n]
    return x if np.isfinite(x).all() else None
