"""Motions of mechanisms with loops: some coordinates lead, the others follow by closing the loops.

With l the leading ones and f the others, φ(l, f) = 0 has f by Newton's steps; J_f ḟ = −J_l l̇ and
J_f f̈ = −J_l l̈ − γ are their rates. Between knots all are quintics with just these ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import LinkwrightError, UnsupportedError
from ..mechanism import Mechanism
from ..model import Model
from .trajectory import Trajectory, hermite

Floats = NDArray[np.float64]

_CLOSED = 1e-12
_STEPS = 30
_SINGULAR = 1e-5
"""J_f has lost rank where its smallest singular value is below this share of the largest."""
_KNOTS, _MOST_KNOTS = 64, 4096
_OPEN = 1e-9
"""What loops may be open between knots, m or rad."""


def check_closable(mechanism: Mechanism, model: Model) -> None:
    """Refuses constraints that a planned motion cannot hold."""
    names = model.names
    if names.positions < len(names.constraints) or (names.constraints and names.in_time):
        what = "in time" if names.in_time else "of speeds"
        raise UnsupportedError(
            f"plans know no constraints {what}", where=mechanism.name, remedy="use simulate"
        )


@dataclass(frozen=True)
class Loops:
    """The loops of a mechanism along motions that begin at q."""

    mechanism: Mechanism
    model: Model
    begin: Floats

    @cached_property
    def leading(self) -> list[int]:
        """As many coordinates as are free, all others depending on them: those with drives first,
        then whichever J leaves best determined."""
        J = self.model.constraint_jacobian(self.begin)
        order = sorted(range(self.model.nv), key=lambda k: k not in self._driven)
        found: list[int] = []
        rank = int(np.linalg.matrix_rank(J, 1e-9))
        for k in order:
            rest = [j for j in range(self.model.nv) if j not in (*found, k)]
            if self.model.nv - len(found) > rank and _share(J[:, rest], rank) > _SINGULAR:
                found.append(k)
        return sorted(found)

    @cached_property
    def _driven(self) -> set[int]:
        """Coordinates that actuators move."""
        if not self.model.names.actuators:
            return set()
        B = np.abs(self.model.input_matrix(self.begin)).max(axis=1)
        return {int(k) for k in np.nonzero(B)[0]}

    @cached_property
    def following(self) -> list[int]:
        return [k for k in range(self.model.nv) if k not in self.leading]

    def state(self, lead: Trajectory, t: float, near: Floats) -> Floats:
        """(q, q̇, q̈) at a time, on the branch that is near."""
        q, qd, qdd = near.copy(), np.zeros_like(near), np.zeros_like(near)
        q[self.leading], qd[self.leading], qdd[self.leading] = lead(t)
        f = self.following
        for _ in range(_STEPS):
            left = self.model.constraint_residual(q)
            if np.abs(left).max() < _CLOSED:
                break
            q[f] -= self._solved(q, left, lead, t)
        else:
            raise self._stuck(lead, t, "cannot be closed")
        qd[f] = -self._solved(q, self.model.constraint_jacobian(q) @ qd, lead, t)
        bias = self.model.constraint_bias(q, qd) + self.model.constraint_jacobian(q) @ qdd
        qdd[f] = -self._solved(q, bias, lead, t)
        return np.array([q, qd, qdd])

    def _solved(self, q: Floats, right: Floats, lead: Trajectory, t: float) -> Floats:
        J = self.model.constraint_jacobian(q)[:, self.following]
        if not _share(J, len(self.following)) > _SINGULAR:
            raise self._stuck(lead, t, "come to a dead centre")
        found: Floats = np.linalg.lstsq(J, right, rcond=1e-12)[0]
        return found

    def _stuck(self, lead: Trajectory, t: float, what: str) -> LinkwrightError:
        share = 100 * (t - lead.knots[0]) / lead.duration
        return LinkwrightError(
            f"the loops {what} after {share:.3g} % of the way", where=self.mechanism.name,
            remedy="go there by way of another target, or start elsewhere",
        )  # fmt: skip

    def followed(self, lead: Trajectory) -> Trajectory:
        """The motion of all coordinates, its loops closed at knots and nearly so between."""
        knots = _KNOTS
        while True:
            found = self._joined(lead, knots)
            middle = (found.knots[1:] + found.knots[:-1]) / 2
            left = np.abs(self.model.constraint_residual(found(middle)[0])).max()
            if left <= _OPEN or knots >= _MOST_KNOTS:
                return found
            knots *= 2

    def _joined(self, lead: Trajectory, knots: int) -> Trajectory:
        times = lead.finer(knots)
        states = [self.state(lead, times[0], self.begin)]
        for t, later in pairwise(times):
            h, (q, qd, qdd) = later - t, states[-1]
            states.append(self.state(lead, later, q + h * qd + h * h / 2 * qdd))
        rows = np.array(states)
        return hermite(times, rows[:-1], rows[1:])


def _share(J: Floats, rank: int) -> float:
    """The last singular value that counts, as a share of the first; 0 where there are too few."""
    sizes = np.linalg.svd(J, compute_uv=False)
    return float(sizes[rank - 1] / max(sizes[0], 1e-300)) if len(sizes) >= rank > 0 else 0.0
