"""Accelerations of constrained mechanisms in batches: compiled, and where a pivot got small,
solved again with pivoting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .model import Model

Floats = NDArray[np.float64]

SMALL_PIVOT = 1e-4
"""States whose smallest pivot is below this share of its usual size are solved again."""


class GuardedAccelerations:
    """`forward_dynamics(q, qd, tau[, t][, p])` of a constrained mechanism, (…, nv).

    The compiled function eliminates speeds in an order that was chosen where the mechanism is
    assembled. It also returns its smallest pivot; states in which that is small, or which give no
    finite numbers, are solved by singular values. `ufunc` is the compiled function itself.
    """

    def __init__(self, ufunc: np.ufunc, model: Model) -> None:
        self.ufunc, self.model = ufunc, model
        self.__doc__ = ufunc.__doc__

    def __call__(self, *inputs: Any, out: Any = None) -> Floats:
        outputs = (
            {} if out is None else {"out": (*(out if isinstance(out, tuple) else (out,)), None)}
        )
        qdd, pivot = self.ufunc(*inputs, **outputs)
        weak = ~(np.asarray(pivot) >= SMALL_PIVOT) | ~np.isfinite(qdd).all(axis=-1)
        if weak.any():
            self._solve_again(inputs, qdd, np.atleast_1d(weak))
        return qdd  # type: ignore[no-any-return]

    def _solve_again(self, inputs: tuple[Any, ...], qdd: Floats, weak: NDArray[np.bool_]) -> None:
        m, batch = self.model, qdd.shape[:-1]
        in_time = m.names.in_time
        sizes: list[tuple[int, ...]] = [(m.nq,), (m.nv,), (m.nv,)]
        sizes += [()] * in_time + [(len(m.parameters),)] * bool(m.parameters)
        rows = [
            np.broadcast_to(np.asarray(x, dtype=float), (*batch, *size)).reshape(-1, *size)
            for x, size in zip(inputs, sizes, strict=True)
        ]
        flat = qdd.reshape(-1, m.nv)
        for k in np.flatnonzero(weak):
            q, qd, tau, *rest = (row[k] for row in rows)
            if all(np.isfinite(x).all() for x in (q, qd, tau, *rest)):
                flat[k] = self._one(q, qd, tau, rest)
        qdd[...] = flat.reshape(qdd.shape)

    def _one(self, q: Floats, qd: Floats, tau: Floats, rest: list[Floats]) -> Floats:
        m = self.model
        last = [rest[-1]] if m.parameters else []
        M = m.mass_matrix(q, *last)
        J, gamma = m.constraint_jacobian(q, *rest), m.constraint_bias(q, qd, *rest)
        return constrained_accelerations(M, tau - m.bias(q, qd, *rest), J, gamma)


def constrained_accelerations(M: Floats, forces: Floats, J: Floats, gamma: Floats) -> Floats:
    """q̈ of M q̈ = forces + Jᵀλ, J q̈ + γ = 0, whatever the rank of J.

    Rows that contradict each other in a singular configuration are met in the mean.
    """
    left, sizes, right = np.linalg.svd(J)
    kept = int((sizes > 1e-7 * max(sizes[0], 1e-300)).sum()) if len(sizes) else 0
    drift = -right[:kept].T @ ((left[:, :kept].T @ gamma) / sizes[:kept])
    free = right[kept:].T
    if free.shape[1] == 0:
        return np.asarray(drift)
    rates = np.linalg.solve(free.T @ M @ free, free.T @ (forces - M @ drift))
    return np.asarray(drift + free @ rates)
