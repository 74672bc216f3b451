"""Contacts with dry friction: impulses at the end of compression, forces at an instant.

With the velocities u = u⁻ + W p of the contacts, p has a normal impulse n and two slip impulses π
for each contact:

    n = max(n − u_n/w, 0),     π = (π − u_t/w), but no longer than μ n

Further entries of p are between −limit and limit, like the friction of joints. For forces, u are
accelerations. Sweeps over the contacts (Gauss–Seidel) approach the solution and show which contacts
open, stick and slide; Newton's method then completes it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ...types import Floats
from .coding import least_squares
from .dynamics import InstantDynamics
from .event_tolerances import FORCE_SOLVER


def compress_contacts(
    instant: InstantDynamics, qd: Floats, taking: list[int]
) -> tuple[Floats, Floats]:
    """Return the velocities at the end of compression of the contacts `taking`, and their impulses
    along the slips and normal, one row each."""
    unilaterals, P, rows = instant.of.rows.unilaterals, instant.admittance, []
    for i in taking:
        slip = list(unilaterals[i].slip)
        rows.append(instant.R[[i, *slip]] if slip else np.vstack([instant.R[i], 0 * P[:2]]))
    B = np.concatenate(rows)
    mu = np.array([unilaterals[i].friction for i in taking])
    p = FrictionProblem(B @ P @ B.T, B @ qd, mu).solve()
    return qd + P @ (B.T @ p), p.reshape(-1, 3)[:, [1, 2, 0]]


@dataclass
class FrictionProblem:
    """The velocities u⁻, how impulses change them (W), the coefficients of friction of contacts,
    and the limits of the entries that follow the contacts."""

    W: Floats
    u: Floats
    mu: Floats
    limits: Floats = field(default_factory=lambda: np.zeros(0))
    residual_share: float = FORCE_SOLVER.compression_residual_share

    def __post_init__(self) -> None:
        self.count = len(self.mu)
        self.blocks = [self.W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] for k in range(self.count)]
        self.sizes = [(float(b[0, 0]), _largest(b[1:, 1:])) for b in self.blocks]
        self.size = float(np.abs(self.u).max(initial=0.0))
        self.enough = self.residual_share * self.size

    def least_forces(self) -> Floats:
        """Return impulses near the solution whose further entries are least, where several are
        possible: stops carry what they can, and joints share the rest.

        With soft joints there is only one. Each softness that follows acts from the last solution.
        """
        p, softness, first = np.zeros(len(self.u)), np.zeros(len(self.u)), 3 * self.count
        softness[first:] = FORCE_SOLVER.softness_share * self.W.diagonal()[first:]
        soft = replace(self, W=self.W + np.diag(softness))
        for _ in range(FORCE_SOLVER.soft_rounds if softness.any() else 0):
            p = replace(soft, u=self.u - softness * p).solve(p)
        return p

    def solve(self, start: Floats | None = None) -> Floats:
        """Return the impulses at the end of compression, from impulses near them."""
        p = np.zeros(len(self.u)) if start is None else start.copy()
        for _ in range(FORCE_SOLVER.compression_rounds):
            for _ in range(FORCE_SOLVER.compression_sweeps):
                if self._sweep(p) <= self.enough:
                    return p
            found = self._newton(p)
            if found is not None:
                return found
        return p

    def residual(self, p: Floats) -> float:
        """Return how much another sweep would change the velocities."""
        return self._sweep(p.copy())

    def _sweep(self, p: Floats) -> float:
        """Improve all impulses in place; return how much that changed the velocities."""
        u, most = self.u + self.W @ p, 0.0
        for k, (w, wt) in enumerate(self.sizes):
            if w <= 0:
                continue
            old = p[3 * k : 3 * k + 3].copy()
            p[3 * k] = max(old[0] - u[3 * k] / w, 0.0)
            u = u + self.W[:, 3 * k] * (p[3 * k] - old[0])
            if wt > 0:
                p[3 * k + 1 : 3 * k + 3] = self._slip(k, p, u, wt)
                change = p[3 * k + 1 : 3 * k + 3] - old[1:]
                u = u + self.W[:, 3 * k + 1 : 3 * k + 3] @ change
            most = max(most, float(np.abs(self.W @ _only(p, old, k)).max()))
        for j, limit in enumerate(self.limits.tolist(), 3 * self.count):
            if self.W[j, j] > 0:
                before = p[j]
                p[j] = min(max(before - u[j] / self.W[j, j], -limit), limit)
                change = self.W[:, j] * (p[j] - before)
                u = u + change
                most = max(most, float(np.abs(change).max()))
        return most

    def _slip(self, k: int, p: Floats, u: Floats, wt: float) -> Floats:
        """Return the slip impulse of a contact, no longer than friction allows."""
        push = p[3 * k + 1 : 3 * k + 3] - u[3 * k + 1 : 3 * k + 3] / wt
        limit = self.mu[k] * p[3 * k]
        found: Floats = push * min(1.0, limit / max(float(np.hypot(*push)), 1e-300))
        return found

    def _newton(self, start: Floats) -> Floats | None:
        """Return the solution by Newton's method from nearby impulses; None if it fails."""
        p = start.copy()
        for _ in range(FORCE_SOLVER.compression_newton_steps):
            F, slope = self._equations(p)
            p = p - least_squares(slope, F, FORCE_SOLVER.compression_rank_share)[0]
            normal = slice(0, 3 * self.count, 3)
            p[normal] = np.maximum(p[normal], 0.0)
            if self._sweep(p) <= self.enough:
                return p
        return None

    def _equations(self, p: Floats) -> tuple[Floats, Floats]:
        """Return the residual of the equations, in velocities, and its derivative by p."""
        u, F, slope = self.u + self.W @ p, np.zeros_like(p), np.zeros_like(self.W)
        for k, (w, wt) in enumerate(self.sizes):
            n, t = 3 * k, slice(3 * k + 1, 3 * k + 3)
            if w > 0 and p[n] - u[n] / w > 0:
                F[n], slope[n] = u[n], self.W[n]
            else:
                F[n], slope[n, n] = p[n], 1.0
            z = p[t] - u[t] / wt if wt > 0 else np.zeros(2)
            length, limit = float(np.hypot(*z)), self.mu[k] * p[n]
            if wt > 0 and length <= limit:
                F[t], slope[t] = u[t], self.W[t]
                continue
            F[t], slope[t, t] = p[t], np.eye(2)
            if length > 0:
                way = z / length
                turn = limit / length * (np.eye(2) - np.outer(way, way))
                F[t] -= limit * way
                slope[t, n] -= self.mu[k] * way
                slope[t, t] -= turn
                slope[t] += turn @ self.W[t] / wt
        for j, limit in enumerate(self.limits.tolist(), 3 * self.count):
            pushed = p[j] - u[j] / self.W[j, j] if self.W[j, j] > 0 else 0.0
            if self.W[j, j] > 0 and abs(pushed) < limit:
                F[j], slope[j] = u[j], self.W[j]
            else:
                F[j], slope[j, j] = p[j] - np.clip(pushed, -limit, limit), 1.0
        return F, slope


def _only(p: Floats, old: Floats, k: int) -> Floats:
    """Return the change of the impulses of one contact."""
    change = np.zeros_like(p)
    change[3 * k : 3 * k + 3] = p[3 * k : 3 * k + 3] - old
    return change


def _largest(A: Floats) -> float:
    """Return the larger eigenvalue of a symmetric 2 × 2 matrix."""
    half, apart = (A[0, 0] + A[1, 1]) / 2, (A[0, 0] - A[1, 1]) / 2
    return float(half + np.hypot(apart, A[0, 1]))
