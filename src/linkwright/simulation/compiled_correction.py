"""Least corrections of states onto constraints as compiled code.

Singular values of J take n³ operations. Where no constraint is redundant, elimination with the rows
and velocities that were chosen at assembly gives the same correction. It uses the sparsity of J and
M: for a chain of loops its cost is proportional to the number of loops.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import casadi as ca
import numpy as np

from ..kinematics.mobility_analysis import reference_configuration
from ..model.guard import MIN_PIVOT_SHARE
from ..model.model import Model
from ..readings.llvm import compile_expressions
from ..types import Floats
from .fixed_steps.step_equations import StepEquations
from .fixed_steps.step_projection import StepProjection

LeastCorrection = Callable[[float, Floats, Floats], Floats | None]
"""(t, q, violation) → the least change that removes the violation of all constraints; None where a
pivot is small, so that singular values must decide."""

MIN_COMPILED_CONSTRAINTS = 20
"""With fewer constraints, singular values take less time in a run than the compilation would."""

MAX_KEPT_CORRECTIONS = 8
"""How many models keep their compiled corrections."""


@lru_cache(maxsize=MAX_KEPT_CORRECTIONS)
def compile_least_correction(model: Model) -> LeastCorrection | None:
    """Return the compiled correction of a model; None if it has few constraints, or if some are
    redundant or restrict velocities alone."""
    names = model.names
    count = len(names.constraints)
    choice = reference_configuration(model.mechanism)[1]
    if choice.redundant or names.position_row_count < count:
        return None
    if len(choice.rows) < MIN_COMPILED_CONSTRAINTS:
        return None
    q, t, violation = ca.SX.sym("q", names.nq), ca.SX.sym("t"), ca.SX.sym("violation", count)
    metric = StepProjection(StepEquations(model.equations)).metric(q, t)
    least_change = compile_expressions(
        "least_correction",
        [("q", q, (names.nq,)), ("t", t, ()), ("violation", violation, (count,))],
        [
            ("step", metric.smallest_correction(violation), (names.nv,)),
            ("pivot", metric.smallest_pivot, ()),
        ],
        threads=1,
    )

    def correct(time: float, coordinates: Floats, open_rows: Floats) -> Floats | None:
        with np.errstate(all="ignore"):
            step, pivot = least_change(coordinates, time, open_rows)
        return step if pivot >= MIN_PIVOT_SHARE else None

    return correct
