"""N four-bar windows in a row (IFToMM's A02) on the branch of parallel cranks: a pendulum, whose motion
elliptic functions give. Nothing of the library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ellipj, ellipk


@dataclass(frozen=True)
class NFourBar:
    """Uniform links of 1 kg and 1 m; coordinates θ0, φ1, θ1, φ2, …, φN, θN."""

    n: int
    g: float = 9.81

    @property
    def inertia(self) -> float:
        """Cranks turn about their ends, couplers only move along: (N + 1)/3 + N."""
        return (self.n + 1) / 3 + self.n

    @property
    def weight(self) -> float:
        return self.g * ((self.n + 1) / 2 + self.n)

    def configuration(self, theta: float) -> np.ndarray:
        """All cranks at θ, all couplers level."""
        q = np.zeros(2 * self.n + 1)
        q[::2] = theta
        return q

    def accelerations(self, theta: float, tau: np.ndarray) -> np.ndarray:
        """Rates do not matter: the couplers move along, and I* is constant."""
        return self.configuration((tau[::2].sum() - self.weight * np.cos(theta)) / self.inertia)

    def run(self, t: float) -> tuple[np.ndarray, np.ndarray]:
        """B0 and its velocity, from upright cranks with dB0x/dt = 1."""
        square = self.weight / self.inertia
        pace, m = np.sqrt(1 + 4 * square) / 2, 4 * square / (1 + 4 * square)
        sn, cn, dn, _ = ellipj(ellipk(m) - pace * t, m)
        point = np.array([2 * sn * cn, 2 * sn**2 - 1])
        rate = -pace * dn * np.array([2 * (cn**2 - sn**2), 4 * sn * cn])
        return point, rate

    def flat(self) -> float:
        """When the cranks first lie flat: sn u = √½."""
        from scipy.optimize import brentq

        return float(brentq(lambda t: self.run(t)[0][1], 0.0, 1.0))
