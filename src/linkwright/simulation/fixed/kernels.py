"""Steps compiled whole: one state a SIMD lane."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ...equations import Equations
from ...errors import UnsupportedError
from ...readings.llvm import compile_tape
from ...tape import Port, normalised, record, scheduled
from ..inputs import Drive
from .ingredients import Ingredients
from .methods import Before, step_of
from .tables import FIXED, IMPLICIT, VARIATIONAL

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]
Place = tuple[str, Any, tuple[int, ...]]


def check_method(method: str, equations: Equations) -> None:
    if method not in FIXED:
        raise UnsupportedError(f"there is no method '{method}'", remedy=f"use {', '.join(FIXED)}")
    if method == VARIATIONAL and equations.nq != equations.nv:
        raise UnsupportedError(
            "variational steps need coordinates whose rates are the speeds",
            where=equations.mechanism.name,
            remedy="use rotation = \"cardan\", or the method 'midpoint'",
        )


class Kernel:
    """A step as a ufunc `(nq),(nv),(nv),(),()->(nq),(nv)` of (q, q̇, τ, t, dt).

    Where drives are tables over time, their values at both ends are one more input (2, tables).
    Further results are the works that were done, for a `power`, and where a step `may_fail` its
    doubt.
    """

    def __init__(
        self,
        equations: Equations,
        method: str,
        drive: Drive | None = None,
        power: Any = None,
    ) -> None:
        check_method(method, equations)
        self.may_fail = bool(equations.names.constraints) or method in IMPLICIT
        self.works = 0 if power is None else int(power.numel_out(0))
        of = Ingredients(equations, drive, power)
        self.tables = of.tables
        self.ufunc = self._compiled(of, method)

    def _compiled(self, of: Ingredients, method: str) -> Any:
        s, n, dt = of.equations.symbols, of.names, ca.SX.sym("dt")
        step = step_of(method, of, Before(s["q"], s["qd"], s["tau"], s["t"], dt))
        speeds = (n.nv,)
        inputs: list[Place] = [("q", s["q"], (n.nq,)), ("qd", s["qd"], speeds)]
        inputs += [("tau", s["tau"], speeds), ("t", s["t"], ()), ("dt", dt, ())]
        if self.tables:
            inputs.append(("ends", of.ends, (2, len(self.tables))))
        outputs: list[Place] = [("q_end", step.q, (n.nq,)), ("qd_end", step.qd, speeds)]
        outputs += [("work", step.work, (self.works,))] * bool(self.works)
        outputs += [("doubt", step.doubt, ())] * self.may_fail
        made = ca.cse([ca.densify(ca.SX(e)) for _, e, _ in outputs])
        function = ca.Function(
            "step", [e for _, e, _ in inputs], made, [n for n, *_ in inputs],
            [n for n, *_ in outputs],
        )  # fmt: skip
        ports = ([Port(name, shape) for name, _, shape in side] for side in (inputs, outputs))
        return compile_tape(scheduled(normalised(record(function, *ports))), threads=1)

    def ends(self, t: float, dt: float) -> list[Floats]:
        """Values of tables at both ends of a step."""
        return [np.array([[f(x) for f in self.tables] for x in (t, t + dt)])] if self.tables else []

    def steps(
        self, here: Pair, tau: Floats, t: float, dt: float, ends: list[Floats], there: Pair
    ) -> Floats | None:
        """Writes the states after a step; returns their doubts, where there can be any."""
        if not self.may_fail:
            self.ufunc(*here, tau, t, dt, *ends, out=there)
            return None
        doubt: Floats = self.ufunc(*here, tau, t, dt, *ends, out=(*there, None))[-1]
        return doubt
