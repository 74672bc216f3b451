"""Loops in minimal coordinates: as many as there are freedoms, the others follow by closing.

The independent coordinates a and speeds u are integrated; q(a) closes by Newton's steps from the
last place, q̇ = G u + k. Where the chosen ones come near to a dead centre, others are chosen and the
integration begins anew there. To everybody else the states are those of all coordinates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UnsupportedError
from ...kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    gauss_newton_step,
    project_velocities,
)
from ...kinematics.constraint_system import constraint_system
from ...kinematics.pivots import PivotChoice
from ...types import Floats
from ..system import System
from .adaptive_steps import SCIPY
from .passing import passing
from .stepping import refuse_baumgarte

if TYPE_CHECKING:
    from . import Maker, Solver


WORN_OUT = 0.3
"""Others are chosen where these drive this much worse than the best ones."""


def minimal(name: str) -> Maker:
    def make(
        system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
    ) -> Solver:  # fmt: skip
        return passing(Minimal(name, system, t, y, end, options), system, end)

    return make


class Minimal:
    """One of SciPy's solvers on z = (a, u, works)."""

    one_step = False

    def __init__(
        self, name: str, system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
    ) -> None:
        names = system.names
        refuse_baumgarte(system, "minimal coordinates")
        if not names.constraints or names.position_row_count < len(names.constraints):
            raise UnsupportedError("there are minimal coordinates only of closed loops",
                                   where=system.equations.mechanism.name,
                                   remedy='use coordinates="all"')  # fmt: skip
        if names.nq != names.nv or system.equations.state is not None:
            raise UnsupportedError("minimal coordinates need rates that are speeds, as states",
                                   remedy='use rotation = "cardan" and by="recursive"')  # fmt: skip
        self.name, self.system, self.end, self.options = name, system, end, dict(options)
        self.changes = 0
        length = constraint_system(system.equations.mechanism).length
        self.tolerance = CLOSURE_TOLERANCES.corrected_residual * max(1.0, length)  # by rounding
        self.restart(t, y)

    def restart(self, t: float, y: Floats) -> None:
        q, _ = self.system.motion(y)
        self.a = list(self._choice(self._jacobian(t, q)).independent)
        self._begin(t, y)

    def _begin(self, t: float, y: Floats) -> None:
        import scipy.integrate

        nv = self.system.names.nv
        self.p = [k for k in range(nv) if k not in self.a]
        q, qd = self.system.motion(y)
        self.known = q
        z = np.concatenate([q[self.a], qd[self.a], y[self.system.size :]])
        method = getattr(scipy.integrate, SCIPY[self.name])
        self.solver = method(self.rates, t, z, self.end, **self.options)

    @property
    def t(self) -> float:
        return float(self.solver.t)

    @property
    def y(self) -> Floats:
        return self.whole(self.t, self.solver.y)

    @y.setter
    def y(self, state: Floats) -> None:
        self.restart(self.t, state)

    def _time(self, t: float) -> list[float]:
        return [t] if self.system.names.is_time_dependent else []

    def _jacobian(self, t: float, q: Floats) -> Floats:
        found: Floats = self.system.model.constraint_jacobian(q, *self._time(t))
        return found

    def _choice(self, J: Floats) -> PivotChoice:
        return constraint_system(self.system.equations.mechanism).choose_pivots(J)

    def whole(self, t: float, z: Floats) -> Floats:
        """y of all coordinates."""
        model, time, f = self.system.model, self._time(t), len(self.a)
        q = self._predicted(t, z[:f])
        functions = PositionConstraints(
            lambda q: model.constraint_residual(q, *time), lambda q: self._jacobian(t, q)
        )
        closure = close_positions(functions, q, hold=self.a, tolerance=self.tolerance)
        q = closure.q if closure.has_converged else np.full_like(q, np.nan)
        qd = np.zeros(len(q))
        qd[self.a] = z[f : 2 * f]
        violation = model.constraint_velocity(q, qd, *time)
        qd = project_velocities(self._jacobian(t, q), qd, violation, hold=self.a)
        return np.concatenate([q, qd, z[2 * f :]])

    def _predicted(self, t: float, independent: Floats) -> Floats:
        """q near the last place, with the independent coordinates as given."""
        q, J = self.known.copy(), self._jacobian(t, self.known)
        change = independent - q[self.a]
        q += gauss_newton_step(
            J, J[:, self.a] @ change, free=self.p, rank_share=CLOSURE_TOLERANCES.rank_share
        )
        q[self.a] = independent
        return q

    def rates(self, t: float, z: Floats) -> Floats:
        y = self.whole(t, z)
        n, f = self.system.names.nv, self.system.rates(t, y)
        return np.concatenate([f[self.a], f[n:][self.a], f[2 * n :]])

    def step(self) -> str | None:
        if self._worn_out():
            y = self.y
            self.a = list(
                self._choice(self._jacobian(self.t, self.system.motion(y)[0])).independent
            )
            self._begin(self.t, y)
            self.changes += 1
        if self.solver.step() is not None:
            return "the step became too small"
        self.known = self.system.motion(self.y)[0]
        return None

    def _worn_out(self) -> bool:
        """Whether the eliminated speeds follow much worse than they could."""
        J = self._jacobian(self.t, self.known)
        best = list(self._choice(J).dependent)
        if sorted(best) == sorted(self.p):
            return False
        sizes = [np.linalg.svd(J[:, p], compute_uv=False)[len(p) - 1] for p in (self.p, best)]
        return bool(sizes[0] < WORN_OUT * sizes[1])

    def between(self) -> Callable[[float], Floats]:
        inside = self.solver.dense_output()
        return lambda t: self.whole(t, inside(t))
