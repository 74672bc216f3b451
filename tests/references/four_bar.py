"""The four-bar linkage by Freudenstein's equation: closed forms, nothing of the library.

l1 e(θ1) + l2 e(θ2) = l4 e(0) + l3 e(θ3). One freedom, θ1:
I* θ̈1 + ½ I*' θ̇1² = Q, θ̈ = G θ̈1 + H θ̇1².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy import cos, sin


@dataclass(frozen=True)
class FourBar:
    """Uniform rods: crank 1, coupler 2, rocker 3, on ground l4."""

    l1: float = 1.0
    l2: float = 3.0
    l3: float = 2.5
    l4: float = 3.5
    m1: float = 1.0
    m2: float = 1.0
    m3: float = 1.0
    g: float = 9.81

    def angles(self, theta1: float, branch: int = 1) -> np.ndarray:
        """θ of all rods: Freudenstein's P cos θ3 + Q sin θ3 = R; branch 1 open, −1 crossed."""
        P = 2 * self.l3 * (self.l4 - self.l1 * cos(theta1))
        Q = -2 * self.l3 * self.l1 * sin(theta1)
        R = self.l2**2 - self.l1**2 - self.l3**2 - self.l4**2
        R += 2 * self.l1 * self.l4 * cos(theta1)
        theta3 = np.arctan2(Q, P) + branch * np.arccos(R / np.hypot(P, Q))
        x = self.l4 + self.l3 * cos(theta3) - self.l1 * cos(theta1)
        y = self.l3 * sin(theta3) - self.l1 * sin(theta1)
        return np.array([theta1, np.arctan2(y, x), theta3])

    def influence(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """G = dθ/dθ1 and H = d²θ/dθ1²."""
        t1, t2, t3 = theta
        a, b, c = t3 - t1, t2 - t3, t2 - t1
        G2 = self.l1 * sin(a) / (self.l2 * sin(b))
        G3 = self.l1 * sin(c) / (self.l3 * sin(b))
        da, db, dc = G3 - 1, G2 - G3, G2 - 1
        H2 = self.l1 / self.l2 * (cos(a) * da * sin(b) - sin(a) * cos(b) * db) / sin(b) ** 2
        H3 = self.l1 / self.l3 * (cos(c) * dc * sin(b) - sin(c) * cos(b) * db) / sin(b) ** 2
        return np.array([1.0, G2, G3]), np.array([0.0, H2, H3])

    def mass_matrix(self, theta: np.ndarray) -> np.ndarray:
        """Of the cut linkage, in absolute angles."""
        M = np.diag([
            self.m1 * self.l1**2 / 3 + self.m2 * self.l1**2,
            self.m2 * self.l2**2 / 3,
            self.m3 * self.l3**2 / 3,
        ])  # fmt: skip
        M[0, 1] = M[1, 0] = self.m2 * self.l1 * self.l2 / 2 * cos(theta[0] - theta[1])
        return M

    def bias(self, theta: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Of the cut linkage: what rates and weight ask for at rest of the accelerations."""
        couple = self.m2 * self.l1 * self.l2 / 2 * sin(theta[0] - theta[1])
        weights = self.g * cos(theta) * self._moments
        return weights + couple * np.array([rates[1] ** 2, -(rates[0] ** 2), 0.0])

    @property
    def _moments(self) -> np.ndarray:
        first = (self.m1 / 2 + self.m2) * self.l1
        return np.array([first, self.m2 * self.l2 / 2, self.m3 * self.l3 / 2])

    def inertia(self, theta: np.ndarray) -> tuple[float, float]:
        """I* and P* = ½ dI*/dθ1."""
        G, H = self.influence(theta)
        M = self.mass_matrix(theta)
        c = theta[0] - theta[1]
        turning = -self.m2 * self.l1 * self.l2 / 2 * sin(c) * (1 - G[1])
        return float(G @ M @ G), float(G @ M @ H + turning * G[0] * G[1])

    def load(self, theta: np.ndarray) -> float:
        """−dV/dθ1 of the weight."""
        G, _ = self.influence(theta)
        return float(-self.g * (cos(theta) * self._moments) @ G)

    def accelerations(self, theta: np.ndarray, rate: float, tau: np.ndarray) -> np.ndarray:
        """θ̈ for the crank's rate and torques along the three angles."""
        G, H = self.influence(theta)
        inertia, P = self.inertia(theta)
        first = (self.load(theta) + G @ tau - P * rate**2) / inertia
        return G * first + H * rate**2

    def by_multipliers(
        self, theta: np.ndarray, rates: np.ndarray, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """θ̈ and the pin's generalized forces, in dead points too: M θ̈ + h = τ + Aᵀμ, A θ̈ = c."""
        lengths = np.array([self.l1, self.l2, -self.l3])
        A = lengths * np.array([-sin(theta), cos(theta)])
        c = (lengths * np.array([cos(theta), sin(theta)])) @ rates**2
        whole = np.block([[self.mass_matrix(theta), -A.T], [A, np.zeros((2, 2))]])
        found = np.linalg.solve(whole, [*(tau - self.bias(theta, rates)), *c])
        return found[:3], A.T @ found[3:]

    def energy(self, theta: np.ndarray, rate: float) -> float:
        weight = self.g * float(sin(theta) @ self._moments)
        return self.inertia(theta)[0] * rate**2 / 2 + weight
