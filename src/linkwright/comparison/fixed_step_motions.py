"""Motions with the same fixed steps for all formulations, in compiled code, as papers time them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..integrators import Clock, ExplicitMethod, Progress, RungeKuttaPair
from ..number_checks import check_positive
from ..simulation.compiled_motion import CompiledMotion, CompiledTrajectory
from ..simulation.compiled_run import CannotContinueError, CompiledRun
from ..simulation.fixed_steps.tableaus import TABLEAUS
from ..simulation.right_hand_side import RightHandSide
from ..simulation.run_context import RunContext
from ..simulation.trajectory_records import TrajectoryRecords
from ..types import Floats


@dataclass(frozen=True)
class FixedSteps:
    """Steps of equal length, s, by an explicit method: rk4, heun or euler."""

    integrator: str
    length: float

    def __post_init__(self) -> None:
        check_positive(self.length, "step")
        if self.integrator not in TABLEAUS:
            raise UnsupportedError(
                f"formulations cannot be compared with fixed steps of '{self.integrator}'",
                remedy=f"use one of {', '.join(TABLEAUS)}",
            )

    def text(self) -> str:
        """The method and the length in words."""
        return f"{self.integrator} with steps of {self.length:g} s"


def fixed_step_method(name: str) -> ExplicitMethod:
    """The step method of an explicit tableau without an error estimate: all steps are accepted.

    The slope at the end is the first one of the next step. Dense output is the cubic with the
    states and slopes at the ends.
    """
    table = TABLEAUS[name]
    stages = len(table.c)
    rows = []
    for j, b in enumerate((*table.b, 0.0)):
        begins, ends = float(j == 0), float(j == stages)
        rows.append((begins, 3 * b - 2 * begins - ends, begins + ends - 2 * b))
    return ExplicitMethod(
        RungeKuttaPair(
            name=f"fixed {name}",
            error_order=4,
            A=table.A,
            b=table.b,
            c=table.c,
            errors=((0.0,) * (stages + 1),),
            dense_A=(),
            dense_c=(),
            dense_weights=tuple(rows),
        )
    )


class FixedStepMotion(CompiledMotion):
    """The compiled program of a system for fixed steps."""

    def __init__(self, system: RightHandSide, steps: FixedSteps) -> None:
        super().__init__(system, "dop853", None)
        self.method, self.steps = fixed_step_method(steps.integrator), steps

    def integrate(self, times: Floats, y: Floats) -> CompiledTrajectory:
        """The states at the times, from y at the first of them."""
        system, start = self.system, float(times[0])
        context = RunContext(system)
        options = {"rtol": 1.0, "atol": 1.0, "max_step": self.steps.length}
        records = TrajectoryRecords(self, times, y[None], options)
        inputs = system.arguments(start, y, *context.numeric_inputs(start, y))
        records.slopes[0], pivot = system.compiled_rates(*inputs)
        records.progress[0, Progress.EVALUATIONS] = 1
        records.clock[0, Clock.STEP] = self.steps.length
        records.clock[0, [Clock.MARGIN, Clock.MARGIN_BEFORE]] = pivot if system.is_guarded else 1.0
        run = CompiledRun(records, 0, system, None)
        only = np.zeros(1, np.int64)
        try:
            while run.status is None:
                records.advance(only)
                run.go_on()
        except CannotContinueError:
            raise LinkwrightError(
                f"the motion by {system.equations.by} cannot continue by {self.steps.text()} after "
                f"t = {run.t:g} s",
                remedy="give a shorter step, or no step for adaptive steps",
            ) from None
        return run.trajectory()
