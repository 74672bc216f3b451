"""The one place that closes constraints: positions, velocities, accelerations.

Constraints come in as functions of numbers, so that this package imports nothing but NumPy.
`ConstraintSystem` (kinematics) has those of a mechanism, compiled models have their own.
"""

from .iterates import ClosureResult
from .positions import (
    PositionConstraints,
    close_positions,
    closure_line_search,
    search_positions,
)
from .rates import project_accelerations, project_velocities
from .steps import (
    gauss_newton_step,
    jacobian_null_space,
    jacobian_pseudoinverse,
    jacobian_rank_of_singular_values,
    limit_closure_step,
    smallest_jacobian_singular_share,
    solve_constraint_least_change,
)
from .tolerances import CLOSURE_TOLERANCES, ClosureTolerances

__all__ = [
    "CLOSURE_TOLERANCES",
    "ClosureResult",
    "ClosureTolerances",
    "PositionConstraints",
    "close_positions",
    "closure_line_search",
    "gauss_newton_step",
    "jacobian_null_space",
    "jacobian_pseudoinverse",
    "jacobian_rank_of_singular_values",
    "limit_closure_step",
    "project_accelerations",
    "project_velocities",
    "search_positions",
    "smallest_jacobian_singular_share",
    "solve_constraint_least_change",
]
