"""The one place that closes constraints: positions, velocities, accelerations.

Constraints come in as functions of numbers, so that this package imports nothing but NumPy.
`ConstraintSystem` (kinematics) has those of a mechanism, compiled models have their own.
"""

from .iterates import ClosureResult
from .positions import (
    PositionConstraints,
    close_positions,
    line_search,
    search_positions,
)
from .rates import project_accelerations, project_velocities
from .steps import (
    gauss_newton_step,
    jacobian_null_space,
    jacobian_pseudoinverse,
    limit_step_length,
    singular_value_rank,
    smallest_singular_share,
    solve_least_change,
)
from .tolerances import CLOSURE_TOLERANCES, ClosureTolerances

__all__ = [
    "CLOSURE_TOLERANCES",
    "ClosureResult",
    "ClosureTolerances",
    "PositionConstraints",
    "close_positions",
    "gauss_newton_step",
    "jacobian_null_space",
    "jacobian_pseudoinverse",
    "limit_step_length",
    "line_search",
    "project_accelerations",
    "project_velocities",
    "search_positions",
    "singular_value_rank",
    "smallest_singular_share",
    "solve_least_change",
]
