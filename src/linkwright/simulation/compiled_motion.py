"""Motions that run in compiled code from start to end: steps, projection and samples.

Python is entered at kinks of tables, at alarms and now and then for progress and Ctrl-C. What the
compiled program cannot do (functions of Python, events, singular configurations) is left to the loop in
`march`: `integrate` then returns None.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..integrators import (
    DOP853,
    DORMAND_PRINCE,
    Clock,
    Progress,
    RungeKuttaPair,
    StopReason,
    integrate_trajectories,
)
from ..program import Procedure, read_program
from ..readings.llvm import CompiledProgram, compile_program, compile_tape
from ..tape import NamedExpression, Tape, record_expression_tape
from ..types import SX, Floats
from .diagnosis import largest_gap
from .fixed.ingredients import Ingredients
from .fixed.onto import Onto
from .projection import Projection
from .solvers.outer import Outer
from .solvers.passing import REACH
from .system import WORKS, System
from .wheels import rolls_on_planes, wheel_lean_expressions

PAIRS = {pair.name: pair for pair in (DOP853, DORMAND_PRINCE)}
"""The integrators that can run in compiled code."""

INSTRUCTIONS_PER_CALL = 50_000_000
"""Instructions of tapes, about, after which the program returns to Python: some hundredths of a second."""

NEAR_SINGULAR = 0.01
"""Share of the usual smallest singular value of J below which a run reports a singular configuration."""


@dataclass(frozen=True)
class Trajectory:
    """States at the times that were reached, one column each; the state of largest speeds; counts."""

    times: Floats
    states: Floats
    fastest: Floats
    statistics: Mapping[str, float]
    is_interrupted: bool


def can_compile(system: System, integrator: str) -> bool:
    """Whether compiled code can integrate a system without calling Python."""
    drive = system.drive
    return (
        integrator in PAIRS
        and system.beside is None
        and drive.function is None
        and (drive.feedback is None or not (drive.feedback.follows or drive.feedback.period))
    )


class CompiledMotion:
    """The compiled program of a system, for one integrator; it keeps nothing of a run."""

    def __init__(self, system: System, integrator: str) -> None:
        self.system, self.pair = system, PAIRS[integrator]
        self.outer = Outer(system, integrator)
        self.state_count = system.size + len(system.drive.state_names) + WORKS
        self.parameter_count = max(1, self.outer.count)
        self.y = ca.SX.sym("y", self.state_count)
        self.p = ca.SX.sym("p", self.parameter_count)

    # -- tapes -----------------------------------------------------------------------------------

    @property
    def needs_projection(self) -> bool:
        """Whether states must be put back onto constraints, joints or unit quaternions."""
        return self._holds_constraints or self.system.drifts

    @property
    def _holds_constraints(self) -> bool:
        system = self.system
        exactly = system.baumgarte is None and system.equations.by != "approximate"
        return bool(system.names.constraints) and exactly

    @cached_property
    def rates_tape(self) -> Tape:
        """(t, y, p) → ẏ and the margin: the smallest pivot, or how far wheels are from lying flat."""
        system, t = self.system, self.system.symbols[3]
        x, controls = system.state, max(1, len(system.drive.state_names))
        z = self.y[system.size : self.state_count - WORKS]
        w = self.outer.w(ca.vertsplit(self.p)[: self.outer.count], t)
        symbols = [x, system.drive.z, system.drive.w, system.pushed]
        values = [
            self.y[: system.size],
            z if z.shape[0] else ca.SX.zeros(controls),
            ca.vertcat(*w),
            ca.SX.zeros(system.names.nv),
        ]
        rates, pivot = ca.substitute(list(system.rates_expression), symbols, values)
        margin = self._with_wheels(ca.SX(pivot if system.guarded else 1))
        return self._tape("rates", [("rate", rates, self.state_count), ("margin", margin, 1)])

    def _with_wheels(self, margin: SX) -> SX:
        motion = ca.substitute(list(self.system.motion_expressions), [self.system.state], [self.y[: self.system.size]])
        for lean in wheel_lean_expressions(self.system.equations.mechanism, motion[0]):
            margin = ca.fmin(margin, lean)
        return margin

    @cached_property
    def projection_tape(self) -> Tape:
        """(t, y, p) → y on the constraints, how far these are open then, and the smallest pivot."""
        system, t = self.system, self.system.symbols[3]
        inside = self.y[: system.size]
        q, qd = ca.substitute(list(system.motion_expressions), [system.state], [inside])
        of = Ingredients(system.equations)
        if system.names.nq != system.names.nv:
            q = of.moved(q, ca.SX.zeros(system.names.nv))
        gap, pivot = ca.SX(0), ca.SX(1)
        if self._holds_constraints:
            onto = Onto(of)
            q, one = onto.positions_of(q, t)
            qd, other = onto.speeds_of(q, qd, t)
            pivot = ca.fmin(one, other)
            if onto.positions:
                gap = ca.mmax(ca.fabs(onto.residual(q, t)))
        x = system.state_from_motion(q, qd)
        y = ca.vertcat(x, self.y[system.size :])
        return self._tape(
            "projection", [("projected", y, self.state_count), ("gap", ca.vertcat(gap, pivot), 2)]
        )

    def _tape(self, name: str, outputs: list[tuple[str, SX, int]]) -> Tape:
        t = self.system.symbols[3]
        inputs: list[NamedExpression] = [
            ("t", t, (1,)),
            ("y", self.y, (self.state_count,)),
            ("p", self.p, (self.parameter_count,)),
        ]
        return record_expression_tape(name, inputs, [(key, e, (size,)) for key, e, size in outputs])

    # -- code ------------------------------------------------------------------------------------

    @cached_property
    def project(self) -> np.ufunc:
        """The projection of many states."""
        return compile_tape(self.projection_tape, threads=1)

    @cached_property
    def program(self) -> CompiledProgram:
        """The integration of trajectories."""
        names = self.system.names
        plain = self.system.equations.state is None
        constants = {
            "pair": self.pair,
            "n": self.state_count,
            "m": self.parameter_count,
            "first_speed": names.nq if plain else 0,
            "speed_count": names.nv if plain else 0,
        }
        rates = self.rates_tape
        projection = self.projection_tape if self.needs_projection else None

        def read() -> Any:
            return read_program(
                integrate_trajectories,
                rates=Procedure(rates),
                project=None if projection is None else Procedure(projection),
                **constants,
            )

        identity = (rates.digest, projection and projection.digest, repr(constants))
        return compile_program(read, identity)

    @cached_property
    def closing(self) -> Projection | None:
        """Singular values of the constraints, where singular configurations can be met."""
        return Projection(self.system.model) if self._holds_constraints else None

    # -- runs ------------------------------------------------------------------------------------

    def integrate(
        self,
        times: Floats,
        y: Floats,
        options: Mapping[str, float],
        report: Callable[[float], None],
    ) -> Trajectory | None:
        """The states at the times; None where the loop in Python must find them."""
        run = _Records(self, times, y, options)
        begin, end = float(times[0]), float(times[-1])
        try:
            run.begin_segment(begin, self.system.next_stop(begin, end), self.outer.values(begin))
            while not self._advance(run, end):
                if run.has_failed:
                    return None
                report(run.t)
        except KeyboardInterrupt:
            return self._trajectory(run, True)
        return self._trajectory(run, False)

    def _advance(self, run: _Records, end: float) -> bool:
        """Run the program once, and treat what it stopped at; whether the end is reached."""
        run.call(self.program)
        match run.reason:
            case StopReason.REACHED_STOP if run.t >= end:
                return True
            case StopReason.REACHED_STOP:
                run.begin_segment(run.t, self.system.next_stop(run.t, end), self.outer.values(run.t))
            case StopReason.MARGIN_ALARM:
                run.has_failed = run.is_quiet or self._is_near_singular(run)
                run.is_quiet = True
            case StopReason.BUDGET_SPENT:
                pass
            case _:
                run.has_failed = True
        return False

    def _is_near_singular(self, run: _Records) -> bool:
        """Whether the constraints lose rank within the next steps, or a wheel is about to lie flat."""
        system, closing, y = self.system, self.closing, run.y
        if closing is None or rolls_on_planes(system.equations.mechanism):
            return True
        q, qd = system.motion(y)
        length = max(run.next_step, run.last_step)
        small = 1e-3 * length
        now, then = (
            closing.weakest(
                system.model.constraint_jacobian(system.model.integrate(q, h * qd), *([run.t + h] if closing.in_time else []))
            )
            for h in (0.0, small)
        )
        ahead = now * small / (now - then) if then < now else np.inf
        return ahead < REACH * length or now < NEAR_SINGULAR * closing.usual

    def _trajectory(self, run: _Records, is_interrupted: bool) -> Trajectory | None:
        times, states = run.samples(is_interrupted)
        if self.needs_projection:
            with np.errstate(all="ignore"):
                parameters = [np.append(self.outer.values(t), 0.0)[: self.parameter_count] for t in (times[:1] if not self.outer.count else times)]
                states, gap = self.project(times[:, None], states, np.array(parameters))
            if not (gap[:, 0] <= run.closed).all():
                return None
        if not np.isfinite(states).all():
            return None
        return Trajectory(times, states.T, run.fastest, run.statistics, is_interrupted)


class _Records:
    """The buffers of one trajectory."""

    def __init__(
        self, motion: CompiledMotion, times: Floats, y: Floats, options: Mapping[str, float]
    ) -> None:
        n, count = motion.state_count, len(times)
        self.has_failed = False
        self.closed = largest_gap(motion.system)
        self.budget = max(50, INSTRUCTIONS_PER_CALL // (len(motion.rates_tape) * 16 * 13) + 1)
        self.ticket, self.count = np.zeros(1, np.int64), np.array([1, count])
        self.clock = np.zeros(len(Clock))
        self.clock[[Clock.RTOL, Clock.ATOL, Clock.MAX_STEP]] = (
            options["rtol"],
            options["atol"],
            options["max_step"],
        )
        self.clock[Clock.CLOSED] = self.closed
        self.progress = np.zeros(len(Progress), np.int64)
        self.progress[Progress.SAMPLE] = 1
        self.y, self.slopes = y.astype(float), np.zeros(n)
        self.parameters = np.zeros(motion.parameter_count)
        self.times = np.append(times, np.inf)
        self.found = np.empty((count, n))
        self.found[0] = y
        self.top = np.zeros(n + 1)
        self.top[1:] = y

    def begin_segment(self, t: float, stop: float, parameters: Floats) -> None:
        """Start anew at t, up to the next kink of a table."""
        self.clock[[Clock.TIME, Clock.STOP, Clock.STEP]] = t, stop, 0.0
        self.parameters[: len(parameters)] = parameters

    def call(self, program: CompiledProgram) -> None:
        """Run the program until it stops."""
        self.ticket[0] = 0
        self.progress[Progress.BUDGET] = self.budget
        program(
            self.ticket, self.count, self.clock, self.progress, self.y, self.slopes,
            self.parameters, self.times, self.found, self.top,
        )  # fmt: skip

    @property
    def reason(self) -> int:
        return int(self.progress[Progress.REASON])

    @property
    def t(self) -> float:
        return float(self.clock[Clock.TIME])

    @property
    def next_step(self) -> float:
        return float(self.clock[Clock.STEP])

    @property
    def last_step(self) -> float:
        return float(self.clock[Clock.STEP_BEFORE])

    @property
    def is_quiet(self) -> bool:
        return bool(self.progress[Progress.QUIET])

    @is_quiet.setter
    def is_quiet(self, value: bool) -> None:
        self.progress[Progress.QUIET] = value

    @property
    def fastest(self) -> Floats:
        return self.top[1:]

    @property
    def statistics(self) -> dict[str, float]:
        """Counts of steps and evaluations."""
        return {
            "steps": int(self.progress[Progress.STEPS]),
            "rejected": int(self.progress[Progress.REJECTED]),
            "evaluations": int(self.progress[Progress.EVALUATIONS]),
        }

    def samples(self, with_last: bool) -> tuple[Floats, Floats]:
        """Times and states that were reached, the last state too where a run was interrupted."""
        count = int(self.progress[Progress.SAMPLE])
        times, states = self.times[:count], self.found[:count]
        if with_last and self.t > times[-1]:
            return np.append(times, self.t), np.vstack([states, self.y])
        return times, states
