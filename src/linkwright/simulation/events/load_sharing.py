"""How sticking joints share a load that several of them could carry.

A mechanism with one degree of freedom and friction in two joints sticks until both joints together
cannot carry the load. Forces of least norm may exceed the limit of one joint before that. Its force
then stays at the limit, and the others carry the rest, if they can.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...types import Floats
from .coding import least_squares
from .event_tolerances import FORCE_SOLVER

FREE = 1.0
"""The value of an event function for an event that cannot happen in a mode."""

NO_FORCE = 1e-13
"""Forces below this are zero except for rounding, N or N m: a contact without load stays closed
instead of opening again and again."""


def sharing_order(count: int) -> list[int]:
    """Return the order in which joints are brought to their limits: a joint may exceed its limit
    only because a later one is at its own."""
    return list(range(count)) * min(count, 2)


def share_within_limits(
    D: Floats, total: Floats, weights: Floats, x: Floats, limits: Mapping[int, float]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return forces with D x = total within limits (by index in x) as far as possible, and which of
    them are at their limits.

    x are forces of least norm with the given weights.
    """
    is_fixed, places = np.zeros(len(x), bool), list(limits)
    for k in sharing_order(len(places)):
        place = places[k]
        if is_fixed[place] or abs(x[place]) <= limits[place]:
            continue
        trial_fixed = is_fixed.copy()
        trial_fixed[place] = True
        known = np.where(is_fixed, x, 0.0)
        known[place] = np.copysign(limits[place], x[place])
        free = np.where(trial_fixed, 0.0, weights)
        rest = least_squares(D * free, total - D @ known, FORCE_SOLVER.rank_share)[0]
        trial = known + free * rest
        small = FORCE_SOLVER.sharing_residual_share * (np.abs(D) @ np.abs(x)).max()
        if np.abs(D @ trial - total).max() <= small:
            x, is_fixed = trial, trial_fixed
    return x, is_fixed
