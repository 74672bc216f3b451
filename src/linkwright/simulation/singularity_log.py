"""Near-singular configurations that a run has passed."""

from __future__ import annotations

import math

NEAR_SINGULAR_SHARE = 0.01
"""Constraints are near to losing rank below this share of their usual smallest singular value:
two digits of the multipliers are lost there."""


class SingularityLog:
    """How near the constraints of a run came to losing rank, and at which times."""

    def __init__(self) -> None:
        self._shares: list[tuple[float, float]] = []

    def note(self, t: float, share: float) -> None:
        """Keep the smallest singular value at a time, as a share of the usual one."""
        self._shares.append((float(t), share))

    def times(self) -> tuple[float, ...]:
        """Return the times of the least shares below `NEAR_SINGULAR_SHARE`, one for each
        passage."""
        found: list[float] = []
        depth = math.inf
        for t, share in sorted(self._shares):
            if share >= NEAR_SINGULAR_SHARE:
                depth = math.inf
            elif share < depth:
                if math.isinf(depth):
                    found.append(t)
                found[-1], depth = t, share
        return tuple(found)
