"""SciPy's adaptive methods on the compiled right-hand side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...types import Floats
from ..run_context import RunContext
from .singularity_crossing import cross_singularities
from .stepper import DenseOutput, MakeStepper, StepOptions, Stepper

if TYPE_CHECKING:
    from scipy.integrate import OdeSolver

SCIPY_METHODS = {
    "dop853": "DOP853",
    "rk45": "RK45",
    "radau": "Radau",
    "bdf": "BDF",
    "lsoda": "LSODA",
}
"""The names of SciPy's classes, by our names."""

_STIFF = ("radau", "bdf", "lsoda")
_WITHOUT_MEMORY = ("dop853", "rk45", "radau")

_NODES = {"dop853": 11, "rk45": 5, "radau": 3, "bdf": 1, "lsoda": 1}
"""Times within a step, its end included, at which a method evaluates the rates."""

MAX_STEPS_WITHOUT_PROGRESS = 30
"""After this many steps in a row that advance by less than rounding, a run ends: near t = 0,
floating-point numbers leave room for ever smaller steps, and SciPy would not stop."""


def scipy_stepper(name: str) -> MakeStepper:
    """Return the function that makes a stepper of one of SciPy's methods."""

    def make(context: RunContext, t: float, y: Floats, end: float, options: StepOptions) -> Stepper:
        return cross_singularities(
            ScipyStepper(name, context, t, y, end, options), context, end, options
        )

    return make


def new_scipy_solver(
    name: str, rates: object, t: float, y: Floats, end: float, **options: object
) -> OdeSolver:
    """Return one of SciPy's solvers at (t, y)."""
    import scipy.integrate

    method = getattr(scipy.integrate, SCIPY_METHODS[name])
    solver: OdeSolver = method(rates, t, y, end, **options)
    return solver


class ScipyStepper:
    """One of SciPy's solvers; the stiff ones have the exact Jacobian."""

    def __init__(
        self,
        name: str,
        context: RunContext,
        t: float,
        y: Floats,
        end: float,
        options: StepOptions,
    ) -> None:
        self.name, self.context = name, context
        self.options: dict[str, object] = {
            "rtol": options.rtol,
            "atol": options.atol,
            "max_step": options.max_step,
        }
        if name in _STIFF:
            self.options["jac"] = self.jacobian
        self.has_no_memory = name in _WITHOUT_MEMORY
        self.step_start = t
        self._evaluated: set[float] = set()
        self._has_jacobian = True
        self._steps_without_progress, self._least_progress = 0, 1e-14 * abs(end - t)
        self.restart(t, y, end)

    def rates(self, t: float, y: Floats) -> Floats:
        """Return ẏ, and note the time."""
        self._evaluated.add(t)
        return self.context.rates(t, y)

    def jacobian(self, t: float, y: Floats) -> Floats:
        """Return ∂ẏ/∂y; by differences where the compiled elimination fails."""
        found = self.context.jacobian(t, y)
        if np.isfinite(found).all():
            return found
        steps = 1e-7 * np.maximum(1.0, np.abs(y))
        here = self.context.rates(t, y)
        columns = [(self.context.rates(t, y + h) - here) / h.sum() for h in np.diag(steps)]
        self._has_jacobian = bool(np.isfinite(columns).all())
        return np.array(columns).T

    @property
    def t(self) -> float:
        """The time that is reached."""
        return float(self.solver.t)

    @property
    def y(self) -> Floats:
        """The state that is reached."""
        found: Floats = self.solver.y
        return found

    @property
    def planned_step(self) -> float:
        """The length of the next step, s."""
        return float(getattr(self.solver, "h_abs", 0.0))

    @property
    def look_ahead(self) -> float:
        """How far a step that failed may have looked, s."""
        return 2 * self.planned_step

    def advance(self) -> str | None:
        """Make one step."""
        self.step_start = begin = self.t
        self._evaluated.clear()
        try:
            if self.solver.step() is not None:
                return "the step became too small"
        except ValueError:  # SciPy refuses to factor what is not finite
            if self._has_jacobian:
                raise
            return "its rates are no longer finite"
        if abs(self.t - begin) < self._least_progress:
            self._steps_without_progress += 1
        else:
            self._steps_without_progress = 0
        if self._steps_without_progress == MAX_STEPS_WITHOUT_PROGRESS:
            return "the step became too small"
        trials = sum(t > begin for t in self._evaluated) / _NODES[self.name]
        self.context.counts.add(rejected=max(0, round(trials) - 1))
        return None

    def dense_output(self) -> DenseOutput:
        """Return SciPy's dense output of the last step."""
        found: DenseOutput = self.solver.dense_output()
        return found

    def correct(self, y: Floats) -> None:
        """Replace the state at t, and the rates that a method keeps of it."""
        self.solver.y = y
        if hasattr(self.solver, "f"):
            self.solver.f = self.solver.fun(self.t, y)

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y)."""
        self.solver = new_scipy_solver(self.name, self.rates, t, y, end, **self.options)
