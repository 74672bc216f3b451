"""Steps compiled as a whole: a single step, or the loop over all steps of a trajectory."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ...equations import Equations
from ...readings.llvm import CompiledStepLoop, compile_step_loop, compile_tape
from ...tape import Tape, TapeExpression, record_expression_tape
from ...types import SX, Floats
from ..inputs import ForceLaw
from .step_equations import PowerFunction, StepEquations
from .step_methods import check_method, step_expressions
from .step_states import StepEnd, StepStart
from .tableaus import IMPLICIT_METHODS, input_shares


class CompiledStep:
    """A step (q, q̇, z, held; τ, t, outside, acts; dt, p) → (q, q̇, z, held; work; doubt).

    z are the states of a controller. `held` are the forces of a sampled controller; they change in
    steps at whose start it `acts`. `outside` are values of tables and references at the shares of
    the step that the method needs, and p the values of the parameters `kept`. Ports that the inputs
    do not need are left out, as are works without a `power`, and the doubt of steps that cannot
    fail.
    """

    def __init__(
        self,
        equations: Equations,
        method: str,
        force_law: ForceLaw | None = None,
        power: PowerFunction | None = None,
        kept: Sequence[str] = (),
    ) -> None:
        check_method(method, equations)
        self.kept = {name: ca.SX.sym(name) for name in kept}
        self.may_fail = bool(equations.names.constraints) or method in IMPLICIT_METHODS
        self.equations, self.method, self.force_law, self.power = (
            equations,
            method,
            force_law,
            power,
        )
        feedback = None if force_law is None else force_law.feedback
        self.feedback, self.period = feedback, None if feedback is None else feedback.period
        self.shares = input_shares(method) if self.period is None else (0.0,)
        has_reference = feedback is not None and feedback.follows
        self.has_outside_inputs = force_law is not None and bool(force_law.tables or has_reference)

    # -- the step ------------------------------------------------------------------------

    @cached_property
    def ports(self) -> tuple[list[TapeExpression], list[TapeExpression], CompiledStepLoop]:
        """Inputs, outputs, and how a loop over many steps passes them on."""
        start, held, acts = self._symbols
        equations = StepEquations(
            self.equations, self.force_law, self.power, self.shares, self.kept
        )
        if self.period:
            end, held_end = self._sampled_step(equations, start, held, acts)
        else:
            end, held_end = step_expressions(self.method, equations, start), held
        nq, nv, nz = (self.equations.nq,), (self.equations.nv,), (self._control_state_count,)
        states: list[TapeExpression] = [("q", start.q, nq), ("qd", start.qd, nv)]
        outputs: list[TapeExpression] = [("q_end", end.q, nq), ("qd_end", end.qd, nv)]
        timed: list[TapeExpression] = [("tau", start.tau, nv), ("t", start.t, ())]
        if self._control_state_count:
            states.append(("z", start.z, nz))
            outputs.append(("z_end", end.z, nz))
        if self.period:
            states.append(("held", held, nv))
            outputs.append(("held_end", held_end, nv))
        if self.has_outside_inputs:
            timed.append(("outside", equations.outside, tuple(equations.outside.shape)))
        if self.period:
            timed.append(("acts", acts, ()))
        loop = CompiledStepLoop(len(states), len(timed), tuple(range(2, len(states))))
        if self.power is not None:
            outputs.append(("work", end.work, (int(end.work.numel()),)))
        if self.may_fail:
            outputs.append(("doubt", end.doubt, ()))
        constant: list[TapeExpression] = [("dt", start.dt, ())]
        if self.kept:
            constant.append(("p", equations.p, (len(self.kept),)))
        return [*states, *timed, *constant], outputs, loop

    @cached_property
    def _symbols(self) -> tuple[StepStart, SX, SX]:
        """The state before a step, the held forces, and whether the controller acts."""
        s, z = self.equations.symbols, ca.SX.sym("z", self._control_state_count)
        start = StepStart(s["q"], s["qd"], z, s["tau"], s["t"], ca.SX.sym("dt"))
        return start, ca.SX.sym("held", self.equations.nv), ca.SX.sym("acts")

    def _sampled_step(
        self, equations: StepEquations, start: StepStart, held: SX, acts: SX
    ) -> tuple[StepEnd, SX]:
        """Return the end of a step of a sampled controller, and the forces that it then holds.

        Where the controller acts, its z makes an Euler step of one period.
        """
        none = ca.SX(0, 1)
        tau, rate = equations.forces_and_control_rate(
            start.q, start.qd, ca.SX.zeros(self.equations.nv), start.t, z=start.z, share=0.0
        )
        held_end = ca.if_else(acts, tau, held)
        shares = input_shares(self.method)
        plain = StepEquations(self.equations, None, self.power, shares, self.kept)
        forces = start.tau + held_end
        end = step_expressions(
            self.method, plain, StepStart(start.q, start.qd, none, forces, start.t, start.dt)
        )
        z = none
        if self._control_state_count:
            z = start.z + ca.if_else(acts, (self.period or 0.0) * rate, 0)
        return StepEnd(end.q, end.qd, z, end.work, end.doubt), held_end

    @property
    def _control_state_count(self) -> int:
        """The number of states of the controller, or of activations of actuators."""
        return 0 if self.force_law is None else len(self.force_law.state_names)

    @cached_property
    def tape(self) -> Tape:
        """The tape of one step."""
        inputs, outputs, _ = self.ports
        return record_expression_tape("step", inputs, outputs)

    @cached_property
    def single_step(self) -> np.ufunc:
        """The compiled function of one step: (q, q̇, …, τ, t, …, dt) → (q, q̇, …)."""
        return compile_tape(self.tape, threads=1)

    @cached_property
    def step_loop(self) -> np.ufunc:
        """The compiled function of many steps.

        τ, t and other inputs of a step have an axis over the steps, as have q, q̇ and the doubt
        among the outputs; z and held are those after the last step.
        """
        return compile_step_loop(self.tape, self.ports[2])

    # -- its inputs ----------------------------------------------------------------------

    def initial_control_states(self, rows: int) -> list[Floats]:
        """Return z and the held forces at the start, one row for each trajectory."""
        law = self.force_law
        start = [] if law is None or not law.state_names else [law.start_states]
        if self.period is not None:
            start.append((0.0,) * self.equations.nv)
        return [np.tile(np.array(x), (rows, 1)) for x in start]

    def outside_inputs(self, t: float, dt: float) -> list[Floats]:
        """Return the outside values of one step, (shares, values), if there are any."""
        return [x[0] for x in self.outside_inputs_of_steps(np.array([t]), dt)]

    def outside_inputs_of_steps(self, times: Floats, dt: float) -> list[Floats]:
        """Return the outside values of consecutive steps, (steps, shares, values), if any."""
        if self.force_law is None or not self.has_outside_inputs:
            return []
        known = {0.0: self._outside_values(times)} if 0.0 in self.shares else {}
        for share in self.shares:
            if share == 1.0:
                last = self._outside_values(times[-1:] + dt)
                known[share] = np.concatenate([known[0.0][1:], last])
            elif share:
                known[share] = self._outside_values(times + share * dt)
        return [np.stack([known[share] for share in self.shares], axis=1)]

    def _outside_values(self, times: Floats) -> Floats:
        """Return the values of tables or of the reference, one row for each time."""
        force_law = self.force_law
        assert force_law is not None
        if self.feedback is not None:
            return self.feedback.reference.rows(times)
        return np.array([[table(t) for table in force_law.tables] for t in times.tolist()])
