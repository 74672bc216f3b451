"""Integrators as programs, which are written once and printed for every target."""

from .explicit_steps import dense_rows, evaluate_dense_output
from .tableaus import DOP853, DORMAND_PRINCE, RungeKuttaPair
from .trajectories import (
    LEAST_MARGIN,
    Clock,
    Progress,
    Sizes,
    StopReason,
    integrate_trajectories,
    step_record_size,
)

__all__ = [
    "DOP853",
    "DORMAND_PRINCE",
    "LEAST_MARGIN",
    "Clock",
    "Progress",
    "RungeKuttaPair",
    "Sizes",
    "StopReason",
    "dense_rows",
    "evaluate_dense_output",
    "integrate_trajectories",
    "step_record_size",
]
