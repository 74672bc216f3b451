"""The rates ẏ of all states as expressions: motion, controller and works.

y and its parts are those of `state_space`. w are inputs that are given as numbers: values of
tables, the reference of a controller, held forces, or the forces of a Python function. `push` are
generalized forces in addition to the inputs: those of friction, stops and contacts in the present
mode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import casadi as ca

from ..equations import Equations
from ..formulations import derive
from ..types import SX
from .inputs import ForceLaw, first
from .powers import power_function
from .stabilization import Baumgarte
from .state_space import WORK_COUNT, StateSpace


class RateExpressions:
    """ẏ of equations under inputs, and the smallest pivot of the elimination."""

    def __init__(self, space: StateSpace, force_law: ForceLaw, baumgarte: Baumgarte | None) -> None:
        self.space, self.force_law, self.baumgarte = space, force_law, baumgarte
        self.equations, self.names = space.equations, space.names

    @cached_property
    def push(self) -> SX:
        """The symbol of the forces in addition to the inputs."""
        return ca.SX.sym("push", self.names.nv)

    @cached_property
    def plain_equations(self) -> Equations:
        """The recursive formulation, which has energies and forces; others may lack them."""
        if self.equations.by == "recursive":
            return self.equations
        return derive(self.equations.mechanism, by="recursive", parameters="numeric")

    @cached_property
    def power(self) -> Callable[..., SX]:
        """The function of `power_function`: (q, q̇, q̈, τ, t) → three powers."""
        return power_function(self.plain_equations, has_springs=self.springs is not None)

    @cached_property
    def w(self) -> SX:
        """The symbols of the inputs that are given as numbers."""
        return ca.SX.sym("held", self.names.nv) if self.force_law.is_sampled else self.force_law.w

    @cached_property
    def tau(self) -> SX:
        """τ as an expression of x, z, w and t; held forces are w themselves."""
        return self.w if self.force_law.is_sampled else self._in_states(self.force_law.tau)

    @cached_property
    def z(self) -> SX:
        """The symbols of a controller's states, without an unused one."""
        return first(self.force_law.z, len(self.force_law.state_names))

    @cached_property
    def z_rate(self) -> SX:
        """Rates of a controller's states; zero while it is sampled."""
        is_sampled = self.force_law.is_sampled
        return 0 * self.force_law.z_rate if is_sampled else self._in_states(self.force_law.z_rate)

    def _in_states(self, expression: SX) -> SX:
        """Return an expression of q and q̇ as one of x."""
        q, qd, *_ = self.space.symbols
        found = ca.densify(ca.SX(expression))
        return ca.substitute(found, ca.vertcat(q, qd), ca.vertcat(*self.space.motion_expressions))

    @cached_property
    def inputs(self) -> list[SX]:
        """The symbols x, z, w, push and t, of which the rates are expressions."""
        return [self.space.x, self.force_law.z, self.w, self.push, self.space.symbols[3]]

    @cached_property
    def rates_and_pivot(self) -> tuple[SX, SX]:
        """ẏ, and the smallest pivot that it took (1 where none can vanish)."""
        motion, (_, _, tau, t) = self.space.motion_expressions, self.space.symbols
        rates, qdd, pivot = self._state_rates()
        rates = ca.vertcat(rates, self.z_rate, self.power(*motion, qdd, tau, t))
        found = ca.substitute([rates, pivot], [tau], [self.tau + self.push])
        rates = found[0]
        rates[-WORK_COUNT] -= ca.dot(self.push, motion[1])
        if self.springs is not None:
            powers = list(self.springs()[2:])
            lost, given = ca.substitute(powers, [tau], [self.tau + self.push])
            rates[-2:] += ca.vertcat(given, lost + given)
        return rates, found[1]

    @property
    def springs(self) -> Callable[[], tuple[SX, SX, SX, SX]] | None:
        """The energies and powers of springs that hold constraints, if there are any."""
        return None if self.equations.state is None else self.equations.state.energies

    @property
    def is_eliminated(self) -> bool:
        """Whether accelerations come from an elimination, which fails in singular states."""
        state = self.equations.state
        return bool(self.names.constraints) and (
            state is None or state.rates_from_motion is not None
        )

    def _state_rates(self) -> tuple[SX, SX, SX]:
        """Return ẋ, q̈ and the smallest pivot as expressions of x, τ and t."""
        eqs, motion, (q, qd, tau, t) = (
            self.equations,
            self.space.motion_expressions,
            self.space.symbols,
        )
        if eqs.state is not None and eqs.state.rates_from_motion is None:
            constrained = self.names.constraints and self.names.is_time_dependent
            moved = constrained or self.names.has_moving_coordinates
            needed = moved and self.springs is None
            qdd = self._plain_accelerations(motion, tau, t) if needed else 0 * qd
            return ca.vertcat(eqs.state.rates(), self._clock_rate), qdd, ca.SX(1)
        qdd, *pivots = eqs.expressions("forward_dynamics")
        if self.baumgarte is not None:
            qdd = qdd + self.baumgarte.expression(eqs, q, qd, t)
        found = [self._rates_of_motion(qdd), ca.SX(qdd), ca.SX(pivots[0] if pivots else 1)]
        if eqs.state is None:
            return found[0], found[1], found[2]
        rates, qdd, pivot = ca.substitute(found, [q, qd], list(motion))
        return rates, qdd, pivot

    def _rates_of_motion(self, qdd: SX) -> SX:
        """Return ẋ as an expression of x, q, q̇ and q̈."""
        eqs, qd = self.equations, self.space.symbols[1]
        if eqs.state is None or eqs.state.rates_from_motion is None:
            return ca.vertcat(eqs.rate_matrix @ qd, qdd)
        carried = ca.substitute(eqs.state.rates_from_motion(), eqs.symbols["qdd"], qdd)
        near = (eqs.rate_matrix @ qd)[list(eqs.state.ambiguous_coordinates), 0]
        return ca.vertcat(carried, near, self._clock_rate)

    @property
    def _clock_rate(self) -> SX:
        """The rate of the clock among the states, if there is one."""
        return ca.SX.ones(int(self.space.has_clock), 1)

    @cached_property
    def rates_from_motion(self) -> ca.Function:
        """The function (x, q, q̇, q̈, t) → ẋ."""
        q, qd, _, t = self.space.symbols
        qdd = self.equations.symbols["qdd"]
        x = self.space.x if self.equations.state is not None else ca.SX.sym("x", 0)
        return ca.Function("carried", [x, q, qd, qdd, t], [self._rates_of_motion(qdd)])

    def _plain_accelerations(self, motion: tuple[SX, SX], tau: SX, t: SX) -> SX:
        """Return q̈ by the recursive formulation."""
        plain = self.plain_equations
        s, (qdd, *_) = plain.symbols, plain.expressions("forward_dynamics")
        inputs = [s["q"], s["qd"], s["tau"], s["t"]]
        return ca.Function("qdd", inputs, [qdd])(*motion, tau, t)
