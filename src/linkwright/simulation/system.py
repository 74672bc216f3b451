"""A mechanism as a system of first order: ẏ = F(t, y), in the formulation's own states.

y holds the states x, the states z of a controller and, last, three works: of the inputs, of what
is given (external forces, driven constraints), and W of all but conservative forces, losses
included; so that kinetic + potential − W is constant along a motion, whatever acts.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..equations import Equations
from ..formulations import derive
from ..model.guard import MIN_PIVOT_SHARE
from ..model.model import Model
from ..model.model import compile as compiled
from ..readings.llvm import compile_tape
from ..tape import Tape, normalize_tape, record_tape, schedule_tape
from ..types import Floats
from .inputs import Drive, filled, first
from .motion_states import MotionStates
from .powers import power_function
from .projection import Projection
from .stabilization import Baumgarte

WORKS = 3
"""The last entries of y: work of inputs, of given forces, and of all."""


class System(MotionStates):
    """Rates of all states under a drive τ(t, q, q̇); counts its evaluations, and the
    steps that solvers rejected."""

    def __init__(
        self, equations: Equations, drive: Drive, baumgarte: Baumgarte | None = None,
        *, crosses_kinks: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(equations)
        self.drive, self.baumgarte = drive, baumgarte
        self.evaluations = self.rejected = 0
        self.inner_steps: int | None = None
        """Steps that a solver makes inside of one of its calls, where it tells."""
        self.crosses_kinks = crosses_kinks
        """Whether steps go across the kinks of tables: steps of fixed length do."""
        self.fault: tuple[float, str, float] | None = None
        """Time, speed and value of a Python function's last force that was not finite."""
        self.held: list[tuple[float, Floats]] = []
        """τ of a sampled controller, from when on."""
        self.beside: Callable[[float, Floats, Floats, Floats], Floats] | None = None
        """(t, q, q̇, τ) → forces beside the drive: of friction, stops, contacts."""

    def for_a_run(self) -> System:
        """The same system without the traces of a run; expressions and code are shared."""
        fresh = copy.copy(self)
        fresh.__dict__.pop("projection", None)
        fresh.evaluations = fresh.rejected = 0
        fresh.inner_steps = fresh.fault = fresh.beside = None
        fresh.held = []
        return fresh

    @cached_property
    def pushed(self) -> Any:
        """The symbol of the forces beside the drive."""
        return ca.SX.sym("push", self.names.nv)

    def push(self, t: float, y: Floats) -> Floats:
        """Forces beside the drive at an instant."""
        if self.beside is None:
            return np.zeros(self.names.nv)
        return self.beside(t, *self.motion(y), self.torque(t, y))

    def controls(self, y: Floats) -> Floats:
        """z of states."""
        return y[self.size : len(y) - WORKS]

    @property
    def sampled(self) -> bool:
        return self.drive.feedback is not None and self.drive.feedback.period is not None

    def torque(self, t: float, y: Floats) -> Floats:
        """τ of the drive at an instant."""
        return (
            self.held[-1][1] if self.sampled else self.drive(t, *self.motion(y), self.controls(y))
        )

    def next_stop(self, t: float, end: float) -> float:
        """No step may go over it: where a controller acts next, or a table has its next kink."""
        law = self.drive.feedback
        if law is None or law.period is None:
            return end if self.crosses_kinks else self.drive.next_kink(t, end)
        return min(end, law.period * (math.floor(t / law.period + 1e-9) + 1))

    def sample(self, t: float, y: Floats, held: Floats | None = None) -> Floats:
        """y after a sampled controller has acted: its τ is held, its z made one step (Euler's).
        Where it has acted before, its τ is given."""
        if not self.sampled:
            return y
        if held is not None:
            self.held.append((t, held))
            return y
        assert self.drive.feedback is not None
        assert self.drive.feedback.period is not None
        tau, rate = self.drive.act(t, *self.motion(y), self.controls(y))
        self.held.append((t, tau))
        after = y.copy()
        after[self.size : len(y) - WORKS] += self.drive.feedback.period * rate
        return after

    @cached_property
    def model(self) -> Model:
        return compiled(self.equations, threads=1)

    @cached_property
    def whole_model(self) -> Model:
        """With all quantities: by recursion where the formulation lacks some."""
        if "mass_matrix" in self.equations.function_names():
            return self.model
        return compiled(self.equations.mechanism, threads=1)

    @property
    def guarded(self) -> bool:
        """Whether accelerations come from the model, which solves singular states otherwise."""
        state = self.equations.state
        return bool(self.names.constraints) and (
            state is None or state.rates_from_motion is not None
        )

    @property
    def drifts(self) -> bool:
        """Whether errors take states out of what they mean: bodies apart at their joints, or
        quaternions off length 1."""
        state = self.equations.state
        own = state is not None and state.rates_from_motion is not None
        return own or self.names.nq != self.names.nv

    def start(self, q: Floats, qd: Floats) -> Floats:
        """y of a motion; no work is done yet."""
        x = np.asarray(self._from_motion(q, qd), dtype=float).ravel()
        z = self.drive.feedback.start if self.drive.feedback is not None else ()
        return np.concatenate([x, z, np.zeros(WORKS)])

    def moved(self, y: Floats, q: Floats, qd: Floats) -> Floats:
        """y at another motion; what a controller keeps and the works stay."""
        return np.concatenate([self.start(q, qd)[: self.size], y[self.size :]])

    def torques(self, times: Floats, y: Floats, known: Sequence[Floats] = ()) -> Floats:
        """τ along a motion, one row a time; `known` are those of a function that was called."""
        if not self.sampled and self.drive.function is not None:
            return np.array(known)
        if not self.sampled:
            return self.drive.histories(times, *self.motion(y), self.controls(y).T)[0]
        begins = np.array([t for t, _ in self.held])
        last = np.searchsorted(begins, times + 1e-12 * max(1.0, times[-1]), side="right") - 1
        return np.array([self.held[k][1] for k in last])

    @cached_property
    def plain(self) -> Equations:
        """By recursion: energies and forces, which not every formulation has."""
        if self.equations.by == "recursive":
            return self.equations
        return derive(self.equations.mechanism, by="recursive", parameters="numeric")

    @cached_property
    def power(self) -> Any:
        """See `power_function`."""
        return power_function(self.plain)

    @cached_property
    def tau(self) -> Any:
        """τ by the states, t and the outer inputs; while it is held, it is one of these."""
        return self.w if self.sampled else self._in_states(self.drive.tau)

    @cached_property
    def w(self) -> Any:
        return ca.SX.sym("held", self.names.nv) if self.sampled else self.drive.w

    def _in_states(self, expression: Any) -> Any:
        q, qd, *_ = self.symbols
        found = ca.densify(ca.SX(expression))
        return ca.substitute(found, ca.vertcat(q, qd), ca.vertcat(*self._maps[2]))

    @cached_property
    def z_rate(self) -> Any:
        """Rates of a controller's states; none while it is sampled."""
        return 0 * self.drive.z_rate if self.sampled else self._in_states(self.drive.z_rate)

    @cached_property
    def z(self) -> Any:
        """A controller's states, without an idle one."""
        return first(self.drive.z, len(self.drive.state_names))

    @cached_property
    def rates_expression(self) -> tuple[Any, Any]:
        """ẏ, and the smallest pivot that it took (1 where none can vanish)."""
        motion, tau, t = self._maps[2], self.symbols[2], self.symbols[3]
        rates, qdd, pivot = self._state_rates()
        rates = ca.vertcat(rates, self.z_rate, self.power(*motion, qdd, tau, t))
        found = ca.substitute([rates, pivot], [tau], [self.tau + self.pushed])
        rates = found[0]
        rates[-WORKS] -= ca.dot(self.pushed, motion[1])
        return rates, found[1]

    def _state_rates(self) -> tuple[Any, Any, Any]:
        """ẋ, q̈ and the smallest pivot, by x."""
        eqs, motion, (q, qd, tau, t) = self.equations, self._maps[2], self.symbols
        if eqs.state is not None and eqs.state.rates_from_motion is None:
            needed = self.names.constraints and self.names.is_time_dependent
            qdd = self._plain_accelerations(motion, tau, t) if needed else 0 * qd
            return eqs.state.rates(), qdd, ca.SX(1)
        qdd, *pivots = eqs.expressions("forward_dynamics")
        if self.baumgarte is not None:
            qdd = qdd + self.baumgarte.expression(eqs, q, qd, t)
        found = [self._carried(qdd), ca.SX(qdd), ca.SX(pivots[0] if pivots else 1)]
        if eqs.state is None:
            return found[0], found[1], found[2]
        rates, qdd, pivot = ca.substitute(found, [q, qd], list(motion))
        return rates, qdd, pivot

    def _carried(self, qdd: Any) -> Any:
        """ẋ by x, q, q̇ and q̈."""
        eqs, qd = self.equations, self.symbols[1]
        if eqs.state is None or eqs.state.rates_from_motion is None:
            return ca.vertcat(eqs.rate_matrix @ qd, qdd)
        carried = ca.substitute(eqs.state.rates_from_motion(), eqs.symbols["qdd"], qdd)
        return ca.vertcat(carried, (eqs.rate_matrix @ qd)[list(eqs.state.ambiguous_coordinates), 0])

    @cached_property
    def _carrying(self) -> Any:
        """(x, q, q̇, q̈) → ẋ."""
        q, qd, *_ = self.symbols
        qdd = self.equations.symbols["qdd"]
        x = self._maps[0] if self.equations.state is not None else ca.SX.sym("x", 0)
        return ca.Function("carried", [x, q, qd, qdd], [self._carried(qdd)])

    def _plain_accelerations(self, motion: tuple[Any, Any], tau: Any, t: Any) -> Any:
        s, (qdd, *_) = self.plain.symbols, self.plain.expressions("forward_dynamics")
        inputs = [s["q"], s["qd"], s["tau"], s["t"]]
        return ca.Function("qdd", inputs, [qdd])(*motion, tau, t)

    @cached_property
    def tape(self) -> Tape:
        """(x, z, w, push, t) → ẏ and the smallest pivot, drives included."""
        inputs = [self._maps[0], self.drive.z, self.w, self.pushed, self.symbols[3]]
        function = ca.Function(
            "rates", inputs, ca.cse(list(self.rates_expression)), ["x", "z", "w", "push", "t"],
            ["rate", "pivot"],
        )  # fmt: skip
        return schedule_tape(normalize_tape(record_tape(function)))

    @cached_property
    def kernel(self) -> Any:
        """The tape, compiled."""
        return compile_tape(self.tape, threads=1)

    @cached_property
    def _slope(self) -> Any:
        """∂ẏ/∂(x, z); a drive that is a Python function is taken for constant."""
        J = ca.jacobian(self.rates_expression[0], ca.vertcat(self._maps[0], self.z))
        inputs = [self._maps[0], self.drive.z, self.w, self.pushed, self.symbols[3]]
        return ca.Function("slope", inputs, [ca.densify(J)])

    def outer(self, t: float, y: Floats) -> Floats:
        """w, what the drive hands to the kernel."""
        if self.sampled:
            return self.held[-1][1]
        if self.drive.function is None:
            return self.drive.outer(t, y, y)
        found = self.drive.outer(t, *self.motion(y))
        bad = ~np.isfinite(found)
        if bad.any():
            self.fault = t, self.names.qd[int(np.argmax(bad))], float(found[bad][0])
        return found

    def inputs(self, t: float, y: Floats) -> tuple[Floats, ...]:
        """Of the kernel, at an instant."""
        time = np.array([t])
        return y[: self.size], filled(self.controls(y)), self.outer(t, y), self.push(t, y), time

    @cached_property
    def projection(self) -> Projection | None:
        """Onto the constraints, where they are kept exactly."""
        exactly = self.baumgarte is None and self.equations.by != "approximate"
        return Projection(self.model) if self.names.constraints and exactly else None

    def mended(self, t: float, y: Floats, polished: bool = False) -> Floats:
        """y with constraints, joints and lengths of quaternions exact, `polished` to the last
        bit."""
        if self.projection is None and not self.drifts:
            return y
        q, qd = self.motion(y)
        if self.names.nq != self.names.nv:
            q = self.model.integrate(q, np.zeros(self.names.nv))
        if self.projection is not None:
            q, qd = self.projection(t, q, qd, polished)
        return self.moved(y, q, qd)

    def apart(self, y: Floats) -> Floats:
        """How far free bodies are from where joints put them, one number a column of y; zero for
        formulations in whose states joints cannot open."""
        state = self.equations.state
        if state is None or state.rates_from_motion is None:
            return np.zeros(y.shape[1])
        q, qd = self.motion(y)
        size = len(state.names)
        held = np.asarray(self._from_motion(q.T, qd.T), dtype=float)
        found: Floats = np.abs(y[:size] - held[:size]).max(axis=0)
        return found

    def rates(self, t: float, y: Floats) -> Floats:
        self.evaluations += 1
        found: Floats
        found, pivot = self.kernel(*self.inputs(t, y))
        if self.guarded and not pivot[0] >= MIN_PIVOT_SHARE:
            return self._pivoted(t, y)
        return found

    def _pivoted(self, t: float, y: Floats) -> Floats:
        """ẏ where the compiled elimination fails: near singular configurations."""
        q, qd = self.motion(y)
        push = self.push(t, y)
        tau = self.torque(t, y) + push
        time = [t] if self.names.is_time_dependent else []
        qdd = self.model.forward_dynamics(q, qd, tau, *time)
        if self.baumgarte is not None:
            qdd = qdd + self.baumgarte.number(self.model, q, qd, time)
        x: Floats = y[: self.size] if self.equations.state is not None else np.zeros(0)
        x_rate = np.asarray(self._carrying(x, q, qd, qdd), dtype=float).ravel()
        powers = np.asarray(self.power(q, qd, qdd, tau, t), dtype=float).ravel()
        powers[0] -= push @ qd
        z = self.controls(y)
        z_rate = 0 * z if self.sampled or not len(z) else self.drive.act(t, q, qd, z)[1]
        return np.concatenate([x_rate, z_rate, powers])

    def coordinate_rates(self, q: Floats) -> Floats:
        """N with the rates of the coordinates N q̇."""
        if self.names.nq == self.names.nv:
            return np.eye(self.names.nv)
        return np.asarray(self._rate_matrix(q), dtype=float)

    @cached_property
    def _rate_matrix(self) -> Any:
        return ca.Function("N", [self.symbols[0]], [self.equations.rate_matrix])

    def slope(self, t: float, y: Floats) -> Floats:
        """∂ẏ/∂y for stiff methods; forces of friction, stops and contacts are left to them."""
        J = np.asarray(self._slope(*self.inputs(t, y)), dtype=float)
        return np.hstack([J, np.zeros((len(J), WORKS))])
