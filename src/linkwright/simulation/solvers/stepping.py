"""Steps of fixed length as a solver: compiled whole, or stage by stage where Python drives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UnsupportedError
from ...types import Floats
from ..fixed_steps.compiled_steps import CompiledStep
from ..fixed_steps.pivoted_steps import midpoint_step_with_pivoting, step_with_pivoting
from ..fixed_steps.step_methods import check_method, evaluations_per_step
from ..fixed_steps.tableaus import IMPLICIT_METHODS, MIDPOINT, TABLEAUS
from ..system import System

if TYPE_CHECKING:
    from . import Maker


STEP = 1e-3
"""Seconds, where none is given."""

_OUTER = 12
"""Iterations in which a drive by a Python function settles with an implicit step."""


def stepping(method: str) -> Maker:
    def make(
        system: System, t: float, y: Floats, end: float, options: Mapping[str, Any]
    ) -> Stepping:  # fmt: skip
        return Stepping(method, system, t, y, end, options)

    return make


class Stepping:
    """Stands at t = begin + n·step; the last step is as short as it must be.

    A compiled step holds the constraints by itself, so that nobody needs to put its states back
    onto them. Formulations with states of their own go stage by stage, in these states.
    """

    one_step = False

    def __init__(
        self,
        method: str,
        system: System,
        t: float,
        y: Floats,
        end: float,
        options: Mapping[str, Any],
    ) -> None:
        check_method(method, system.equations)
        refuse_baumgarte(system, "steps of fixed length")
        self.method, self.system, self.end = method, system, end
        self.length = float(options.get("step") or STEP)
        self.evaluations = evaluations_per_step(method)
        self.by_stages = method not in IMPLICIT_METHODS and (
            system.drive.function is not None or system.equations.state is not None
            or system.beside is not None or system.drive.feedback is not None
        )  # fmt: skip
        if system.equations.state is not None and method not in TABLEAUS:
            _refuse_own_states(method, system)
        eventful = system.beside is not None or system.drive.feedback is not None
        if eventful and method in IMPLICIT_METHODS:
            raise UnsupportedError(
                f"'{method}' knows no controllers, stops, contacts and friction that sticks",
                where=system.equations.mechanism.name, remedy="use another integrator",
            )  # fmt: skip
        if not self.by_stages:
            drive = None if system.drive.function is not None else system.drive
            self.compiled_step = CompiledStep(system.equations, method, drive, system.power)
        self.restart(t, y)

    def restart(self, t: float, y: Floats) -> None:
        self.begin, self.count = t, 0
        self.t, self.y = t, y
        self.before = t, y

    def step(self) -> str | None:
        self.before = self.t, self.y
        self.count += 1
        t = self.begin + self.count * self.length
        if t > self.end - 1e-9 * self.length:
            t = self.end
        y = self._after(self.t, self.y, t - self.t)
        if y is None:
            return "the equations of an implicit step were not solved; take shorter steps"
        self.t, self.y = t, y
        return None

    def _after(self, t: float, y: Floats, dt: float) -> Floats | None:
        if self.by_stages:
            return step_with_pivoting(self.system, self.method, t, y, dt)
        if self.system.drive.function is not None:
            return self._settled(t, y, dt)
        return self._compiled(t, y, dt, np.zeros(self.system.names.nv))

    def _compiled(self, t: float, y: Floats, dt: float, tau: Floats) -> Floats | None:
        q, qd = self.system.motion(y)
        self.system.evaluations += self.evaluations
        with np.errstate(all="ignore"):
            found = self.compiled_step.single_step(
                q, qd, tau, t, *self.compiled_step.outside_inputs(t, dt), dt
            )
        if self.compiled_step.may_fail and not found[-1] < 1:
            return self._again(t, y, dt)
        after: Floats = self.system.moved(y, found[0], found[1])
        after[self.system.size :] += found[2]
        return after

    def _again(self, t: float, y: Floats, dt: float) -> Floats | None:
        """With pivoting, where a compiled step is not to be believed."""
        if self.method not in IMPLICIT_METHODS:
            return step_with_pivoting(self.system, self.method, t, y, dt)
        driven = self.system.drive.function is not None
        if self.method == MIDPOINT and self.system.names.constraints and not driven:
            return midpoint_step_with_pivoting(self.system, t, y, dt)
        return None

    def _settled(self, t: float, y: Floats, dt: float) -> Floats | None:
        """An implicit step under a Python function: its value in the middle, till it stays."""
        q, qd = self.system.motion(y)
        tau, middle = self.system.drive(t, q, qd), (q, qd)
        for _ in range(_OUTER):
            after = self._compiled(t, y, dt, tau)
            if after is None:
                return None
            ends = self.system.motion(after)
            step = self.system.model.difference(q, ends[0])
            middle = self.system.model.integrate(q, step / 2), step / dt
            again = self.system.drive(t + dt / 2, *middle)
            if np.abs(again - tau).max() <= 1e-12 * max(1.0, np.abs(tau).max()):
                return after
            tau = again
        return None

    def between(self) -> Callable[[float], Floats]:
        """Cubic between the ends of the last step, which are exact."""
        (t0, y0), (t1, y1), h = self.before, (self.t, self.y), self.t - self.before[0]
        slopes: list[Floats] = []

        def at(t: float) -> Floats:
            if abs(t - t1) <= 1e-9 * h:
                return y1
            if not slopes:
                slopes.extend([self.system.rates(t0, y0), self.system.rates(t1, y1)])
            s, (f0, f1) = (t - t0) / h, slopes
            rest = (1 - s) * h * f0 - s * h * f1 + (2 * s - 1) * (y1 - y0)
            found: Floats = (1 - s) * y0 + s * y1 + s * (1 - s) * rest
            return found

        return at


def refuse_baumgarte(system: System, what: str) -> None:
    if system.baumgarte is not None:
        raise UnsupportedError(
            f"{what} hold the constraints exactly", remedy="leave stabilization out"
        )


def _refuse_own_states(method: str, system: System) -> None:
    raise UnsupportedError(
        f"'{method}' steps positions and speeds, and '{system.equations.by}' has states of its own",
        remedy='use by="recursive", or another integrator',
    )
