"""Loops in minimal coordinates: as many as there are degrees of freedom; the others are closed.

The independent coordinates a and velocities u are integrated; q(a) is closed by Newton's method
from the last configuration, q̇ = G u + k. Where the chosen coordinates come near a dead centre,
others are chosen and the integration starts again. To callers, the states are those of all
coordinates.
"""

from __future__ import annotations

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
from ..run_context import RunContext
from .scipy_stepper import new_scipy_solver
from .singularity_crossing import cross_singularities
from .stepper import DenseOutput, MakeStepper, StepOptions, Stepper, refuse_baumgarte

WORN_SHARE = 0.3
"""Other coordinates are chosen if the smallest singular value of the present ones is below this
share of that of the best choice: late enough that changes are rare, early enough that no digit is
lost."""


def minimal_stepper(name: str) -> MakeStepper:
    """Return the function that makes a stepper of minimal coordinates."""

    def make(context: RunContext, t: float, y: Floats, end: float, options: StepOptions) -> Stepper:
        return cross_singularities(
            MinimalStepper(name, context, t, y, end, options), context, end, options
        )

    return make


class MinimalStepper:
    """One of SciPy's solvers on (a, u, controller states and works)."""

    has_no_memory = False

    def __init__(
        self,
        name: str,
        context: RunContext,
        t: float,
        y: Floats,
        end: float,
        options: StepOptions,
    ) -> None:
        _check_minimal_coordinates(context)
        self.name, self.context, self.space = name, context, context.space
        self.options = options
        self.changes = 0
        """How often other coordinates were chosen."""
        length = constraint_system(context.equations.mechanism).length
        self.tolerance = CLOSURE_TOLERANCES.corrected_residual * max(1.0, length)  # by rounding
        self.step_start = t
        self.restart(t, y, end)

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y), with the best coordinates there."""
        self.end = end
        q, _ = self.space.motion(y)
        self.a = list(self._choice(self._jacobian(t, q)).independent)
        self._begin(t, y)

    def _begin(self, t: float, y: Floats) -> None:
        """Start at (t, y), with the chosen coordinates."""
        self.p = [k for k in range(self.context.names.nv) if k not in self.a]
        q, qd = self.space.motion(y)
        self.known = q
        reduced = np.concatenate([q[self.a], qd[self.a], y[self.space.size :]])
        self.solver = new_scipy_solver(
            self.name,
            self.rates,
            t,
            reduced,
            self.end,
            rtol=self.options.rtol,
            atol=self.options.atol,
            max_step=self.options.max_step,
        )

    @property
    def t(self) -> float:
        """The time that is reached."""
        return float(self.solver.t)

    @property
    def y(self) -> Floats:
        """The state that is reached, in all coordinates."""
        return self.whole_state(self.t, self.solver.y)

    @property
    def planned_step(self) -> float:
        """The length of the next step, s."""
        return float(getattr(self.solver, "h_abs", 0.0))

    @property
    def look_ahead(self) -> float:
        """How far a step that failed may have looked, s."""
        return 2 * self.planned_step

    def correct(self, y: Floats) -> None:
        """Start again from another state at t."""
        self.restart(self.t, y, self.end)

    def _time(self, t: float) -> list[float]:
        """Return the time as an argument of functions that depend on it."""
        return [t] if self.context.names.is_time_dependent else []

    def _jacobian(self, t: float, q: Floats) -> Floats:
        """Return the Jacobian of the constraints."""
        found: Floats = self.context.model.constraint_jacobian(q, *self._time(t))
        return found

    def _choice(self, J: Floats) -> PivotChoice:
        """Return which coordinates are best taken as independent."""
        return constraint_system(self.context.equations.mechanism).choose_pivots(J)

    def whole_state(self, t: float, reduced: Floats) -> Floats:
        """Return y in all coordinates; NaN where the loops cannot be closed."""
        model, time, f = self.context.model, self._time(t), len(self.a)
        q = self._predicted(t, reduced[:f])
        functions = PositionConstraints(
            lambda q: model.constraint_residual(q, *time), lambda q: self._jacobian(t, q)
        )
        closure = close_positions(functions, q, hold=self.a, tolerance=self.tolerance)
        q = closure.q if closure.has_converged else np.full_like(q, np.nan)
        qd = np.zeros(len(q))
        qd[self.a] = reduced[f : 2 * f]
        violation = model.constraint_velocity(q, qd, *time)
        qd = project_velocities(self._jacobian(t, q), qd, violation, hold=self.a)
        return np.concatenate([q, qd, reduced[2 * f :]])

    def _predicted(self, t: float, independent: Floats) -> Floats:
        """Return q near the last configuration, with the given independent coordinates."""
        q, J = self.known.copy(), self._jacobian(t, self.known)
        change = independent - q[self.a]
        q += gauss_newton_step(
            J, J[:, self.a] @ change, free=self.p, rank_share=CLOSURE_TOLERANCES.rank_share
        )
        q[self.a] = independent
        return q

    def rates(self, t: float, reduced: Floats) -> Floats:
        """Return the rates of the integrated states."""
        y = self.whole_state(t, reduced)
        n, f = self.context.names.nv, self.context.rates(t, y)
        return np.concatenate([f[self.a], f[n:][self.a], f[2 * n :]])

    def advance(self) -> str | None:
        """Make one step, in other coordinates if the present ones have become poor."""
        self.step_start = self.t
        if self._is_worn():
            y = self.y
            J = self._jacobian(self.t, self.space.motion(y)[0])
            self.a = list(self._choice(J).independent)
            self._begin(self.t, y)
            self.changes += 1
        if self.solver.step() is not None:
            return "the step became too small"
        self.known = self.space.motion(self.y)[0]
        return None

    def _is_worn(self) -> bool:
        """Whether another choice of independent coordinates would be much better."""
        J = self._jacobian(self.t, self.known)
        best = list(self._choice(J).dependent)
        if sorted(best) == sorted(self.p):
            return False
        sizes = [np.linalg.svd(J[:, p], compute_uv=False)[len(p) - 1] for p in (self.p, best)]
        return bool(sizes[0] < WORN_SHARE * sizes[1])

    def dense_output(self) -> DenseOutput:
        """Return the dense output of the last step, in all coordinates."""
        inside = self.solver.dense_output()
        return lambda t: self.whole_state(t, inside(t))


def _check_minimal_coordinates(context: RunContext) -> None:
    """Refuse mechanisms whose motion has no minimal coordinates."""
    names = context.names
    refuse_baumgarte(context, "minimal coordinates")
    if not names.constraints or names.position_row_count < len(names.constraints):
        raise UnsupportedError(
            "minimal coordinates exist only for closed loops",
            where=context.equations.mechanism.name,
            remedy='use coordinates="all"',
        )
    if names.nq != names.nv or context.equations.state is not None:
        raise UnsupportedError(
            "minimal coordinates need states (q, q̇) in which q̇ is the rate of q",
            remedy='use rotation = "cardan" and by="recursive"',
        )
