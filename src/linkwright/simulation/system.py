"""A mechanism as a system of first order: ẏ = F(t, y), in the formulation's own states.

y holds the states x and, last, the work W that all but conservative forces have done; so that
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
from ..model import Model
from ..model import compile as compiled
from ..readings.llvm import compile_tape
from ..tape import Tape, normalised, record, scheduled
from .inputs import Drive

Floats = NDArray[np.float64]


class System:
    """Rates of all states under a drive τ(t, q, q̇); counts its evaluations."""

    def __init__(self, equations: Equations, drive: Drive) -> None:
        self.equations, self.drive = equations, drive
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

    @cached_property
    def size(self) -> int:
        return int(self._maps[0].shape[0])

    @cached_property
    def _from_motion(self) -> Any:
        q, qd, *_ = self.symbols
        return ca.Function("x", [q, qd], [self._maps[1]])

    @cached_property
    def _to_motion(self) -> Any:
        found = ca.Function("motion", [self._maps[0]], [ca.vertcat(*self._maps[2])], ["x"], ["qv"])
        return compile_tape(scheduled(normalised(record(found))), threads=1)

    def start(self, q: Floats, qd: Floats) -> Floats:
        """y of a motion; no work is done yet."""
        return np.append(np.asarray(self._from_motion(q, qd), dtype=float).ravel(), 0.0)

    def motion(self, y: Floats) -> tuple[Floats, Floats]:
        """(q, q̇) of states; y may have one column a time."""
        rows = y.T[..., : self.size]
        found = rows if self.equations.state is None else self._to_motion(rows)
        split = self.names.nq
        return found[..., :split], found[..., split:]

    @cached_property
    def plain(self) -> Equations:
        """By recursion: energies and forces, which not every formulation has."""
        if self.equations.by == "recursive":
            return self.equations
        return derive(self.equations.mechanism, by="recursive", parameters="numeric")

    @cached_property
    def power(self) -> Any:
        """(q, q̇, τ, t) → what drives, losses and given forces do; springs and weight are in the
        potential."""
        eqs = self.plain
        q, qd, tau, t = (eqs.symbols[key] for key in ("q", "qd", "tau", "t"))
        (passive,), (external,), (V,) = (
            eqs.expressions(name) for name in ("passive", "external", "potential_energy")
        )
        springs = (ca.jacobian(V, q) @ eqs.rates).T - eqs.g
        total = ca.dot(qd, tau + passive + external + springs)
        return ca.Function("power", [q, qd, tau, t], [total])

    @cached_property
    def state_rates(self) -> Any:
        """ẋ of the formulation's own states."""
        eqs, (_, qd, _, _) = self.equations, self.symbols
        if eqs.state is not None:
            return eqs.state.rates()
        return ca.vertcat(eqs.rates @ qd, eqs.expressions("forward_dynamics")[0])

    @cached_property
    def rates_expression(self) -> Any:
        _, _, tau, t = self.symbols
        return ca.vertcat(self.state_rates, self.power(*self._maps[2], tau, t))

    def tape(self, expression: Any) -> Tape:
        """(x, τ, t) → the expression."""
        _, _, tau, t = self.symbols
        function = ca.Function(
            "rates", [self._maps[0], tau, t], [ca.cse(expression)], ["x", "tau", "t"], ["rate"]
        )
        return normalised(record(function))

    @cached_property
    def kernel(self) -> Any:
        """(x, τ, t) → ẏ, compiled."""
        return compile_tape(scheduled(self.tape(self.rates_expression)), threads=1)

    @cached_property
    def _slope(self) -> Any:
        """∂ẏ/∂x at constant τ."""
        _, _, tau, t = self.symbols
        J = ca.jacobian(self.rates_expression, self._maps[0])
        return ca.Function("slope", [self._maps[0], tau, t], [ca.densify(J)])

    def rates(self, t: float, y: Floats) -> Floats:
        self.evaluations += 1
        x = y[: self.size]
        q, qd = self.motion(y)
        tau = self.drive(t, q, qd)
        if not self.guarded:
            found: Floats = self.kernel(x, tau, [t])
            return found
        time = [t] if self.names.in_time else []
        qdd = self.model.forward_dynamics(q, qd, tau, *time)
        q_rate = self._rates(q) @ qd if self.names.nq != self.names.nv else qd
        return np.concatenate([q_rate, qdd, [self._power(q, qd, qdd, tau, t)]])

    def _rates(self, q: Floats) -> Floats:
        return np.asarray(self._rate_matrix(q), dtype=float)

    @cached_property
    def _rate_matrix(self) -> Any:
        return ca.Function("N", [self.symbols[0]], [self.equations.rates])

    def _power(self, q: Floats, qd: Floats, qdd: Floats, tau: Floats, t: float) -> float:
        power = float(self.power(q, qd, tau, t))
        if not self.names.in_time:
            return power
        return power + float(qd @ (self.model.required_forces(q, qd, qdd, t) - tau))

    def slope(self, t: float, y: Floats) -> Floats:
        """∂ẏ/∂y for stiff methods; drives that depend on the motion are left to them."""
        q, qd = self.motion(y)
        J = np.asarray(self._slope(y[: self.size], self.drive(t, q, qd), t), dtype=float)
        return np.hstack([J, np.zeros((len(J), 1))])
