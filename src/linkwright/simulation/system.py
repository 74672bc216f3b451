"""A mechanism as a system of first order: ẏ = F(t, y), in the formulation's own states.

y holds the states x, the states z of a controller and, last, the work W that all but conservative
forces have done; so that kinetic + potential − W is constant along a motion, whatever acts.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..equations import Equations
from ..formulations import derive
from ..model import Model
from ..model import compile as compiled
from ..readings.llvm import compile_tape
from ..tape import normalised, record, scheduled
from .feedback import Feedback
from .inputs import Drive

Floats = NDArray[np.float64]


class System:
    """Rates of all states under a drive τ(t, q, q̇) or a controller; counts its evaluations.

    A sampled controller acts when `sample` is called; between, its τ is `held`.
    """

    def __init__(self, equations: Equations, drive: Drive | Feedback) -> None:
        self.equations = equations
        self.feedback = drive if isinstance(drive, Feedback) else None
        self.drive = None if isinstance(drive, Feedback) else drive
        self.names = equations.names
        self.evaluations = 0
        self.held: list[tuple[float, Floats]] = []

    @property
    def control_names(self) -> tuple[str, ...]:
        return self.feedback.names if self.feedback else ()

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
        return ca.Function("motion", [self._maps[0]], [ca.vertcat(*self._maps[2])])

    def start(self, q: Floats, qd: Floats) -> Floats:
        """y of a motion; no work is done yet."""
        z = self.feedback.start if self.feedback else ()
        return np.concatenate([np.asarray(self._from_motion(q, qd), float).ravel(), z, [0.0]])

    def moved(self, y: Floats, q: Floats, qd: Floats) -> Floats:
        """y at another motion; the controller's states and the work stay."""
        return np.concatenate([self.start(q, qd)[: self.size], y[self.size :]])

    def spans(self, begin: float, end: float) -> list[tuple[float, float]]:
        """The intervals in which the rates are smooth: those between samples."""
        period = self.feedback.period if self.feedback else None
        if period is None:
            return [(begin, end)]
        count = int(np.ceil((end - begin) / period - 1e-9))
        times = [*(begin + period * np.arange(count)), end]
        return list(pairwise(times))

    def sample(self, t: float, y: Floats) -> Floats:
        """y after a sampled controller has acted: its τ is held, its z made one step (Euler's)."""
        if self.feedback is None or self.feedback.period is None:
            return y
        z = y[self.size : -1]
        tau, rate = self.feedback(t, *self.motion(y), z)
        self.held.append((t, tau))
        return np.concatenate([y[: self.size], z + self.feedback.period * rate, y[-1:]])

    def torques(self, times: Floats, y: Floats) -> Floats:
        """τ along a motion, one row a time."""
        q, qd = self.motion(y)
        if self.held:
            begins = np.array([t for t, _ in self.held])
            last = np.searchsorted(begins, times + 1e-12 * max(1.0, times[-1]), side="right") - 1
            return np.array([self.held[k][1] for k in last])
        rows = zip(times, q, qd, y[self.size : -1].T, strict=True)
        return np.array([self.torque(t, a, b, z)[0] for t, a, b, z in rows])

    def torque(self, t: float, q: Floats, qd: Floats, z: Floats) -> tuple[Floats, Floats]:
        """τ and ż at an instant; both are at rest between samples."""
        if self.drive is not None:
            return self.drive(t, q, qd), z
        assert self.feedback is not None
        return (self.held[-1][1], 0 * z) if self.held else self.feedback(t, q, qd, z)

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
    def rates_expression(self) -> Any:
        eqs = self.equations
        _, qd, tau, t = self.symbols
        power = self.power(*self._maps[2], tau, t)
        if eqs.state is not None:
            return ca.vertcat(eqs.state.rates(), power)
        qdd = eqs.expressions("forward_dynamics")[0]
        return ca.vertcat(eqs.rates @ qd, qdd, power)

    @cached_property
    def kernel(self) -> Any:
        """(x, τ, t) → ẏ, compiled."""
        _, _, tau, t = self.symbols
        function = ca.Function(
            "rates", [self._maps[0], tau, t], [ca.cse(self.rates_expression)], ["x", "tau", "t"],
            ["rate"],
        )  # fmt: skip
        return compile_tape(scheduled(normalised(record(function))), threads=1)

    @cached_property
    def _slope(self) -> Any:
        """∂ẏ/∂x at constant τ."""
        _, _, tau, t = self.symbols
        J = ca.jacobian(self.rates_expression, self._maps[0])
        return ca.Function("slope", [self._maps[0], tau, t], [ca.densify(J)])

    @cached_property
    def loop(self) -> Any:
        """(y, r, t) → ẏ under a controller, as a CasADi function."""
        assert self.feedback is not None
        _, _, tau, t = self.symbols
        z = ca.SX.sym("z", len(self.feedback.names))
        r = ca.SX.sym("r", max(1, self.feedback.law.size1_in(4)))
        law = self.feedback.law
        force, rate = law(t, *self._maps[2], z, r[: law.size1_in(4)])
        plain = ca.substitute(self.rates_expression, tau, force)
        y = ca.vertcat(self._maps[0], z, ca.SX.sym("work"))
        rates = ca.vertcat(plain[: self.size], rate, plain[self.size])
        return ca.Function("rates", [y, r, t], [ca.cse(rates)], ["y", "r", "t"], ["rate"])

    @cached_property
    def loop_kernel(self) -> Any:
        """The same, compiled."""
        return compile_tape(scheduled(normalised(record(self.loop))), threads=1)

    @cached_property
    def loop_slope(self) -> Any:
        y, r, t = (self.loop.sx_in(k) for k in range(3))
        J = ca.jacobian(self.loop(y, r, t), y)
        return ca.Function("slope", [y, r, t], [ca.densify(J)])

    def _followed(self, t: float, y: Floats) -> Floats:
        """r of the controller; one idle entry where it follows nothing."""
        assert self.feedback is not None
        found = self.feedback.reference(t, y[self.size : -1])
        return found if len(found) else np.zeros(1)

    def rates(self, t: float, y: Floats) -> Floats:
        self.evaluations += 1
        if self.feedback is not None and not self.held and not self.guarded:
            closed: Floats = self.loop_kernel(y, self._followed(t, y), [t])
            return closed
        x, z = y[: self.size], y[self.size : -1]
        q, qd = self.motion(y)
        tau, z_rate = self.torque(t, q, qd, z)
        if not self.guarded:
            found: Floats = self.kernel(x, tau, [t])
            return found if not len(z) else np.insert(found, self.size, z_rate)
        time = [t] if self.names.in_time else []
        qdd = self.model.forward_dynamics(q, qd, tau, *time)
        q_rate = self._rates(q) @ qd if self.names.nq != self.names.nv else qd
        return np.concatenate([q_rate, qdd, z_rate, [self._power(q, qd, qdd, tau, t)]])

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
        """∂ẏ/∂y for stiff methods, a controller's law included; drives that are functions of the
        motion are left to them."""
        if self.feedback is not None and not self.held:
            return np.asarray(self.loop_slope(y, self._followed(t, y), t), dtype=float)
        z = y[self.size : -1]
        tau, _ = self.torque(t, *self.motion(y), z)
        J = np.zeros((len(y), len(y)))
        found = np.asarray(self._slope(y[: self.size], tau, t), dtype=float)
        J[np.r_[: self.size, len(y) - 1], : self.size] = found
        return J
