"""Inertial parameters of real bodies among all that give the same forces.

A body's inertial parameters are physical if its pseudo-inertia matrix is positive semidefinite,

    J = [[∫rrᵀ dm, ∫r dm], [∫rᵀ dm, m]] ⪰ 0,

which is linear in them. Among all parameters with the same forces, π + N z with N the null space of
the regressor, those without negative eigenvalues are sought: a convex problem.
"""

from __future__ import annotations

import numpy as np

from ...types import Floats

PSEUDO_INERTIA_ENTRIES = (
    (3, 3),
    (0, 3),
    (1, 3),
    (2, 3),
    (0, 0),
    (0, 1),
    (1, 1),
    (0, 2),
    (1, 2),
    (2, 2),
)
"""The entries of J for m, mx, my, mz, xx, xy, yy, xz, yz, zz."""
INERTIA_TOLERANCE = 1e-9


def find_physical_parameters(given: Floats, columns: Floats, least: float = 0.0) -> Floats | None:
    """Return ten physical parameters for each body that give the same forces as `given` (10 n,).

    `columns` (rows, 10 n) are regressors at random states, one below the other. The eigenvalues of
    J, as shares of the largest parameter, are at least `least`, up to the tolerance; None if no
    parameters satisfy this.
    """
    from scipy.optimize import minimize

    _, sizes, rows = np.linalg.svd(np.linalg.qr(columns, mode="r"))
    hidden = rows[np.count_nonzero(sizes > INERTIA_TOLERANCE * sizes[0]) :].T
    scale = np.abs(given).max()
    goal = max(2 * least, INERTIA_TOLERANCE)

    def unphysical_inertia_cost(z: Floats) -> tuple[float, Floats]:
        """The sum of squares of what eigenvalues lack, and its gradient."""
        values, vectors = np.linalg.eigh(pseudo_inertias(given / scale + hidden @ z))
        lacking = np.maximum(0.0, goal - values)
        rates = -2 * (vectors * lacking[:, None, :]) @ vectors.transpose(0, 2, 1)
        slope = np.einsum("eij,bij->be", _PSEUDO_INERTIA_BASIS, rates).ravel()
        return float(np.sum(lacking**2)), hidden.T @ slope

    options = {"maxiter": 5000, "maxfun": 20000, "ftol": 0.0, "gtol": 0.0}
    start = np.zeros(hidden.shape[1])
    found = minimize(unphysical_inertia_cost, start, jac=True, method="L-BFGS-B", options=options)
    own: Floats = scale * (given / scale + hidden @ found.x)
    smallest = np.linalg.eigvalsh(pseudo_inertias(own)).min()
    return own if smallest >= (least or -INERTIA_TOLERANCE) * scale else None


def _pseudo_inertia_basis() -> Floats:
    """The derivatives of the pseudo-inertia matrix J by the ten parameters; those of the tensor are
    half its trace minus itself."""
    found = np.zeros((10, 4, 4))
    for e, (i, j) in enumerate(PSEUDO_INERTIA_ENTRIES):
        found[e, i, j] = found[e, j, i] = 1.0 if 3 in (i, j) else -1.0
        if i == j < 3:
            found[e, :3, :3] += np.eye(3) / 2
    return found


_PSEUDO_INERTIA_BASIS = _pseudo_inertia_basis()


def pseudo_inertias(numbers: Floats) -> Floats:
    """The pseudo-inertia matrix J of every body, bodies × 4 × 4."""
    return np.asarray(np.einsum("be,eij->bij", numbers.reshape(-1, 10), _PSEUDO_INERTIA_BASIS))
