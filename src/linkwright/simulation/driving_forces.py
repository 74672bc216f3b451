"""Forces that act along driven coordinates alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.model import Model
from ..types import Floats

RANK_SHARE = 1e-10
"""Singular values of J below this share of the largest belong to redundant constraints."""
MATCH = 1e-9
"""Forces along the driven coordinates replace others if what remains is below this share."""


def find_driving_forces(
    model: Model, tau: Floats, q: Floats, driven: Sequence[str], *others: Floats
) -> Floats:
    """Return forces along the driven coordinates that move a mechanism with constraints as τ does.

    Forces that differ by Jᵀλ cause the same motion. τ stays where the driven coordinates cannot
    bear it, and in mechanisms that declare actuators or have no constraints.

    Parameters
    ----------
    model : Model
        The compiled functions.
    tau, q : array, (…, nv) and (…, nq)
        Forces and coordinates.
    driven : sequence of str
        The coordinates whose motion is given.
    *others : arrays
        Time and parameters, as `model.constraint_jacobian` takes them.

    Returns
    -------
    array, (…, nv)
        Forces of least norm among those along the driven coordinates.
    """
    names = model.names
    columns = [names.qd.index(name) for name in driven if name in names.qd]
    if not columns or names.actuators or not names.constraints:
        return tau
    _, sizes, rows = np.linalg.svd(model.constraint_jacobian(q, *others))
    ranks = (sizes > RANK_SHARE * sizes[..., :1]).sum(axis=-1)
    # rows of the null space of J: those behind its rank
    free = np.where(np.arange(names.nv) >= ranks[..., None], 1.0, 0.0)[..., None] * rows
    needed = (free @ tau[..., None])[..., 0]
    share = np.linalg.pinv(free[..., columns], rcond=MATCH) @ needed[..., None]
    rest = np.abs(free[..., columns] @ share - needed[..., None]).max(axis=(-2, -1))
    is_borne = rest <= MATCH * np.abs(tau).max(axis=-1)
    found = np.zeros_like(tau)
    found[..., columns] = share[..., 0]
    return np.where(is_borne[..., None], found, tau)
