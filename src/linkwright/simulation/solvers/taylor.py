"""Taylor series of high order through heyoka: machine precision, in long steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UnsupportedError
from ...model.guard import MIN_PIVOT_SHARE
from ...readings.heyoka import import_heyoka, read_tape_as_heyoka
from ...tape import remove_dead_tape_instructions
from ...types import Floats
from ..system import WORKS, System
from .outer import Outer
from .passing import passing

if TYPE_CHECKING:
    from . import Solver


LARGE = 200
"""Instructions from which on heyoka's compact mode compiles in reasonable time."""


def taylor(
    system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
) -> Solver:  # fmt: skip
    return passing(Taylor(system, t, y, end, options), system, end)


class Taylor:
    """One step is one series; its tolerance is `rtol`, down to the machine's."""

    one_step = True

    def __init__(
        self, system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
    ) -> None:
        self.outer = Outer(system, "taylor")
        if self.outer.called:
            raise UnsupportedError(
                "'taylor' needs drives that have series",
                remedy="give numbers, expressions, tables, or a controller with a period",
            )
        self.system, self.end = system, end
        self.limit = float(options["max_step"])
        self.integrator = _integrator(
            system, self.outer, max(float(options["rtol"]), np.finfo(float).eps)
        )
        self.restart(t, y)

    def restart(self, t: float, y: Floats) -> None:
        self.integrator.time = t
        self.integrator.pars[:] = self.outer.values(t)
        self.y = y

    @property
    def t(self) -> float:
        return float(self.integrator.time)

    @property
    def y(self) -> Floats:
        found: Floats = self.integrator.state.copy()
        return found

    @y.setter
    def y(self, state: Floats) -> None:
        self.integrator.state[:] = state

    def step(self) -> str | None:
        y = self.y
        if self.system.guarded and not self.pivot() >= MIN_PIVOT_SHARE:
            return (
                f"{' and '.join(self.system.model.independent_names)} hardly drive the mechanism; "
                "name other independent speeds, or use dop853"
            )
        t, longest = self.t, min(self.limit, self.end - self.t)
        outcome, length = self.integrator.step(max_delta_t=longest, write_tc=True)
        if length > (trusted := self.trusted()):
            self.restart(t, y)
            outcome, length = self.integrator.step(max_delta_t=trusted, write_tc=True)
        self.system.evaluations += 1
        if outcome.name not in ("success", "time_limit") or not math.isfinite(length):
            self.restart(t, y)
            return "the series has no finite terms"
        return "the step became too small" if length == 0.0 else None

    def trusted(self) -> float:
        """How far the last series reaches by its last ten terms: heyoka looks at two, and in a
        symmetric state those may vanish."""
        terms = self.integrator.tc
        orders = np.arange(max(1, terms.shape[1] - 10), terms.shape[1])
        size = max(1.0, float(np.abs(terms[:, 0]).max()))
        with np.errstate(divide="ignore"):
            radii = (size / np.abs(terms[:, orders]).max(axis=0)) ** (1 / orders)
        return 1.5 * float(radii.min()) / math.e**2

    def pivot(self) -> float:
        return float(self.system.kernel(*self.system.inputs(self.t, self.y))[1][0])

    def between(self) -> Callable[[float], Floats]:
        def at(t: float) -> Floats:
            found: Floats = self.integrator.update_d_output(t).copy()
            return found

        return at


def _integrator(system: System, outer: Outer, tolerance: float) -> Any:
    hy, whole = import_heyoka(), system.tape
    tape = remove_dead_tape_instructions(
        replace(whole, outputs=whole.outputs[:1], results=whole.results[:1])
    )
    names = [f"y{k}" for k in range(tape.outputs[0].size)]
    states = list(hy.make_vars(*names)) if len(names) > 1 else [hy.make_vars(*names)]
    z = states[system.size : len(states) - WORKS] or [hy.expression(0.0)]
    w = outer.w([hy.par[k] for k in range(outer.count)], hy.time)
    push = [hy.expression(0.0)] * system.names.nv
    rates, *_ = read_tape_as_heyoka(tape, [states[: system.size], z, w, push, [hy.time]])
    equations = [(state, hy.expression(rate)) for state, rate in zip(states, rates, strict=True)]
    return hy.taylor_adaptive(
        equations, np.zeros(len(states)), tol=tolerance, compact_mode=len(tape) > LARGE
    )
