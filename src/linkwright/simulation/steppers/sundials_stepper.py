"""SUNDIALS through CasADi: CVODES on ẏ = F(t, y), IDAS on the index-reduced equations

    q̇ = N v,   v̇ = a,   0 = M a + C v + g − f − τ − Jᵀλ,   0 = J a + γ

in which accelerations and the forces of the chosen rows are algebraic; both with exact Jacobians.
CasADi integrates from grid point to grid point, so a call goes over several samples in a time
s = (t − t₀)/spacing, and steps are handed out one by one. Between calls states are projected onto
the constraints.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ...errors import UnsupportedError
from ...types import SX, Floats
from ..endless_steps import CHECKED_STEPS_IN_PYTHON
from ..fixed_steps.step_equations import StepEquations
from ..fixed_steps.step_projection import StepProjection
from ..run_context import RunContext
from .input_parameters import InputCallback, InputParameters
from .singularity_crossing import cross_singularities
from .stepper import DenseOutput, MakeStepper, StepOptions, Stepper, refuse_mode_forces

SUNDIALS_METHODS = ("cvodes", "idas")

INTERVALS_PER_CALL = 16
"""Intervals between samples in one call: each call starts again with short steps, and an event in
one interval discards the others."""

SHORTEST_STEP = 1e-13
"""The shortest step as a share of an interval; a solver that approaches a pole ends there."""

MAX_STEPS_PER_CALL = 100_000
"""Steps in one call, more than a smooth motion takes; a solver that is stuck ends there. Where
Python computes the inputs, a call ends after `CHECKED_STEPS_IN_PYTHON`."""


def sundials_stepper(name: str) -> MakeStepper:
    """Return the function that makes a stepper of CVODES or IDAS."""

    def make(context: RunContext, t: float, y: Floats, end: float, options: StepOptions) -> Stepper:
        return cross_singularities(
            SundialsStepper(name, context, t, y, end, options), context, end, options
        )

    return make


class SundialsStepper:
    """A stepper at a grid point, which has the next grid points of its last call."""

    has_no_memory = False
    planned_step = 0.0

    def __init__(
        self,
        name: str,
        context: RunContext,
        t: float,
        y: Floats,
        end: float,
        options: StepOptions,
    ) -> None:
        refuse_mode_forces(context, name)
        self.inputs = InputParameters(context.rhs)
        self.callback: InputCallback | None = None
        if name == "idas" and context.equations.state is not None:
            raise UnsupportedError(
                f"'idas' solves for q, v and λ, but '{context.equations.by}' has states of its own",
                remedy='use cvodes, or by="recursive"',
            )
        self.name, self.context = name, context
        self.spacing = min(options.spacing, options.max_step)
        self.tolerances = {"reltol": options.rtol, "abstol": options.atol}
        self.restart(t, y, end)

    @property
    def step_start(self) -> float:
        """The time at which the last step began."""
        return self.before[0]

    @property
    def look_ahead(self) -> float:
        """How far a step that failed may have looked, s."""
        return self.spacing

    def correct(self, y: Floats) -> None:
        """Replace the state at t."""
        self.y = y

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y)."""
        self.t, self.y, self.end = t, y, end
        self.coming: list[tuple[float, Floats]] = []
        self.singly = 0
        self.before = t, y

    def advance(self) -> str | None:
        """Go to the next grid point."""
        if not self.coming:
            found = self._call()
            if isinstance(found, str):
                return found
            self.coming = found
        self.before = self.t, self.y
        self.t, self.y = self.coming.pop(0)
        return None

    def _call(self) -> list[tuple[float, Floats]] | str:
        """Return the states at the next grid points, or why there are none."""
        left = self.end - self.t
        count = INTERVALS_PER_CALL if left >= INTERVALS_PER_CALL * self.spacing * (1 - 1e-9) else 1
        length = self.spacing if count > 1 else min(self.spacing, left)
        y = self.context.project(self.t, self.y)
        for tried in dict.fromkeys((1 if self.singly else count, 1)):
            states = self._integrated(self.t, y, length, tried)
            self.singly = INTERVALS_PER_CALL if states is None else max(0, self.singly - 1)
            if states is not None:
                times = self.t + length * np.arange(1, tried + 1)
                times[-1] = self.end if abs(times[-1] - self.end) < 1e-9 * length else times[-1]
                return list(zip(times.tolist(), states, strict=True))
        return f"{self.name} could not go on"

    def _integrated(self, t: float, y: Floats, length: float, count: int) -> Floats | None:
        """Return the states after `count` intervals; None if SUNDIALS failed."""
        solver = self._many if count > 1 else self._one
        found = None
        with contextlib.suppress(RuntimeError):
            found = solver(x0=y, z0=self._guess(t, y), p=[t, length, *self._input_values(t)])
        if (self.callback is not None and not self.callback.check()) or found is None:
            return None
        self._count(solver.stats())
        states = np.asarray(found["xf"], dtype=float).T
        return states if np.isfinite(states).all() else None

    def _count(self, stats: Mapping[str, Any]) -> None:
        """Add what SUNDIALS counted in a call."""
        self.context.counts.add(
            evaluations=int(stats["nfevals"]),
            rejected=int(stats["netfails"]) + int(stats["nncfails"]),
            jacobians=int(stats["nlinsetups"]),
            inner_steps=int(stats["nsteps"]),
        )

    def _input_values(self, t: float) -> Floats:
        """Return the parameters of the inputs from t on."""
        held = self.context.inputs.held if self.context.force_law.is_sampled else None
        return self.inputs.values(t, held)

    @cached_property
    def _one(self) -> ca.Function:
        """The integrator over one interval."""
        return self._integrator([1.0])

    @cached_property
    def _many(self) -> ca.Function:
        """The integrator over `INTERVALS_PER_CALL` intervals."""
        return self._integrator(list(range(1, INTERVALS_PER_CALL + 1)))

    def _integrator(self, grid: list[float]) -> ca.Function:
        """Return an integrator to the points of a grid."""
        is_slow = self.inputs.is_called
        options: dict[str, Any] = self.tolerances | {
            "max_num_steps": CHECKED_STEPS_IN_PYTHON if is_slow else MAX_STEPS_PER_CALL,
            "print_stats": False,
        }
        if self.name == "idas":
            options["suppress_algebraic"] = True
        else:
            options["min_step_size"] = SHORTEST_STEP
        return ca.integrator(
            "solver",
            self.name,
            self._equations,
            0.0,
            grid,
            options | {"show_eval_warnings": False, "disable_internal_warnings": True},
        )

    @cached_property
    def _equations(self) -> dict[str, Any]:
        """The equations in s, with the parameters t₀, spacing, and those of the inputs."""
        s, p = ca.SX.sym("s"), ca.SX.sym("p", 2 + self.inputs.count)
        states, algebraic, rates, rest = self._ode if self.name == "cvodes" else self._dae
        t = p[0] + p[1] * s
        expressions = self.context.rhs.expressions
        w = expressions.w
        if not self.inputs.is_called:
            w = ca.vertcat(*self.inputs.w(ca.vertsplit(p)[2:], t))
        known = [self.context.space.symbols[3], expressions.w]
        rates, rest = ca.substitute([p[1] * rates, rest], known, [t, w])
        found = {"t": s, "x": states, "z": algebraic, "p": p, "ode": rates, "alg": rest}
        if self.inputs.is_called:
            return self._with_calls(found)
        return {key: ca.cse(x) if key in ("ode", "alg") else x for key, x in found.items()}

    def _with_calls(self, by: dict[str, SX]) -> dict[str, ca.MX]:
        """Return the equations with w that Python gives at every evaluation."""
        inputs, w = ["t", "x", "z", "p"], self.context.rhs.expressions.w
        expressions = ca.Function(
            "rates", [*(by[key] for key in inputs), w], ca.cse([by["ode"], by["alg"]])
        )
        self.callback = InputCallback(
            self.context.inputs.numeric_inputs, by["x"].numel(), self.inputs.size
        )
        s, x, z, p = (ca.MX.sym(key, by[key].numel()) for key in inputs)
        ode, alg = expressions(s, x, z, p, self.callback(p[0] + p[1] * s, x))
        return {"t": s, "x": x, "z": z, "p": p, "ode": ode, "alg": alg}

    @cached_property
    def _ode(self) -> tuple[SX, SX, SX, SX]:
        """States, no algebraic unknowns, rates, no algebraic equations."""
        expressions = self.context.rhs.expressions
        x, z, push = self.context.space.x, expressions.z, expressions.push
        rates = ca.substitute(expressions.rates_and_pivot[0], push, ca.SX.zeros(*push.shape))
        works = ca.SX.sym("work", rates.numel() - x.numel() - z.numel())
        return ca.vertcat(x, z, works), ca.SX(0, 1), rates, ca.SX(0, 1)

    @cached_property
    def _dae(self) -> tuple[SX, SX, SX, SX]:
        """States, accelerations and multipliers, rates, and the equations of these unknowns."""
        rhs, expressions = self.context.rhs, self.context.rhs.expressions
        q, v, _, t = rhs.space.symbols
        of = StepEquations(rhs.equations, None, expressions.power)
        a, tau = ca.SX.sym("a", rhs.names.nv), expressions.tau
        balance, rows = of.required_forces(q, v, a, t) - tau, ca.SX(0, 1)
        force = ca.SX.sym("lambda", 0)
        if rhs.names.constraints:
            onto = StepProjection(of)
            force = ca.SX.sym("lambda", len(onto.rows))
            J = onto.jacobian(q, t)[onto.rows, :]
            balance, rows = balance - J.T @ force, J @ a + onto.bias(q, v, t)[onto.rows]
            if rhs.baumgarte is not None:
                rows = rows + rhs.baumgarte.rows(onto, q, v, t)[onto.rows]
        power = of.power(q, v, a, tau, t)
        works = ca.SX.sym("work", power.numel())
        rates = ca.vertcat(rhs.equations.rate_matrix @ v, a, expressions.z_rate, power)
        states = ca.vertcat(q, v, expressions.z, works)
        return states, ca.vertcat(a, force), rates, ca.vertcat(balance, rows)

    def _guess(self, t: float, y: Floats) -> Floats:
        """Return accelerations and multipliers to start with; IDAS makes them consistent."""
        if self.name == "cvodes":
            return np.zeros(0)
        nq, nv = self.context.names.nq, self.context.names.nv
        z = np.zeros(self._equations["z"].shape[0])
        z[:nv] = self.context.rates(t, y)[nq : nq + nv]
        return z

    def dense_output(self) -> DenseOutput:
        """Return y within the last interval, by integration from its start."""
        t0, y0 = self.before

        def at(t: float) -> Floats:
            if abs(t - self.t) <= 1e-9 * (self.t - t0):
                return self.y
            found = self._integrated(t0, y0, t - t0, 1)
            return self.y if found is None else found[0]

        return at
