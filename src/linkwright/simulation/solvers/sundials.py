"""SUNDIALS through CasADi: CVODES on ẏ = F(t, y), IDAS on the index-reduced equations

    q̇ = N v,   v̇ = a,   0 = M a + C v + g − f − τ − Jᵀλ,   0 = J a + γ

in which accelerations and the forces of the chosen rows are algebraic; both with exact Jacobians.
CasADi integrates from grid point to grid point, so a call goes over several samples in a time
s = (t − t₀)/spacing, and steps are handed out one by one. Between calls states go back onto the
constraints.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from ...errors import UnsupportedError
from ...types import Floats
from ..fixed_steps.step_equations import StepEquations
from ..fixed_steps.step_projection import StepProjection
from ..system import System
from .outer import Called, Outer
from .passing import passing

if TYPE_CHECKING:
    from . import Maker, Solver


SUNDIALS = ("cvodes", "idas")
TOGETHER = 16
"""Intervals in one call: each call begins anew, with short steps."""

_SHORTEST = 1e-13
"""Of an interval; a solver that creeps towards a pole ends there."""


def sundials(name: str) -> Maker:
    def make(
        system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
    ) -> Solver:  # fmt: skip
        return passing(Sundials(name, system, t, y, end, options), system, end)

    return make


class Sundials:
    """Stands at a grid point, and knows the next ones of its last call."""

    one_step = False

    def __init__(
        self, name: str, system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
    ) -> None:
        self.outer = Outer(system, name)
        self.called: Called | None = None
        if name == "idas" and system.equations.state is not None:
            raise UnsupportedError(
                f"'idas' solves for q, v and λ, and '{system.equations.by}' has states of its own",
                remedy='use cvodes, or by="recursive"',
            )
        self.name, self.system, self.end = name, system, end
        self.spacing = min(float(options["spacing"]), float(options["max_step"]))
        self.tolerances = {"reltol": float(options["rtol"]), "abstol": float(options["atol"])}
        self.restart(t, y)

    def restart(self, t: float, y: Floats) -> None:
        self.t, self.y = t, y
        self.coming: list[tuple[float, Floats]] = []
        self.singly = 0
        self.before = t, y

    def step(self) -> str | None:
        if not self.coming:
            found = self._call()
            if isinstance(found, str):
                return found
            self.coming = found
        self.before = self.t, self.y
        self.t, self.y = self.coming.pop(0)
        return None

    def _call(self) -> list[tuple[float, Floats]] | str:
        """States at the next grid points."""
        left = self.end - self.t
        count = TOGETHER if left >= TOGETHER * self.spacing * (1 - 1e-9) else 1
        length = self.spacing if count > 1 else min(self.spacing, left)
        y = self.system.mended(self.t, self.y)
        for tried in dict.fromkeys((1 if self.singly else count, 1)):
            states = self._integrated(self.t, y, length, tried)
            self.singly = TOGETHER if states is None else max(0, self.singly - 1)
            if states is not None:
                times = self.t + length * np.arange(1, tried + 1)
                times[-1] = self.end if abs(times[-1] - self.end) < 1e-9 * length else times[-1]
                return list(zip(times.tolist(), states, strict=True))
        return f"{self.name} could not go on"

    def _integrated(self, t: float, y: Floats, length: float, count: int) -> Floats | None:
        solver = self._many if count > 1 else self._one
        found = None
        with contextlib.suppress(RuntimeError):
            found = solver(x0=y, z0=self._guess(t, y), p=[t, length, *self.outer.values(t)])
        if (self.called is not None and not self.called.check()) or found is None:
            return None
        self._count(solver.stats())
        states = np.asarray(found["xf"], dtype=float).T
        return states if np.isfinite(states).all() else None

    def _count(self, stats: Mapping[str, Any]) -> None:
        """Adds what SUNDIALS counted in a call."""
        self.system.evaluations += int(stats["nfevals"])
        self.system.rejected += int(stats["netfails"]) + int(stats["nncfails"])
        self.system.inner_steps = (self.system.inner_steps or 0) + int(stats["nsteps"])

    @cached_property
    def _one(self) -> Any:
        return self._made([1.0])

    @cached_property
    def _many(self) -> Any:
        return self._made(list(range(1, TOGETHER + 1)))

    def _made(self, grid: list[float]) -> Any:
        options = self.tolerances | {"max_num_steps": 100_000, "print_stats": False}
        if self.name == "idas":
            options["suppress_algebraic"] = True
        else:
            options["min_step_size"] = _SHORTEST
        return ca.integrator(
            "solver", self.name, self._equations, 0.0, grid,
            options | {"show_eval_warnings": False, "disable_internal_warnings": True},
        )  # fmt: skip

    @cached_property
    def _equations(self) -> dict[str, Any]:
        """In s, with the parameters t₀ and spacing, and those of the drives."""
        s, p = ca.SX.sym("s"), ca.SX.sym("p", 2 + self.outer.count)
        states, algebraic, rates, rest = self._ode if self.name == "cvodes" else self._dae
        t = p[0] + p[1] * s
        w = self.system.w
        if not self.outer.called:
            w = ca.vertcat(*self.outer.w(ca.vertsplit(p)[2:], t))
        known = [self.system.symbols[3], self.system.w]
        rates, rest = ca.substitute([p[1] * rates, rest], known, [t, w])
        found = {"t": s, "x": states, "z": algebraic, "p": p, "ode": rates, "alg": rest}
        if self.outer.called:
            return self._with_calls(found)
        return {key: ca.cse(x) if key in ("ode", "alg") else x for key, x in found.items()}

    def _with_calls(self, by: dict[str, Any]) -> dict[str, Any]:
        """The same, where w comes from Python at every evaluation."""
        inputs = ["t", "x", "z", "p"]
        expressions = ca.Function(
            "rates", [*(by[key] for key in inputs), self.system.w], ca.cse([by["ode"], by["alg"]])
        )
        self.called = Called(self.system.outer, by["x"].numel(), self.outer.size)
        s, x, z, p = (ca.MX.sym(key, by[key].numel()) for key in inputs)
        ode, alg = expressions(s, x, z, p, self.called(p[0] + p[1] * s, x))
        return {"t": s, "x": x, "z": z, "p": p, "ode": ode, "alg": alg}

    @cached_property
    def _ode(self) -> tuple[Any, Any, Any, Any]:
        x, z = self.system.state, self.system.z
        pushed = self.system.pushed
        rates = ca.substitute(self.system.rates_expression[0], pushed, ca.SX.zeros(*pushed.shape))
        works = ca.SX.sym("work", rates.numel() - x.numel() - z.numel())
        return ca.vertcat(x, z, works), ca.SX(0, 1), rates, ca.SX(0, 1)

    @cached_property
    def _dae(self) -> tuple[Any, Any, Any, Any]:
        system, (q, v, _, t) = self.system, self.system.symbols
        of = StepEquations(system.equations, None, system.power)
        a, tau = ca.SX.sym("a", system.names.nv), system.tau
        balance, rows = of.required_forces(q, v, a, t) - tau, ca.SX(0, 1)
        force = ca.SX.sym("lambda", 0)
        if system.names.constraints:
            onto = StepProjection(of)
            force = ca.SX.sym("lambda", len(onto.rows))
            J = onto.jacobian(q, t)[onto.rows, :]
            balance, rows = balance - J.T @ force, J @ a + onto.bias(q, v, t)[onto.rows]
            if system.baumgarte is not None:
                rows = rows + system.baumgarte.rows(onto, q, v, t)[onto.rows]
        power = of.power(q, v, a, tau, t)
        works = ca.SX.sym("work", power.numel())
        rates = ca.vertcat(system.equations.rate_matrix @ v, a, system.z_rate, power)
        states = ca.vertcat(q, v, system.z, works)
        return states, ca.vertcat(a, force), rates, ca.vertcat(balance, rows)

    def _guess(self, t: float, y: Floats) -> Floats:
        """Accelerations and forces to begin with; IDAS makes them consistent."""
        if self.name == "cvodes":
            return np.zeros(0)
        nq, nv = self.system.names.nq, self.system.names.nv
        z = np.zeros(self._equations["z"].shape[0])
        z[:nv] = self.system.rates(t, y)[nq : nq + nv]
        return z

    def between(self) -> Callable[[float], Floats]:
        t0, y0 = self.before

        def at(t: float) -> Floats:
            if abs(t - self.t) <= 1e-9 * (self.t - t0):
                return self.y
            found = self._integrated(t0, y0, t - t0, 1)
            return self.y if found is None else found[0]

        return at
