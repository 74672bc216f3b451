"""A mechanism as a system of first order: ẏ = F(t, y), in the formulation's own states.

y holds the states x and, last, three works: of the inputs, of what is given (external forces,
driven constraints), and W of all but conservative forces, losses included; so that
kinetic + potential − W is constant along a motion, whatever acts.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..equations import Equations
from ..formulations import derive
from ..guard import SMALL_PIVOT
from ..mechanism import Mechanism
from ..model import Model
from ..model import compile as compiled
from ..readings.llvm import compile_tape
from ..tape import Tape, normalised, record, scheduled
from .inputs import Drive
from .projection import Projection
from .stabilization import Baumgarte

Floats = NDArray[np.float64]

WORKS = 3
"""The last entries of y: work of inputs, of given forces, and of all."""


class System:
    """Rates of all states under a drive τ(t, q, q̇); counts its evaluations."""

    def __init__(
        self, equations: Equations, drive: Drive, baumgarte: Baumgarte | None = None
    ) -> None:
        self.equations, self.drive, self.baumgarte = equations, drive, baumgarte
        self.names = equations.names
        self.evaluations = 0

    @cached_property
    def model(self) -> Model:
        return compiled(self.equations, threads=1)

    @cached_property
    def symbols(self) -> tuple[Any, Any, Any, Any]:
        s = self.equations.symbols
        return s["q"], s["qd"], s["tau"], s["t"]

    @property
    def guarded(self) -> bool:
        """Whether accelerations come from the model, which solves singular states otherwise."""
        return bool(self.names.constraints) and self.equations.state is None

    @cached_property
    def _maps(self) -> tuple[Any, Any, Any]:
        """x, x from (q, q̇), and (q, q̇) from x, as expressions."""
        q, qd, *_ = self.symbols
        state = self.equations.state
        if state is None:
            x = ca.vertcat(q, qd)
            return x, x, (q, qd)
        return state.x, state.from_motion(), state.to_motion()

    @property
    def state(self) -> Any:
        """The symbols x of the states, without works."""
        return self._maps[0]

    @cached_property
    def size(self) -> int:
        return int(self._maps[0].shape[0])

    @cached_property
    def _from_motion(self) -> Any:
        q, qd, *_ = self.symbols
        return ca.Function("x", [q, qd], [self._maps[1]])

    @cached_property
    def _to_motion(self) -> Any:
        return ca.Function("motion", [self._maps[0]], [ca.vertcat(*self._maps[2])])

    def start(self, q: Floats, qd: Floats) -> Floats:
        """y of a motion; no work is done yet."""
        x = np.asarray(self._from_motion(q, qd), dtype=float).ravel()
        return np.concatenate([x, np.zeros(WORKS)])

    def moved(self, y: Floats, q: Floats, qd: Floats) -> Floats:
        """y at another motion; the works stay."""
        return np.concatenate([self.start(q, qd)[: self.size], y[self.size :]])

    def torques(self, times: Floats, y: Floats) -> Floats:
        """τ along a motion, one row a time."""
        rows = zip(times, *self.motion(y), strict=True)
        return np.array([self.drive(t, q, qd) for t, q, qd in rows])

    def motion(self, y: Floats) -> tuple[Floats, Floats]:
        """(q, q̇) of states; y may have one column a time."""
        rows = np.atleast_2d(y.T)[:, : self.size].T
        if self.equations.state is None:
            found = rows
        else:
            found = np.asarray(self._to_motion(rows), dtype=float)
        split = self.names.nq
        return found[:split].T.reshape(*y.shape[1:], -1), found[split:].T.reshape(*y.shape[1:], -1)

    @cached_property
    def plain(self) -> Equations:
        """By recursion: energies and forces, which not every formulation has."""
        if self.equations.by == "recursive":
            return self.equations
        return derive(self.equations.mechanism, by="recursive", parameters="numeric")

    @cached_property
    def power(self) -> Any:
        return power_function(self.plain)

    @cached_property
    def tau(self) -> Any:
        """τ by the states, t and the outer inputs of the drive."""
        q, qd, *_ = self.symbols
        tau = ca.densify(ca.SX(self.drive.tau))
        return ca.substitute(tau, ca.vertcat(q, qd), ca.vertcat(*self._maps[2]))

    @cached_property
    def rates_expression(self) -> tuple[Any, Any]:
        """ẏ, and the smallest pivot that it took (1 where none can vanish)."""
        eqs = self.equations
        q, qd, tau, t = self.symbols
        pivot, needs_qdd = ca.SX(1), self.names.constraints and self.names.in_time
        if eqs.state is not None:
            motion, rates = self._maps[2], eqs.state.rates()
            qdd = self._plain_accelerations(motion, tau, t) if needs_qdd else 0 * qd
        else:
            motion = (q, qd)
            qdd, *pivots = eqs.expressions("forward_dynamics")
            if self.baumgarte is not None:
                qdd = qdd + self.baumgarte.expression(eqs, q, qd, t)
            rates, pivot = ca.vertcat(eqs.rates @ qd, qdd), pivots[0] if pivots else pivot
        rates = ca.vertcat(rates, self.power(*motion, qdd, tau, t))
        found = ca.substitute([rates, pivot], [tau], [self.tau])
        return found[0], found[1]

    def _plain_accelerations(self, motion: tuple[Any, Any], tau: Any, t: Any) -> Any:
        s, (qdd, *_) = self.plain.symbols, self.plain.expressions("forward_dynamics")
        inputs = [s["q"], s["qd"], s["tau"], s["t"]]
        return ca.Function("qdd", inputs, [qdd])(*motion, tau, t)

    @cached_property
    def tape(self) -> Tape:
        """(x, w, t) → ẏ and the smallest pivot, drives that are expressions included."""
        t, w = self.symbols[3], self.drive.w
        function = ca.Function(
            "rates", [self._maps[0], w, t], ca.cse(list(self.rates_expression)), ["x", "w", "t"],
            ["rate", "pivot"],
        )  # fmt: skip
        return scheduled(normalised(record(function)))

    @cached_property
    def kernel(self) -> Any:
        """The tape, compiled."""
        return compile_tape(self.tape, threads=1)

    @cached_property
    def _slope(self) -> Any:
        """∂ẏ/∂x; a drive that is a Python function is taken for constant."""
        J = ca.jacobian(self.rates_expression[0], self._maps[0])
        inputs = [self._maps[0], self.drive.w, self.symbols[3]]
        return ca.Function("slope", inputs, [ca.densify(J)])

    def outer(self, t: float, y: Floats) -> Floats:
        """w, what the drive hands to the kernel."""
        if self.drive.function is None:
            return self.drive.outer(t, y, y)
        return self.drive.outer(t, *self.motion(y))

    @cached_property
    def projection(self) -> Projection | None:
        """Onto the constraints, where they are kept exactly."""
        exactly = self.baumgarte is None and self.equations.by != "approximate"
        return Projection(self.model) if self.names.constraints and exactly else None

    def mended(self, t: float, y: Floats, polished: bool = False) -> Floats:
        """y with constraints and lengths of quaternions exact, `polished` to the last bit."""
        quaternions = self.names.nq != self.names.nv
        if self.projection is None and not quaternions:
            return y
        q, qd = self.motion(y)
        if quaternions:
            q = self.model.integrate(q, np.zeros(self.names.nv))
        if self.projection is not None:
            q, qd = self.projection(t, q, qd, polished)
        return self.moved(y, q, qd)

    def rates(self, t: float, y: Floats) -> Floats:
        self.evaluations += 1
        found: Floats
        found, pivot = self.kernel(y[: self.size], self.outer(t, y), [t])
        if self.guarded and not pivot[0] >= SMALL_PIVOT:
            return self._pivoted(t, y)
        return found

    def _pivoted(self, t: float, y: Floats) -> Floats:
        """ẏ where the compiled elimination fails: near singular configurations."""
        q, qd = self.motion(y)
        tau = self.drive(t, q, qd)
        time = [t] if self.names.in_time else []
        qdd = self.model.forward_dynamics(q, qd, tau, *time)
        if self.baumgarte is not None:
            qdd = qdd + self.baumgarte.number(self.model, q, qd, time)
        q_rate = self._rates(q) @ qd if self.names.nq != self.names.nv else qd
        powers = np.asarray(self.power(q, qd, qdd, tau, t), dtype=float).ravel()
        return np.concatenate([q_rate, qdd, powers])

    def _rates(self, q: Floats) -> Floats:
        return np.asarray(self._rate_matrix(q), dtype=float)

    @cached_property
    def _rate_matrix(self) -> Any:
        return ca.Function("N", [self.symbols[0]], [self.equations.rates])

    def slope(self, t: float, y: Floats) -> Floats:
        """∂ẏ/∂y for stiff methods."""
        J = np.asarray(self._slope(y[: self.size], self.outer(t, y), t), dtype=float)
        return np.hstack([J, np.zeros((len(J), WORKS))])


def power_function(eqs: Equations) -> Any:
    """(q, q̇, q̈, τ, t) → what inputs do, what given forces and driven constraints do, and what
    these and losses do together; springs and weight are in the potential."""
    q, qd, qdd, tau, t = (eqs.symbols[key] for key in ("q", "qd", "qdd", "tau", "t"))
    (passive,), (external,), (V,) = (
        eqs.expressions(name) for name in ("passive", "external", "potential_energy")
    )
    springs = (ca.jacobian(V, q) @ eqs.rates).T - eqs.g
    given = external
    if eqs.names.constraints and eqs.names.in_time:
        given = given + eqs.expressions("required_forces")[0] - tau
    powers = [ca.dot(qd, f) for f in (tau, given, tau + given + passive + springs)]
    return ca.Function("power", [q, qd, qdd, tau, t], [ca.vertcat(*powers)])


def power_of(mechanism: Mechanism, rows: tuple[Floats, ...], tau: Floats) -> Floats:
    """The three powers along a motion of rows (t, q, q̇, q̈), (times, 3)."""
    t, q, qd, qdd = rows
    function = power_function(derive(mechanism, by="recursive", parameters="numeric"))
    return np.asarray(function(q.T, qd.T, qdd.T, tau.T, t[None]), dtype=float).T
