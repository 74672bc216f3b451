"""Slider-cranks in closed form, with the crank's angle as the one freedom: nothing of the library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy import cos, sin
from scipy.integrate import solve_ivp


@dataclass(frozen=True)
class SliderCrank:
    """Crank l1, rod l2, piston on the line y = 0; coordinates (θ1, θ2, x)."""

    m1: float = 1.2
    m2: float = 0.8
    m3: float = 0.5
    l1: float = 0.3
    l2: float = 1.0
    lc1: float = 0.1
    lc2: float = 0.4
    I1: float = 0.02
    I2: float = 0.07
    g: float = 9.81

    def configuration(self, theta1: float, branch: int = 1) -> np.ndarray:
        """Branch 1: the piston on the right of the crank pin; −1: on its left."""
        theta2 = -np.arcsin(self.l1 / self.l2 * sin(theta1))
        theta2 = theta2 if branch > 0 else np.pi - theta2
        return np.array([theta1, theta2, self.l1 * cos(theta1) + self.l2 * cos(theta2)])

    def influence(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """G = dq/dθ1 and H = d²q/dθ1²."""
        c1, s1, c2, s2 = cos(q[0]), sin(q[0]), cos(q[1]), sin(q[1])
        ratio = self.l1 / self.l2
        G2 = -ratio * c1 / c2
        H2 = ratio * (s1 * c2 - c1 * s2 * G2) / c2**2
        Gx = -self.l1 * s1 - self.l2 * s2 * G2
        Hx = -self.l1 * c1 - self.l2 * (c2 * G2**2 + s2 * H2)
        return np.array([1.0, G2, Gx]), np.array([0.0, H2, Hx])

    def inertia(self, q: np.ndarray) -> tuple[float, float]:
        """I* and ½ dI*/dθ1."""
        (_, G2, Gx), (_, H2, Hx) = self.influence(q)
        one = self.I1 + self.m1 * self.lc1**2 + self.m2 * self.l1**2
        two = self.I2 + self.m2 * self.lc2**2
        k, c = self.m2 * self.l1 * self.lc2, q[0] - q[1]
        inertia = one + two * G2**2 + 2 * k * cos(c) * G2 + self.m3 * Gx**2
        slope = two * G2 * H2 + k * (cos(c) * H2 - sin(c) * (1 - G2) * G2) + self.m3 * Gx * Hx
        return inertia, slope

    def accelerations(self, q: np.ndarray, rate: float, tau: np.ndarray) -> np.ndarray:
        G, H = self.influence(q)
        inertia, slope = self.inertia(q)
        weight = (self.m1 * self.lc1 + self.m2 * self.l1) * cos(q[0])
        weight += self.m2 * self.lc2 * cos(q[1]) * G[1]
        first = (G @ tau - self.g * weight - slope * rate**2) / inertia
        return G * first + H * rate**2


@dataclass(frozen=True)
class Sundials:
    """The example of SUNDIALS' IDA; coordinates (q, x, p), rod of length 1."""

    a: float = 0.5
    J1: float = 1.0
    J2: float = 2.0
    m2: float = 1.0
    k: float = 1.0
    c: float = 1.0
    l0: float = 1.0
    F: float = 1.0

    def configuration(self, q: float) -> np.ndarray:
        p = np.arcsin(-self.a * sin(q))
        return np.array([q, cos(p) + self.a * cos(q), p])

    def influence(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, _, p = z
        Gp = -self.a * cos(q) / cos(p)
        Hp = (self.a * sin(q) + sin(p) * Gp**2) / cos(p)
        Gx = -sin(p) * Gp - self.a * sin(q)
        Hx = -cos(p) * Gp**2 - sin(p) * Hp - self.a * cos(q)
        return np.array([1.0, Gx, Gp]), np.array([0.0, Hx, Hp])

    def forces(self, z: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Q of spring, damper and F, as the example prints them."""
        (q, x, p), (qd, xd, pd), a = z, rates, self.a
        square = x**2 - x * (cos(p) + a * cos(q)) + (1 + a**2) / 4 + a * cos(p - q) / 2
        length = np.sqrt(square)
        slope = 2 * x * xd - xd * (cos(p) + a * cos(q)) + x * (sin(p) * pd + a * sin(q) * qd)
        slope -= a * sin(p - q) * (pd - qd) / 2
        pull = (self.k * (length - self.l0) + self.c * slope / (2 * length)) / length
        return np.array([
            -pull * a * (sin(p - q) / 2 + x * sin(q)) / 2,
            pull * (cos(p) / 2 - x + a * cos(q) / 2) + self.F,
            -pull * (x * sin(p) - a * sin(p - q) / 2) / 2 - self.F * sin(p),
        ])  # fmt: skip

    def accelerations(self, z: np.ndarray, rate: float, tau: np.ndarray) -> np.ndarray:
        G, H = self.influence(z)
        masses = np.array([self.J1, self.m2, self.J2])
        forces = self.forces(z, G * rate) + tau - masses * H * rate**2
        return G * (G @ forces / (G @ (masses * G))) + H * rate**2

    def run(self, t: float) -> tuple[np.ndarray, float]:
        """(q, x, p) and the crank's rate at t, from rest at q = π/2."""

        def slope(_: float, state: np.ndarray) -> list[float]:
            z = self.configuration(state[0])
            return [state[1], self.accelerations(z, state[1], np.zeros(3))[0]]

        found = solve_ivp(slope, (0, t), [np.pi / 2, 0], method="DOP853", rtol=1e-13, atol=1e-14)
        return self.configuration(found.y[0, -1]), float(found.y[1, -1])
