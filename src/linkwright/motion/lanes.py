"""Many targets at once: the loops over the compiled steps of inverse kinematics.

Lanes that are done are left out of the next steps; what is done is looked at every few steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..types import Booleans, Floats, Integers
from .iteration import Iteration, beaten, taken

_BURST = 3
"""Steps between two looks at what is done, so that nobody's answer depends on the others'."""
_BURSTS, _LOOP_BURSTS, _QUICK_BURSTS, _GLIDES = 40, 120, 3, 100
CLOSED, _TIGHT, _OPEN = 1e-9, 0.1, 1e250
"""What loops of an answer may be open by, m or rad; the share of the slope's bound to which they
are pursued; the cost of a gap of 1, which is more than that of anything closed."""
_ROUNDING = float(np.finfo(float).eps)
"""The share of points that rounding is; the cost's slope cannot be seen below its root."""
FLAT, _FLAT_ENOUGH = 1e-9, 1e-6
"""The slope of the cost, as a share of the error, to which points are pursued, and below which
they count as the nearest."""
ROUGH = 1e-4
"""The same for attempts, of which only the best is pursued."""
_CLOSE = 1e-3
"""What misses a target by less than this share of the length is likely to stand where the
Jacobian is singular."""


@dataclass(frozen=True)
class Lanes:
    """All targets, and the loops over the compiled steps."""

    iteration: Iteration
    wanted: Floats
    tolerance: float

    def reached(self, figures: Floats) -> Booleans:
        """Whether distance and angle are within the tolerance, and loops closed."""
        missed = np.maximum(figures[:, 2], figures[:, 3])
        return (missed <= self.tolerance) & (
            self.iteration.gap(figures) <= min(CLOSED, self.tolerance)
        )

    def nearest(self, figures: Floats, lanes: Integers) -> Booleans:
        """Whether the cost is flat, as far as rounding lets that be seen, and loops closed."""
        size = np.abs(self.wanted[lanes]).max(axis=1)
        missed = np.maximum(figures[:, 2], self.iteration.length * figures[:, 3])
        unseen = np.sqrt(_ROUNDING * (size + self.iteration.length) / (missed + 1e-300))
        flat: Booleans = figures[:, 1] < _FLAT_ENOUGH + unseen
        return flat & (self.iteration.gap(figures) <= CLOSED)

    def close(self, figures: Floats) -> Booleans:
        """Whether so little is missing that the target can hardly be out of reach."""
        return figures[:, 0] < (_CLOSE * self.iteration.length) ** 2 / 2

    def asked(self, lanes: Integers, held: Floats | None, stiff: bool = False) -> Floats:
        """Targets of lanes; what holds their loops is as it was when figures were `held`."""
        wanted = self.iteration.with_loops(self.wanted[lanes], stiff)
        if held is not None and self.iteration.loops:
            wanted[:, self.iteration.asked :] = held[:, 4 + self.iteration.loops :]
        return wanted

    def descended(
        self, begin: Floats, lanes: Integers, flat: float = FLAT,
        rival: Floats | None = None, held: Floats | None = None, stiff: bool = False,
    ) -> tuple[Floats, Floats]:  # fmt: skip
        """Steps until reached, flat with loops closed, or stuck; lanes that are done stand still.

        `rival` are costs that others came to: what will not fall below these is left off.
        """
        wanted, before = self.asked(lanes, held, stiff), np.full(len(begin), np.inf)
        width = 4 + self.iteration.loops + wanted.shape[1] - self.iteration.asked
        q, here, figures = begin.copy(), begin, np.full((len(begin), width), np.inf)
        at, pace, gaps = (
            np.arange(len(begin)),
            np.tile(self.iteration.fresh, (len(begin), 1)),
            before,
        )
        rival = before if rival is None else rival
        for burst in range(_LOOP_BURSTS if self.iteration.loops else _BURSTS):
            step = self.iteration.descend if burst < _QUICK_BURSTS else self.iteration.settle
            for _ in range(_BURST):
                with np.errstate(all="ignore"):
                    here, pace, now = step(here, wanted, pace)
            q[at], figures[at, : now.shape[1]] = here, now
            figures[at, now.shape[1] :] = wanted[:, self.iteration.asked :]
            stuck, shut = (
                self.iteration.stuck(pace, wanted),
                self.iteration.gap(now) <= _TIGHT * flat,
            )
            rest = (now[:, 1] < flat) | stuck
            done = self.reached(now) | (rest & shut) | beaten(before, now[:, 0], rival)
            (slack,) = np.nonzero(~shut & (stuck | (now[:, 1] < ROUGH)))
            if len(slack):
                wanted, pace, gaps = self.iteration.tightened(slack, wanted, pace, gaps, now)
            (live,) = np.nonzero(~done)
            if not len(live):
                break
            at, here, wanted, pace, before, rival, gaps = taken(
                live, at, here, wanted, pace, now[:, 0], rival, gaps
            )
        gap = self.iteration.gap(figures)
        figures[:, 0] = np.where(gap > max(CLOSED, _TIGHT * flat), _OPEN * gap, figures[:, 0])
        return q, figures

    def glided(
        self,
        glide: Callable[..., tuple[Floats, Floats, Floats]],
        q: Floats,
        figures: Floats,
        posture: Floats,
        lanes: Integers,
    ) -> Floats:
        found, at, wanted = q.copy(), np.arange(len(q)), self.asked(lanes, figures)
        pace, most = np.ones((len(q), 1)), figures[:, :1] + self.iteration.stray
        for _ in range(_GLIDES // _BURST):
            for _ in range(_BURST):
                with np.errstate(all="ignore"):
                    q, pace, still = glide(q, wanted, posture, pace, most)
            found[at] = q
            (live,) = np.nonzero((still[:, 0] > 1e-10) & (pace[:, 0] > 1e-9))
            if not len(live):
                break
            at, q, wanted, posture, pace, most = taken(live, at, q, wanted, posture, pace, most)
        return found
