"""Large constrained systems where compiled elimination fails: sparse LU with pivoting.

For a chain of loops its cost is proportional to the number of loops; that of singular values grows
with its third power.
"""

from __future__ import annotations

import numpy as np

from ..types import Floats


def solve_saddle_point(M: Floats, J: Floats, forces: Floats, right: Floats) -> Floats | None:
    """Return x with M x = forces + Jᵀλ and J x = right; None where J loses rank.

    With forces 0, x is the least solution of J x = right in the metric of M.
    """
    from scipy.sparse import bmat, csc_array
    from scipy.sparse.linalg import splu

    if not (np.isfinite(M).all() and np.isfinite(J).all()):
        return None
    matrix = bmat([[csc_array(M), csc_array(J.T)], [csc_array(J), None]], format="csc")
    try:
        solution = splu(matrix).solve(np.concatenate([forces, right]))
    except RuntimeError:  # a pivot is zero
        return None
    x: Floats = solution[: len(M)]
    return x if np.isfinite(x).all() else None
