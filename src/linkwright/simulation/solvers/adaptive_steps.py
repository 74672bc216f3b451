"""SciPy's adaptive methods on the compiled right-hand side."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...types import Floats
from ..system import System
from .passing import passing

if TYPE_CHECKING:
    from . import Maker, Solver


SCIPY = {"dop853": "DOP853", "rk45": "RK45", "radau": "Radau", "bdf": "BDF", "lsoda": "LSODA"}
_STIFF = ("radau", "bdf", "lsoda")
_ONE_STEP = ("dop853", "rk45", "radau")
_NODES = {"dop853": 11, "rk45": 5, "radau": 3, "bdf": 1, "lsoda": 1}
"""Times within a step, its end included, at which a method asks for rates."""

_CREEPING = 30
"""So many steps in a row that lead nowhere end a run."""


def adaptive(name: str) -> Maker:
    def make(
        system: System, t: float, y: Floats, end: float, options: Mapping[str, float]
    ) -> Solver:
        return passing(Adaptive(name, system, t, y, end, options), system, end)

    return make


class Adaptive:
    """One of SciPy's solvers; the stiff ones have the exact Jacobian."""

    def __init__(
        self, name: str, system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
    ) -> None:
        self.name, self.system, self.end = name, system, end
        self.options = dict(options)
        if name in _STIFF:
            self.options["jac"] = self.slope
        self.one_step = name in _ONE_STEP
        self.asked: set[float] = set()
        self.has_slope = True
        self.creeping, self.least = 0, 1e-14 * abs(end - t)
        self.restart(t, y)

    def rates(self, t: float, y: Floats) -> Floats:
        self.asked.add(t)
        return self.system.rates(t, y)

    def restart(self, t: float, y: Floats) -> None:
        import scipy.integrate

        method = getattr(scipy.integrate, SCIPY[self.name])
        self.solver = method(self.rates, t, y, self.end, **self.options)

    def slope(self, t: float, y: Floats) -> Floats:
        """∂ẏ/∂y; by differences where the compiled elimination fails."""
        found = self.system.slope(t, y)
        if np.isfinite(found).all():
            return found
        steps = 1e-7 * np.maximum(1.0, np.abs(y))
        here = self.system.rates(t, y)
        columns = [(self.system.rates(t, y + h) - here) / h.sum() for h in np.diag(steps)]
        self.has_slope = bool(np.isfinite(columns).all())
        return np.array(columns).T

    @property
    def t(self) -> float:
        return float(self.solver.t)

    @property
    def y(self) -> Floats:
        found: Floats = self.solver.y
        return found

    @y.setter
    def y(self, state: Floats) -> None:
        self.solver.y = state
        if hasattr(self.solver, "f"):
            self.solver.f = self.solver.fun(self.t, state)

    def step(self) -> str | None:
        begin = self.t
        self.asked.clear()
        try:
            if self.solver.step() is not None:
                return "the step became too small"
        except ValueError:  # SciPy refuses to factor what is not finite
            if self.has_slope:
                raise
            return "its rates are no longer finite"
        self.creeping = self.creeping + 1 if abs(self.t - begin) < self.least else 0
        if self.creeping == _CREEPING:  # near t = 0, numbers have room for ever smaller steps
            return "the step became too small"
        trials = sum(t > begin for t in self.asked) / _NODES[self.name]
        self.system.rejected += max(0, round(trials) - 1)
        return None

    def between(self) -> Callable[[float], Floats]:
        found: Callable[[float], Floats] = self.solver.dense_output()
        return found
