"""Steps of fixed length: compiled as a whole, or stage by stage where Python gives the forces."""

from __future__ import annotations

import numpy as np

from ...errors import UnsupportedError
from ...types import Floats
from ..fixed_steps.compiled_steps import CompiledStep
from ..fixed_steps.pivoted_steps import midpoint_step_with_pivoting, step_with_pivoting
from ..fixed_steps.step_methods import check_method, evaluations_per_step
from ..fixed_steps.tableaus import IMPLICIT_METHODS, MIDPOINT, TABLEAUS
from ..run_context import RunContext
from .stepper import DenseOutput, MakeStepper, StepOptions, Stepper, refuse_baumgarte

DEFAULT_STEP = 1e-3
"""The default length of a step, s: with it, rk4 is accurate to 1e-9 for motions of a few hertz."""

MAX_INPUT_ITERATIONS = 12
"""Iterations in which the forces of a Python function must agree with an implicit step: each gains
about two digits."""


def fixed_stepper(method: str) -> MakeStepper:
    """Return the function that makes a stepper of fixed steps."""

    def make(context: RunContext, t: float, y: Floats, end: float, options: StepOptions) -> Stepper:
        return FixedStepper(method, context, t, y, end, options)

    return make


class FixedStepper:
    """A stepper at t = begin + n·step; the last step is shorter if necessary.

    A compiled step holds the constraints by itself, so that its states need no projection.
    Formulations with states of their own go stage by stage, in these states.
    """

    has_no_memory = False
    planned_step = look_ahead = 0.0

    def __init__(
        self,
        method: str,
        context: RunContext,
        t: float,
        y: Floats,
        end: float,
        options: StepOptions,
    ) -> None:
        check_method(method, context.equations)
        refuse_baumgarte(context, "steps of fixed length")
        self.method, self.context, self.space = method, context, context.space
        self.length = float(options.step or DEFAULT_STEP)
        self.evaluations = evaluations_per_step(method)
        force_law, own_states = context.force_law, context.equations.state is not None
        has_states = bool(force_law.feedback is not None or force_law.state_names)
        has_events = context.has_mode_forces or has_states
        self.by_stages = method not in IMPLICIT_METHODS and (
            force_law.function is not None or own_states or has_events
        )
        if own_states and method not in TABLEAUS:
            _refuse_own_states(method, context)
        if has_events and method in IMPLICIT_METHODS:
            raise UnsupportedError(
                f"'{method}' does not support controllers, activations, stops, contacts or "
                "sticking friction",
                where=context.equations.mechanism.name,
                remedy="use another integrator",
            )
        if not self.by_stages:
            compiled_law = None if force_law.function is not None else force_law
            power = context.rhs.expressions.power
            self.compiled_step = CompiledStep(context.equations, method, compiled_law, power)
        self.restart(t, y, end)

    @property
    def step_start(self) -> float:
        """The time at which the last step began."""
        return self.before[0]

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y)."""
        self.begin, self.count, self.end = t, 0, end
        self.t, self.y = t, y
        self.before = t, y

    def correct(self, y: Floats) -> None:
        """Replace the state at t."""
        self.y = y

    def advance(self) -> str | None:
        """Make one step."""
        self.before = self.t, self.y
        self.count += 1
        t = self.begin + self.count * self.length
        if t > self.end - 1e-9 * self.length:
            t = self.end
        y = self._after(self.t, self.y, t - self.t)
        if y is None:
            return "the equations of an implicit step were not solved; take shorter steps"
        self.t, self.y = t, y
        return None

    def _after(self, t: float, y: Floats, dt: float) -> Floats | None:
        """Return y after a step; None if its equations were not solved."""
        if self.by_stages:
            return step_with_pivoting(self.context, self.method, t, y, dt)
        if self.context.force_law.function is not None:
            return self._step_with_function(t, y, dt)
        return self._compiled_step(t, y, dt, np.zeros(self.context.names.nv))

    def _compiled_step(self, t: float, y: Floats, dt: float, tau: Floats) -> Floats | None:
        """Return y after a compiled step under constant forces."""
        q, qd = self.space.motion(y)
        is_implicit = self.method in IMPLICIT_METHODS
        self.context.counts.add(evaluations=self.evaluations, jacobians=int(is_implicit))
        with np.errstate(all="ignore"):
            found = self.compiled_step.single_step(
                q, qd, tau, t, *self.compiled_step.outside_inputs(t, dt), dt
            )
        if self.compiled_step.may_fail and not found[-1] < 1:
            return self._step_with_pivoting(t, y, dt)
        after: Floats = self.space.with_motion(y, found[0], found[1], t + dt)
        after[self.space.size :] += found[2]
        return after

    def _step_with_pivoting(self, t: float, y: Floats, dt: float) -> Floats | None:
        """Return y after a step whose compiled elimination fails."""
        context = self.context
        if self.method not in IMPLICIT_METHODS:
            return step_with_pivoting(context, self.method, t, y, dt)
        driven = context.force_law.function is not None
        if self.method == MIDPOINT and context.names.constraints and not driven:
            return midpoint_step_with_pivoting(context, t, y, dt)
        return None

    def _step_with_function(self, t: float, y: Floats, dt: float) -> Floats | None:
        """Return y after an implicit step under a Python function, iterated to its forces in the
        middle."""
        q, qd = self.space.motion(y)
        force_law, model = self.context.force_law, self.context.model
        tau = force_law(t, q, qd)
        for _ in range(MAX_INPUT_ITERATIONS):
            after = self._compiled_step(t, y, dt, tau)
            if after is None:
                return None
            ends = self.space.motion(after)
            step = model.difference(q, ends[0])
            middle = model.integrate(q, step / 2), step / dt
            again = force_law(t + dt / 2, *middle)
            if np.abs(again - tau).max() <= 1e-12 * max(1.0, np.abs(tau).max()):
                return after
            tau = again
        return None

    def dense_output(self) -> DenseOutput:
        """Return the cubic between the ends of the last step, which are exact."""
        (t0, y0), (t1, y1), h = self.before, (self.t, self.y), self.t - self.before[0]
        slopes: list[Floats] = []

        def at(t: float) -> Floats:
            if abs(t - t1) <= 1e-9 * h:
                return y1
            if not slopes:
                slopes.extend([self.context.rates(t0, y0), self.context.rates(t1, y1)])
            s, (f0, f1) = (t - t0) / h, slopes
            rest = (1 - s) * h * f0 - s * h * f1 + (2 * s - 1) * (y1 - y0)
            found: Floats = (1 - s) * y0 + s * y1 + s * (1 - s) * rest
            return found

        return at


def _refuse_own_states(method: str, context: RunContext) -> None:
    """Refuse formulations whose states are not positions and velocities."""
    raise UnsupportedError(
        f"'{method}' integrates positions and velocities, but '{context.equations.by}' has "
        "states of its own",
        remedy='use by="recursive", or another integrator',
    )
