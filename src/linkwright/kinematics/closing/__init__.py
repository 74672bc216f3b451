"""The one place that closes constraints: positions, velocities, accelerations.

Constraints come in as functions of numbers, so that this package imports nothing but NumPy.
`ConstraintSystem` (kinematics) has those of a mechanism, compiled models have their own.
"""

from .iterates import ClosureResult
from .positions import (
    ConstraintFunctions,
    close_positions,
    line_search,
    search_positions,
)
from .rates import project_velocities, solve_accelerations
from .steps import (
    gauss_newton_step,
    limit_step,
    null_space,
    numeric_rank,
    pseudoinverse,
    smallest_share,
    solve_least_change,
)
from .tolerances import TOLERANCES, ClosureTolerances

__all__ = [
    "TOLERANCES",
    "ClosureResult",
    "ClosureTolerances",
    "ConstraintFunctions",
    "close_positions",
    "gauss_newton_step",
    "limit_step",
    "line_search",
    "null_space",
    "numeric_rank",
    "project_velocities",
    "pseudoinverse",
    "search_positions",
    "smallest_share",
    "solve_accelerations",
    "solve_least_change",
]
