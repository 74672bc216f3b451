"""The planar 3-RRR robot with its platform's pose as minimal coordinates: every leg is cut from the
platform and closed by two circles. Nothing of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .five_bar import rod
from .planar import Jet, Moving, Planar, Pose, direction, jet, meeting

PLACES = np.exp(1j * np.radians([210, 330, 90]))
"""Directions of the pivots from the middle."""


@dataclass(frozen=True)
class ThreeRRR:
    """Coordinates (q1, p1, phi, q2, p2, q3, p3); minimal ones x, y and the platform's angle."""

    R: float = 0.6
    r: float = 0.15
    l1: float = 0.35
    l2: float = 0.4
    m1: float = 0.8
    m2: float = 0.5
    mp: float = 1.5
    g: float = 9.81

    def mechanism(self, side: int = -1) -> Planar:
        """Side −1: elbows on the right of the way from ground to platform."""
        return Planar(lambda a: self._pose(a, side), 3, self.g)

    def _pose(self, a: Sequence[Jet], side: int) -> Pose:
        center, turned = a[0] + a[1] * 1j, direction(a[2])
        bodies = [Moving(self.mp, self.mp * self.r**2 / 2, center, turned)]
        legs = []
        for place in PLACES:
            foot, hand = jet(self.R * place), center + turned * (self.r * place)
            elbow = meeting(foot, hand, self.l1, self.l2, side)
            bodies += [
                rod(self.m1, self.l1, foot, elbow),
                rod(self.m2, self.l2, elbow, hand),
            ]
            inner, outer = elbow - foot, hand - elbow
            legs.append([inner.angle, (outer / inner).angle, (turned / outer).angle])
        return Pose(bodies, [*legs[0], *legs[1][:2], *legs[2][:2]])
