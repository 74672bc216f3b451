"""The tapes of a motion: rates, their Jacobian, projection and signals, by (t, y, p).

t is the time, y are the states with those of a controller and the works, and p are the values of
the inputs, parameters that differ between runs, and the numbers of a mode.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca

from ..tape import Tape, TapeExpression, record_expression_tape
from ..types import SX
from .events.hybrid import Hybrid
from .events.load_expressions import LoadExpressions
from .events.signals import signal_expressions
from .fixed_steps.step_equations import StepEquations
from .fixed_steps.step_projection import project_motion
from .right_hand_side import RightHandSide
from .state_space import WORK_COUNT
from .steppers.input_parameters import InputParameters
from .wheels import wheel_lean_expressions


class MotionTapes:
    """The tapes of a system with its signals; they hold no data of single runs."""

    def __init__(
        self,
        system: RightHandSide,
        events: Hybrid | None,
        *,
        has_modes: bool = False,
    ) -> None:
        self.system, self.events = system, events
        self.outer = InputParameters(system)
        self.motion_count = system.space.size + len(system.force_law.state_names) + WORK_COUNT
        self.state_count = self.motion_count
        """Entries of y; a subclass may append others to those of the motion."""
        self.kept = {name: ca.SX.sym(name) for name in system.parameters}
        """Symbols of the parameters that differ between runs; in p they follow the values of the
        inputs."""
        self.mode_functions = None if events is None else events.mode_functions
        self.has_modes = has_modes
        """Whether the rates include forces of closed contacts and of friction. They depend on the
        numbers of the mode, which are the last entries of p."""
        mode_count = 0 if self.mode_functions is None else self.mode_functions.layout.size
        self.first_mode_number = self.outer.count + len(self.kept)
        self.parameter_count = max(1, self.first_mode_number + mode_count)
        self.y = ca.SX.sym("y", self.motion_count)
        self.all_states = self.y
        self.p = ca.SX.sym("p", self.parameter_count)

    @property
    def needs_projection(self) -> bool:
        """Whether states must be projected onto constraints, joints, unit quaternions or closed
        contacts."""
        return self.holds_constraints or self.system.space.can_leave_joints or self.has_modes

    @property
    def holds_constraints(self) -> bool:
        """Whether states are projected onto constraints."""
        system = self.system
        exactly = system.baumgarte is None and system.equations.by != "approximate"
        return bool(system.names.constraints) and exactly

    @cached_property
    def rate_expressions(self) -> tuple[SX, SX]:
        """ẏ and the margin (the smallest pivot, or how far wheels are from flat) by t, y and p."""
        system = self.system
        push, margin = self.push_and_margin()
        rates, pivot = self.in_states([*system.expressions.rates_and_pivot], push)
        if system.is_guarded:
            margin = pivot if margin.is_constant() else ca.fmin(pivot, margin)
        margin = self._with_wheels(ca.SX(margin))
        return self._with_parameters(rates), self._with_parameters(margin)

    @cached_property
    def rates_tape(self) -> Tape:
        """(t, y, p) → ẏ and the margin."""
        rates, margin = self.rate_expressions
        return self._tape("rates", [("rate", rates, self.state_count), ("margin", margin, 1)])

    def push_and_margin(self) -> tuple[SX, SX]:
        """Return the generalized forces of contacts and friction, and a margin: how far the state
        is from one where they cannot be computed."""
        if not self.has_modes or self.mode_functions is None:
            return ca.SX.zeros(self.system.names.nv), ca.SX(1)
        return self.mode_functions.push_and_margin(*self._mode_state())

    def _mode_state(self) -> tuple[SX, SX, SX, SX, SX]:
        """Return q, q̇, τ, t and the mode's numbers by (t, y, p)."""
        (tau,) = self.in_states([self.system.expressions.tau], ca.SX.zeros(self.system.names.nv))
        mode = self.p[self.first_mode_number :]
        return (*self.motion_in_states, tau, self.system.space.symbols[3], mode)

    def in_states(self, expressions: list[SX], push: SX) -> list[SX]:
        """Return expressions of the system's symbols as expressions of (t, y, p)."""
        system, t = self.system, self.system.space.symbols[3]
        z = self.y[system.space.size : self.motion_count - WORK_COUNT]
        w = self.outer.w(ca.vertsplit(self.p)[: self.outer.count], t)
        symbols = [
            system.space.x,
            system.force_law.z,
            system.expressions.w,
            system.expressions.push,
        ]
        values = [
            self.y[: system.space.size],
            z if z.shape[0] else ca.SX.zeros(max(1, len(system.force_law.state_names))),
            ca.vertcat(*w),
            push,
        ]
        found: list[SX] = ca.substitute(expressions, symbols, values)
        return found

    @property
    def motion_in_states(self) -> tuple[SX, SX]:
        """q and q̇ by y."""
        space = self.system.space
        q, qd = ca.substitute(list(space.motion_expressions), [space.x], [self.y[: space.size]])
        return q, qd

    def _with_wheels(self, margin: SX) -> SX:
        """Return the smaller of a margin and how far wheels are from flat."""
        (q, _), t = self.motion_in_states, self.system.space.symbols[3]
        for lean in wheel_lean_expressions(self.system.equations.mechanism, q, t):
            margin = ca.fmin(margin, lean)
        return margin

    @cached_property
    def jacobian_tape(self) -> Tape:
        """(t, y, p) → ∂ẏ/∂y and ∂ẏ/∂t, exact."""
        rates, n = self.rate_expressions[0], self.state_count
        by_state = ca.vec(ca.densify(ca.jacobian(rates, self.all_states)).T)  # row by row
        by_time = ca.jacobian(rates, self.system.space.symbols[3])
        return self._tape("jacobian", [("by_state", by_state, n * n), ("by_time", by_time, n)])

    @cached_property
    def projection_expressions(self) -> tuple[SX, SX]:
        """y on the constraints; their remaining residual and the smallest pivot."""
        q, qd, gap, pivot = self.projected_motion(
            StepEquations(self.system.equations, kept=self.kept)
        )
        space = self.system.space
        x = space.state_from_motion(q, qd, space.symbols[3])
        if self.system.expressions.springs is not None:  # they stay open
            held = space.state_from_motion(*self.motion_in_states, space.symbols[3])
            x += self.y[: space.size] - held
        y = ca.vertcat(x, self.y[space.size :])
        return y, ca.vertcat(gap, pivot)

    @cached_property
    def projection_tape(self) -> Tape:
        """(t, y, p) → y on the constraints, their remaining residual, and the smallest pivot."""
        y, gap = self.projection_expressions
        return self._tape("projection", [("projected", y, self.state_count), ("gap", gap, 2)])

    def projected_motion(self, of: StepEquations) -> tuple[SX, SX, SX, SX]:
        """Return q and q̇ on the constraints, their remaining residual, and the smallest pivot."""
        t = self.system.space.symbols[3]
        q, qd, gap, pivot = project_motion(
            of, *self.motion_in_states, t, holds_constraints=self.holds_constraints
        )
        if self.has_modes and self.mode_functions is not None:
            mode = self.p[self.first_mode_number :]
            q, qd = self.mode_functions.held(q, qd, t, mode, of.move_coordinates)
        return q, qd, gap, pivot

    @cached_property
    def signals_tape(self) -> Tape | None:
        """(t, y, p) → the signals; None if there are none."""
        if self.events is None:
            return None
        watched = None
        if self.has_modes and self.mode_functions is not None:
            watched = self.mode_functions.watched(*self._mode_state())
        t, strengths = self.system.space.symbols[3], self._remaining_strengths(self.events)
        signals = signal_expressions(self.events, t, *self.motion_in_states, strengths, watched)
        return self._tape("signals", [("signals", signals, int(signals.shape[0]))])

    def _remaining_strengths(self, events: Hybrid) -> SX:
        """Return how much more members that may break can bear."""
        if not events.overloads:
            return ca.SX(0, 1)
        q, qd, tau, t, mode = self._mode_state()
        push = ca.SX.zeros(self.system.names.nv)
        contacts = ca.SX.zeros(3, len(events.rows.contacts))
        if self.has_modes and self.mode_functions is not None:
            push, contacts = self.mode_functions.shared_forces(q, qd, tau, t, mode)
        loads = LoadExpressions(events.dynamics.code)
        return loads.remaining_strengths(q, qd, tau + push, t, contacts)

    def _tape(self, name: str, outputs: list[tuple[str, SX, int]]) -> Tape:
        """Return the tape of outputs (name, expression, size) by t, y and p."""
        t = self.system.space.symbols[3]
        inputs: list[TapeExpression] = [
            ("t", t, (1,)),
            ("y", self.all_states, (self.state_count,)),
            ("p", self.p, (self.parameter_count,)),
        ]
        made = [
            (key, self._with_parameters(expression), (size,)) for key, expression, size in outputs
        ]
        return record_expression_tape(name, inputs, made)

    def _with_parameters(self, expression: SX) -> SX:
        """Return an expression in which the parameters are inputs."""
        if not self.kept:
            return expression
        inputs = self.p[self.outer.count : self.outer.count + len(self.kept)]
        found = ca.substitute(expression, ca.vertcat(*self.kept.values()), inputs)
        if self.events is not None:
            found = ca.substitute(found, self.events.rows.p, inputs)
        places = [list(self.kept).index(name) for name in self.system.equations.parameters]
        if not places:
            return found
        return ca.substitute(found, self.system.equations.symbols["p"], inputs[places])
