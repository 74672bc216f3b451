"""Car and trolley with trailers in reduced equations: the rates that wheels allow, by hand, and
d'Alembert's principle along them.

An axle that moves at v along its heading e and turns at w, with n to its left: a point s ahead of
it has the velocity v e + s w n and the acceleration (v' − s w²) e + (v w + s w') n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Car:
    m: float
    I: float
    a: float
    l: float
    mf: float
    If: float

    def rates(self, q: np.ndarray, speed: float, steering: float) -> np.ndarray:
        """Rates of (x, y, theta, delta) for the speed of the rear axle and delta'."""
        c, s = np.cos(q[2]), np.sin(q[2])
        return np.array([speed * c, speed * s, speed * np.tan(q[3]) / self.l, steering])

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """The motion along v turns the car by k = tan(delta)/l; with K the inertia about the rear axle,

        (m + mf + K k²) v' + K k k' v + If k (theta'' + delta'') = Fx cos + Fy sin + k Ttheta
        If (theta'' + delta'') = Tdelta
        """
        c, s = np.cos(q[2]), np.sin(q[2])
        speed = v[0] * c + v[1] * s
        k = np.tan(q[3]) / self.l
        k_rate = v[3] / (self.l * np.cos(q[3]) ** 2)
        K = self.I + self.m * self.a**2 + self.mf * self.l**2
        push = tau[0] * c + tau[1] * s + k * (tau[2] - tau[3])
        speed_rate = (push - K * k * k_rate * speed) / (self.m + self.mf + K * k**2)
        turn = speed_rate * k + speed * k_rate
        return np.array([
            speed_rate * c - speed * s * v[2],
            speed_rate * s + speed * c * v[2],
            turn,
            tau[3] / self.If - turn,
        ])  # fmt: skip


@dataclass(frozen=True)
class Train:
    """A trolley and its trailers, front to back; b and l of the hitches between them."""

    m: tuple[float, ...]
    I: tuple[float, ...]
    a: tuple[float, ...]
    b: tuple[float, ...]
    l: tuple[float, ...]

    def axles(self, headings: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        """(V, W) of each: its speed V·u and turning rate W·u, u those of the trolley.

        The hitch belongs to both: v e − b w n before, v' e' + l w' n' behind.
        """
        V, W = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        found = [(V, W)]
        for i, (b, length) in enumerate(zip(self.b, self.l, strict=True)):
            c, s = np.cos(headings[i] - headings[i + 1]), np.sin(headings[i] - headings[i + 1])
            V, W = c * V + b * s * W, (s * V - b * c * W) / length
            found.append((V, W))
        return found

    def axle_rates(
        self, headings: np.ndarray, rates: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Rates of (V, W)."""
        dV, dW = np.zeros(2), np.zeros(2)
        found = [(dV, dW)]
        axles = self.axles(headings)
        for i, (b, length) in enumerate(zip(self.b, self.l, strict=True)):
            V, W = axles[i]
            turn = rates[i] - rates[i + 1]
            c, s = np.cos(headings[i] - headings[i + 1]), np.sin(headings[i] - headings[i + 1])
            along = c * dV + b * s * dW + turn * (-s * V + b * c * W)
            across = s * dV - b * c * dW + turn * (c * V + b * s * W)
            dV, dW = along, across / length
            found.append((dV, dW))
        return found

    def rate_matrix(self, q: np.ndarray) -> np.ndarray:
        """Rates of (x, y, headings) for unit speed and turning rate of the trolley."""
        forward = np.outer([np.cos(q[2]), np.sin(q[2])], [1.0, 0.0])
        return np.vstack([forward, *(W for _, W in self.axles(q[2:]))])

    def accelerations(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        u = np.array([v[0] * np.cos(q[2]) + v[1] * np.sin(q[2]), v[2]])
        axles, changes = self.axles(q[2:]), self.axle_rates(q[2:], v[2:])
        M, h = np.zeros((2, 2)), np.zeros(2)
        for i, ((V, W), (dV, dW)) in enumerate(zip(axles, changes, strict=True)):
            m, I, a, turn = self.m[i], self.I[i], self.a[i], W @ u
            M += m * np.outer(V, V) + (I + m * a**2) * np.outer(W, W)
            h += m * (dV @ u - a * turn**2) * V
            h += (m * a * ((V @ u) * turn + a * (dW @ u)) + I * (dW @ u)) * W
        B = self.rate_matrix(q)
        u_rate = np.linalg.solve(M, B.T @ tau - h)
        change = np.array([-np.sin(q[2]), np.cos(q[2])]) * u[0] * v[2]
        return B @ u_rate + np.concatenate([change, [dW @ u for _, dW in changes]])
