"""Closing constraints of positions: by Newton steps from nearby, by a search from rough values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from .iterates import BatchClosureIterate, ClosureIterate, ClosureResult
from .steps import gauss_newton_step, limit_closure_step
from .tolerances import CLOSURE_TOLERANCES


def add_coordinate_step(q: Floats, step: Floats) -> Floats:
    """Return q + step: how coordinates move whose velocities are their rates."""
    return np.asarray(q + step)


@dataclass(frozen=True)
class PositionConstraints:
    """Constraints φ(q) = 0 as functions of numbers; leading axes are states.

    `residual` gives φ (…, m), `jacobian` ∂φ/∂step (…, m, n), `move` q after a step, and `metric`
    the matrix (…, n, n) in which corrections are least (default: all entries count alike).
    `least_step` gives the step of one state that removes a residual, or None where it cannot;
    callers provide it if they can solve for the step without singular values.
    """

    residual: Callable[[Floats], Floats]
    jacobian: Callable[[Floats], Floats]
    move: Callable[[Floats, Floats], Floats] = add_coordinate_step
    metric: Callable[[Floats], Floats] | None = None
    least_step: Callable[[Floats, Floats], Floats | None] | None = None


def close_positions(
    functions: PositionConstraints,
    q: Floats,
    *,
    hold: Sequence[int] = (),
    tolerance: float = CLOSURE_TOLERANCES.closed_residual,
    rank_share: float = CLOSURE_TOLERANCES.rank_share,
    rank: int | None = None,
    longest_step: float = np.inf,
    max_iterations: int = CLOSURE_TOLERANCES.max_iterations,
) -> ClosureResult:
    """Close constraints from nearby, by Gauss–Newton steps of least length.

    A state has converged where its residual, or the part of it that a step can still close, is
    within the tolerance, or where rounding stops progress; with tolerance 0 only the latter.
    States that do not converge are left at their best iterate.

    Parameters
    ----------
    q
        (…, nq); leading axes are states.
    hold
        Entries of the step that stay zero; they may not be combined with a metric.
    tolerance, rank_share, rank, longest_step, max_iterations
        See `ClosureTolerances` and the least change in `steps`.
    """
    iterate = ClosureIterate(q) if q.ndim == 1 else BatchClosureIterate(q)
    for _ in range(max_iterations):
        residual = functions.residual(iterate.q)
        if iterate.record_closure_residual(residual, tolerance):
            break
        given = functions.least_step and functions.least_step(iterate.q, residual)
        if given is None:
            J = functions.jacobian(iterate.q)
            step = gauss_newton_step(
                J,
                residual,
                free=_free_jacobian_columns(J, hold),
                rank_share=rank_share,
                rank=rank,
                metric=None if functions.metric is None else functions.metric(iterate.q),
            )
            closed = J @ step if step.ndim == 1 else (J @ step[..., None])[..., 0]
        else:
            step, closed = given, residual
        if iterate.record_closure_step(closed, tolerance):
            break
        step = step if longest_step == np.inf else limit_closure_step(step, longest_step)
        iterate.move_to(functions.move(iterate.q, step))
    else:
        iterate.record_closure_residual(functions.residual(iterate.q), tolerance)
    return iterate.result()


def _free_jacobian_columns(J: Floats, hold: Sequence[int]) -> list[int] | None:
    """Return the columns of J that are not held; None where all are free."""
    return [k for k in range(J.shape[-1]) if k not in hold] if len(hold) else None


def search_positions(
    functions: PositionConstraints,
    q: Floats,
    *,
    hold: Sequence[int] = (),
    rank_share: float,
    leeway: float = 0.0,
) -> Floats:
    """Return q (nq,) of one state after a search from rough values, as near to closed as it gets.

    Gauss–Newton steps of limited length with a line search; the search ends where no step
    lessens the residuals, which at a solution is where rounding stops it. Nearly redundant rows
    may stay open by `leeway`.
    """
    stalled = max(CLOSURE_TOLERANCES.stalled_residual, leeway)
    residual, J = functions.residual(q), functions.jacobian(q)
    free = [k for k in range(J.shape[-1]) if k not in hold]
    for _ in range(CLOSURE_TOLERANCES.max_iterations):
        if not (residual.any() and np.isfinite(residual).all() and np.isfinite(J).all()):
            break
        step = gauss_newton_step(J, residual, free=free, rank_share=rank_share)
        better = closure_line_search(
            functions,
            q,
            limit_closure_step(step, CLOSURE_TOLERANCES.longest_step),
            residual,
            stalled,
        )
        if better is None:
            break
        q, residual = better
        J = functions.jacobian(q)
    return q


def closure_line_search(
    functions: PositionConstraints, q: Floats, step: Floats, residual: Floats, stalled: float
) -> tuple[Floats, Floats] | None:
    """Return (q, residual) after the first of ever shorter steps that lessens the residual."""
    for _ in range(CLOSURE_TOLERANCES.max_reductions):
        there = functions.move(q, step)
        found = functions.residual(there)
        if is_closure_residual_smaller(found, residual, stalled):
            return there, found
        step = step * CLOSURE_TOLERANCES.step_reduction
    return None


def is_closure_residual_smaller(residual: Floats, before: Floats, stalled: float) -> bool:
    """Return whether residuals fell: the largest one, or, below `stalled`, where nearly redundant
    rows may keep the largest as it is, their squares."""
    size = np.abs(before).max()
    closer = bool(np.abs(residual).max() < size)
    if closer or size >= stalled:
        return closer
    return bool(residual @ residual < before @ before)
