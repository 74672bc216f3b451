"""Least corrections of states onto many constraints, and how near these are to losing rank.

Singular values of J take n³ operations. Where no constraint is redundant, compiled elimination with
the rows and velocities that were chosen at assembly gives the same correction. It uses the sparsity
of J and M: for a chain of loops its cost is proportional to the number of loops.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from ..algebra.elimination_order import elimination_order
from ..algebra.linear_algebra import LUFactorization, nonzero_matrix_rows
from ..kinematics.mobility_analysis import reference_configuration
from ..model.guard import MIN_PIVOT_SHARE
from ..model.model import Model
from ..readings.llvm import compile_expressions
from ..types import SX, Floats
from .fixed_steps.step_equations import StepEquations
from .fixed_steps.step_projection import StepProjection
from .saddle_point import solve_saddle_point

MIN_COMPILED_CONSTRAINTS = 20
"""With fewer constraints, singular values take less time in a run than the compilation would."""

MAX_KEPT_CORRECTIONS = 8
"""How many models keep their compiled corrections."""


@dataclass(frozen=True, eq=False)
class CompiledCorrection:
    """The constraints of a model, all of them on positions and none of them redundant."""

    model: Model
    rows: list[int]
    """The rows of J that are not zero."""
    least_change: np.ufunc
    """(q, t, violation) → the least change, and the smallest pivot of its elimination."""
    smallest_pivot: np.ufunc
    """(q, t) → √ of the smallest pivot of J Jᵀ as a share of its largest diagonal entry."""

    def correct(self, t: float, q: Floats, violation: Floats) -> Floats | None:
        """Return the least change that removes the violation of all constraints; None where
        singular values must decide."""
        with np.errstate(all="ignore"):
            step, pivot = self.least_change(q, t, violation)
        if pivot >= MIN_PIVOT_SHARE:
            return np.asarray(step)
        return self._solve(t, q, np.zeros(self.model.nv), -violation)

    def accelerations(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Floats | None:
        """Return q̈ under forces τ where compiled elimination fails; None where J loses rank."""
        time = [t] if self.model.names.is_time_dependent else []
        forces = tau - self.model.bias(q, qd, *time)
        return self._solve(t, q, forces, -self.model.constraint_bias(q, qd, *time))

    def _solve(self, t: float, q: Floats, forces: Floats, right: Floats) -> Floats | None:
        """Return x with M x = forces + Jᵀλ and J x = right; None where J loses rank."""
        time = [t] if self.model.names.is_time_dependent else []
        M, J = self.model.mass_matrix(q), self.model.constraint_jacobian(q, *time)
        return solve_saddle_point(M, J[self.rows], forces, right[self.rows])

    def weakest(self, t: float, q: Floats) -> float:
        """Return a number that goes to zero with the smallest singular value of J, and like it."""
        with np.errstate(all="ignore"):
            share = float(self.smallest_pivot(q, t))
        return share if np.isfinite(share) else 0.0


@lru_cache(maxsize=MAX_KEPT_CORRECTIONS)
def compile_correction(model: Model) -> CompiledCorrection | None:
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
    projection = StepProjection(StepEquations(model.equations))
    metric = projection.metric(q, t)
    state = [("q", q, (names.nq,)), ("t", t, ())]
    least_change = compile_expressions(
        "least_correction",
        [*state, ("violation", violation, (count,))],
        [
            ("step", metric.smallest_correction(violation), (names.nv,)),
            ("pivot", metric.smallest_pivot, ()),
        ],
        threads=1,
    )
    share = _smallest_pivot_share(projection.jacobian(q, t)[projection.rows, :])
    pivot = compile_expressions("smallest_pivot", state, [("pivot", share, ())], threads=1)
    return CompiledCorrection(model, projection.rows, least_change, pivot)


def _smallest_pivot_share(J: SX) -> SX:
    """Return √ of the smallest pivot of J Jᵀ as a share of its largest diagonal entry.

    J Jᵀ is positive definite, so that in any order a pivot is small only where J nearly loses rank.
    """
    product = J @ J.T
    graph = [set(row) - {i} for i, row in enumerate(nonzero_matrix_rows(product))]
    order = elimination_order(graph)
    pivots = LUFactorization(product[order, order]).pivots
    share: SX = ca.sqrt(ca.mmin(ca.vertcat(*pivots)) / ca.mmax(ca.diag(product)))
    return share
