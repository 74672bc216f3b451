"""Limit positions of a driven mechanism, at which its drive cannot move on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..types import Floats
from .driven_mechanism import SINGULAR_SHARE, DrivenMechanism, KinematicState

_ITERATIONS = 30
"""Gauss–Newton iterations: those near the solution converge quadratically."""

_LARGEST_CHANGE = 0.2
"""Largest change in an iteration, rad or m: linearized constraints are poor beyond it."""

_CONVERGED_CHANGE = 1e-13
"""Change below which the iteration ends: rounding."""

_RANK_SHARE = 1e-12
"""Singular values below this share count as zero in the least-squares solution."""

_DIFFERENCE_STEP = 1e-6
"""Step of the central differences: their error is about its square, 1e-12."""

_SMALLEST = 1e-300
"""A size that avoids divisions by zero."""


def find_limit_position(driven: DrivenMechanism, state: KinematicState) -> tuple[float, Floats]:
    """Return t and q near the state at which J_p loses rank.

    Gauss–Newton solves φ = 0, J_p v = 0, |v| = 1 for the dependent coordinates, v and t.
    """
    columns = driven.dependent_velocities
    n = len(columns)
    smallest_direction = np.linalg.svd(driven.jacobian(state)[:, columns])[2][-1]
    z = np.concatenate([np.zeros(n), smallest_direction, [state.t]])

    def coordinates(z: Floats) -> Floats:
        step = np.zeros(driven.names.nv)
        step[columns] = z[:n]
        q = driven.move_coordinates(state.q, step)
        q[driven.driven_coordinates] = driven.path(z[-1])[0]
        return q

    def residuals(z: Floats) -> Floats:
        v = z[n:-1]
        phi, J, _ = driven.system.position_terms(coordinates(z), z[-1])
        return np.concatenate([phi, J[:, columns] @ v, [v @ v - 1]])

    for _ in range(_ITERATIONS):
        change = np.linalg.lstsq(_derivative(residuals, z), -residuals(z), rcond=_RANK_SHARE)[0]
        change *= min(1.0, _LARGEST_CHANGE / max(np.abs(change).max(), _SMALLEST))
        z = z + change
        if np.abs(change).max() < _CONVERGED_CHANGE:
            break
    return float(z[-1]), coordinates(z)


def is_branch_point(driven: DrivenMechanism, q: Floats, t: float) -> bool:
    """Return whether branches meet there: (J_p, J_d ḋ + φ_t) has lost rank as well as J_p."""
    violation, J = driven.drive_violation(q, t)
    columns = driven.dependent_velocities
    sizes = np.linalg.svd(np.column_stack([J[:, columns], violation]), compute_uv=False)
    return bool(sizes[len(columns) - 1] <= SINGULAR_SHARE * max(sizes[0], _SMALLEST))


def _derivative(residuals: Callable[[Floats], Floats], z: Floats) -> Floats:
    """Return the derivative of the residuals by central differences."""
    h = _DIFFERENCE_STEP
    columns = [(residuals(z + h * e) - residuals(z - h * e)) / (2 * h) for e in np.eye(len(z))]
    return np.column_stack(columns)
