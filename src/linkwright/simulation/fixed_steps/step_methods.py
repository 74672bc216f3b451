"""A step by any of the methods with fixed steps, as expressions."""

from __future__ import annotations

from ...equations import Equations
from ...errors import UnsupportedError
from .explicit_steps import explicit_step, project_step, semi_implicit_step
from .implicit_steps import NEWTON_ITERATIONS, MidpointStep, VariationalStep
from .step_equations import StepEquations
from .step_projection import StepProjection
from .step_states import StepEnd, StepStart
from .tableaus import FIXED_STEP_METHODS, MIDPOINT, SEMI_IMPLICIT, TABLEAUS, VARIATIONAL


def check_method(method: str, equations: Equations) -> None:
    """Raise an error if the method is unknown or cannot integrate the mechanism's coordinates."""
    if method not in FIXED_STEP_METHODS:
        raise UnsupportedError(
            f"unknown method '{method}'", remedy=f"use {', '.join(FIXED_STEP_METHODS)}"
        )
    if method == VARIATIONAL and equations.nq != equations.nv:
        raise UnsupportedError(
            "variational steps need coordinates whose rates are the velocities",
            where=equations.mechanism.name,
            remedy="use rotation = \"cardan\", or the method 'midpoint'",
        )


def evaluations_per_step(method: str) -> int:
    """Return how often a step evaluates the equations of motion."""
    if method in TABLEAUS:
        return len(TABLEAUS[method].c)
    return 1 if method == SEMI_IMPLICIT else NEWTON_ITERATIONS


def step_expressions(method: str, equations: StepEquations, start: StepStart) -> StepEnd:
    """Return the state after a step, projected onto the constraints if there are any."""
    projection = StepProjection(equations) if equations.names.constraints else None
    if method == MIDPOINT:
        return MidpointStep(equations, projection, start).solve_step()
    if method == VARIATIONAL:
        return VariationalStep(equations, projection, start).solve_step()
    if method == SEMI_IMPLICIT:
        step = semi_implicit_step(equations, start)
    else:
        step = explicit_step(TABLEAUS[method], equations, start)
    return step if projection is None else project_step(step, projection, start)
