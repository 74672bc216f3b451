"""Steps compiled whole: one state a SIMD lane, by itself or as many as a trajectory has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ...equations import Equations
from ...errors import UnsupportedError
from ...ports import Port
from ...readings.llvm import CompiledStepLoop, compile_step_loop, compile_tape
from ...tape import Tape, normalize_tape, record_tape, schedule_tape
from ...types import Floats
from ..inputs import Drive
from .ingredients import Ingredients
from .methods import Before, Step, step_of
from .tables import FIXED, IMPLICIT, VARIATIONAL, shares_of

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
    """A step (q, q̇, z, held; τ, t, outside, acts; dt, p) → (q, q̇, z, held; work; doubt).

    z are states of a controller, and held is τ of a sampled one, which is its law's in steps at
    whose beginning it `acts`. `outside` are values of tables and references at the shares of the
    step that the method asks for, p the values of the parameters `kept`. What a drive does not have
    is left out, as are works without a `power`, and the doubt of steps that cannot fail.
    """

    def __init__(
        self, equations: Equations, method: str, drive: Drive | None = None, power: Any = None,
        kept: Sequence[str] = (),
    ) -> None:  # fmt: skip
        check_method(method, equations)
        self.kept = {name: ca.SX.sym(name) for name in kept}
        self.may_fail = bool(equations.names.constraints) or method in IMPLICIT
        self.works = 0 if power is None else int(power.numel_out(0))
        self.equations, self.method, self.drive, self.power = equations, method, drive, power
        law = None if drive is None else drive.feedback
        self.law, self.period = law, None if law is None else law.period
        self.shares = shares_of(method) if self.period is None else (0.0,)
        self.asks = drive is not None and bool(drive.tables or (law is not None and law.follows))

    # -- the step ------------------------------------------------------------------------

    @cached_property
    def _places(self) -> tuple[list[Place], list[Place], CompiledStepLoop]:
        """Inputs, outputs, and how a way of many steps goes through them."""
        x, held, acts = self._symbols
        of = Ingredients(self.equations, self.drive, self.power, self.shares, self.kept)
        step, after = self._sampled(of, x, held, acts) if self.period else (None, held)
        step = step or step_of(self.method, of, x)
        nq, nv, nz = (self.equations.nq,), (self.equations.nv,), (self._states,)
        states: list[Place] = [("q", x.q, nq), ("qd", x.qd, nv)]
        ends: list[Place] = [("q_end", step.q, nq), ("qd_end", step.qd, nv)]
        timed: list[Place] = [("tau", x.tau, nv), ("t", x.t, ())]
        if self._states:
            states, ends = [*states, ("z", x.z, nz)], [*ends, ("z_end", step.z, nz)]
        if self.period:
            states, ends = [*states, ("held", held, nv)], [*ends, ("held_end", after, nv)]
        timed += [("outside", of.outside, tuple(of.outside.shape))] * self.asks
        timed += [("acts", acts, ())] * bool(self.period)
        course = CompiledStepLoop(len(states), len(timed), tuple(range(2, len(states))))
        ends += [("work", step.work, (self.works,))] * bool(self.works)
        ends += [("doubt", step.doubt, ())] * self.may_fail
        whole: list[Place] = [("dt", x.dt, ())]
        whole += [("p", of.p, (len(self.kept),))] * bool(self.kept)
        return [*states, *timed, *whole], ends, course

    @cached_property
    def _symbols(self) -> tuple[Before, Any, Any]:
        """A state before a step; the τ that is held; whether the controller acts."""
        s, z = self.equations.symbols, ca.SX.sym("z", self._states)
        before = Before(s["q"], s["qd"], z, s["tau"], s["t"], ca.SX.sym("dt"))
        return before, ca.SX.sym("held", self.equations.nv), ca.SX.sym("acts")

    def _sampled(self, of: Ingredients, x: Before, held: Any, acts: Any) -> tuple[Step, Any]:
        """A controller that acts at the beginning, or not; its z makes Euler's step of a period."""
        none = ca.SX(0, 1)
        tau, rate = of.driven(x.q, x.qd, x.z, ca.SX.zeros(self.equations.nv), x.t, 0.0)
        after = ca.if_else(acts, tau, held)
        shares = shares_of(self.method)
        plain = Ingredients(self.equations, None, self.power, shares, self.kept)
        step = step_of(self.method, plain, Before(x.q, x.qd, none, x.tau + after, x.t, x.dt))
        z = x.z + ca.if_else(acts, (self.period or 0.0) * rate, 0) if self._states else none
        return Step(step.q, step.qd, z, step.work, step.doubt), after

    @property
    def _states(self) -> int:
        return 0 if self.law is None else len(self.law.names)

    @cached_property
    def tape(self) -> Tape:
        inputs, outputs, _ = self._places
        made = ca.cse([ca.densify(ca.SX(e)) for _, e, _ in outputs])
        function = ca.Function(
            "step", [e for _, e, _ in inputs], made, [n for n, *_ in inputs],
            [n for n, *_ in outputs],
        )  # fmt: skip
        ports = ([Port(name, shape) for name, _, shape in side] for side in (inputs, outputs))
        return schedule_tape(normalize_tape(record_tape(function, *ports)))

    @cached_property
    def ufunc(self) -> Any:
        """One step: (q, q̇, …, τ, t, …, dt) → (q, q̇, …)."""
        return compile_tape(self.tape, threads=1)

    @cached_property
    def march(self) -> Any:
        """Many steps: τ, t and what else belongs to a step have an axis −2 or −1 over them, and so
        have q, q̇ and the doubt that come out; of z and held the last are."""
        return compile_step_loop(self.tape, self._places[2])

    # -- what it is given ----------------------------------------------------------------

    def controls(self, rows: int) -> list[Floats]:
        """z and held of so many trajectories at their beginning."""
        start = [] if self.law is None or not self.law.names else [self.law.start]
        if self.period is not None:
            start.append((0.0,) * self.equations.nv)
        return [np.tile(np.array(x), (rows, 1)) for x in start]

    def outside(self, t: float, dt: float) -> list[Floats]:
        """What comes from outside in one step: (shares, values), or nothing."""
        return [x[0] for x in self.all_outside(np.array([t]), dt)]

    def all_outside(self, times: Floats, dt: float) -> list[Floats]:
        """The same for steps that follow each other: (steps, shares, values)."""
        if self.drive is None or not self.asks:
            return []
        known = {0.0: self._values(times)} if 0.0 in self.shares else {}
        for share in self.shares:
            if share == 1.0:
                last = self._values(times[-1:] + dt)
                known[share] = np.concatenate([known[0.0][1:], last])
            elif share:
                known[share] = self._values(times + share * dt)
        return [np.stack([known[share] for share in self.shares], axis=1)]

    def _values(self, times: Floats) -> Floats:
        drive = self.drive
        assert drive is not None
        if self.law is not None:
            return self.law.reference.rows(times)
        return np.array([[table(t) for table in drive.tables] for t in times.tolist()])
