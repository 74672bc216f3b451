"""Walker and Orin's (1982) four methods for accelerations from forces, in numbers.

All solve M q̈ = τ − b, with b the inverse dynamics at q̈ = 0. They differ in how they compute M:

    1  column j is the inverse dynamics of a unit acceleration of joint j, at rest, without weight
    2  the same, but only the entries on and below the diagonal, since M is symmetric
    3  M from composite bodies
    4  not at all: conjugate gradients need only products M x, by inverse dynamics
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..equations import Equations
from ..errors import UnsupportedError
from ..types import Floats


def walker_orin_accelerations(
    equations: Equations,
    q: Sequence[float],
    qd: Sequence[float],
    tau: Sequence[float],
    method: int = 3,
) -> Floats:
    """Return q̈ by one of Walker and Orin's four methods, for numbers q, q̇ and τ.

    Parameters
    ----------
    equations : Equations
        The equations of a tree, by any formulation.
    q, qd, tau : (nq,), (nv,) and (nv,) sequences of numbers
        Coordinates, velocities and generalized forces: rad or m, rad/s or m/s, N m or N.
    method : int
        1 and 2: M by inverse dynamics of unit accelerations, all or half of its entries;
        3: M from composite bodies; 4: conjugate gradients without M.

    Returns
    -------
    (nv,) array
        Accelerations, rad/s² or m/s².

    Examples
    --------
    >>> import linkwright as lw
    >>> from linkwright.formulations.walker_orin import walker_orin_accelerations
    >>> eqs = lw.derive(lw.gallery("elbow"))
    >>> walker_orin_accelerations(eqs, [0.0, 0.0], [0.0, 0.0], [19.62, 4.905], 4).round(9) + 0.0
    array([0., 0.])
    """
    if method not in _METHODS:
        raise UnsupportedError(f"unknown method {method}", remedy="use 1, 2, 3 or 4")
    rest = np.zeros(equations.nv)
    inverse = equations.function_at_values("inverse_dynamics")
    bias = _walker_orin_column(inverse(q, qd, rest))
    at_rest = _walker_orin_column(inverse(q, rest, rest))

    def multiply_mass_matrix(x: Floats) -> Floats:
        return _walker_orin_column(inverse(q, rest, x)) - at_rest

    return _METHODS[method](
        equations, np.asarray(q, float), multiply_mass_matrix, np.asarray(tau) - bias
    )


def _walker_orin_column(result: object) -> Floats:
    """The result of a function as a flat array."""
    return np.asarray(result, dtype=float).ravel()


def _walker_orin_solution(M: Floats, right: Floats) -> Floats:
    """M⁻¹ times the right-hand side."""
    return np.linalg.solve(M, right).astype(float)


def _walker_orin_columns(
    equations: Equations, q: Floats, times: Callable[[Floats], Floats], right: Floats
) -> Floats:
    """Method 1: every column of M by inverse dynamics."""
    M = np.column_stack([times(unit) for unit in np.eye(len(right))])
    return _walker_orin_solution(M, right)


def _walker_orin_half_columns(
    equations: Equations, q: Floats, times: Callable[[Floats], Floats], right: Floats
) -> Floats:
    """Method 2: the lower half of M by inverse dynamics."""
    M = np.zeros((len(right), len(right)))
    for j, unit in enumerate(np.eye(len(right))):
        M[j:, j] = M[j, j:] = times(unit)[j:]
    return _walker_orin_solution(M, right)


def _walker_orin_composite_bodies(
    equations: Equations, q: Floats, times: Callable[[Floats], Floats], right: Floats
) -> Floats:
    """Method 3: M from composite bodies."""
    M = np.asarray(equations.function_at_values("mass_matrix")(q), dtype=float)
    return _walker_orin_solution(M, right)


def _walker_orin_conjugate_gradients(
    equations: Equations, q: Floats, times: Callable[[Floats], Floats], right: Floats
) -> Floats:
    """Method 4: conjugate gradients with products M x by inverse dynamics."""
    x = np.zeros_like(right)
    r = p = right
    for _ in range(10 * len(right)):
        if float(np.linalg.norm(r)) <= 1e-13 * float(np.linalg.norm(right)):
            break
        Mp = times(p)
        step = (r @ r) / (p @ Mp)
        x = x + step * p
        new = r - step * Mp
        p = new + (new @ new) / (r @ r) * p
        r = new
    return x


_METHODS = {
    1: _walker_orin_columns,
    2: _walker_orin_half_columns,
    3: _walker_orin_composite_bodies,
    4: _walker_orin_conjugate_gradients,
}
