"""The right-hand side of a motion: compiled ẏ = F(t, y, w, push) and its Jacobian."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property

import casadi as ca
import numpy as np

from ..equations import Equations
from ..model.guard import MIN_PIVOT_SHARE
from ..model.model import Model
from ..model.model import compile as compiled
from ..readings.llvm import compile_tape
from ..tape import Tape, normalize_tape, record_tape, schedule_tape
from ..types import Floats
from .events.scheduled_event import ScheduledEvent, scheduled_event_of
from .inputs import ForceLaw, filled
from .rate_expressions import RateExpressions
from .stabilization import Baumgarte
from .state_space import WORK_COUNT, StateSpace


class RightHandSide:
    """ẏ of equations under inputs; it has no data of a run, so that runs can share it.

    Near singular configurations, where the compiled elimination fails, it solves for the
    accelerations with pivoting.
    """

    def __init__(
        self,
        equations: Equations,
        force_law: ForceLaw,
        baumgarte: Baumgarte | None = None,
        parameters: Sequence[str] = (),
    ) -> None:
        self.equations, self.names = equations, equations.names
        self.force_law, self.baumgarte = force_law, baumgarte
        self.parameters = tuple(parameters or equations.parameters)
        """Names of the parameters that differ between runs: those of the equations, and others of
        contacts and friction alone."""
        holds_exactly = baumgarte is None and equations.by != "approximate"
        start = force_law.start_states
        self.space = StateSpace(equations, start, is_projected=holds_exactly)
        self.expressions = RateExpressions(self.space, force_law, baumgarte)
        self.scheduled: ScheduledEvent | None = scheduled_event_of(force_law)
        self._origin: RightHandSide | None = None
        """The right-hand side whose code this one shares."""
        self._values: Floats = np.array([float(x) for x in equations.parameters.values()])

    def with_force_law(self, force_law: ForceLaw) -> RightHandSide:
        """Return the right-hand side with inputs of other numbers; both share their code."""
        found = copy(self)
        found._origin = self._origin or self
        found.force_law, found.scheduled = force_law, scheduled_event_of(force_law)
        return found

    def with_values(self, values: Floats) -> RightHandSide:
        """Return the right-hand side with values of the parameters that differ between runs; both
        share their code."""
        found = copy(self)
        found._origin = self._origin or self
        found._values = values[[self.parameters.index(name) for name in self.equations.parameters]]
        return found

    @property
    def model(self) -> Model:
        """The compiled functions of the equations."""
        return self.space.model

    @cached_property
    def whole_model(self) -> Model:
        """A model with all quantities: the recursive one where the formulation lacks some."""
        if "mass_matrix" in self.equations.function_names():
            return self.model
        return compiled(self.equations.mechanism, threads=1)

    def next_stop(self, t: float, end: float) -> float:
        """Return the time at which steps must end next: a kink of a table, the next action of a
        controller, or the end."""
        return end if self.scheduled is None else self.scheduled.next_time(t, end)

    # -- code ------------------------------------------------------------------------------------

    @property
    def is_guarded(self) -> bool:
        """Whether the pivots of the elimination must be checked."""
        return self.expressions.is_eliminated

    @cached_property
    def tape(self) -> Tape:
        """(x, z, w, push, t) → ẏ and the smallest pivot; parameters that differ between runs are
        a last input p."""
        kept = [("p", self.equations.symbols["p"])] if self.equations.parameters else []
        function = ca.Function(
            "rates",
            [*self.expressions.inputs, *(symbols for _, symbols in kept)],
            ca.cse(list(self.expressions.rates_and_pivot)),
            ["x", "z", "w", "push", "t", *(name for name, _ in kept)],
            ["rate", "pivot"],
        )
        return schedule_tape(normalize_tape(record_tape(function)))

    @cached_property
    def compiled_rates(self) -> np.ufunc:
        """The tape as machine code."""
        if self._origin is not None:
            return self._origin.compiled_rates
        return compile_tape(self.tape, threads=1)

    @cached_property
    def _jacobian(self) -> ca.Function:
        """∂ẏ/∂(x, z); inputs that are Python functions are treated as constant."""
        rates = self.expressions
        J = ca.jacobian(rates.rates_and_pivot[0], ca.vertcat(self.space.x, rates.z))
        return ca.Function("slope", rates.inputs, [ca.densify(J)])

    # -- values ----------------------------------------------------------------------------------

    def arguments(self, t: float, y: Floats, w: Floats, push: Floats) -> tuple[Floats, ...]:
        """Return the arguments of the compiled rates."""
        space = self.space
        return y[: space.size], filled(space.controller_states(y)), w, push, np.array([t])

    def _arguments_of_code(
        self, t: float, y: Floats, w: Floats, push: Floats
    ) -> tuple[Floats, ...]:
        values = (self._values,) if len(self._values) else ()
        return (*self.arguments(t, y, w, push), *values)

    def rates(self, t: float, y: Floats, w: Floats, push: Floats) -> Floats:
        """Return ẏ."""
        found: Floats
        found, pivot = self.compiled_rates(*self._arguments_of_code(t, y, w, push))
        if self.is_guarded and not pivot[0] >= MIN_PIVOT_SHARE:
            return self._rates_with_pivoting(t, y, w, push)
        return found

    def smallest_pivot(self, t: float, y: Floats, w: Floats, push: Floats) -> float:
        """Return the smallest pivot that the elimination takes."""
        return float(self.compiled_rates(*self._arguments_of_code(t, y, w, push))[1][0])

    def jacobian(self, t: float, y: Floats, w: Floats, push: Floats) -> Floats:
        """Return ∂ẏ/∂y for stiff methods, without the dependence of `push` on the state."""
        J = np.asarray(self._jacobian(*self.arguments(t, y, w, push)), dtype=float)
        return np.hstack([J, np.zeros((len(J), WORK_COUNT))])

    def _rates_with_pivoting(self, t: float, y: Floats, w: Floats, push: Floats) -> Floats:
        """Return ẏ where the compiled elimination fails: near singular configurations."""
        q, qd = self.space.motion(y)
        z = self.space.controller_states(y)
        forces, z_rate = self.force_law.forces_and_rates(t, q, qd, z, w)
        tau = forces + push
        time = [t] if self.names.is_time_dependent else []
        projection = self.space.projection
        correction = None if projection is None else projection.correction
        qdd = None if correction is None else correction.accelerations(t, q, qd, tau)
        if qdd is None:
            qdd = self.model.forward_dynamics(q, qd, tau, *time)
        if self.baumgarte is not None:
            qdd = qdd + self.baumgarte.number(self.model, q, qd, time)
        x: Floats = y[: self.space.size] if self.equations.state is not None else np.zeros(0)
        carried = self.expressions.rates_from_motion(x, q, qd, qdd, t)
        x_rate = np.asarray(carried, dtype=float).ravel()
        powers = np.asarray(self.expressions.power(q, qd, qdd, tau, t), dtype=float).ravel()
        powers[0] -= push @ qd
        return np.concatenate([x_rate, z_rate, powers])
