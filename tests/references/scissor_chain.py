"""A chain of scissors that hangs at one end: its turn α and its half opening β give all positions in
closed form, and CasADi's derivatives of its energy the motion. Nothing of the library."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np


@dataclass(frozen=True)
class ScissorChain:
    """Uniform bars of 1 kg and 1 m, two a stage, that cross in their middles.

    Bars A start at the lower left and bars B at the upper left corner of their stage; A0 starts at
    the world's origin. Velocities: a0 of A0 against ground, m_i of B_i against A_i, a_i of A_i
    against B_{i−1}.
    """

    stages: int
    g: float = 9.81

    def coordinates(self, alpha: float, beta: float) -> np.ndarray:
        """a0, m0, a1, m1, …"""
        found = np.tile([2 * beta, -2 * beta], self.stages)
        found[0] = alpha + beta
        return found

    def accelerations(self, state: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Accelerations of the coordinates in free motion, from (α, β) and their rates."""
        return self.coordinates(*self.angular_accelerations(state, rates))

    def angular_accelerations(self, state: np.ndarray, rates: np.ndarray) -> np.ndarray:
        """Accelerations of (α, β) in free motion."""
        return np.asarray(self._law(state, rates)).ravel()

    @cached_property
    def _law(self) -> ca.Function:
        """(α, β) and their rates → accelerations."""
        x, v = ca.SX.sym("x", 2), ca.SX.sym("v", 2)
        along = ca.vertcat(ca.cos(x[0]), ca.sin(x[0]))
        across = ca.vertcat(-ca.sin(x[0]), ca.cos(x[0]))
        kinetic = self.stages * ca.sumsqr(v) / 12  # both bars of a stage turn: α̇ + β̇, α̇ − β̇
        potential = ca.SX(0)
        for i in range(self.stages):
            centre = (i + 0.5) * ca.cos(x[1]) * along + ca.sin(x[1]) * across / 2
            kinetic += ca.sumsqr(ca.jacobian(centre, x) @ v)  # two bars of 1 kg
            potential += 2 * self.g * centre[1]
        p = ca.gradient(kinetic, v)
        forces = ca.gradient(kinetic - potential, x) - ca.jtimes(p, x, v)
        qdd = ca.solve(ca.jacobian(p, v), forces)
        return ca.Function("f", [x, v], [qdd])
