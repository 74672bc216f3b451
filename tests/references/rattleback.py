"""A rattleback by its own equations of motion: a body that rolls on a plane, in body axes.

    r(γ) from the centre of mass to the contact,  v = r × ω (no slip),  γ̇ = γ × ω,
    I ω̇ − m r × (r × ω̇) = −ω × I ω + m r × (ṙ × ω + ω × (r × ω)) + m g r × γ

γ is the upward vertical. Nothing of the package is used.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

Floats = NDArray[np.float64]


class Rattleback:
    """Mass, semi-axes, height h of the ellipsoid's centre over the centre of mass, and inertia."""

    def __init__(self, m: float, axes: Floats, h: float, inertia: Floats, g: float) -> None:
        self.m, self.squares, self.inertia, self.g = m, np.asarray(axes) ** 2, inertia, g
        self.center = np.array([0.0, 0.0, h])

    def contact(self, up: Floats) -> tuple[Floats, Floats]:
        """r, and its derivative by γ."""
        depth = np.sqrt(up @ (self.squares * up))
        low = self.squares * up / depth
        slope = np.diag(self.squares) / depth - np.outer(low, low) / depth
        return self.center - low, -slope

    def rates(self, _: float, y: Floats) -> Floats:
        """(γ̇, ω̇)."""
        up, w = y[:3], y[3:]
        turned = np.cross(up, w)
        r, slope = self.contact(up)
        lever = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
        drift = np.cross(slope @ turned, w) + np.cross(w, np.cross(r, w)) + self.g * up
        moment = -np.cross(w, self.inertia @ w) + self.m * np.cross(r, drift)
        return np.concatenate(
            [turned, np.linalg.solve(self.inertia - self.m * lever @ lever, moment)]
        )

    def energy(self, y: Floats) -> float:
        """Kinetic and potential energy, zero where the centre of mass is in the plane."""
        up, w = y[:3], y[3:]
        r = self.contact(up)[0]
        v = np.cross(r, w)
        return float(self.m * v @ v / 2 + w @ self.inertia @ w / 2 - self.m * self.g * up @ r)

    def motion(self, up: Floats, w: Floats, times: Floats) -> Floats:
        """Rows (γ, ω) at the times."""
        start = np.concatenate([up, w])
        found = solve_ivp(
            self.rates, (0, times[-1]), start, "DOP853", times, rtol=1e-12, atol=1e-13
        )
        return np.asarray(found.y.T)
