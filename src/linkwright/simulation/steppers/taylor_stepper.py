"""Taylor series of high order through heyoka: machine precision, in long steps."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import UnsupportedError
from ...model.guard import MIN_PIVOT_SHARE
from ...readings.heyoka import import_heyoka, read_tape_as_heyoka
from ...tape import remove_dead_tape_instructions
from ...types import Floats
from ..right_hand_side import RightHandSide
from ..run_context import RunContext
from ..state_space import WORK_COUNT
from .input_parameters import InputParameters
from .singularity_crossing import cross_singularities
from .stepper import DenseOutput, StepOptions, Stepper, refuse_mode_forces

COMPACT_SIZE = 200
"""Number of instructions above which heyoka's compact mode is used: without it, larger tapes take
minutes to compile."""


def taylor_stepper(
    context: RunContext, t: float, y: Floats, end: float, options: StepOptions
) -> Stepper:
    """Return a stepper by Taylor series."""
    return cross_singularities(TaylorStepper(context, t, y, end, options), context, end, options)


class TaylorStepper:
    """One step is one series; its tolerance is `rtol`, down to that of the machine."""

    has_no_memory = True
    planned_step = look_ahead = 0.0

    def __init__(
        self, context: RunContext, t: float, y: Floats, end: float, options: StepOptions
    ) -> None:
        refuse_mode_forces(context, "taylor")
        self.inputs = InputParameters(context.rhs)
        if self.inputs.is_called:
            raise UnsupportedError(
                "'taylor' needs inputs that have a Taylor series",
                remedy="give numbers, expressions, tables, or a controller with a set point or a "
                "period",
            )
        self.context = context
        self.limit = options.max_step
        self.step_start = t
        self.integrator = _taylor_integrator(
            context.rhs, self.inputs, max(options.rtol, float(np.finfo(float).eps))
        )
        self.restart(t, y, end)

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y)."""
        held = self.context.inputs.held if self.context.force_law.is_sampled else None
        self.end = end
        self.integrator.time = t
        pars = self.integrator.pars  # heyoka has those that occur in the equations, up to the last
        pars[:] = self.inputs.values(t, held)[: len(pars)]
        self.correct(y)

    @property
    def t(self) -> float:
        """The time that is reached."""
        return float(self.integrator.time)

    @property
    def y(self) -> Floats:
        """The state that is reached."""
        found: Floats = self.integrator.state.copy()
        return found

    def correct(self, y: Floats) -> None:
        """Replace the state at t."""
        self.integrator.state[:] = y

    def advance(self) -> str | None:
        """Make one step."""
        y, self.step_start = self.y, self.t
        if self.context.rhs.is_guarded and not self._smallest_pivot() >= MIN_PIVOT_SHARE:
            return (
                f"{' and '.join(self.context.model.independent_names)} hardly drive the mechanism; "
                "name other independent speeds, or use dop853"
            )
        t, longest = self.t, min(self.limit, self.end - self.t)
        outcome, length = self.integrator.step(max_delta_t=longest, write_tc=True)
        if length > (trusted := self.trusted_length()):
            self.restart(t, y, self.end)
            outcome, length = self.integrator.step(max_delta_t=trusted, write_tc=True)
            self.context.counts.add(evaluations=1)
        self.context.counts.add(evaluations=1)
        if outcome.name not in ("success", "time_limit") or not math.isfinite(length):
            self.restart(t, y, self.end)
            return "the series has no finite terms"
        return "the step became too small" if length == 0.0 else None

    def trusted_length(self) -> float:
        """Return how far the last series reaches by its last ten terms.

        heyoka looks at two, and in a symmetric state those may vanish.
        """
        terms = self.integrator.tc
        orders = np.arange(max(1, terms.shape[1] - 10), terms.shape[1])
        size = max(1.0, float(np.abs(terms[:, 0]).max()))
        with np.errstate(divide="ignore"):
            radii = (size / np.abs(terms[:, orders]).max(axis=0)) ** (1 / orders)
        return 1.5 * float(radii.min()) / math.e**2

    def _smallest_pivot(self) -> float:
        """Return the smallest pivot of the elimination at the present state."""
        t, y = self.t, self.y
        return self.context.rhs.smallest_pivot(t, y, *self.context.numeric_inputs(t, y))

    def dense_output(self) -> DenseOutput:
        """Return the last series."""

        def at(t: float) -> Floats:
            found: Floats = self.integrator.update_d_output(t).copy()
            return found

        return at


def _taylor_integrator(rhs: RightHandSide, inputs: InputParameters, tolerance: float) -> Any:
    """Return heyoka's integrator of a right-hand side (heyoka has no type stubs)."""
    hy, whole = import_heyoka(), rhs.tape
    tape = remove_dead_tape_instructions(
        replace(whole, outputs=whole.outputs[:1], results=whole.results[:1])
    )
    names = [f"y{k}" for k in range(tape.outputs[0].size)]
    states = list(hy.make_vars(*names)) if len(names) > 1 else [hy.make_vars(*names)]
    z = states[rhs.space.size : len(states) - WORK_COUNT] or [hy.expression(0.0)]
    w = inputs.w([hy.par[k] for k in range(inputs.count)], hy.time)
    push = [hy.expression(0.0)] * rhs.names.nv
    rates, *_ = read_tape_as_heyoka(tape, [states[: rhs.space.size], z, w, push, [hy.time]])
    equations = [(state, hy.expression(rate)) for state, rate in zip(states, rates, strict=True)]
    return hy.taylor_adaptive(
        equations, np.zeros(len(states)), tol=tolerance, compact_mode=len(tape) > COMPACT_SIZE
    )
