"""The five-bar linkage with the drives' angles as minimal coordinates: its pin is where two circles
meet. Nothing of the library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .planar import Jet, Moving, Planar, Pose, direction, jet, meeting


@dataclass(frozen=True)
class FiveBar:
    """Uniform rods 1, 2 on the left, 4, 3 on the right; coordinates (q1, p1, q2, p2)."""

    l0: float = 0.6
    l1: float = 0.5
    l2: float = 0.8
    l3: float = 0.7
    l4: float = 0.45
    m1: float = 1.0
    m2: float = 0.6
    m3: float = 0.5
    m4: float = 0.9
    g: float = 9.81

    def mechanism(self, side: int = 1) -> Planar:
        """Side 1: the pin above the line between the elbows."""
        return Planar(lambda a: self._pose(a, side), 2, self.g)

    def _pose(self, a: Sequence[Jet], side: int) -> Pose:
        left, right = direction(a[0]), direction(a[1])
        elbow, other = left * self.l1, right * self.l4 + self.l0
        pin = meeting(elbow, other, self.l2, self.l3, side)
        bodies = [
            rod(self.m1, self.l1, jet(0.0), elbow),
            rod(self.m2, self.l2, elbow, pin),
            rod(self.m4, self.l4, jet(self.l0), other),
            rod(self.m3, self.l3, other, pin),
        ]
        p1, p2 = ((pin - elbow) / left).angle, ((pin - other) / right).angle
        return Pose(bodies, [a[0], p1, a[1], p2])


def rod(mass: float, length: float, start: Jet, end: Jet) -> Moving:
    """A uniform rod between two points."""
    return Moving(mass, mass * length**2 / 12, (start + end) * 0.5, end - start)
