"""Past configurations in which constraints lose rank, on the branch that the motion is on.

A motion through such a point is smooth, but what tells its accelerations is 0/0 there: small errors
across the branch grow as the inverse distance, and an adaptive method creeps towards the point. So
an integrator stops short of it, and one long step by collocation leads over it: Gauss's nodes stand
away from the middle, states at the nodes are put onto the constraints, and a polynomial of high
degree joins them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ...types import Floats
from ..projection import Projection
from ..system import System

if TYPE_CHECKING:
    from . import Solver


NODES = 14
REACH = 2.0
"""Steps before a singular configuration from which on it is passed at once."""

_ITERATIONS, _SETTLED, _SMOOTH = 40, 1e-13, 1e-10


def passing(inner: Solver, system: System, end: float) -> Solver:
    """A solver that passes singular configurations, where there can be some."""
    if system.projection is None or not system.names.position_row_count:
        return inner
    return Passing(inner, system, system.projection, end)


class Passing:
    """A solver that hands over to a long step where the next one would meet a singular state."""

    def __init__(self, inner: Solver, system: System, projection: Projection, end: float) -> None:
        self.inner, self.system, self.projection, self.end = inner, system, projection, end
        self.one_step = inner.one_step
        self.length = 0.0
        self._between: Callable[[float], Floats] | None = None

    @property
    def t(self) -> float:
        return self.inner.t

    @property
    def y(self) -> Floats:
        return self.inner.y

    @y.setter
    def y(self, state: Floats) -> None:
        self.inner.y = state

    def restart(self, t: float, y: Floats) -> None:
        self._between = None
        self.inner.end = self.end
        self.inner.restart(t, y)

    def between(self) -> Callable[[float], Floats]:
        return self.inner.between() if self._between is None else self._between

    def step(self) -> str | None:
        before = self.t
        ahead = self.ahead()
        if ahead < REACH * max(self.length, self.intended()) and self.passed(ahead):
            return None
        self._between = None
        reason = self.inner.step()
        self.length = self.t - before
        if reason is None and ahead < 1.5 * self.length:
            self.report(before, self.length)
        return reason

    def intended(self) -> float:
        """The step that an adaptive method of SciPy wants to make."""
        return float(getattr(getattr(self.inner, "solver", None), "h_abs", 0.0)) * (self.length > 0)

    def ahead(self) -> float:
        """Seconds to where the constraints lose rank, as it looks from here."""
        model, (q, qd) = self.system.model, self.system.motion(self.y)
        now = self.weakness(self.t, q)
        small = 1e-3 * self.length or 1e-6
        then = self.weakness(self.t + small, model.integrate(q, small * qd))
        return now * small / (now - then) if then < now else np.inf

    def weakness(self, t: float, q: Floats) -> float:
        time = [t] if self.projection.in_time else []
        return self.projection.weakest(self.system.model.constraint_jacobian(q, *time))

    def passed(self, ahead: float) -> bool:
        """Goes from here to as far behind the singular configuration; whether that was possible."""
        t, y = self.t, self.y
        length = min(2 * ahead, self.end - t)
        c, A, b = gauss(NODES)
        try:
            f = self.slopes(t, y, length, c, A)
        except np.linalg.LinAlgError:  # the iteration went off to infinity
            return False
        if f is None:
            return False
        there = y + length * b @ f
        nodes = np.vstack([y, y + length * A @ f, there])
        self._between = _through(t + length * np.array([0.0, *c, 1.0]), nodes)
        self.report(t, length)
        self.inner.restart(t + length, self.system.mended(t + length, there))
        return True

    def slopes(self, t: float, y: Floats, length: float, c: Floats, A: Floats) -> Floats | None:
        """ẏ at the nodes by iteration; None where it does not settle on a smooth motion."""
        first = self.system.rates(t, y)
        x = (c * length)[:, None]
        states = y + x * first
        nq = self.system.names.nq
        states[:, :nq] += x**2 / 2 * self._second(first, y)
        known, change = np.full_like(states, np.inf), np.inf
        for _ in range(_ITERATIONS):
            held = np.array([self.system.mended(t + h * length, state, polished=True)
                             for h, state in zip(c, states, strict=True)])  # fmt: skip
            f = np.array([self.system.rates(t + h * length, state)
                          for h, state in zip(c, held, strict=True)])  # fmt: skip
            before, change = change, np.abs(held - known).max() / (1.0 + np.abs(held).max())
            states, known = y + length * A @ f, held
            if change < _SETTLED or (change < _SMOOTH and change > before / 2):
                break
        return f if _rough(held) < _SMOOTH and change < _SMOOTH else None

    def _second(self, rate: Floats, y: Floats) -> Floats:
        """q̈ in the first guess, where x is (q, q̇)."""
        names = self.system.names
        if self.system.equations.state is not None or names.nq != names.nv:
            return np.zeros(names.nq)
        return rate[names.nq : 2 * names.nq]

    def report(self, t: float, length: float) -> None:
        """Where in the last long step the constraints were weakest, to 1/200 of it: the smallest
        singular value falls towards that point from both sides."""
        between, low, high = self.between(), 0.0, 1.0
        for _ in range(2):
            x = t + length * np.linspace(low, high, 21)
            weak = [self.weakness(s, self.system.motion(between(s))[0]) for s in x]
            k = int(np.argmin(weak))
            low, high = max(0.0, low + 0.05 * (k - 1)), min(1.0, low + 0.05 * (k + 1))
        self.projection.passed.append((float(x[k]), weak[k] / max(self.projection.usual, 1e-300)))


def _through(times: Floats, states: Floats) -> Callable[[float], Floats]:
    from scipy.interpolate import BarycentricInterpolator

    polynomial = BarycentricInterpolator(times, states)

    def at(t: float) -> Floats:
        found: Floats = polynomial(t)
        return found

    return at


def _rough(f: Floats) -> float:
    """The last coefficients of the polynomial through values at Gauss's nodes, as a share."""
    x = np.polynomial.legendre.leggauss(len(f))[0]
    coefficients = np.abs(np.polynomial.legendre.legfit(x, f, len(f) - 1)).max(axis=1)
    return float(coefficients[-2:].max() / max(coefficients.max(), 1e-300))


@lru_cache(maxsize=4)
def gauss(n: int) -> tuple[Floats, Floats, Floats]:
    """c, A, b of collocation at Gauss's nodes in (0, 1)."""
    x, weights = np.polynomial.legendre.leggauss(n)
    A = np.zeros((n, n))
    for j in range(n):
        values = np.eye(n)[j]
        integral = np.polynomial.legendre.legint(
            np.polynomial.legendre.legfit(x, values, n - 1), lbnd=-1
        )
        A[:, j] = np.polynomial.legendre.legval(x, integral) / 2
    return (x + 1) / 2, A, weights / 2
